// SPDX-License-Identifier: BSD-3-Clause
// The preload library for all programs of a site. Programs without MPI notice nothing: no name of MPI is to be found
// here. Where MPI is there when the program starts, the addresses that its objects keep of MPI's functions are
// replaced. For what is loaded later, names are shown that exist only where something else defines them, too. Which MPI
// it is, matters at the first call: then the library for its ABI is loaded, which lies beside this one
// (docs/explanation/interposition.md#one-library-for-a-site).
#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstring>

#include "rondo/core/switch.hpp"
#include "rondo/site/functions.hpp"
#include "rondo/site/object.hpp"

namespace rondo::site {
namespace {

// What scripts/generate_site.py and the linker's version script make of the names: a second version that is no default
// one. Lookups without a version pass over it; those for relocations, unlike dlsym's, accept the first one
// (glibc, elf/dl-lookup.c, check_match).
constexpr ElfW(Half) not_default = 0x8000, hidden_version = 3 | not_default, shown_version = 2 | not_default;

const int own_address = 0;

bool is_own(const Object& object) { return object.contains(&own_address); }

/// This library, or a copy of it at another path.
bool is_of_site(const Object& object) { return is_own(object) || std::strcmp(object.name(), "librondo.so") == 0; }

/// Another library of Rondo for calls of MPI, which somebody has preloaded into this program alone.
bool is_of_abi(const Object& object) { return std::strncmp(object.name(), "librondo_", 9) == 0; }

bool anybody_defines(const char* function) {
    const Name name(function);
    return any_object([&](const Object& each) { return !is_of_site(each) && !is_of_abi(each) && each.defines(name); });
}

/// One library of Rondo is enough: one for an ABI, or else the first copy of this.
bool another_serves() {
    bool is_first = false;
    any_object([&](const Object& each) {
        is_first = is_own(each);
        return is_of_site(each);
    });
    return !is_first || any_object(is_of_abi);
}

Function stand_in_for(const char* function) {
    if (std::strncmp(function, "MPI_", 4) != 0 && std::strncmp(function, "PMPI_", 5) != 0) return nullptr;
    std::size_t low = 0, high = number_of_names;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        const int order = std::strcmp(function, names[middle]);
        if (order == 0) return stand_ins[middle];
        (order < 0 ? high : low) = order < 0 ? middle : middle + 1;
    }
    return nullptr;
}

[[gnu::constructor]] void begin() {
    if (getauxval(AT_SECURE) != 0 || switched_off() || another_serves()) return;
    const bool has_mpi = anybody_defines("PMPI_Init");
    any_object([&](Object each) {
        if (is_own(each)) each.change_version(hidden_version, shown_version);
        else if (has_mpi) each.redirect(stand_in_for);
        return false;
    });
}

}  // namespace

Function found_later(std::size_t function) { return anybody_defines(names[function]) ? stand_ins[function] : nullptr; }

}  // namespace rondo::site
