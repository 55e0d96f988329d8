// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rondo::mpi {

/// A table of facts about predefined handles, which is filled before anybody else can read it. Handles are integers in
/// one ABI and pointers in the others.
template <class Handle, class Facts, std::size_t slots>
class HandleTable {
  public:
    /// Adds an entry. The first one for a handle stays: aliases (MPI_LONG_LONG, MPI_LONG_LONG_INT) may share one.
    void add(Handle handle, const Facts& facts) {
        std::size_t slot = slot_of(handle);
        while (used_[slot]) {
            if (handles_[slot] == handle) return;
            slot = (slot + 1) % slots;
        }
        used_[slot] = true;
        handles_[slot] = handle;
        facts_[slot] = facts;
        added_[count_++] = slot;
    }

    /// Visits each entry, in the order in which they were added.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::size_t i = 0; i < count_; ++i) visit(handles_[added_[i]], facts_[added_[i]]);
    }

    [[nodiscard]] const Facts* find(Handle handle) const {
        for (std::size_t slot = slot_of(handle); used_[slot]; slot = (slot + 1) % slots) {
            if (handles_[slot] == handle) return &facts_[slot];
        }
        return nullptr;
    }

  private:
    static std::size_t slot_of(Handle handle) {
        std::uint64_t bits;
        if constexpr (std::is_pointer_v<Handle>) bits = reinterpret_cast<std::uintptr_t>(handle);
        else bits = static_cast<std::uint64_t>(handle);
        return static_cast<std::size_t>(bits * 0x9E3779B97F4A7C15U >> 40) % slots;
    }

    std::array<Handle, slots> handles_{};
    std::array<Facts, slots> facts_{};
    std::array<bool, slots> used_{};
    std::array<std::size_t, slots> added_{};
    std::size_t count_ = 0;
};

}  // namespace rondo::mpi
