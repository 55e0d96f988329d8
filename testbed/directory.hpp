// SPDX-License-Identifier: BSD-3-Clause
// A cluster's directory: how commands find a running cluster.
#pragma once

#include <sys/types.h>

#include <string>

#include "testbed/files.hpp"
#include "testbed/options.hpp"

namespace rondo::testbed {

/// The absolute path of an existing directory.
std::string absolute(const std::string& directory);

/// Takes the cluster's lock, which is free again when the cluster has ended, however it ended.
Descriptor lock_directory(const std::string& directory);

/// The lock is held.
bool is_running(const std::string& directory);

/// Throws Failure if no cluster is running there.
void require_running(const std::string& directory);

/// Writes what users and launchers read: the names and addresses of the nodes, the stand-in for ssh; and the nodes'
/// /etc/hosts.
void describe(const std::string& directory, unsigned nodes);

/// Path of the nodes' /etc/hosts.
std::string hosts_table(const std::string& directory);

/// How the cluster's init is found.
struct Init {
    std::string outside;        ///< its number in the machine's /proc
    std::string inside;         ///< in the /proc of the nodes
    std::string pid_namespace;  ///< its identity

    void write(const std::string& directory) const;
    static Init read(const std::string& directory);

    /// The number in the /proc of the calling process.
    [[nodiscard]] const std::string& number() const;
    /// The calling process is in the cluster.
    [[nodiscard]] bool is_ours() const;
};

void write_supervisor(const std::string& directory);
pid_t read_supervisor(const std::string& directory);

inline std::string ready_file(const std::string& directory) { return directory + "/ready"; }

}  // namespace rondo::testbed
