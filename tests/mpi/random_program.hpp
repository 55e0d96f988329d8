// SPDX-License-Identifier: BSD-3-Clause
// A random program, which all ranks draw alike. Each rank draws alone when and how it completes its requests.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "random_operation.hpp"
#include "watchdog.hpp"

namespace random_programs {

struct Options {
    bool native = false;  // calls may be the library's own, whatever they are
    bool persistent = HAS_PERSISTENT_COLLECTIVES;
};

/// True if the library's own calls survive that the program frees datatypes, operators and communicators under way.
/// Open MPI 5.0 crashes.
#if defined(MPICH_NUMVERSION) && !defined(I_MPI_NUMVERSION)
inline constexpr bool may_free_early = true;
#else
inline constexpr bool may_free_early = false;
#endif

/// True if the library's own nonblocking alltoallv may be in place. Open MPI 5.0's sometimes does not end beside other
/// calls.
#ifdef OMPI_MAJOR_VERSION
inline constexpr bool may_exchange_in_place = false;
#else
inline constexpr bool may_exchange_in_place = true;
#endif

class Program {
  public:
    Program(int seed, int rank, const Options& options, Log& log)
        : common_(static_cast<std::uint64_t>(seed)),
          own_(static_cast<std::uint64_t>(seed) * 97 + static_cast<std::uint64_t>(rank) + 1), options_(options),
          log_(log) {
        requests_.fill(MPI_REQUEST_NULL);
    }
    void run() {
        const int steps = 10 + common_.below(30);
        groups_[0] = group_of(MPI_COMM_WORLD);
        make_other_group();
        for (log_.step = 1; log_.step <= steps; ++log_.step) take_step();
        end();
    }

  private:
    static constexpr int nonblocking = 10, persistent = 6, messages = 4;
    static constexpr int first_persistent = nonblocking, first_received = first_persistent + persistent,
                         first_sent = first_received + messages, slots = first_sent + messages;

    /// What a request stands for.
    struct Slot {
        std::unique_ptr<Memory> memory = std::make_unique<Memory>();
        std::unique_ptr<Operation> operation;
        std::vector<int> message;
        int expected = 0;  // in each word of the message
        bool is_under_way = false;
    };

    void take_step();
    void make_other_group();
    void free_other_group();
    std::unique_ptr<Operation> draw_operation(Form form, Memory& memory);
    void call_blocking();
    void begin();
    void make_persistent();
    void start_persistent();
    void free_persistent();
    void pass_message();
    void exchange_now();
    void complete_some();
    std::vector<int> complete();
    std::vector<int> complete_all();
    void finish(int index);
    void note_completed(int index);
    void end();

    Slot& slot(int index) { return slots_[static_cast<std::size_t>(index)]; }
    MPI_Request& request(int index) { return requests_[static_cast<std::size_t>(index)]; }
    const Group& draw_group() { return groups_[static_cast<std::size_t>(common_.below(2))]; }
    void check(const Operation& operation) {
        if (const std::string error = operation.error(); !error.empty()) log_.note(operation.description(), error);
    }
    void free_early(Operation& operation) {
        if (!may_free_early && (options_.native || !operation.is_surely_served())) return;
        if (own_.one_in(2)) operation.free_type();
        if (own_.one_in(2)) operation.free_operator();
    }

    Draw common_, own_;
    Options options_;
    Log& log_;
    std::array<Group, 2> groups_;
    std::array<Slot, slots> slots_;
    std::array<MPI_Request, slots> requests_{};
    std::vector<std::unique_ptr<Slot>> left_;  // under way, though their requests are freed
    bool is_left_ = false;                     // some rank may have such calls: equal on all ranks
    int data_ = 0;
};

inline void Program::take_step() {
    switch (common_.below(options_.persistent ? 16 : 10)) {
        case 0:
        case 1: return complete_some();
        case 2: return pass_message();
        case 3: return exchange_now();
        case 4: return call_blocking();
        case 5:
            if (may_free_early && common_.one_in(3)) free_other_group();
            return;
        case 10:
        case 11: return make_persistent();
        case 12:
        case 13:
        case 14: return start_persistent();
        case 15: return free_persistent();
        default: return begin();
    }
}

inline void Program::make_other_group() {
    MPI_Comm made = MPI_COMM_WORLD;
    const Group& world = groups_[0];
    const int way = common_.below(4), absent = common_.below(world.size);
    if (way == 1) MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (way == 2) MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &made);
    if (way == 3) MPI_Comm_split(MPI_COMM_WORLD, world.rank == absent ? MPI_UNDEFINED : 0, (world.rank * 5) % 3, &made);
    groups_[1] = group_of(made);
}

inline void Program::free_other_group() {
    if (groups_[1].comm != MPI_COMM_WORLD && groups_[1].size > 0) MPI_Comm_free(&groups_[1].comm);
    groups_[1] = groups_[0];
}

/// A call that all ranks draw alike; nothing if this rank is not in its communicator.
inline std::unique_ptr<Operation> Program::draw_operation(Form form, Memory& memory) {
    const Group& group = draw_group();
    const auto collective = static_cast<Collective>(common_.below(number_of_collectives));
    const int elements = common_.one_in(6) ? common_.below(3000) : common_.below(24), root = common_.below(60);
    Kind kind = draw_kind(common_, collective, elements, root);
    if (!may_exchange_in_place && options_.native && form != Form::blocking && collective == Collective::alltoallv)
        kind.in_place = false;
    ++data_;
    if (group.size == 0) return nullptr;
    ++log_.calls;
    kind.root %= group.size;
    return std::make_unique<Operation>(kind, group, memory);
}

