// SPDX-License-Identifier: BSD-3-Clause
// What the system may refuse, and what is left of processes that end: reasons in plain words, another way, and nothing.
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <thread>

#include "tests/backends/shared_memory/filter_calls.hpp"
#include "tests/backends/shared_memory/processes.hpp"

namespace rondo::shared_memory {
namespace {

using testing::HasSubstr;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Holds for this process while it lives.
class Limit {
  public:
    Limit(__rlimit_resource resource, rlim_t most) : resource_(resource) {
        ::getrlimit(resource, &before_);
        const rlimit limits{most, before_.rlim_max};
        if (::setrlimit(resource, &limits) != 0) ::_exit(3);
    }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;
    ~Limit() { ::setrlimit(resource_, &before_); }

  private:
    __rlimit_resource resource_;
    rlimit before_{};
};

/// From now on this process may not make that system call; all of them, or those with such a third argument.
void forbid(unsigned call, unsigned error, std::optional<unsigned> third = {}) {
    filter_calls(call, SECCOMP_RET_ERRNO | error, third);
}

void forbid_reading_processes(unsigned error = EPERM) { forbid(SYS_process_vm_readv, error); }

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Ranges of addresses of a process that show a file of such a name.
int mapped(const std::string& name, const std::string& process) {
    std::ifstream maps("/proc/" + process + "/maps");
    int ranges = 0;
    for (std::string line; std::getline(maps, line);) ranges += line.find(name) != std::string::npos ? 1 : 0;
    return ranges;
}

/// Its own, or another's, each from its beginning, which is opened on its own.
int mapped_regions(const std::string& process) {
    std::ifstream maps("/proc/" + process + "/maps");
    int regions = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.find("/memfd:rondo") != std::string::npos && line.find(" 00000000 ") != std::string::npos) ++regions;
    }
    return regions;
}

/// Bytes of all regions that have pages in this process.
std::size_t resident_in_regions() {
    std::ifstream ranges("/proc/self/smaps");
    std::size_t kibibytes = 0;
    bool is_region = false;
    for (std::string line; std::getline(ranges, line);) {
        const bool is_field = line.find(':') < line.find(' ');
        if (!is_field) is_region = line.find("/memfd:rondo") != std::string::npos;
        else if (is_region && line.starts_with("Rss:")) kibibytes += std::stoul(line.substr(4));
    }
    return kibibytes << 10;
}

