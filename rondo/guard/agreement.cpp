// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/agreement.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>

#include "rondo/backends/mpi/clock.hpp"

namespace rondo::guard {
namespace {

constexpr std::uint64_t timeout = 1'000'000'000;  // nanoseconds
constexpr int polls_at_once = 64;
/// In one call of the library: more spoils broadcasts of Intel MPI, as world.cpp says.
constexpr std::size_t most_bytes_exchanged = 32;
/// Timeouts of this process after which nobody waits any more. They are counted on all its communicators together:
/// these may be many, and do not know of each other.
constexpr int most_timeouts = 3;
std::atomic<int> timeouts{0};

/// The messages of a timed barrier: a dissemination barrier, carried out twice. A rank sends as many words as it
/// receives, whatever happens: to the rank 1 further on and from that 1 before, then 2, 4 and so on, around the circle.
/// A rank that has received them all has heard of every other. The first words say that a rank is here. Before the last
/// of them a rank may go on without the others: it says so in all words that it has not sent yet, and whoever receives
/// that does the same at once. A rank that has received all of the first words knows that every other will soon send
/// the second ones, which are the answers.
class Words {
  public:
    Words() = default;
    explicit Words(const mpi::Communicator& communicator)
        : route_(&communicator.route()), size_(communicator.size()), tag_(communicator.context().meeting_tag()),
          half_(static_cast<int>(std::bit_width(static_cast<std::uint32_t>(size_ - 1)))) {}

    [[nodiscard]] int count() const { return 2 * half_; }
    /// The number of the first word that is an answer.
    [[nodiscard]] int answers() const { return half_; }
    void say(int word, Attendance what, MPI_Request& request) const {
        static const int words[] = {0, 1, 2};
        const Rank beyond = route_->rank - (size_ - distance(word));
        const Rank to = beyond >= 0 ? beyond : beyond + size_;
        mpi::library().Isend(&words[static_cast<std::size_t>(what)], 1, type(), route_->number(to), tag_,
                             route_->communicator, &request);
    }
    void hear(int word, int& what, MPI_Request& request) const {
        const Rank before = route_->rank - distance(word);
        const Rank from = before >= 0 ? before : before + size_;
        mpi::library().Irecv(&what, 1, type(), route_->number(from), tag_, route_->communicator, &request);
    }

  private:
    static MPI_Datatype type() {
        static const MPI_Datatype of_words = MPI_INT;
        return of_words;
    }
    [[nodiscard]] Rank distance(int word) const { return Rank{1} << (word % half_); }

    const mpi::Route* route_;
    Rank size_;
    int tag_;
    int half_;
};

/// The messages that a rank sends and receives in one timed barrier. Those that have not arrived when it goes on are
/// left for later.
struct Answer {
    static constexpr int most_words = 2 * 31;  // ranks are ints
    enum class State : std::uint8_t { unused, given, left };

    State state = State::unused;
    int words = 0;
    std::array<int, most_words> heard{};  // an Attendance each
    std::array<MPI_Request, most_words> hearing{}, saying{};
    mpi::Context context;