inline void Program::call_blocking() {
    Memory memory;
    const auto operation = draw_operation(Form::blocking, memory);
    if (operation == nullptr) return;
    log_.begin("a blocking call", operation.get());
    operation->fill(data_);
    operation->call(Form::blocking);
    operation->free_type();
    operation->free_operator();
    check(*operation);
}

inline void Program::begin() {
    const int index = common_.below(nonblocking);
    finish(index);
    Slot& here = slot(index);
    here.operation = draw_operation(Form::nonblocking, *here.memory);
    if (here.operation == nullptr) return;
    here.operation->fill(data_);
    log_.begin("the beginning of a call", here.operation.get(), index);
    here.operation->call(Form::nonblocking, &request(index));
    here.is_under_way = true;
    free_early(*here.operation);
}

/// Makes a persistent call in the place of another one.
inline void Program::make_persistent() {
    const int index = first_persistent + common_.below(persistent);
    finish(index);
    Slot& here = slot(index);
    if (here.operation != nullptr) {
        MPI_Request_free(&request(index));
        here.operation->free_type();
        here.operation->free_operator();
    }
    here.operation = draw_operation(Form::persistent, *here.memory);
    if (here.operation == nullptr) return;
    here.operation->fill(data_);
    log_.begin("the making of a persistent call", here.operation.get(), index);
    here.operation->call(Form::persistent, &request(index));
    free_early(*here.operation);
}

/// Starts some persistent calls, from one of this rank's own choice on.
inline void Program::start_persistent() {
    const int chosen = common_.below(1 << persistent), first = own_.below(persistent);
    const bool at_once = own_.one_in(2);
    std::vector<MPI_Request> started;
    std::vector<int> indices;
    for (int i = 0; i < persistent; ++i) {
        const int number = (first + i) % persistent, index = first_persistent + number;
        Slot& here = slot(index);
        if ((chosen >> number & 1) == 0 || here.operation == nullptr) continue;
        finish(index);
        here.operation->fill(data_ + 1 + number);
        here.is_under_way = true;
        ++log_.calls;
        indices.push_back(index);
        started.push_back(request(index));
        log_.begin("a start", here.operation.get(), index);
        if (!at_once) MPI_Start(&request(index));
    }
    data_ += persistent;
    if (!at_once || started.empty()) return;
    MPI_Startall(static_cast<int>(started.size()), started.data());
    for (std::size_t i = 0; i < indices.size(); ++i) request(indices[i]) = started[i];
}

/// Frees the request of a persistent call, sometimes right after a start, which goes on then. MPICH and Open MPI crash
/// there if the call is their own.
inline void Program::free_persistent() {
    const int index = first_persistent + common_.below(persistent);
    const bool goes_on = common_.one_in(2) && !options_.native;
    finish(index);
    ++data_;
    is_left_ |= goes_on;
    Slot& here = slot(index);
    if (here.operation == nullptr) return;
    const bool is_active = goes_on && here.operation->is_surely_served();
    if (is_active) {
        here.operation->fill(data_);
        MPI_Start(&request(index));
    }
    MPI_Request_free(&request(index));
    here.operation->free_type();
    here.operation->free_operator();
    if (is_active) left_.push_back(std::make_unique<Slot>(std::move(here)));
    here = Slot();
}

/// Passes a message on to the next rank of a communicator, and begins to receive one from the rank before.
inline void Program::pass_message() {
    const int number = common_.below(messages), received = first_received + number, sent = first_sent + number;
    const int length = common_.one_in(4) ? common_.below(20000) : common_.below(50), tag = ++data_;
    const Group& group = draw_group();
    finish(received);
    finish(sent);
    if (group.size == 0) return;
    log_.begin("a message", nullptr, number);
    slot(received).message.assign(static_cast<std::size_t>(length), -1);
    slot(received).expected = data_;
    slot(sent).message.assign(static_cast<std::size_t>(length), data_);
    const int to = (group.rank + 1) % group.size;
    const bool receives_first = own_.one_in(2);
    for (const bool receives : {receives_first, !receives_first}) {
        if (receives)
            MPI_Irecv(slot(received).message.data(), length, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, group.comm,
                      &request(received));
        else MPI_Isend(slot(sent).message.data(), length, MPI_INT, to, tag, group.comm, &request(sent));
    }
    slot(received).is_under_way = slot(sent).is_under_way = true;
}

/// Passes a message on, and waits for the one from the rank before.
inline void Program::exchange_now() {
    const int length = common_.one_in(4) ? common_.below(20000) : common_.below(50), tag = ++data_;
    const int way = common_.below(3);
    const Group& group = draw_group();
    is_left_ |= way == 0;
    if (group.size == 0) return;
    log_.begin("an exchange of messages");
    auto sent = std::make_unique<Slot>();
    sent->message.assign(static_cast<std::size_t>(length), data_);
    std::vector<int> received(static_cast<std::size_t>(length), -1);
    const int to = (group.rank + 1) % group.size;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent->message.data(), length, MPI_INT, to, tag, group.comm, &request);
    if (way == 0) MPI_Request_free(&request);
    if (way == 1) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, group.comm, MPI_STATUS_IGNORE);
    MPI_Recv(received.data(), length, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, group.comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (received != sent->message) log_.note("a message that was waited for", "it is another one");
    if (way == 0) left_.push_back(std::move(sent));
}

}  // namespace random_programs
