// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

namespace rondo::mpi {

/// Room for data of another part of Rondo. It is there before it is needed, because a rank that had no memory for it
/// would go another way than the others.
template <std::size_t bytes>
class Slot {
  public:
    /// Returns the data that are kept, which are always of one type. The first call makes them.
    template <class Kept>
    Kept& get() {
        static_assert(sizeof(Kept) <= bytes && alignof(Kept) <= alignof(std::max_align_t));
        static_assert(std::is_trivially_destructible_v<Kept>);
        if (kept_ == nullptr) kept_ = new (room_.data()) Kept;
        return *static_cast<Kept*>(kept_);
    }

  private:
    void* kept_ = nullptr;
    alignas(std::max_align_t) std::array<std::byte, bytes> room_;
};

}  // namespace rondo::mpi
