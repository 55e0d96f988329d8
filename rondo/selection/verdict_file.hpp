// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rondo/selection/verdicts.hpp"

namespace rondo {

/// node017.cluster -> node: all nodes of a cluster have one name then.
std::string name_of_hosts(std::string_view host);

/// Of the file about an MPI library ("MPICH Version 5.0.2") on a machine, by the name of a host and the fingerprint of
/// its figures. What was found out elsewhere, or by another version of Rondo, says nothing here.
std::string verdict_file_name(std::string_view host, std::string_view library_version, std::string_view rondo_version,
                              std::uint64_t machine);

/// Makes the directories above a path, as far as they can be made.
void make_parents(const std::string& path);

/// The name of the machine file that Rondo has made itself, by the name of a host and the MPI library.
std::string measured_machine_file_name(std::string_view host, std::string_view library_version);

/// Reads a file of verdicts, which may not be there yet, with malformed lines left out, lets `change` change it, and
/// writes it as write_shared does. Processes that do so at once take turns, and wait a second at most. Empty if that
/// worked; else why not, and the file is as it was. Throws std::bad_alloc, and what `change` throws.
std::string update_verdicts(const std::string& path, const std::function<void(Verdicts&)>& change);

}  // namespace rondo
