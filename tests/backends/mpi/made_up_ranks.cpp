// SPDX-License-Identifier: BSD-3-Clause
#include "tests/backends/mpi/made_up_ranks.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::mpi::made_up {
namespace {

constexpr std::size_t memory = std::size_t{64} << 20;
constexpr int patience = 10;      // seconds
constexpr unsigned longest = 30;  // also for a rank that does something else than to wait

/// At the begin of the shared memory; messages stand behind it.
struct alignas(64) Post {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    std::size_t used = sizeof(Post);
    std::uint64_t posted = 0;
    Message* first[most_ranks] = {};

    Post() {
        pthread_mutexattr_t of_mutex;
        pthread_mutexattr_init(&of_mutex);
        pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&mutex, &of_mutex);
        pthread_condattr_t of_condition;
        pthread_condattr_init(&of_condition);
        pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
        pthread_condattr_setclock(&of_condition, CLOCK_MONOTONIC);
        pthread_cond_init(&changed, &of_condition);
    }
};

Post* the_post = nullptr;
int own_rank = 0, all_ranks = 1;

class Lock {
  public:
    Lock() { pthread_mutex_lock(&the_post->mutex); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() { pthread_mutex_unlock(&the_post->mutex); }
};

[[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "rank %d: %s\n", own_rank, why);
    std::fflush(stdout);
    ::_exit(1);
}

Message** find(int from, std::uint64_t context, int tag) {
    Message** place = &the_post->first[own_rank];
    while (*place != nullptr && ((*place)->from != from || (*place)->context != context || (*place)->tag != tag)) {
        place = &(*place)->next;
    }
    return place;
}

[[noreturn]] void play_alone(int rank, const std::function<void()>& role, bool ends_by_exit) {
    own_rank = rank;
    ::alarm(longest);
    try {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, "rank " + std::to_string(rank));
        install();
        role();
    } catch (const std::exception& error) {
        fail(error.what());
    }
    const int status = ::testing::Test::HasFailure() ? 1 : 0;
    std::fflush(stdout);
    if (ends_by_exit) std::exit(status);
    ::_exit(status);
}

}  // namespace

void play(int ranks, const std::function<void()>& role, bool ends_by_exit) {
    if (::testing::Test::HasFailure()) return;  // which ranks would take for theirs
    void* const shared =
        ::mmap(nullptr, memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    the_post = new (shared) Post;
    all_ranks = ranks;
    std::fflush(stdout);
    std::vector<pid_t> processes;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t process = ::fork();
        if (process == 0) play_alone(rank, role, ends_by_exit);
        processes.push_back(process);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        int status = -1;
        ::waitpid(processes[static_cast<std::size_t>(rank)], &status, 0);
        EXPECT_EQ(status, 0) << "rank " << rank << (WIFSIGNALED(status) ? " was killed" : " has failed, see above");
    }
    ::munmap(shared, memory);
}

int rank() { return own_rank; }
int size() { return all_ranks; }

void post(int to, std::uint64_t context, int tag, const void* data, std::size_t bytes) {
    const Lock lock;
    const std::size_t room = (sizeof(Message) + bytes + 63) / 64 * 64;
    if (the_post->used + room > memory) fail("no memory for messages");
    auto* const message = reinterpret_cast<Message*>(reinterpret_cast<std::byte*>(the_post) + the_post->used);
    the_post->used += room;
    message->next = nullptr;
    message->from = own_rank;
    message->context = context;
    message->tag = tag;
    message->bytes = bytes;
    if (bytes > 0) std::memcpy(message->data, data, bytes);
    Message** place = &the_post->first[to];
    while (*place != nullptr) place = &(*place)->next;
    *place = message;
    ++the_post->posted;
    pthread_cond_broadcast(&the_post->changed);
}

const Message* look(int from, std::uint64_t context, int tag) {
    const Lock lock;
    return *find(from, context, tag);
}

const Message* take(int from, std::uint64_t context, int tag) {
    const Lock lock;
    Message** const place = find(from, context, tag);
    Message* const found = *place;
    if (found != nullptr) *place = found->next;
    return found;
}

std::uint64_t posted() {
    const Lock lock;
    return the_post->posted;
}

void wait_for_more(std::uint64_t than) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += patience;
    const Lock lock;
    while (the_post->posted == than) {
        if (pthread_cond_timedwait(&the_post->changed, &the_post->mutex, &until) == ETIMEDOUT)
            fail("waits for a message in vain");
    }
}

}  // namespace rondo::mpi::made_up
