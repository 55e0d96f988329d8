// SPDX-License-Identifier: BSD-3-Clause
// Linux namespaces. Everything that cannot be done throws Failure, which says what to enable.
#pragma once

#include <array>
#include <string>

#include "testbed/failure.hpp"
#include "testbed/files.hpp"

namespace rondo::testbed {

struct NodeNamespace {
    const char* name;  ///< in /proc/<process>/ns
    int flag;          ///< of unshare(2)
};
/// What each node has of its own.
extern const std::array<NodeNamespace, 4> node_namespaces;

/// The failure of a system call on namespaces that has just set errno, with what to do about it where that is known.
Failure refused(const std::string& what);

/// Leaves all namespaces that a cluster has of its own, but for that of mounts. With the privileges for it as they are,
/// else as root of a user namespace. Children will be in a new PID namespace, of which the first is the init; the
/// caller itself stays outside.
void leave_namespaces();

/// As the init, leaves the namespace of mounts: no mount reaches the outside, and /proc shows the new PID namespace,
/// where the kernel allows that. A changed root directory (chroot) stays the root of all that enter the new one.
void separate_mounts();

/// The namespaces of the calling process, to come back to.
class NodeNamespaces {
  public:
    NodeNamespaces();

    void enter() const;
    void enter_network() const;

    /// Path of the network namespace, for the children of the process with this number in /proc.
    [[nodiscard]] std::string network_path(const std::string& process) const;

    /// Moves the descriptors to the numbers of this node, where find() looks for them.
    void hold_for(unsigned node);

    /// Those that the process held for the node. `process` as /proc shows it.
    static NodeNamespaces find(const std::string& process, unsigned node);

  private:
    explicit NodeNamespaces(std::array<Descriptor, 4> descriptors) : descriptors_(std::move(descriptors)) {}

    std::array<Descriptor, 4> descriptors_;
};

/// Identity of a namespace of a process; changes never.
std::string namespace_identity(const std::string& process, const std::string& name);

/// Throws Failure unless the calling process is the first of a PID namespace other than `outside` (its identity).
void require_first_process(const std::string& outside);

/// Ends every other process of the calling process's PID namespace, at once. Throws Failure where that would reach
/// processes that are not the cluster's: require_first_process().
void kill_all_others(const std::string& outside);

/// Enters a namespace of a process by its path in /proc.
void enter_namespace(const Descriptor& name_space, const std::string& what);

}  // namespace rondo::testbed
