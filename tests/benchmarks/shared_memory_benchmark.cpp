// SPDX-License-Identifier: BSD-3-Clause
// Messages between two processes of this machine through memory that they share, beside what memory itself allows: one
// line each for the shortest, a memcpy for the longest. Least of many, because others may use the machine.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "rondo/backends/shared_memory/neighbours.hpp"
#include "rondo/backends/shared_memory/transfers.hpp"
#include "rondo/core/error.hpp"

namespace {

using namespace rondo::shared_memory;
using Clock = std::chrono::steady_clock;
using Number = unsigned;

constexpr std::size_t longest = std::size_t{4} << 20;
constexpr std::size_t segment = std::size_t{64} << 10;

/// What the two processes share besides: for meeting, and for the line of the bare exchange.
struct Meeting {
    RegionAddress addresses[2];
    struct alignas(line_bytes) Line {
        std::atomic<unsigned> number{0};
        double value = 0;
    } arrived[2], exchanged[2][2];
};

void relax(unsigned& polls) {
    if (++polls % 2000 == 0) ::sched_yield();
}

class Side {
  public:
    Side(Meeting& meeting, int self, bool json) : meeting_(meeting), self_(self), json_(json) {
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET(self, &core);
        (void)::sched_setaffinity(0, sizeof core, &core);
    }

    [[nodiscard]] int self() const { return self_; }
    [[nodiscard]] int other() const { return 1 - self_; }

    void meet() {
        const unsigned number = ++meetings_;
        meeting_.arrived[self_].number.store(number, std::memory_order_release);
        for (unsigned polls = 0; meeting_.arrived[other()].number.load(std::memory_order_acquire) < number;)
            relax(polls);
    }

    std::unique_ptr<Neighbours> connect(const Options& options) {
        auto neighbours = std::make_unique<Neighbours>(self_, 2, options);
        meeting_.addresses[self_] = neighbours->address();
        meet();
        neighbours->connect(other(), meeting_.addresses[other()]);
        meet();
        neighbours->settle();
        if (!neighbours->reaches(other())) throw rondo::Error(neighbours->reason(other()));
        return neighbours;
    }

    /// Seconds of one call, the least of many series.
    void measure(const std::string& what, std::size_t bytes, const std::function<void()>& call) {
        const int calls = bytes <= 8 ? 2000 : bytes <= segment ? 100 : 1;
        const int all_series = bytes <= segment ? 40 : 100;
        double least = 1e9;
        for (int series = 0; series < all_series; ++series) {
            meet();
            const auto start = Clock::now();
            for (int i = 0; i < calls; ++i) call();
            const double seconds = std::chrono::duration<double>(Clock::now() - start).count() / calls;
            if (seconds < least) least = seconds;
        }
        meet();
        if (self_ != 0) return;
        if (json_)
            std::printf("{\"what\":\"%s\",\"bytes\":%zu,\"nanoseconds\":%.1f}\n", what.c_str(), bytes, least * 1e9);
        else std::printf("%-44s%10zu B%12.0f ns\n", what.c_str(), bytes, least * 1e9);
        std::fflush(stdout);
    }

    /// One line each: what memory allows.
    double exchange_lines(double mine) {
        const unsigned number = ++exchanges_;
        Meeting::Line &out = meeting_.exchanged[self_][number & 1], &in = meeting_.exchanged[other()][number & 1];
        out.value = mine;
        out.number.store(number, std::memory_order_release);
        for (unsigned polls = 0; in.number.load(std::memory_order_acquire) != number;) relax(polls);
        return mine + in.value;
    }

  private:
    Meeting& meeting_;
    int self_;
    bool json_;
    unsigned meetings_ = 0, exchanges_ = 0;
};

/// The transfers of one side, each waited for.
class Messages {
  public:
    Messages(Neighbours& neighbours, int other) : transfers_(neighbours), other_(other) {}