    [[nodiscard]] Attendance word(int number) const { return static_cast<Attendance>(heard[std::size_t(number)]); }
};

std::mutex mutex;  // guards all states
std::array<Answer, 64> answers;

bool is_done(MPI_Request& request) {
    int done = 0;
    return mpi::library().Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

bool is_over(Answer& answer) {
    const auto all_done = [&](auto& requests) {
        return std::all_of(requests.begin(), requests.begin() + answer.words, is_done);
    };
    return all_done(answer.saying) && all_done(answer.hearing);
}

/// Forgets answers whose messages have all arrived. True if none is left. The caller holds the mutex.
bool forget_those_that_are_over() {
    bool is_any_left = false;
    for (Answer& each : answers) {
        if (each.state != Answer::State::left) continue;
        if (is_over(each)) {
            each.state = Answer::State::unused;
            mpi::world().give_back(each.context);
        } else {
            is_any_left = true;
        }
    }
    return !is_any_left;
}

/// Takes a place for messages; nullptr if too many are left.
Answer* take_answer() {
    const std::lock_guard lock(mutex);
    forget_those_that_are_over();
    auto* const found =
        std::ranges::find_if(answers, [](const Answer& each) { return each.state == Answer::State::unused; });
    if (found == answers.end()) return nullptr;
    found->state = Answer::State::given;
    return found;
}

/// Ends a timed barrier. If messages are left, nobody gets its context, whoever has it now, before all have arrived.
void leave(Answer& answer, const mpi::Communicator& communicator) {
    const bool over = is_over(answer);
    const std::lock_guard lock(mutex);
    answer.state = over ? Answer::State::unused : Answer::State::left;
    if (over) return;
    answer.context = communicator.context();
    mpi::world().share(answer.context);
}

/// True if a rank goes on, or has gone on, without the others.
bool is_given_up(Answer& answer) {
    for (int word = 0; word < answer.words; ++word) {
        if (is_done(answer.hearing[std::size_t(word)]) && answer.word(word) == Attendance::not_all_here) return true;
    }
    return false;
}

/// The word of a rank that may be late. Waits for it until then, and no longer.
Attendance await(Answer& answer, int word, std::uint64_t until) {
    do {
        for (int poll = 0; poll < polls_at_once; ++poll) {
            if (is_done(answer.hearing[std::size_t(word)])) return answer.word(word);
        }
        if (is_given_up(answer)) return Attendance::not_all_here;
        sched_yield();
    } while (timeouts < most_timeouts && mpi::now() < until);
    ++timeouts;
    return Attendance::not_all_here;
}

/// The word of a rank that is here: the library knows best how to wait for it.
Attendance await(Answer& answer, int word) {
    mpi::library().Wait(&answer.hearing[std::size_t(word)], MPI_STATUS_IGNORE);
    return answer.word(word);
}

Attendance speak(Answer& answer, const Words& words, Attendance own) {
    const std::uint64_t until = mpi::now() + timeout;
    answer.words = words.count();
    answer.heard.fill(static_cast<int>(Attendance::not_all_here));  // what a word that never comes is taken for
    answer.hearing.fill(mpi::library().request_null);
    answer.saying.fill(mpi::library().request_null);
    for (int word = 0; word < words.count(); ++word) {
        words.hear(word, answer.heard[std::size_t(word)], answer.hearing[std::size_t(word)]);
    }
    Attendance said = Attendance::all_ready;
    int word = 0;
    for (; word < words.count() && said != Attendance::not_all_here; ++word) {
        const bool is_answer = word >= words.answers();
        if (word == words.answers()) said = own;
        words.say(word, said, answer.saying[std::size_t(word)]);
        said = std::min(said, is_answer ? await(answer, word) : await(answer, word, until));
    }
    for (; word < words.count(); ++word) words.say(word, said, answer.saying[std::size_t(word)]);
    return said;
}

/// The timed barrier of a rank that has left too many answers to keep one more: it goes on, and ignores the others'
/// words.
Attendance go_on(const Words& words, const mpi::Communicator& communicator) {
    static int of_no_matter = 0;
    for (int word = 0; word < words.count(); ++word) {
        MPI_Request hearing = mpi::library().request_null, saying = hearing;
        words.hear(word, of_no_matter, hearing);
        words.say(word, Attendance::not_all_here, saying);
        for (MPI_Request* const each : {&hearing, &saying}) {
            if (*each != mpi::library().request_null) mpi::library().Request_free(each);
        }
    }
    mpi::world().share(communicator.context());  // it is never given back
    return Attendance::not_all_here;
}

/// Cancels receives. The library ends sends by itself.
void take_back(Answer& answer) {
    for (int word = 0; word < answer.words; ++word) {
        MPI_Request& hearing = answer.hearing[std::size_t(word)];
        if (is_done(hearing)) continue;
        mpi::library().Cancel(&hearing);
        mpi::library().Wait(&hearing, MPI_STATUS_IGNORE);
    }
    for (MPI_Request& saying : answer.saying) {
        if (!is_done(saying)) mpi::library().Request_free(&saying);
    }
}

}  // namespace

Attendance timed_barrier(const mpi::Communicator& communicator, MPI_Comm comm, bool ready, bool call_waits_for_all) {
    const Attendance own = ready ? Attendance::all_ready : Attendance::not_all_ready;
    if (call_waits_for_all) {
        static const MPI_Datatype type = MPI_INT;
        static const MPI_Op least = MPI_MIN;
        int answer = static_cast<int>(own);
        const bool agreed = mpi::library().Allreduce(MPI_IN_PLACE, &answer, 1, type, least, comm) == MPI_SUCCESS;
        return agreed ? static_cast<Attendance>(answer) : Attendance::not_all_ready;
    }
    const Words words(communicator);
    Answer* const answer = take_answer();
    if (answer == nullptr) return go_on(words, communicator);
    const Attendance outcome = speak(*answer, words, own);
    leave(*answer, communicator);
    return outcome;
}

bool exchange_times(MPI_Comm comm, std::span<float> times) {
    static const MPI_Datatype type = MPI_FLOAT;
    static const MPI_Op slowest = MPI_MAX;
    constexpr std::size_t most = most_bytes_exchanged / sizeof(float);
    bool is_done = true;
    for (std::size_t done = 0; done < times.size(); done += most) {
        const auto piece = times.subspan(done, std::min(most, times.size() - done));
        const auto count = static_cast<int>(piece.size());
        is_done &= mpi::library().Allreduce(MPI_IN_PLACE, piece.data(), count, type, slowest, comm) == MPI_SUCCESS;
    }
    return is_done;
}

void end_timed_barriers() {
    const std::lock_guard lock(mutex);
    const std::uint64_t until = mpi::now() + timeout;
    while (!forget_those_that_are_over()) {
        if (mpi::now() >= until) {
            for (Answer& each : answers) {
                if (each.state == Answer::State::left) take_back(each);
            }
            return;
        }
        sched_yield();
    }
}

}  // namespace rondo::guard
