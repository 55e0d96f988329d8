// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/namespaces.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

namespace rondo::testbed {
namespace {

constexpr int first_held = 16;  // descriptors below are for everything else while nodes are made

bool has_privileges() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
    if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
    return std::ranges::all_of(std::array{CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_NET_RAW},
                               [&](int capability) { return (data[0].effective >> capability & 1U) != 0; });
}

bool says(const std::string& path, const std::string& value) {
    try {
        return read_file(path) == value + "\n";
    } catch (const Failure&) {
        return false;
    }
}

// In a changed root directory (chroot) "/" is the root of no mount, mostly.
bool has_changed_root() {
    struct statx place{};
    if (::statx(AT_FDCWD, "/", AT_SYMLINK_NOFOLLOW, STATX_TYPE, &place) != 0) return false;
    return (place.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0 &&
           (place.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0;
}

/// What lets users make namespaces, where something known keeps them from it; `error` is the kernel's.
std::string remedy(int error) {
    for (const char* limit : {"user", "net", "pid", "mnt", "uts", "ipc"}) {
        const std::string name = std::string("max_") + limit + "_namespaces";
        if (says("/proc/sys/user/" + name, "0")) return "; as root, sysctl user." + name + "=10000";
    }
    if (error == ENOSPC) return "; there are as many as sysctl user.max_*_namespaces and their nesting allow";
    if (says("/proc/sys/kernel/unprivileged_userns_clone", "0")) {
        return "; as root, sysctl kernel.unprivileged_userns_clone=1";
    }
    if (says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")) {
        return "; as root, sysctl kernel.apparmor_restrict_unprivileged_userns=0";
    }
    if (has_changed_root()) return "; in a changed root directory (chroot) that takes root's privileges";
    if (error != EPERM && error != EACCES && error != ENOSYS) return "";
    return "; in a container, start it with --privileged or with a seccomp profile that allows them";
}

void map_self_to_root(uid_t user, gid_t group) {
    try {
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
        write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
    } catch (const Failure& failure) {
        throw Failure("cannot become root of a user namespace: " + (failure.what() + remedy(EPERM)));
    }
}

bool are_the_same(const Descriptor& one, const Descriptor& other) {
    struct stat first{}, second{};
    return ::fstat(one.number(), &first) == 0 && ::fstat(other.number(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Whoever enters a namespace of mounts gets that namespace's root directory, so ours has to become it.
void keep_changed_root() {
    const Descriptor ours = open_file("/", O_PATH | O_DIRECTORY);
    enter_namespace(open_file("/proc/self/ns/mnt", O_RDONLY), "mnt");
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) throw refused("cannot separate the mounts");
    if (are_the_same(ours, open_file("/", O_PATH | O_DIRECTORY))) return;
    std::array<char, PATH_MAX> path;
    // Coming again by its path leads onto the mount that has just been made of it.
    const bool is_mounted = ::fchdir(ours.number()) == 0 &&
                            ::mount(".", ".", nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
                            ::getcwd(path.data(), path.size()) != nullptr && ::chdir(path.data()) == 0;
    if (!is_mounted || ::syscall(SYS_pivot_root, ".", ".") != 0 || ::umount2(".", MNT_DETACH) != 0) {
        throw system_failure("cannot keep the changed root directory (chroot) in namespaces of its own");
    }
}

// A cluster of many nodes holds more descriptors than the usual soft limit.
void raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

int held_number(unsigned node, std::size_t kind) {
    return first_held + static_cast<int>(node_namespaces.size() * node + kind);
}

}  // namespace

const std::array<NodeNamespace, 4> node_namespaces{
    {{"net", CLONE_NEWNET}, {"uts", CLONE_NEWUTS}, {"ipc", CLONE_NEWIPC}, {"mnt", CLONE_NEWNS}}};

Failure refused(const std::string& what) {
    const int error = errno;  // which looking for a remedy changes
    return Failure(what + ": " + std::strerror(error) + remedy(error));
}

void leave_namespaces() {
    raise_descriptor_limit();
    constexpr int flags = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID;
    if (has_privileges() && ::unshare(flags) == 0) return;
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (::unshare(CLONE_NEWUSER | flags) != 0) throw refused("this machine lets you make no user namespaces");
    map_self_to_root(user, group);
    if (!has_privileges()) throw Failure("user namespaces give no privileges on this machine" + remedy(EPERM));
}

void separate_mounts() {
    if (::unshare(CLONE_NEWNS) != 0) throw refused("cannot make a namespace of mounts");
    keep_changed_root();
    // Where parts of /proc are hidden, as in most containers, the old one stays: process numbers are then those
    // outside.
    ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

NodeNamespaces::NodeNamespaces() {
    for (std::size_t kind = 0; kind < descriptors_.size(); ++kind) {
        descriptors_[kind] = open_file(std::string("/proc/self/ns/") + node_namespaces[kind].name, O_RDONLY);
    }
}

void NodeNamespaces::enter() const {
    for (std::size_t kind = 0; kind < descriptors_.size(); ++kind) {
        enter_namespace(descriptors_[kind], node_namespaces[kind].name);
    }
}

void NodeNamespaces::enter_network() const { enter_namespace(descriptors_[0], node_namespaces[0].name); }

std::string NodeNamespaces::network_path(const std::string& process) const {
    return "/proc/" + process + "/fd/" + std::to_string(descriptors_[0].number());
}

void NodeNamespaces::hold_for(unsigned node) {
    for (std::size_t kind = 0; kind < descriptors_.size(); ++kind) {
        const int number = ::dup3(descriptors_[kind].number(), held_number(node, kind), O_CLOEXEC);
        if (number < 0) throw Failure("too many open files for " + std::to_string(node) + " nodes; ulimit -n 4096");
        descriptors_[kind] = Descriptor(number);
    }
}

NodeNamespaces NodeNamespaces::find(const std::string& process, unsigned node) {
    std::array<Descriptor, 4> descriptors;
    for (std::size_t kind = 0; kind < descriptors.size(); ++kind) {
        descriptors[kind] = open_file("/proc/" + process + "/fd/" + std::to_string(held_number(node, kind)), O_RDONLY);
    }
    return NodeNamespaces(std::move(descriptors));
}

std::string namespace_identity(const std::string& process, const std::string& name) {
    const std::string path = "/proc/" + process + "/ns/" + name;
    std::array<char, 64> target;
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) throw system_failure("cannot read " + path);
    return {target.data(), static_cast<std::size_t>(length)};
}

void require_first_process(const std::string& outside) {
    const std::string inside = namespace_identity("self", "pid");
    if (::getpid() == 1 && inside != outside) return;
    throw Failure("process " + std::to_string(::getpid()) + " of " + inside +
                  " is not the first of a PID namespace of its own (the outside is " + outside + ")");
}

// Outside such a namespace, kill(-1) ends all that the user runs.
void kill_all_others(const std::string& outside) {
    require_first_process(outside);
    ::kill(-1, SIGKILL);
}

void enter_namespace(const Descriptor& name_space, const std::string& what) {
    if (::setns(name_space.number(), 0) != 0) throw system_failure("cannot enter a namespace (" + what + ")");
}

}  // namespace rondo::testbed
