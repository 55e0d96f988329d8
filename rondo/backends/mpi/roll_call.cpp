// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/roll_call.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {
namespace {

using Values = std::span<long long>;

constexpr std::uint64_t patience_at_the_end = 1'000'000'000;  // nanoseconds
constexpr int polls_at_once = 64;
constexpr long long given_up = std::numeric_limits<long long>::min();  // less than any value

/// The messages of a roll call: a dissemination barrier, carried out twice. A rank sends as many words as it receives,
/// whatever happens: to the rank 1 further on and from that 1 before, then 2, 4 and so on, around the circle. A rank
/// that has received them all has heard of every other. Words hold the least values that a rank has heard of. Before
/// the last of the first words a rank may go on without the others: it says so in all words that it has not sent yet,
/// and whoever receives that does so at once. A rank that has received all of the first words knows that every other
/// will soon send the second ones, which are the answers.
class Words {
  public:
    Words(const Route& route, std::size_t values)
        : route_(route), size_(static_cast<Rank>(route.ranks.size())), values_(static_cast<int>(values)),
          half_(static_cast<int>(std::bit_width(static_cast<std::uint32_t>(size_ - 1)))) {}

    [[nodiscard]] int count() const { return 2 * half_; }
    /// The number of the first word that is an answer.
    [[nodiscard]] int answers() const { return half_; }
    [[nodiscard]] bool is_from_lower_rank(int word) const { return route_.rank >= distance(word); }
    [[nodiscard]] bool say(int word, const long long* values, MPI_Request& request) {
        const Rank beyond = route_.rank - (size_ - distance(word));
        const Rank to = beyond >= 0 ? beyond : beyond + size_;
        return library().Isend(values, values_, type(), route_.number(to), route_.tag, route_.communicator, &request) ==
               MPI_SUCCESS;
    }
    [[nodiscard]] bool hear(int word, long long* values, MPI_Request& request) {
        const Rank before = route_.rank - distance(word);
        const Rank from = before >= 0 ? before : before + size_;
        return library().Irecv(values, values_, type(), route_.number(from), route_.tag, route_.communicator,
                               &request) == MPI_SUCCESS;
    }

  private:
    static MPI_Datatype type() {
        static const MPI_Datatype of_values = MPI_LONG_LONG;
        return of_values;
    }
    [[nodiscard]] Rank distance(int word) const { return Rank{1} << (word % half_); }

