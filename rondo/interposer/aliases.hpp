// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace rondo::interposer {

/// MPICH's family reports a buffer that is input and output at once, unless it is told not to look. Then such calls are
/// carried out, and so they are by Rondo: in place.
inline bool library_compares_buffers() {
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

}  // namespace rondo::interposer
