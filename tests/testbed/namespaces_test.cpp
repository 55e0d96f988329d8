// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/namespaces.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>

#include "testbed/failure.hpp"

namespace rondo::testbed {
namespace {

/// A process that waits to be ended.
class Sleeper {
  public:
    Sleeper() : process_(::fork()) {
        if (process_ != 0) return;
        ::alarm(60);
        while (true) ::pause();
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    ~Sleeper() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    /// Waits for a killed one, because a signal takes a moment.
    [[nodiscard]] bool lives(int milliseconds) const {
        for (; milliseconds >= 0; --milliseconds) {
            siginfo_t end{};
            ::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | WNOHANG | WNOWAIT);
            if (end.si_pid != 0) return false;
            ::poll(nullptr, 0, 1);
        }
        return true;
    }

  private:
    pid_t process_;
};

bool refuses(const std::function<void()>& act) {
    try {
        act();
    } catch (const Failure&) {
        return true;
    }
    return false;
}

int exit_code_of(const std::function<int()>& act) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(act());
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string text_of(int error, const std::string& what) {
    errno = error;
    return refused(what).what();
}

// Looking for a remedy reads files, and most are not there.
TEST(refused, names_the_error_of_the_call) {
    for (const int error : {EPERM, ENOSPC, EINVAL, ENOSYS}) {
        EXPECT_TRUE(text_of(error, "no nodes").starts_with(std::string("no nodes: ") + std::strerror(error)));
    }
}

constexpr int passed = 0, failed = 1, impossible = 77;

/// Runs `act` as the first process of a new PID namespace: what goes wrong there reaches nobody else.
int as_first_process(const std::function<int()>& act) {
    return exit_code_of([&] {
        if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return impossible;
        return exit_code_of(act);
    });
}

// This calls no more than the guard, so that a guard that fails ends a test and not the user's session.
TEST(kill_all_others, is_guarded_outside_a_namespace) {
    const Sleeper bystander;
    const std::string own = namespace_identity("self", "pid");
    EXPECT_TRUE(refuses([&] { require_first_process(own); }));
    if (::getpid() != 1) {
        EXPECT_TRUE(refuses([] { require_first_process("pid:[1]"); }));
    }
    EXPECT_TRUE(bystander.lives(20));
}

TEST(kill_all_others, kills_nobody_from_a_process_that_is_not_the_first) {
    const std::string outside = namespace_identity("self", "pid");
    const int code = as_first_process([&] {
        const Sleeper bystander;
        const int second = exit_code_of([&] { return refuses([&] { kill_all_others(outside); }) ? passed : failed; });
        return second == passed && bystander.lives(20) ? passed : failed;
    });
    if (code == impossible) GTEST_SKIP() << "this machine lets nobody make PID namespaces";
    EXPECT_EQ(code, passed);
}

TEST(kill_all_others, kills_nobody_from_a_first_process_that_was_outside) {
    const int code = as_first_process([] {
        const Sleeper bystander;
        const std::string own = namespace_identity("self", "pid");
        return refuses([&] { kill_all_others(own); }) && bystander.lives(20) ? passed : failed;
    });
    if (code == impossible) GTEST_SKIP() << "this machine lets nobody make PID namespaces";
    EXPECT_EQ(code, passed);
}

TEST(kill_all_others, empties_a_namespace_of_its_own) {
    const std::string outside = namespace_identity("self", "pid");
    const int code = as_first_process([&] {
        const Sleeper bystander;
        kill_all_others(outside);
        return bystander.lives(5000) ? failed : passed;
    });
    if (code == impossible) GTEST_SKIP() << "this machine lets nobody make PID namespaces";
    EXPECT_EQ(code, passed);
}

/// A directory with nothing but /proc and the file /mark.
class SmallRoot {
  public:
    SmallRoot() {
        for (const char* folder : {"", "/proc"}) std::filesystem::create_directory(path_ + folder);
        write_file(path_ + "/mark", "");
    }
    SmallRoot(const SmallRoot&) = delete;
    SmallRoot& operator=(const SmallRoot&) = delete;
    ~SmallRoot() {
        for (const char* entry : {"/mark", "/proc", ""}) std::filesystem::remove(path_ + entry);
    }
    /// In a namespace of mounts of our own.
    [[nodiscard]] bool enter() const {
        return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("/proc", (path_ + "/proc").c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
               ::chroot(path_.c_str()) == 0 && ::chdir("/") == 0;
    }

  private:
    std::string path_ = std::filesystem::temp_directory_path() / ("rondo-root-" + std::to_string(::getpid()));
};

TEST(separate_mounts, keeps_a_changed_root_directory_for_those_who_enter) {
    const SmallRoot root;
    const int code = as_first_process([&] {
        if (!root.enter()) return impossible;
        separate_mounts();
        enter_namespace(open_file("/proc/self/ns/mnt", O_RDONLY), "mnt");
        return ::access("/mark", F_OK) == 0 ? passed : failed;
    });
    if (code == impossible) GTEST_SKIP() << "this machine lets nobody change the root directory in namespaces";
    EXPECT_EQ(code, passed);
}

}  // namespace
}  // namespace rondo::testbed