std::string why_no_neighbours(__rlimit_resource resource, rlim_t most, const Options& options = {}) {
    try {
        const Limit limit(resource, most);
        const Neighbours neighbours(0, 2, options);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

/// Sends to the other of two processes and receives the same from it.
void swap_data(Process& process, Transfers& transfers, std::size_t bytes) {
    std::vector<std::byte> mine(bytes), theirs(bytes), expected(bytes);
    fill(mine, static_cast<std::uint64_t>(process.self()));
    fill(expected, static_cast<std::uint64_t>(1 - process.self()));
    transfers.receive(1 - process.self(), 0, theirs.data(), bytes, 0);
    transfers.send(1 - process.self(), 0, mine.data(), bytes, 1);
    process.poll_until_idle(transfers);
    process.require(theirs == expected, "wrong data");
}

void require_reason(Process& process, const std::string& reason, const std::string& part) {
    process.require(reason.find(part) != std::string::npos, "reason: " + reason);
}

TEST(shared_memory_refusals, are_told_where_there_can_be_no_region) {
    EXPECT_THAT(why_no_neighbours(RLIMIT_NOFILE, 0), HasSubstr("Too many open files"));
    // Without a look at the limit the system would end the process.
    EXPECT_THAT(why_no_neighbours(RLIMIT_FSIZE, 100 * mebibyte), HasSubstr("ulimit -f"));
    EXPECT_EQ(why_no_neighbours(RLIMIT_FSIZE, 100 * mebibyte, {.parcel_bytes = mebibyte}), "");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they take addresses of their own
    EXPECT_THAT(why_no_neighbours(RLIMIT_AS, 200 * mebibyte), HasSubstr("Cannot allocate memory"));
#endif
}

TEST(shared_memory_refusals, of_pages_are_no_crash) {
    Region region(mebibyte);
    EXPECT_TRUE(region.commit(0, mebibyte / 2));
    const std::string path = "/proc/self/fd/" + std::to_string(region.address().descriptor);
    ASSERT_EQ(::truncate(path.c_str(), mebibyte / 2), 0);  // a store beyond would be SIGBUS, as without memory
    EXPECT_FALSE(region.commit(mebibyte / 4, mebibyte / 2));
    Parcels parcels(region, 4096, mebibyte - 4096);
    EXPECT_NE(parcels.take(mebibyte / 4), 0U);
    EXPECT_EQ(parcels.take(mebibyte / 2), 0U);
}

TEST(shared_memory_refusals, of_memory_that_is_shared_are_told) {
    const Cast cast(1, Role([](Process& process) {
                        forbid(SYS_memfd_create, EPERM);
                        try {
                            const Neighbours neighbours(0, 2);
                            process.require(false, "has memory to share");
                        } catch (const Error& error) {
                            require_reason(process, error.what(), "(memfd_create): Operation not permitted");
                        }
                    }));
}

TEST(shared_memory_refusals, of_descriptors_are_none_of_pages) {
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet();
                        Region region(mebibyte);
                        if (::madvise(nullptr, 0, MADV_POPULATE_WRITE) != 0) return;  // before Linux 5.14
                        const Limit limit(RLIMIT_NOFILE, 0);
                        process.require(region.commit(0, mebibyte), "no memory");
                        Transfers transfers(*neighbours);
                        swap_data(process, transfers, 3 * mebibyte);
                        process.wait_for_all();
                    }));
}

TEST(shared_memory_refusals, of_the_newer_way_to_make_pages_are_gone_around) {
    const Cast cast(2, Role([](Process& process) {
                        forbid(SYS_madvise, EINVAL, MADV_POPULATE_WRITE);
                        Region region(mebibyte);
                        process.require(region.commit(0, mebibyte), "no memory");
                        const auto neighbours = process.meet();
                        Transfers transfers(*neighbours);
                        swap_data(process, transfers, 3 * mebibyte);
                        process.wait_for_all();
                    }));
}

TEST(shared_memory_refusals, to_read_in_processes_are_known_before_the_first_message) {
    for (const unsigned error : {EPERM, ENOSYS}) {
        const Cast cast(2, Role([&](Process& process) {
                            // One side alone; then the other one reads.
                            if (process.self() == 1) forbid_reading_processes(error);
                            const auto neighbours = process.meet(by_address);
                            process.require(neighbours->reaches(1 - process.self()), "not reached");
                            Transfers transfers(*neighbours);
                            std::vector<std::byte> data(mebibyte / 4);
                            transfers.send(1 - process.self(), 0, data.data(), data.size(), 0);
                            // Who sends pieces does not wait for the reader.
                            process.require(transfers.idle() == (process.self() == 0), "another way");
                            process.wait_for_all();
                            transfers.receive(1 - process.self(), 0, data.data(), data.size(), 1);
                            process.poll_until_idle(transfers);
                            swap_data(process, transfers, 3 * mebibyte);
                            process.require(neighbours->sent().messages == 2, "miscounted messages");
                            process.require(neighbours->sent().bytes == 3 * mebibyte + mebibyte / 4,
                                            "miscounted bytes");
                            process.wait_for_all();
                        }));
    }
}

TEST(shared_memory, is_read_in_a_neighbour_by_who_may_alone) {
    std::array<Neighbours, 2> neighbours{Neighbours(0, 2, by_address), Neighbours(1, 2, by_address)};
    neighbours[0].connect(1, neighbours[1].address(), false);
    neighbours[1].connect(0, neighbours[0].address());
    for (Neighbours& each : neighbours) each.settle();
    const std::vector<std::byte> data(50000);
    for (const int self : {0, 1}) {
        Transfers transfers(neighbours[static_cast<std::size_t>(self)]);
        const bool is_complete = transfers.send(1 - self, 0, data.data(), data.size(), 0);
        EXPECT_EQ(is_complete, self == 1) << self;  // a copy of the data is on its way
    }
}

