// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "testbed/options.hpp"

namespace rondo::testbed {

/// Changes the network of a running cluster.
void change_network(const std::string& given_directory, const Change& change);

/// Prints the network's figures and counters as JSON; `reset` has the counters start again.
void print_statistics(const std::string& given_directory, bool reset);

}  // namespace rondo::testbed