    void send(const void* data, std::size_t bytes) {
        if (!transfers_.send(other_, 0, data, bytes, 0)) finish();
    }
    void receive(void* into, std::size_t bytes) {
        transfers_.receive(other_, 0, into, bytes, 0);
        finish();
    }
    void swap(const void* mine, void* theirs, std::size_t bytes) {
        transfers_.receive(other_, 0, theirs, bytes, 0);
        transfers_.send(other_, 0, mine, bytes, 1);
        finish();
    }
    /// A swap after which `theirs` is added to `sum`, cut into segments: what has come is added in cache.
    void swap_and_add(const Number* mine, Number* theirs, Number* sum, std::size_t bytes) {
        const std::size_t count = bytes / sizeof(Number), most = segment / sizeof(Number);
        for (std::size_t i = 0; i < count; i += most) {
            transfers_.send(other_, 0, mine + i, std::min(most, count - i) * sizeof(Number), 1);
        }
        for (std::size_t i = 0; i < count; i += most) {
            const std::size_t part = std::min(most, count - i);
            transfers_.receive(other_, 0, theirs, part * sizeof(Number), 0);
            bool is_there = false;
            for (unsigned polls = 0; !is_there; relax(polls)) {
                const auto completed = transfers_.poll().completed;
                is_there = std::find(completed.begin(), completed.end(), 0U) != completed.end();
            }
            for (std::size_t j = 0; j < part; ++j) sum[i + j] += theirs[j];
        }
        finish();
    }

  private:
    void finish() {
        for (unsigned polls = 0; !transfers_.idle(); relax(polls)) {
            (void)transfers_.poll();
            if (transfers_.failure() != nullptr) throw rondo::Error(transfers_.failure());
        }
    }

    Transfers transfers_;
    int other_;
};

/// Long messages in pieces, or read in the sender.
void measure_form(Side& side, const std::string& form, const Options& options) {
    const auto neighbours = side.connect(options);
    Messages messages(*neighbours, side.other());
    std::vector<Number> own(longest / sizeof(Number), 1U), theirs(own.size());
    Number* const data = own.data();
    for (std::size_t bytes = 4096; bytes <= longest; bytes *= 4) {
        side.measure("round trip, " + form, bytes, [&] {
            if (side.self() == 0) messages.send(data, bytes);
            messages.receive(data, bytes);
            if (side.self() == 1) messages.send(data, bytes);
        });
        const std::size_t count = bytes / sizeof(Number);
        if (bytes <= segment) {
            side.measure("allreduce, " + form, bytes, [&] {
                messages.swap(data, theirs.data(), bytes);
                for (std::size_t i = 0; i < count; ++i) data[i] += theirs[i];
            });
            continue;
        }
        side.measure("allreduce by halves, " + form, bytes, [&] {
            const std::size_t half = count / 2, mine = side.self() == 0 ? 0 : half, yours = half - mine;
            messages.swap_and_add(data + yours, theirs.data(), data + mine, half * sizeof(Number));
            messages.swap(data + mine, data + yours, half * sizeof(Number));
        });
    }
    side.meet();
}

void measure_shortest(Side& side) {
    const auto neighbours = side.connect({});
    Messages messages(*neighbours, side.other());
    Number mine = 1, theirs = 0;
    side.measure("round trip", sizeof mine, [&] {
        if (side.self() == 0) messages.send(&mine, sizeof mine);
        messages.receive(&theirs, sizeof theirs);
        if (side.self() == 1) messages.send(&mine, sizeof mine);
    });
    side.measure("allreduce", sizeof mine, [&] {
        messages.swap(&mine, &theirs, sizeof mine);
        mine += theirs;
    });
}

void run(Side& side) {
    side.measure("allreduce, bare lines", 8, [&] { (void)side.exchange_lines(1); });
    measure_shortest(side);
    measure_form(side, "in pieces", {.read_from = Channel::never});
    measure_form(side, "read in the sender", {.read_from = 0});
    std::vector<char> from(longest, 1), into(longest);
    for (const std::size_t bytes : {std::size_t{4096}, segment, longest}) {
        side.measure("memcpy", bytes, [&] { std::memcpy(into.data(), from.data(), bytes); });
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const bool json = argument_count > 1 && std::strcmp(arguments[1], "--json") == 0;
    void* const page = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 1;
    auto& meeting = *new (page) Meeting;
    const pid_t child = ::fork();
    int status = 0;
    try {
        Side side(meeting, child == 0 ? 1 : 0, json);
        run(side);
    } catch (const rondo::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    if (child != 0) ::waitpid(child, nullptr, 0);
    return status;
}
