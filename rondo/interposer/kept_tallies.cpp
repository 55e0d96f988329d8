// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/kept_tallies.hpp"

#include <algorithm>
#include <new>

namespace rondo::interposer {

/// The layout of the file that python/rondo/launching/kept_counts.py reads. A file of zeros has not been written yet,
/// and is of no use.
struct KeptTallies::Image {
    static constexpr std::string_view kind = "rondo counts 3";

    std::array<char, 16> magic;
    std::uint64_t ended;
    std::array<char, sizeof(mpi::Tally) - 24> owner;  // ends with a zero
    std::array<std::array<std::byte, sizeof(mpi::Tally)>, 255> tallies;
};

std::string KeptTallies::open(const std::string& path, std::string_view owner) {
    static_assert(sizeof(Image) == 256 * sizeof(mpi::Tally));
    if (owner.size() >= sizeof(Image::owner)) return "too long a name of host or library";
    std::string problem = file_.open(path, sizeof(Image));
    if (!problem.empty()) return problem;
    image_ = static_cast<Image*>(file_.memory());
    std::ranges::copy(owner, image_->owner.begin());
    std::ranges::copy(Image::kind, image_->magic.begin());
    return "";
}

mpi::Tally* KeptTallies::add(const mpi::Treatment& treatment) {
    if (image_ == nullptr || tallies_ == image_->tallies.size()) return nullptr;
    return new (&image_->tallies[tallies_++]) mpi::Tally(treatment);
}

void KeptTallies::mark_ended() {
    if (image_ != nullptr) image_->ended = 1;
}

void KeptTallies::remove_file() { file_.remove(); }

}  // namespace rondo::interposer
