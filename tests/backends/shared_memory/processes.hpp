// SPDX-License-Identifier: BSD-3-Clause
// Real processes for tests: children of this one, by fork or by fork and exec, with a page that all see.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "rondo/backends/shared_memory/neighbours.hpp"
#include "rondo/backends/shared_memory/transfers.hpp"
#include "rondo/core/error.hpp"

namespace rondo::shared_memory {

inline constexpr int most_processes = 8;

/// All messages that are too long for the queue are read in the sender.
inline constexpr Options by_address{.read_from = 0};

/// What processes of a test tell each other.
struct Board {
    std::atomic<int> arrived{0};
    std::atomic<int> signal{0};
    int count = 0;
    RegionAddress addresses[most_processes]{};
    char failures[most_processes][512]{};
};

/// One process of a test.
class Process {
  public:
    Process(Board& board, int self) : board_(board), self_(self) {}

    [[nodiscard]] int self() const { return self_; }
    [[nodiscard]] int count() const { return board_.count; }
    [[nodiscard]] Board& board() const { return board_; }

    void wait_for_all() {
        const int whole = (board_.arrived.fetch_add(1) / count() + 1) * count();
        wait_until([&] { return board_.arrived.load() >= whole; });
    }

    template <class Condition>
    void wait_until(Condition&& condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
        while (!condition()) {
            require(std::chrono::steady_clock::now() < end, "waited too long");
            std::this_thread::yield();
        }
    }

    /// Ends the process where it does not hold.
    void require(bool holds, const std::string& what) const {
        if (holds) return;
        std::fprintf(stderr, "%d: %s\n", self_, what.c_str());
        std::strncpy(board_.failures[self_], what.c_str(), sizeof board_.failures[self_] - 1);
        ::_exit(1);
    }

    /// The three steps; `before_connecting` and `before_settling` may change what the system allows.
    std::unique_ptr<Neighbours> meet(const Options& options = {}, const std::function<void()>& before_connecting = {}) {
        auto neighbours = std::make_unique<Neighbours>(self_, count(), options);
        board_.addresses[self_] = neighbours->address();
        wait_for_all();
        if (before_connecting) before_connecting();
        for (int each = 0; each < count(); ++each) {
            if (each != self_) neighbours->connect(each, board_.addresses[each]);
        }
        wait_for_all();
        neighbours->settle();
        return neighbours;
    }

    void poll_until_idle(Transfers& transfers, const std::function<void(std::uint32_t)>& completed = {}) {
        wait_until([&] {
            const Transfers::Progress progress = transfers.poll();
            require(transfers.failure() == nullptr, transfers.failure() == nullptr ? "" : transfers.failure());
            for (const std::uint32_t index : progress.completed) {
                if (completed) completed(index);
            }
            return transfers.idle();
        });
    }

  private:
    Board& board_;
    int self_;
};

using Role = std::function<void(Process&)>;

/// The board lies in a file without a name, so that a program started by exec can have it.
class BoardPage {
  public:
    BoardPage() : descriptor_(::memfd_create("board", 0)) {
        if (::ftruncate(descriptor_, sizeof(Board)) != 0) std::abort();
        board_ = new (map(descriptor_)) Board;
    }
    BoardPage(const BoardPage&) = delete;
    BoardPage& operator=(const BoardPage&) = delete;
    ~BoardPage() {
        ::munmap(board_, sizeof(Board));
        ::close(descriptor_);
    }

    static Board* map(int descriptor) {
        void* const page = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (page == MAP_FAILED) std::abort();
        return static_cast<Board*>(page);
    }

    Board& operator*() const { return *board_; }
    Board* operator->() const { return board_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
    Board* board_;
};

/// Plays the role and ends the process.
[[noreturn]] inline void play(Board& board, int self, const Role& role) noexcept {
    Process process(board, self);
    try {
        role(process);
    } catch (const std::exception& error) {
        process.require(false, error.what());
    }
    ::_exit(0);
}

/// Starts so many processes; `child` never returns. Those that failed are failures of the test.
class Cast {
  public:
    Cast(int count, const std::function<void(BoardPage&, int)>& child) {
        board_->count = count;
        for (int self = 0; self < count; ++self) {
            const pid_t process = ::fork();
            if (process == 0) {
                child(board_, self);
                ::_exit(2);
            }
            processes_.push_back(process);
        }
    }
    Cast(int count, const Role& role) : Cast(count, [&](BoardPage& board, int self) { play(*board, self, role); }) {}
    Cast(const Cast&) = delete;
    Cast& operator=(const Cast&) = delete;
    ~Cast() {
        for (int self = 0; self < static_cast<int>(processes_.size()); ++self)
            EXPECT_EQ(wait(self), 0) << board_->failures[self];
    }

    Board& board() { return *board_; }
    [[nodiscard]] pid_t process(int self) const { return processes_[static_cast<std::size_t>(self)]; }

    /// As of waitpid; 0 for one that has been waited for.
    int wait(int self) {
        pid_t& process = processes_[static_cast<std::size_t>(self)];
        int status = 0;
        if (process > 0) ::waitpid(process, &status, 0);
        process = 0;
        return status;
    }

  private:
    BoardPage board_;
    std::vector<pid_t> processes_;
};

/// Data that name their sender and place, so that nothing else looks like them.
inline void fill(std::vector<std::byte>& data, std::uint64_t seed) {
    std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
    for (std::byte& each : data) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        each = static_cast<std::byte>(state);
    }
}

}  // namespace rondo::shared_memory
