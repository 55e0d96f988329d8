// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rondo/backends/shared_memory/layout.hpp"
#include "rondo/backends/shared_memory/spin_lock.hpp"

namespace rondo::shared_memory {

/// Memory of this process's region for messages that refer to it: a line in which the reader says that it has read,
/// then data. Four sizes to a power of two; what was given back serves for its size again. Safe with any number of
/// threads.
class Parcels {
  public:
    /// In the `bytes` from `first` on; borrows the region.
    Parcels(Region& region, std::size_t first, std::size_t bytes);

    /// The offset of the head of a parcel with room for so many bytes, not read; 0 if there is none.
    [[nodiscard]] std::uint64_t take(std::size_t bytes);
    void give_back(std::uint64_t parcel);
    /// Given back when its reader has read it.
    void leave(std::uint64_t parcel);

    [[nodiscard]] ParcelHead& head(std::uint64_t parcel) const { return *at<ParcelHead>(region_.data(), parcel); }
    [[nodiscard]] std::byte* data(std::uint64_t parcel) const { return region_.data() + parcel + sizeof(ParcelHead); }

  private:
    static constexpr std::size_t size_classes = 160;

    std::uint64_t take_of(std::uint32_t size_class);
    std::uint64_t take_new(std::uint32_t size_class);
    void free(std::uint64_t parcel);
    void free_left();

    Region& region_;
    std::size_t first_, last_;
    SpinLock lock_;                                   // of what follows
    std::size_t unused_;                              // from here on: never taken
    std::size_t committed_;                           // up to here: pages exist
    std::array<std::uint64_t, size_classes> free_{};  // the first of a list each
    std::uint64_t left_ = 0;                          // the same
};

}  // namespace rondo::shared_memory
