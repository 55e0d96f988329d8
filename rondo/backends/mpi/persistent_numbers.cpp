// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/persistent_numbers.hpp"

#include <algorithm>
#include <bit>

namespace rondo::mpi {

std::optional<std::uint32_t> PersistentNumbers::take(MPI_Comm comm, std::uint32_t limit) {
    if (!is_begun_) is_free_ = all_below(limit);
    is_begun_ = true;
    std::optional<std::uint32_t> number = take_free();
    if (!number) {
        ask(comm, limit);
        number = take_free();
    }
    if (number) is_needed_[*number / 64] |= bit(*number);
    return number;
}

PersistentNumbers::Bits PersistentNumbers::all_below(std::uint32_t limit) {
    Bits all{};
    for (std::uint32_t number = 0; number < std::min(limit, most); ++number) all[number / 64] |= bit(number);
    return all;
}

/// Finds out which numbers no rank needs.
void PersistentNumbers::ask(MPI_Comm comm, std::uint32_t limit) {
    Bits common = all_below(limit);
    for (std::size_t word = 0; word < words; ++word) common[word] &= ~is_needed_[word];
    static const MPI_Datatype word_type = MPI_UINT64_T;
    static const MPI_Op all_bits = MPI_BAND;
    const int error = library().Allreduce(MPI_IN_PLACE, common.data(), words, word_type, all_bits, comm);
    if (error == MPI_SUCCESS) is_free_ = common;
}

std::optional<std::uint32_t> PersistentNumbers::take_free() {
    const auto word = std::ranges::find_if(is_free_, [](std::uint64_t bits) { return bits != 0; });
    if (word == is_free_.end()) return std::nullopt;
    const auto number = static_cast<std::uint32_t>((word - is_free_.begin()) * 64 + std::countr_zero(*word));
    *word &= *word - 1;
    return number;
}

}  // namespace rondo::mpi
