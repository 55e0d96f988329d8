// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/roll_call.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

#include "rondo/interposer/report.hpp"

namespace rondo::interposer {
namespace {

constexpr std::uint64_t patience = 1'000'000'000;  // nanoseconds
constexpr int polls_at_once = 64;

/// What a rank says. When it goes on, that is left for those who come later.
struct Answer {
    enum class State : std::uint8_t { unused, given, left };
    State state = State::unused;
    MPI_Request here{}, vote{};
    int ready = 0;
};

std::mutex mutex;  // of all states
std::array<Answer, 32> answers;

bool is_done(MPI_Request& request) {
    int done = 0;
    return mpi::library().Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

/// One that is not used, or not any more; nullptr if there is none.
Answer* take_answer() {
    const std::lock_guard lock(mutex);
    for (Answer& each : answers) {
        const bool is_left = each.state == Answer::State::left;
        if (is_left && is_done(each.here) && is_done(each.vote)) each.state = Answer::State::unused;
    }
    auto* const found =
        std::ranges::find_if(answers, [](const Answer& each) { return each.state == Answer::State::unused; });
    if (found == answers.end()) return nullptr;
    found->state = Answer::State::given;
    return found;
}

void become(Answer& answer, Answer::State state) {
    const std::lock_guard lock(mutex);
    answer.state = state;
}

bool ends_in_time(MPI_Request& request) {
    const std::uint64_t start = now();
    do {
        for (int poll = 0; poll < polls_at_once; ++poll) {
            if (is_done(request)) return true;
        }
        sched_yield();
    } while (now() - start < patience);
    return false;
}

}  // namespace

bool roll_call(MPI_Comm comm, bool ready, bool call_waits_for_all) {
    static const MPI_Datatype vote_type = MPI_INT;
    static const MPI_Op all = MPI_MIN;
    const mpi::Library& library = mpi::library();
    Answer* const answer = call_waits_for_all ? nullptr : take_answer();
    if (answer == nullptr) {
        int vote = ready ? 1 : 0;
        return library.Allreduce(MPI_IN_PLACE, &vote, 1, vote_type, all, comm) == MPI_SUCCESS && vote != 0;
    }
    const bool all_here = library.Ibarrier(comm, &answer->here) == MPI_SUCCESS && ends_in_time(answer->here);
    answer->ready = all_here && ready ? 1 : 0;
    const int asked = library.Iallreduce(MPI_IN_PLACE, &answer->ready, 1, vote_type, all, comm, &answer->vote);
    // Whoever has waited in vain knows what comes out. The others know that everybody is about to answer.
    if (!all_here || asked != MPI_SUCCESS) {
        become(*answer, Answer::State::left);
        return false;
    }
    const bool voted = library.Wait(&answer->vote, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    const bool all_ready = voted && answer->ready != 0;
    become(*answer, Answer::State::unused);
    return all_ready;
}

}  // namespace rondo::interposer
