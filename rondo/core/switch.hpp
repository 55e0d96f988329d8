// SPDX-License-Identifier: BSD-3-Clause
// The variables that switch Rondo off. Nothing of C++'s library is needed: programs without MPI come by here, too.
#pragma once

#include <strings.h>

#include <cstdlib>
#include <initializer_list>

namespace rondo {

/// What people write for yes and no, in capitals as well.
inline bool means_yes(const char* value) {
    for (const char* each : {"1", "on", "yes", "true"}) {
        if (strcasecmp(value, each) == 0) return true;
    }
    return false;
}

inline bool means_no(const char* value) {
    for (const char* each : {"0", "off", "no", "false"}) {
        if (strcasecmp(value, each) == 0) return true;
    }
    return false;
}

/// True if the environment wants nothing of Rondo in this process: RONDO_DISABLE=1, or RONDO=off.
inline bool switched_off() {
    const char* const disable = std::getenv("RONDO_DISABLE");
    const char* const master = std::getenv("RONDO");
    return (disable != nullptr && *disable != '\0' && !means_no(disable)) || (master != nullptr && means_no(master));
}

/// What a program is told that wants to talk to Rondo, and cannot.
inline constexpr const char* nobody_there =
    "Rondo has nothing to do with this process: MPI is not initialised, or Rondo is switched off (RONDO_DISABLE), or "
    "its "
    "library is that of another MPI";

}  // namespace rondo