TEST(shared_memory_refusals, to_read_in_processes_later_are_gone_around) {
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet(by_address);
                        Transfers transfers(*neighbours);
                        swap_data(process, transfers, 3 * mebibyte);
                        if (process.self() == 1) forbid_reading_processes();
                        for (const std::size_t bytes : {20000 * std::size_t{1}, 3 * mebibyte, 3 * mebibyte})
                            swap_data(process, transfers, bytes);
                        process.require(neighbours->sent().messages == 4, "miscounted messages");
                        process.require(neighbours->sent().bytes == 9 * mebibyte + 20000, "miscounted bytes");
                        process.wait_for_all();
                    }));
}

/// The sender would copy the end of a long message into the reader.
TEST(shared_memory_refusals, to_write_in_processes_leave_all_of_a_message_to_its_reader) {
    for (const unsigned error : {EPERM, ENOSYS}) {
        const Cast cast(2, Role([error](Process& process) {
                            if (process.self() == 1) forbid(SYS_process_vm_writev, error);
                            const auto neighbours = process.meet(by_address);
                            Transfers transfers(*neighbours);
                            for (const std::size_t bytes : {3 * mebibyte, 20000 * std::size_t{1}, 3 * mebibyte})
                                swap_data(process, transfers, bytes);
                            process.require(neighbours->sent().messages == 3, "miscounted messages");
                            process.require(neighbours->sent().bytes == 6 * mebibyte + 20000, "miscounted bytes");
                            process.wait_for_all();
                        }));
    }
}

/// In another process namespace the reader's number may be another process's; here it is the sender's own.
TEST(shared_memory_refusals, to_read_in_the_reader_keep_its_sender_from_writing_there) {
    static std::vector<std::byte> target;  // in all processes at the same address
    target.assign(3 * mebibyte, std::byte{0});
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet(by_address, [&] {
                            if (process.self() == 1) process.board().addresses[0].process = ::getpid();
                        });
                        Transfers transfers(*neighbours);
                        std::vector<std::byte> mine(target.size());
                        fill(mine, 1);
                        if (process.self() == 0) {
                            transfers.receive(1, 0, target.data(), target.size(), 0);
                            process.wait_until([&] { return transfers.poll().moved; });
                            process.board().signal = 1;
                            process.wait_until([&] { return process.board().signal == 2; });
                            process.poll_until_idle(transfers);
                            process.require(target == mine, "wrong data");
                        } else {
                            transfers.send(0, 0, mine.data(), mine.size(), 0);
                            process.wait_until([&] { return process.board().signal == 1; });
                            for (int polls = 0; polls < 20; ++polls) (void)transfers.poll();
                            process.board().signal = 2;
                            process.poll_until_idle(transfers);
                            const std::vector<std::byte> untouched(target.size());
                            process.require(target == untouched, "has written into another process");
                        }
                    }));
}

TEST(shared_memory_refusals, to_read_in_another_process_namespace_or_process_are_found_out) {
    const Region region(mebibyte);
    RegionAddress address = region.address();
    EXPECT_TRUE(can_read_process(address));
    ++address.key[1];  // another process of that number would not have it
    EXPECT_FALSE(can_read_process(address));
    address = region.address();
    address.private_key = 0;
    EXPECT_FALSE(can_read_process(address));
    address = region.address();
    address.process = 1 << 30;
    EXPECT_FALSE(can_read_process(address));
}

