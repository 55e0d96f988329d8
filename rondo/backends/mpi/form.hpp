// SPDX-License-Identifier: BSD-3-Clause
// The forms of MPI's collectives. Without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace rondo::mpi {

/// When a function returns.
enum class Form : std::uint8_t {
    blocking,
    nonblocking,  ///< at once, with a request (MPI_I...)
    persistent,   ///< at once, with a request by which the program starts the call again and again (MPI_..._init)
};

/// The names that reports give to the forms.
inline constexpr std::string_view names_of_forms[] = {"", "nonblocking", "persistent"};
inline constexpr std::size_t number_of_forms = std::size(names_of_forms);

}  // namespace rondo::mpi
