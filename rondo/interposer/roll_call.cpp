// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/roll_call.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "rondo/interposer/report.hpp"

namespace rondo::interposer {
namespace {

constexpr std::uint64_t patience = 1'000'000'000;  // nanoseconds
constexpr int polls_at_once = 64;
/// Of this process, on whatever communicators: these may be many, and do not know of each other.
constexpr int most_waits_in_vain = 3;
std::atomic<int> waits_in_vain{0};

/// What a rank says. When it goes on, that is left for those who come later.
struct Answer {
    enum class State : std::uint8_t { unused, given, left };
    State state = State::unused;
    MPI_Request here{}, vote{};
    int answer = 0;  // a RollCall
};

std::mutex mutex;  // of all states
std::array<Answer, 128> answers;

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
    } while (waits_in_vain < most_waits_in_vain && now() - start < patience);
    ++waits_in_vain;
    return false;
}

/// Of a rank that has too many answers under way to keep one more: it is not here. What the others say to that is of no
/// matter to it.
RollCall be_absent(MPI_Comm comm, MPI_Datatype type, MPI_Op least) {
    static const int absent = static_cast<int>(RollCall::not_all_here);
    static int of_no_matter = 0;
    MPI_Request here{}, vote{};  // never asked for: the library ends them by itself
    mpi::library().Ibarrier(comm, &here);
    mpi::library().Iallreduce(&absent, &of_no_matter, 1, type, least, comm, &vote);
    return RollCall::not_all_here;
}

}  // namespace

RollCall roll_call(MPI_Comm comm, bool ready, bool call_waits_for_all) {
    static const MPI_Datatype type = MPI_INT;
    static const MPI_Op least = MPI_MIN;
    const mpi::Library& library = mpi::library();
    const RollCall if_all_are_here = ready ? RollCall::all_ready : RollCall::not_all_ready;
    if (call_waits_for_all) {
        int answer = static_cast<int>(if_all_are_here);
        const bool agreed = library.Allreduce(MPI_IN_PLACE, &answer, 1, type, least, comm) == MPI_SUCCESS;
        return agreed ? static_cast<RollCall>(answer) : RollCall::not_all_ready;
    }
    Answer* const own = take_answer();
    if (own == nullptr) return be_absent(comm, type, least);
    const bool all_here = library.Ibarrier(comm, &own->here) == MPI_SUCCESS && ends_in_time(own->here);
    own->answer = static_cast<int>(all_here ? if_all_are_here : RollCall::not_all_here);
    const int asked = library.Iallreduce(MPI_IN_PLACE, &own->answer, 1, type, least, comm, &own->vote);
    // Whoever has waited in vain knows what comes out. The others know that everybody is about to answer.
    if (!all_here || asked != MPI_SUCCESS) {
        become(*own, Answer::State::left);
        return RollCall::not_all_here;
    }
    const bool voted = library.Wait(&own->vote, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    const RollCall outcome = voted ? static_cast<RollCall>(own->answer) : RollCall::not_all_here;
    become(*own, Answer::State::unused);
    return outcome;
}

}  // namespace rondo::interposer