/// Both must find the same: who can reach whom is no question of one side.
void expect_no_reach(const std::function<void(Process&)>& change, const std::string& reason) {
    const Cast cast(2, Role([&](Process& process) {
                        const auto neighbours = process.meet({}, [&] { change(process); });
                        const std::string& told = neighbours->reason(1 - process.self());
                        process.require(!neighbours->reaches(1 - process.self()), "reached");
                        if (process.self() == 1) require_reason(process, told, reason);
                        else process.require(!told.empty(), "no reason");
                    }));
}

TEST(shared_memory_refusals, of_one_side_hold_for_both) {
    expect_no_reach(
        [](Process& process) {
            if (process.self() == 1) static const Limit to_the_end(RLIMIT_NOFILE, 3);
        },
        "cannot be opened: Too many open files");
    expect_no_reach([](Process& process) { process.board().addresses[0].inode = 1; },
                    "has something else where its shared memory should be");
    expect_no_reach([](Process& process) { process.board().addresses[0].key = {1, 2}; }, "is not what it should be");
    expect_no_reach([](Process& process) { process.board().addresses[0].process_in_proc = 1 << 30; },
                    "is not to be seen in /proc");
}

TEST(shared_memory_refusals, of_another_user_hold_for_both) {
    if (::getuid() != 0) GTEST_SKIP() << "only root can be another user";
    expect_no_reach(
        [](Process& process) {
            if (process.self() == 1 && ::setuid(65534) != 0) ::_exit(3);
        },
        "Permission denied");
}

TEST(shared_memory_refusals, of_another_process_namespace_are_named) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    const Region region(mebibyte);
    const RegionAddress address = region.address();
    const Cast cast(1, Role([&](Process& process) {
                        if (::unshare(CLONE_NEWPID) != 0) return;
                        const pid_t inside = ::fork();
                        if (inside == 0) {
                            std::string reason;
                            RegionAddress seen = address;
                            seen.process_in_proc = 1 << 30;
                            const Mapping mapping = map_region(seen, 4096, reason);
                            process.require(!mapping, "mapped");
                            require_reason(process, reason, "another process namespace");
                            ::_exit(0);
                        }
                        int status = 0;
                        ::waitpid(inside, &status, 0);
                        process.require(status == 0, process.board().failures[process.self()]);
                    }));
}

TEST(shared_memory, takes_no_page_that_is_not_used_and_keeps_no_descriptor) {
    const std::size_t before = open_descriptors();
    {
        Neighbours neighbours(0, 128);
        struct stat status{};
        ASSERT_EQ(::fstat(neighbours.address().descriptor, &status), 0);
        EXPECT_EQ(static_cast<std::size_t>(status.st_size), Layout(128, 256 * mebibyte).bytes());
        EXPECT_LE(status.st_blocks * 512, 64 << 10);
        neighbours.settle();
        EXPECT_EQ(open_descriptors(), before);
        EXPECT_EQ(mapped_regions("self"), 1);
    }
    EXPECT_EQ(mapped_regions("self"), 0);
}

TEST(shared_memory, takes_no_page_that_is_not_used_where_programs_lock_their_memory) {
    if (::mlockall(MCL_CURRENT) != 0) GTEST_SKIP() << "memory cannot be locked: " << std::strerror(errno);
    ::munlockall();
    for (const bool is_before : {true, false}) {
        const Cast cast(2, Role([&](Process& process) {
                            const auto lock = [&] {
                                process.require(::mlockall(MCL_CURRENT | MCL_FUTURE) == 0, "not locked");
                            };
                            if (is_before) lock();
                            const auto neighbours = process.meet();
                            if (!is_before) lock();
                            Transfers transfers(*neighbours);
                            swap_data(process, transfers, 3 * mebibyte);
                            process.wait_for_all();
                            const std::size_t bytes = resident_in_regions();
                            process.require(bytes > 0 && bytes < 8 * mebibyte, std::to_string(bytes) + " bytes");
                        }));
    }
}

