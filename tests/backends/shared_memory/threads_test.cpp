// SPDX-License-Identifier: BSD-3-Clause
// The whole text of transfers between two threads that stand for two processes: for the thread sanitizer, which sees
// nothing of other processes.
//
// It knows memory by its address, and looks into no system call. So with it, whoever maps a region gets it where its
// maker has it, and what the system would copy between processes is copied here, after a pause and before another.
// What is written past the caches it does not see: pieces of 12 KiB and more are not looked at, shorter ones are.
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "rondo/backends/shared_memory/neighbours.hpp"
#include "rondo/backends/shared_memory/transfers.hpp"
#include "tests/backends/shared_memory/exchanges.hpp"

namespace rondo::shared_memory {
namespace {

constexpr std::size_t most_bytes = 262144;  // of which each side takes several shares

/// Of each thread, so that every run has the same.
thread_local std::mt19937 pauses;  // NOLINT(bugprone-throwing-static-initialization)

void pause_sometimes() {
    const auto chance = pauses() % 8;
    if (chance == 0) std::this_thread::sleep_for(std::chrono::microseconds(pauses() % 100));
    else if (chance < 3) std::this_thread::yield();
}

#ifdef __SANITIZE_THREAD__
constexpr bool is_one_memory_possible = true;

/// While there is one. It begins and ends, and regions are mapped and unmapped, where there is one thread.
class OneMemory {
  public:
    OneMemory() { current = this; }
    OneMemory(const OneMemory&) = delete;
    OneMemory& operator=(const OneMemory&) = delete;
    ~OneMemory() { current = nullptr; }

    struct Place {
        void* address = nullptr;
        int owners = 0;
    };
    std::map<ino_t, Place> places;
    std::atomic<int> read{0}, written{0};

    static inline OneMemory* current = nullptr;
};
#else
constexpr bool is_one_memory_possible = false;

struct OneMemory {
    int read = 0, written = 0;
};
#endif

/// Messages of the shortest kind to and fro, by who has nothing else under way.
void play_ball(Process& process, Transfers& transfers, std::mt19937& random, std::size_t round) {
    for (std::size_t turn = 0; turn < 40; ++turn) {
        std::vector<std::byte> data((round * 40 + turn) * 37 % (most_inline + 1)), expected(data.size());
        fill(expected, turn);
        const auto tag = static_cast<std::uint32_t>(turn % 3);
        const bool sends = turn % 2 == static_cast<std::size_t>(process.self());
        if (sends) data = expected;
        process.wait_until([&] {
            return sends ? transfers.send_now(1 - process.self(), tag, data.data(), data.size())
                         : transfers.receive_now(1 - process.self(), tag, data.data(), data.size());
        });
        process.require(data == expected, "wrong data");
        if (random() % 8 == 0) pause_sometimes();
    }
}

void play_side(Board& board, Neighbours& own, int self, unsigned seed, unsigned rounds) {
    Process process(board, self);
    pauses.seed(2 * seed + static_cast<unsigned>(self));
    SomeConsumed consumer(process);
    Transfers transfers(own, &consumer);
    std::mt19937 random(seed + static_cast<unsigned>(self));
    for (unsigned round = 0; round < rounds; ++round) {
        exchange(process, transfers, consumer, messages_of(seed + round, 2, most_bytes), random);
        process.wait_for_all();  // `play_ball` would take what a round has left
        play_ball(process, transfers, random, round);
        process.wait_for_all();
    }
}

class EveryFormInThreads : public testing::TestWithParam<Form> {};

TEST_P(EveryFormInThreads, delivers_whoever_is_late) {
    const unsigned rounds = std::getenv("RONDO_SOAK") != nullptr ? 300 : 30;
    const OneMemory memory;
    std::array<Neighbours, 2> neighbours{Neighbours(0, 2, GetParam().options), Neighbours(1, 2, GetParam().options)};
    neighbours[0].connect(1, neighbours[1].address());
    neighbours[1].connect(0, neighbours[0].address());
    for (Neighbours& each : neighbours) each.settle();
    const auto board = std::make_unique<Board>();
    board->count = 2;
    std::array<std::thread, 2> sides;
    for (int self : {0, 1}) {
        const auto side = static_cast<std::size_t>(self);
        sides[side] = std::thread([&, self, side] { play_side(*board, neighbours[side], self, 1000, rounds); });
    }
    for (std::thread& each : sides) each.join();
    const bool by_address_too = GetParam().options.read_from < most_bytes && GetParam().options.parcel_bytes > 0;
    if (is_one_memory_possible) {
        EXPECT_EQ(memory.read > 10, by_address_too);
        EXPECT_EQ(memory.written > 10, by_address_too);
    }
}

INSTANTIATE_TEST_SUITE_P(shared_memory, EveryFormInThreads, testing::ValuesIn(forms),
                         [](const auto& form) { return form.param.name; });

#ifdef __SANITIZE_THREAD__
ssize_t copy_here(void* into, const void* from, std::size_t bytes, std::atomic<int>& count) {
    pause_sometimes();
    std::memcpy(into, from, bytes);
    count.fetch_add(1, std::memory_order_relaxed);
    pause_sometimes();
    return static_cast<ssize_t>(bytes);
}
#endif

}  // namespace
}  // namespace rondo::shared_memory

#ifdef __SANITIZE_THREAD__
// Called by this program instead of the C library's and the sanitizer's, which have other names besides. Hidden: no
// library may call them, least of all the sanitizer before it has begun.
// NOLINTBEGIN
extern "C" {
void* __interceptor_mmap(void* wanted, size_t bytes, int access, int flags, int file, off_t offset);
int __interceptor_munmap(void* address, size_t bytes);
}
#pragma GCC visibility push(hidden)
extern "C" {
using rondo::shared_memory::OneMemory;

void* mmap(void* wanted, size_t bytes, int access, int flags, int file, off_t offset) noexcept {
    struct stat status{};
    const bool is_region = OneMemory::current != nullptr && (flags & MAP_SHARED) != 0 && fstat(file, &status) == 0;
    if (!is_region) return __interceptor_mmap(wanted, bytes, access, flags, file, offset);
    OneMemory::Place& place = OneMemory::current->places[status.st_ino];
    if (place.owners++ == 0) place.address = __interceptor_mmap(wanted, bytes, access, flags, file, offset);
    return place.address;
}

int munmap(void* address, size_t bytes) noexcept {
    if (OneMemory::current != nullptr) {
        for (auto& [file, place] : OneMemory::current->places) {
            if (place.address == address && --place.owners > 0) return 0;
        }
    }
    return __interceptor_munmap(address, bytes);
}

ssize_t process_vm_readv(pid_t process, const iovec* into, unsigned long into_count, const iovec* from,
                         unsigned long from_count, unsigned long flags) noexcept {
    if (OneMemory::current == nullptr)
        return syscall(SYS_process_vm_readv, process, into, into_count, from, from_count, flags);
    return rondo::shared_memory::copy_here(into->iov_base, from->iov_base, into->iov_len, OneMemory::current->read);
}

ssize_t process_vm_writev(pid_t process, const iovec* from, unsigned long from_count, const iovec* into,
                          unsigned long into_count, unsigned long flags) noexcept {
    if (OneMemory::current == nullptr)
        return syscall(SYS_process_vm_writev, process, from, from_count, into, into_count, flags);
    return rondo::shared_memory::copy_here(into->iov_base, from->iov_base, into->iov_len, OneMemory::current->written);
}
}
#pragma GCC visibility pop
// NOLINTEND
#endif
