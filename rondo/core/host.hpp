// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace rondo {

/// The name of this host. Several nodes may have one name, but mostly do not.
std::string host_name();

/// A text that is equal in all processes that one kernel has run since it started, in most kinds of containers, too:
/// they share processors, and read the same clock. (LXC and systemd-nspawn give each container its own. Virtual
/// machines that were resumed from one snapshot have the same.) Empty if the system does not say.
std::string boot_id();

/// A text that is equal in all processes of a machine: its boot_id, or the name of the host where there is none.
std::string machine_identity();

}  // namespace rondo