TEST(shared_memory, does_not_close_a_descriptor_that_is_somebody_elses_now) {
    auto neighbours = std::make_unique<Neighbours>(0, 2);
    const int descriptor = neighbours->address().descriptor;
    ::close(descriptor);
    ASSERT_EQ(::dup2(0, descriptor), descriptor);
    neighbours = nullptr;
    EXPECT_EQ(::close(descriptor), 0);
}

TEST(shared_memory, is_not_for_children) {
    const Cast cast(2, Role([](Process& process) {
                        auto neighbours = process.meet();
                        Transfers transfers(*neighbours);
                        const pid_t child = ::fork();
                        if (child == 0) {
                            int value = 0;
                            process.require(mapped_regions("self") == 0, "has the memory");
                            const bool sent = transfers.send(1 - process.self(), 0, &value, sizeof value, 0);
                            process.require(!sent && transfers.poll().completed.empty(), "takes part");
                            require_reason(process, transfers.failure(), "child of fork");
                            transfers.abandon();
                            neighbours = nullptr;
                            ::execl("/bin/sh", "sh", "-c", "! ls -l /proc/self/fd | grep memfd:rondo", nullptr);
                            ::_exit(1);
                        }
                        int status = 0;
                        ::waitpid(child, &status, 0);
                        process.require(status == 0, "child failed");
                        swap_data(process, transfers, 100000);
                        process.wait_for_all();
                    }));
}

TEST(shared_memory, leaves_nothing_when_its_processes_are_killed) {
    Cast cast(2, Role([](Process& process) {
                  const auto neighbours = process.meet();
                  Transfers transfers(*neighbours);
                  std::vector<std::byte> mine(mebibyte), theirs(mebibyte);
                  for (;;) {  // until killed, or the other one is
                      transfers.receive(1 - process.self(), 0, theirs.data(), theirs.size(), 0);
                      transfers.send(1 - process.self(), 0, mine.data(), mine.size(), 1);
                      while (!transfers.idle() && transfers.failure() == nullptr) (void)transfers.poll();
                      if (transfers.failure() != nullptr) ::pause();
                      ++process.board().signal;
                  }
              }));
    while (cast.board().signal < 100) std::this_thread::yield();
    for (const int each : {0, 1}) {
        const std::string process = std::to_string(cast.process(each));
        EXPECT_EQ(mapped_regions(process), 2);
        EXPECT_EQ(mapped("/dev/shm", process), 0);  // what has no name is gone with those who map it
        EXPECT_EQ(::kill(cast.process(each), SIGKILL), 0);
        EXPECT_EQ(cast.wait(each), SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(mapped_regions("self"), 0);
}

TEST(shared_memory, knows_who_has_ended) {
    RegionAddress address = Region(4096).address();  // of this process
    EXPECT_FALSE(has_ended(address));
    address.process = address.process_in_proc = 1 << 30;
    EXPECT_TRUE(has_ended(address));
    address.process_namespace = 0;  // who knows
    EXPECT_FALSE(has_ended(address));

    Cast cast(1, Role([&](Process& process) {
                  const Region region(4096);
                  process.board().addresses[0] = region.address();
                  process.board().signal = 1;
                  // A process goes on where its first thread has ended.
                  std::thread([&] {
                      process.wait_until([&] { return process.board().signal == 2; });
                      ::_exit(0);
                  }).detach();
                  ::syscall(SYS_exit, 0);  // of this thread
              }));
    while (cast.board().signal == 0) std::this_thread::yield();
    address = cast.board().addresses[0];
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(has_ended(address));
    ::kill(cast.process(0), SIGSTOP);
    EXPECT_FALSE(has_ended(address));
    ::kill(cast.process(0), SIGCONT);
    EXPECT_FALSE(has_ended(address));
    cast.board().signal = 2;
    siginfo_t information{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(cast.process(0)), &information, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(has_ended(address));  // though its parent has not taken note
    EXPECT_EQ(cast.wait(0), 0);
    EXPECT_TRUE(has_ended(address));
}

TEST(shared_memory, names_a_process_that_has_ended_while_something_is_under_way_with_it) {
    Cast cast(2, Role([](Process& process) {
                  const auto neighbours = process.meet();
                  Transfers transfers(*neighbours);
                  int value = 0;
                  process.require(transfers.ended_neighbour() < 0, "nothing is under way");
                  process.wait_for_all();
                  if (process.self() == 0) return;
                  transfers.receive(0, 0, &value, sizeof value, 0);
                  process.wait_until([&] { return transfers.ended_neighbour() == 0; });
                  transfers.abandon();
                  process.require(transfers.ended_neighbour() < 0, "nothing is under way");
              }));
}

/// It has said where its data are, and is no more when they are to be read.
TEST(shared_memory, names_a_process_that_has_ended_before_its_memory_was_read) {
    Cast cast(2, Role([](Process& process) {
                  const auto neighbours = process.meet(by_address);
                  Transfers transfers(*neighbours);
                  std::vector<std::byte> data(mebibyte);
                  if (process.self() == 0) {
                      transfers.send(1, 0, data.data(), data.size(), 0);
                      process.require(!transfers.idle(), "has not waited for the reader");
                      process.board().signal = 1;
                      for (;;) ::pause();
                  }
                  process.wait_until([&] { return process.board().signal == 2; });
                  transfers.receive(0, 0, data.data(), data.size(), 0);
                  process.require(transfers.poll().moved, "no message");
                  for (int i = 0; i < 100; ++i) process.require(!transfers.poll().moved, "has read something");
                  process.require(transfers.failure() == nullptr && !transfers.idle(), "does not wait");
                  process.require(transfers.ended_neighbour() == 0, "still there");
              }));
    while (cast.board().signal == 0) std::this_thread::yield();
    ::kill(cast.process(0), SIGKILL);
    EXPECT_EQ(cast.wait(0), SIGKILL);
    cast.board().signal = 2;
}

/// Its first thread alone has ended: the system does not find its memory any more.
TEST(shared_memory_refusals, to_read_in_a_process_without_its_first_thread_are_gone_around) {
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet(by_address);
                        std::thread other([&] {
                            Transfers transfers(*neighbours);
                            process.wait_until([&] { return process.board().signal == 1; });
                            std::this_thread::sleep_for(std::chrono::milliseconds(50));
                            swap_data(process, transfers, 3 * mebibyte);
                            process.wait_for_all();
                            ::_exit(0);
                        });
                        if (process.self() == 1) other.join();
                        process.board().signal = 1;
                        ::syscall(SYS_exit, 0);  // of this thread
                    }));
}

