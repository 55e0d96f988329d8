// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace rondo::testbed {

/// Runs a command on a node. In the cluster it takes the place of this process; from outside it is a child with the
/// same terminal that gets this process's signals and dies with it. The exit code, 128 + n if signal n ended the
/// command.
int enter(const std::string& given_directory, const std::string& node_name, std::vector<std::string> command);

}  // namespace rondo::testbed
