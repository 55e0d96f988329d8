// SPDX-License-Identifier: BSD-3-Clause
// Which of the argument errors that MPI names the MPI library reports. A call that it reports on one rank is left to
// it; one that it carries out Rondo carries out, too: the other ranks may be about to run a plan.
#pragma once

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace rondo::interposer::reported {

#ifdef RONDO_ABI_OPENMPI
/// True if a null address of data of a predefined type is reported. With a derived datatype it may be MPI_BOTTOM.
constexpr bool null_buffers = false;
/// True if MPI_IN_PLACE is reported for an output that is not significant on this rank.
constexpr bool unused_outputs = false;
/// True if MPI_IN_PLACE is reported where an all-to-all brings nothing.
constexpr bool places_of_nothing = true;
/// True if a null datatype of an empty part is reported.
constexpr bool types_of_nothing = true;
/// True if uncommitted datatypes are reported also for what a rank receives, and for what a scatter sends.
constexpr bool all_types = false;
/// True if a buffer that is input and output at once is reported: elsewhere, or on the root of a reduction.
constexpr bool aliases() { return false; }
constexpr bool aliases_at_root() { return true; }
#else
constexpr bool null_buffers = true;
constexpr bool unused_outputs = true;
constexpr bool places_of_nothing = false;
constexpr bool types_of_nothing = false;
constexpr bool all_types = true;

/// MPICH's family can be told not to compare buffers. Then the library carries such calls out in place, and so does
/// Rondo.
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