/// Its reader has ended.
TEST(shared_memory, names_a_process_that_has_ended_before_it_read) {
    Cast cast(2, Role([](Process& process) {
                  const auto neighbours = process.meet(by_address);
                  Transfers transfers(*neighbours);
                  std::vector<std::byte> data(mebibyte);
                  process.wait_for_all();
                  if (process.self() == 1) return;
                  transfers.send(1, 0, data.data(), data.size(), 0);
                  process.wait_until([&] { return transfers.ended_neighbour() == 1; });
                  process.require(!transfers.idle() && !transfers.poll().moved, "does not wait");
                  transfers.abandon();
              }));
}

TEST(shared_memory, takes_back_what_short_lived_transfers_have_left) {
    const Cast cast(2, Role([](Process& process) {
                        int region = -1;
                        const auto neighbours = process.meet({.read_from = Channel::never}, [&] {
                            region = ::dup(process.board().addresses[process.self()].descriptor);
                        });
                        for (int i = 0; i < 60; ++i) {
                            Transfers transfers(*neighbours);
                            swap_data(process, transfers, mebibyte / 4);
                        }
                        process.wait_for_all();
                        struct stat status{};
                        process.require(::fstat(region, &status) == 0, "no region");
                        process.require(status.st_blocks * 512 < 4 * static_cast<std::ptrdiff_t>(mebibyte),
                                        "takes ever more");
                    }));
}

}  // namespace
}  // namespace rondo::shared_memory
