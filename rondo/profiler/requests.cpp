// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/profiler/requests.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::profiler {

std::atomic<std::uint32_t> open_requests{0};

namespace {

struct Open {
    HandleWord request;
    Line* line;
    const Completion* in;  ///< the call that it is in, and where among the requests of that
    std::size_t place;
};

std::mutex mutex;  // of what follows, if there are several threads

struct Turn {
    Turn() {
        if (recorder.several_threads) mutex.lock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
        if (recorder.several_threads) mutex.unlock();
    }
};

std::array<Open, most_requests> open;

std::span<Open> all_open() { return {open.data(), open_requests.load(std::memory_order_relaxed)}; }

/// In turn.
void forget(Open& each) {
    const std::span<Open> known = all_open();
    each = known.back();
    open_requests.store(static_cast<std::uint32_t>(known.size() - 1), std::memory_order_relaxed);
}

HandleWord null_request() { return std::bit_cast<HandleWord>(mpi::library().request_null); }

}  // namespace

void remember_request(HandleWord request, Line* line) {
    if (line == nullptr || request == null_request()) return;
    const Turn turn;
    const std::uint32_t known = open_requests.load(std::memory_order_relaxed);
    if (known == open.size()) return;
    open[known] = {request, line, nullptr, 0};
    open_requests.store(known + 1, std::memory_order_relaxed);
}

void forget_request(HandleWord request) {
    const Turn turn;
    const std::span<Open> known = all_open();
    const auto each = std::ranges::find(known, request, &Open::request);
    if (each != known.end()) forget(*each);
}

Completion::Completion(std::span<const HandleWord> requests, Of of) : requests_(requests), of_(of) {
    const HandleWord null = null_request();
    const Turn turn;
    for (std::size_t place = 0; place < requests.size(); ++place) {
        if (requests[place] == null) continue;
        ++active_;
        const std::span<Open> known = all_open();
        const auto each = std::ranges::find_if(
            known, [&](const Open& one) { return one.request == requests[place] && one.in == nullptr; });
        if (each == known.end()) continue;
        each->in = this;
        each->place = place;
        is_of_collectives_ = true;
    }
}

Ticks Completion::share_out(Ticks elapsed) {
    if (!is_of_collectives_) return elapsed;
    const HandleWord null = null_request();
    const auto still_open = std::ranges::count_if(requests_, [&](HandleWord each) { return each != null; });
    const std::size_t completed = active_ - static_cast<std::size_t>(still_open);
    const bool among_completed = of_ == Of::some && completed > 0;
    const Ticks part = elapsed / (among_completed ? completed : active_);
    Ticks left = elapsed;
    const Turn turn;
    for (std::size_t i = all_open().size(); i-- > 0;) {  // backwards: who is forgotten is replaced by the last one
        Open& each = open[i];
        if (each.in != this) continue;
        each.in = nullptr;
        const bool is_completed = requests_[each.place] == null;
        if (is_completed || !among_completed) {
            const std::ptrdiff_t line = each.line - recorder.image->lines.data();
            add(recorder.image->completing[static_cast<std::size_t>(line)], part);
            left -= part;
        }
        if (is_completed) forget(each);
    }
    return left;
}

}  // namespace rondo::profiler