    const Route& route_;
    Rank size_;
    int values_;
    int half_;
};

bool is_done(MPI_Request& request) {
    int done = 0;
    return library().Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

/// The messages that a rank sends and receives in one roll call. Those that have not arrived when it goes on are left
/// for later.
class Messages {
  public:
    enum class State : std::uint8_t { unused, in_use, left };
    State state = State::unused;

    /// Gets ready for so many words of so many values. Throws std::bad_alloc.
    void prepare(int words, std::size_t values) {
        const auto numbers = static_cast<std::size_t>(words) * values;
        heard_.assign(numbers, given_up);  // what a word that never comes is taken for
        said_.assign(numbers, given_up);
        words_ = words;
        values_ = values;
        has_failed_ = waits_in_vain_ = false;
        hearing_.fill(library().request_null);
        saying_.fill(library().request_null);
    }
    void hear_all(Words& words) {
        for (int word = 0; word < words_; ++word) {
            has_failed_ |= !words.hear(word, heard(word).data(), hearing(word));
        }
    }
    void say(Words& words, int word, Values values) {
        std::ranges::copy(values, said(word).begin());
        has_failed_ |= !words.say(word, said(word).data(), saying(word));
    }
    /// Takes into account what a word says that may never come. Waits for it until then, and no longer.
    void await(int word, Values values, std::uint64_t until) {
        do {
            for (int poll = 0; poll < polls_at_once; ++poll) {
                if (is_done(hearing(word))) return take(word, values);
            }
            if (is_given_up()) {
                std::ranges::fill(values, given_up);
                return;
            }
            sched_yield();  // ranks may be more than processors
        } while (now() < until);
        std::ranges::fill(values, given_up);
        waits_in_vain_ = true;
    }
    /// Takes into account what a word says that comes soon: the library knows best how to wait for it.
    void await(int word, Values values) {
        library().Wait(&hearing(word), MPI_STATUS_IGNORE);
        take(word, values);
    }
    [[nodiscard]] bool has_failed() const { return has_failed_; }
    [[nodiscard]] bool waits_in_vain() const { return waits_in_vain_; }
    [[nodiscard]] bool hears_lower_ranks(const Words& words) {
        for (int word = 0; word < words_ && !has_failed_; ++word) {
            if (words.is_from_lower_rank(word) && is_done(hearing(word))) return true;
        }
        return false;
    }
    [[nodiscard]] bool is_over() {
        const auto all_done = [&](auto& requests) {
            return std::all_of(requests.begin(), requests.begin() + words_, is_done);
        };
        return all_done(saying_) && all_done(hearing_);
    }
    void leave(const Context& context) {
        state = is_over() ? State::unused : State::left;
        context_ = {};
        if (state == State::unused || !context.exists()) return;
        context_ = context;  // nobody gets it, whoever has it now, before all have arrived
        world().contexts().share(context);
    }
    /// Forgets messages that were left, if all have arrived by now. False if not.
    bool forget() {
        if (state != State::left) return true;
        if (!is_over()) return false;
        state = State::unused;
        world().contexts().give_back(context_);
        return true;
    }
    /// Cancels receives. The library ends sends by itself.
    void take_back() {
        for (int word = 0; word < words_; ++word) {
            if (!is_done(hearing(word))) {
                library().Cancel(&hearing(word));
                library().Wait(&hearing(word), MPI_STATUS_IGNORE);
            }
            if (!is_done(saying(word))) library().Request_free(&saying(word));
        }
    }

  private:
    static constexpr std::size_t most_words = 62;  // two for each bit of a rank

    [[nodiscard]] MPI_Request& hearing(int word) { return hearing_[static_cast<std::size_t>(word)]; }
    [[nodiscard]] MPI_Request& saying(int word) { return saying_[static_cast<std::size_t>(word)]; }
    [[nodiscard]] Values heard(int word) { return of(heard_, word); }
    [[nodiscard]] Values said(int word) { return of(said_, word); }
    [[nodiscard]] Values of(std::vector<long long>& numbers, int word) const {
        return Values(numbers).subspan(static_cast<std::size_t>(word) * values_, values_);
    }
    void take(int word, Values values) {
        std::ranges::transform(values, heard(word), values.begin(),
                               [](auto own, auto other) { return std::min(own, other); });
    }
    /// True if a rank goes on, or has gone on, without the others.
    [[nodiscard]] bool is_given_up() {
        for (int word = 0; word < words_; ++word) {
            if (is_done(hearing(word)) && heard(word)[0] == given_up) return true;
        }
        return false;
    }

    int words_ = 0;
    std::size_t values_ = 0;
    bool has_failed_ = false, waits_in_vain_ = false;
    std::vector<long long> heard_, said_;
    std::array<MPI_Request, most_words> hearing_{}, saying_{};
    Context context_;
};

std::mutex mutex;  // guards all states

std::array<Messages, 64>& all_messages() {
    static auto& all = *new std::array<Messages, 64>;  // messages may be left when the process ends
    return all;
}

/// Forgets messages that have all arrived. True if none are left. The caller holds the mutex.
bool forget_those_that_are_over() {
    bool is_any_left = false;
    for (Messages& each : all_messages()) is_any_left |= !each.forget();
    return !is_any_left;
}

/// Takes a place for the messages of a roll call; nullptr if there is none: too many are left, or memory is short.
Messages* take_messages(const Words& words, std::size_t values) {
    const std::lock_guard lock(mutex);
    forget_those_that_are_over();
    auto* const found = std::ranges::find(all_messages(), Messages::State::unused, &Messages::state);
    if (found == all_messages().end()) return nullptr;
    try {
        found->prepare(words.count(), values);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    found->state = Messages::State::in_use;
    return found;
}

/// Replaces the values by the least of all ranks, or by `given_up`.
void exchange(Messages& messages, Words& words, Values values, std::uint64_t until) {
    messages.hear_all(words);
    for (int word = 0; word < words.count(); ++word) {
        if (messages.has_failed()) std::ranges::fill(values, given_up);
        messages.say(words, word, values);
        if (values[0] == given_up) continue;
        if (word < words.answers()) messages.await(word, values, until);
        else messages.await(word, values);
    }
    if (messages.has_failed()) std::ranges::fill(values, given_up);
}

/// The roll call of a rank that has no place for its messages: it goes on, and ignores the others' words.
void go_on(Words& words, const Context& context) {
    static long long of_no_matter[most_asked];
    static const auto nothing = [] {
        std::array<long long, most_asked> values{};
        values.fill(given_up);
        return values;
    }();
    for (int word = 0; word < words.count(); ++word) {
        MPI_Request hearing = library().request_null, saying = hearing;
        (void)words.hear(word, of_no_matter, hearing);
        (void)words.say(word, nothing.data(), saying);
        for (MPI_Request* const each : {&hearing, &saying}) {
            if (*each != library().request_null) library().Request_free(each);
        }
    }
    if (context.exists()) world().contexts().share(context);  // it is never given back
}

}  // namespace

Roll call_roll(const Route& route, const Context& context, Values values, std::uint64_t patience) {
    const std::uint64_t until = now() + patience;
    Words words(route, values.size());
    Messages* const messages = take_messages(words, values.size());
    if (messages == nullptr) {
        go_on(words, context);
        return {.is_complete = false, .waits_in_vain = false, .hears_lower_ranks = false};
    }
    exchange(*messages, words, values, until);
    const Roll roll{.is_complete = values[0] != given_up,
                    .waits_in_vain = messages->waits_in_vain(),
                    .hears_lower_ranks = messages->hears_lower_ranks(words)};
    const std::lock_guard lock(mutex);
    messages->leave(context);
    return roll;
}

void end_roll_calls() {
    const std::lock_guard lock(mutex);
    const std::uint64_t until = now() + patience_at_the_end;
    while (!forget_those_that_are_over()) {
        if (now() >= until) {
            for (Messages& each : all_messages()) {
                if (each.state == Messages::State::left) each.take_back();
            }
            return;
        }
        sched_yield();
    }
}

}  // namespace rondo::mpi
