// SPDX-License-Identifier: BSD-3-Clause
// What the MPI library reports among the arguments that MPI forbids. Such a call of one rank is for the library, and a
// call that the library carries out is for Rondo, too: the other ranks may be about to run a plan.
#pragma once

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace rondo::interposer::reported {

#ifdef RONDO_ABI_OPENMPI
/// A null address of data of a predefined type. With a derived datatype it may be MPI_BOTTOM.
constexpr bool null_buffers = false;
/// MPI_IN_PLACE for an output that means nothing on this rank.
constexpr bool unused_outputs = false;
/// MPI_IN_PLACE where an all-to-all brings nothing.
constexpr bool places_of_nothing = true;
/// Datatypes that are not committed, of what a rank receives, and of what a scatter sends.
constexpr bool all_types = false;
/// A buffer that is input and output at once; on the root of a reduction.
constexpr bool aliases() { return false; }
constexpr bool aliases_at_root() { return true; }
#else
constexpr bool null_buffers = true;
constexpr bool unused_outputs = true;
constexpr bool places_of_nothing = false;
constexpr bool all_types = true;

/// MPICH's family can be told not to look. Then such calls are carried out, and so they are by Rondo: in place.
inline bool aliases() {
    static const bool compares = [] {
        const auto says = [](const char* name, bool asked) {
            constexpr std::array no = {"", "0", "no", "off", "false", "disable", "n", "f", "d"};
            const char* const value = std::getenv(name);
            const auto is_value = [value](const char* word) { return strcasecmp(value, word) == 0; };
            return value != nullptr && std::ranges::any_of(no, is_value) != asked;
        };
        return !says("MPIR_CVAR_COLL_ALIAS_CHECK", false) && !says("MPIR_PARAM_COLL_ALIAS_CHECK", false) &&
               !says("MPICH_COLL_ALIAS_CHECK", false) && !says("MPICH_NO_BUFFER_ALIAS_CHECK", true);
    }();
    return compares;
}
inline bool aliases_at_root() { return aliases(); }
#endif

}  // namespace rondo::interposer::reported
