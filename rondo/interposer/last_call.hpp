// SPDX-License-Identifier: BSD-3-Clause
// The shortest way for calls like the last one: they need no second look. Without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rondo/backends/mpi/era.hpp"
#include "rondo/interposer/left_calls.hpp"

namespace rondo::interposer {

/// A pointer, or an integer in the lower bits.
using Word = std::uintptr_t;

/// What decides where calls of one function go, as its caller gave it: equal words, equal end, while the era lasts.
struct CallWords {
    Word comm, count, datatype, op, root;
    /// Without a branch for each word.
    friend bool operator==(const CallWords& a, const CallWords& b) {
        return ((a.comm ^ b.comm) | (a.count ^ b.count) | (a.datatype ^ b.datatype) | (a.op ^ b.op) |
                (a.root ^ b.root)) == 0;
    }
};

/// The last call of a function by one thread on a communicator, if the next one like it goes the same way: its datatype
/// and operator are predefined, so that their handles cannot come to mean something else.
struct LastCall {
    CallWords words{};
    std::uint64_t era = 0;              ///< in which this holds; 0: never
    void* native = nullptr;             ///< the library's function, if it went there
    std::size_t collective = 0;         ///< then
    const char* reason = "";            ///< then
    alignas(8) std::byte served[88]{};  ///< what Rondo has to know again, if it carried the call out

    [[nodiscard]] bool holds_for(const CallWords& call) const { return words == call && era == mpi::era(); }
    void forget(const CallWords& call) {
        words = call;
        era = 0;
        native = nullptr;
    }
};

#ifdef RONDO_ABI_MPICH
using HandleWord = std::uint32_t;  // handles are ints
#else
using HandleWord = std::uintptr_t;
#endif

/// Where to remember a call on a communicator, of so many places.
inline constexpr std::size_t places = 4;
inline std::size_t place_of(Word comm) { return (comm ^ comm >> 8) % places; }

}  // namespace rondo::interposer
