// SPDX-License-Identifier: BSD-3-Clause
// A cluster's life: two processes, of which the kernel ends one with the other.
//
// The supervisor is all that the outside sees. Its child, the init of a PID namespace, makes the nodes and is the
// switch then. With the init the kernel ends every process of the cluster, and when they are gone no namespace, device,
// mount or shared memory of the cluster is left; with the supervisor the kernel ends the init.
#pragma once

#include "testbed/options.hpp"

namespace rondo::testbed {

/// Runs a cluster until a signal asks for its end, or, if it is not detached, until the parent dies. The exit code.
int up(const UpOptions& options);

/// Ends a cluster and waits until it is gone. None may be running.
void down(const std::string& given_directory);

}  // namespace rondo::testbed
