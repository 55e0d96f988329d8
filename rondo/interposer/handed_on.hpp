// SPDX-License-Identifier: BSD-3-Clause
// The shortest way for calls that the rules leave to the library: a call like the last one needs no second look.
// Without <mpi.h>.
#pragma once

#include <cstdint>

#include "rondo/backends/mpi/era.hpp"
#include "rondo/interposer/left_calls.hpp"

namespace rondo::interposer {

/// A pointer, or an integer in the lower bits.
using Word = std::uintptr_t;

/// What decides where calls of one function go, as its caller gave it: equal words, equal end, while the era lasts.
struct CallWords {
    Word comm, count, datatype, op, root;
    friend bool operator==(const CallWords&, const CallWords&) = default;
};

/// The last call of a function by one thread on a communicator, if it went to the library and the next one like it
/// would, too: its datatype and operator are predefined, so that their handles cannot come to mean something else.
struct HandedOn {
    CallWords words;
    std::uint64_t era = 0;   ///< in which this holds; 0: never
    void* native = nullptr;  ///< the library's function
    std::size_t collective = 0;
    const char* reason = "";

    [[nodiscard]] bool holds_for(const CallWords& call) const { return words == call && era == mpi::era(); }
};

#ifdef RONDO_ABI_MPICH
using HandleWord = std::uint32_t;  // handles are ints
#else
using HandleWord = std::uintptr_t;
#endif

/// Where to remember a call on a communicator, of so many places.
inline constexpr std::size_t places = 4;
inline std::size_t place_of(Word comm) { return (comm ^ comm >> 9) % places; }

}  // namespace rondo::interposer
