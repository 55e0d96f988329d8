// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/contexts.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <thread>

namespace rondo::mpi {
namespace {

constexpr int most_attempts = 1000;

/// Intel MPI 2021 spoils what slower ranks have still to take from an MPI_Bcast of 80 KB, where ranks that are ahead
/// are in an MPI_Allreduce of 40 bytes to 4 KiB on the same communicator. In shorter ones it makes memory for each
/// communicator, of which there is enough for some hundreds. Longer ones do no harm.
bool is_intel_mpi() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    library().Get_library_version(version, &length);
    return std::string_view(version).starts_with("Intel(R) MPI");
}

}  // namespace

/// Each context has one more tag, for meetings.
int Contexts::most_tags(int largest) {
    constexpr int enough = 1 << 16;
    return std::min(enough, static_cast<int>(std::bit_floor((static_cast<unsigned>(largest) + 1U) / most - 1)));
}

void Contexts::begin(int tags) {
    needs_padding_ = is_intel_mpi();
    tags_ = tags;
    std::ranges::fill(free_, ~std::uint64_t{0});
    free_[0] &= ~std::uint64_t{1};
    owners_[0] = 1;
    is_open_ = true;
}

Contexts::Offer Contexts::offer() {
    const std::lock_guard lock(mutex_);
    Offer offer;
    if (offering_) return offer;
    offering_ = true;
    std::ranges::copy(free_, std::begin(offer.free));
    offer.is_made = 1;
    return offer;
}

Context Contexts::meet(MPI_Comm comm) {
    // The context of MPI_COMM_WORLD is fixed: no rank waits for another.
    if (comm == library().comm_world) return is_open_ ? context(0) : Context();
    static const MPI_Datatype word_type = MPI_UINT64_T;
    static const MPI_Op all_bits = MPI_BAND;
    const int length = needs_padding_ ? sizeof(Offer) / sizeof(std::uint64_t) : words + 1;
    // Ranks see the same answer, so they try again alike. Another thread of some rank may have been in the way; the
    // first thread to offer does so everywhere in the end.
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        Offer common = offer();
        const bool is_mine = common.is_made != 0;
        const int error = library().Allreduce(MPI_IN_PLACE, &common, length, word_type, all_bits, comm);
        const Context taken = settle(common, is_mine, error == MPI_SUCCESS);
        if (taken.exists() || error != MPI_SUCCESS || common.is_made != 0) return taken;
        std::this_thread::yield();
    }
    return {};
}

/// Takes the first of the contexts that all ranks offer.
Context Contexts::settle(const Offer& common, bool is_mine, bool success) {
    const std::lock_guard lock(mutex_);
    if (is_mine) offering_ = false;
    if (!success || common.is_made == 0) return {};
    const auto* word = std::ranges::find_if(common.free, [](std::uint64_t bits) { return bits != 0; });
    if (word == std::end(common.free)) return {};
    const auto index = static_cast<int>(word - std::begin(common.free));
    const int bit = std::countr_zero(*word);
    free_[index] &= ~(std::uint64_t{1} << bit);
    const Context taken = context(index * 64 + bit);
    owners_[static_cast<std::size_t>(taken.number())] = 1;
    return taken;
}

void Contexts::share(Context context) {
    const std::lock_guard lock(mutex_);
    ++owners_[static_cast<std::size_t>(context.number())];
}

void Contexts::give_back(Context context) {
    if (!context.exists()) return;
    const int number = context.number();
    const std::lock_guard lock(mutex_);
    if (--owners_[static_cast<std::size_t>(number)] == 0) free_[number / 64] |= std::uint64_t{1} << (number % 64);
}

}  // namespace rondo::mpi
