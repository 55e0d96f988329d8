// SPDX-License-Identifier: BSD-3-Clause
// Random collective calls, each kind of them repeated up to a hundred times in a row: new data each time, in place or
// not, one of two buffers, now and then another kind of call in between, on the world, a copy of it, its halves and its
// ranks in reverse order, some of which are freed and made anew. Arguments: seed, how many kinds, and the collectives
// (default: all). Says of the first wrong results what they are. Prints how often a result was wrong, how many calls
// there were, and how many of them Rondo carried out on this rank without a second look.
#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "random_operation.hpp"
#include "watchdog.hpp"

namespace {

using namespace random_programs;

constexpr int most_elements = 20000, most_ranks = 8, communicators = 4;

/// The collectives of which a command line speaks, by Rondo's names for them; all without one.
std::vector<Collective> wanted_collectives(int words, char** word) {
    std::vector<Collective> wanted;
    for (int each = 0; each < number_of_collectives; ++each) {
        std::string name = names_of_collectives[static_cast<std::size_t>(each)];
        if (name == "allgatherv") name = "allgather";
        if (name == "reduce_scatter_block") name = "reduce_scatter";
        bool is_wanted = words == 0;
        for (int i = 0; i < words; ++i) is_wanted |= name == word[i];
        if (is_wanted) wanted.push_back(static_cast<Collective>(each));
    }
    if (wanted.empty()) MPI_Abort(MPI_COMM_WORLD, 2);
    return wanted;
}

class RandomCalls {
  public:
    RandomCalls(int seed, std::vector<Collective> wanted)
        : draw_(static_cast<std::uint64_t>(seed)), wanted_(std::move(wanted)) {
        log.program = seed;
        groups_[0] = group_of(MPI_COMM_WORLD);
        make_groups(1);
        for (Memory& memory : memories_) {  // so that they stay where they are
            const std::size_t most = std::size_t{12} * (most_elements * most_ranks + 64);
            memory.input.reserve(most);
            memory.output.reserve(most);
        }
    }
    RandomCalls(const RandomCalls&) = delete;
    RandomCalls& operator=(const RandomCalls&) = delete;
    ~RandomCalls() { free_groups(1); }

    void repeat_a_kind() {
        const Repeated repeated = any_kind(), other = any_kind();
        const bool is_long = repeated.kind.elements > 2000, has_interruptions = draw_.one_in(3);
        const int repetitions = 1 + draw_.below(draw_.one_in(2) ? 5 : is_long ? 20 : 100);
        const bool keeps_place = draw_.one_in(2);
        for (int i = 0; i < repetitions; ++i) {
            call(repeated, !keeps_place && draw_.one_in(2), memories_[draw_.one_in(4) ? 1 : 0]);
            if (has_interruptions && draw_.one_in(8)) call(other, false, memories_[0]);
        }
        ++log.step;
        if (!draw_.one_in(20)) return;
        free_groups(2);
        make_groups(2);
    }

    Log log;

  private:
    /// A kind of call, and where it is made.
    struct Repeated {
        Kind kind;
        int group;
    };

    /// Mostly one whose datatype and operator are not the program's: Rondo carries these out without a second look.
    Repeated any_kind() {
        static constexpr std::array lengths{1, 1, 2, 7, 30, 64, 300, 513, 2000, most_elements};
        const Collective collective = draw_.any_of(wanted_);
        const bool takes_any = draw_.one_in(8);
        const int elements = draw_.any_of(lengths), root = draw_.below(most_ranks), group = draw_.below(communicators);
        Kind kind = draw_kind(draw_, collective, elements, root);
        while (!takes_any && (kind.layout->is_own() || (kind.op && is_own(*kind.op))))
            kind = draw_kind(draw_, collective, elements, root);
        return {kind, group};
    }

    void call(const Repeated& repeated, bool in_place, Memory& memory) {
        const Group& group = groups_[static_cast<std::size_t>(repeated.group)];
        Kind kind = repeated.kind;
        kind.root %= group.size;
        kind.in_place = in_place;
        kind.seed += static_cast<std::uint64_t>(log.calls / 8);  // of lengths of parts, where they differ
        Operation operation(kind, group, memory);
        operation.fill(static_cast<int>(++log.calls));
        operation.call(Form::blocking);
        operation.free_type();
        operation.free_operator();
        if (const std::string error = operation.error(); !error.empty()) log.note(operation.description(), error);
    }

    void make_groups(int from) {
        for (int i = from; i < communicators; ++i) {
            const int rank = groups_[0].rank;
            MPI_Comm made = MPI_COMM_NULL;
            if (i == 1) MPI_Comm_dup(MPI_COMM_WORLD, &made);
            else MPI_Comm_split(MPI_COMM_WORLD, i == 2 ? rank % 2 : 0, i == 2 ? rank : -rank, &made);
            groups_[static_cast<std::size_t>(i)] = group_of(made);
        }
    }
    void free_groups(int from) {
        for (int i = from; i < communicators; ++i) MPI_Comm_free(&groups_[static_cast<std::size_t>(i)].comm);
    }

    Draw draw_;
    std::vector<Collective> wanted_;
    std::array<Group, communicators> groups_;
    std::array<Memory, 2> memories_;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failures = 0, all = 0, rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        const int seed = argc > 1 ? std::atoi(argv[1]) : 1, kinds = argc > 2 ? std::atoi(argv[2]) : 100;
        RandomCalls calls(seed, argc > 3 ? wanted_collectives(argc - 3, argv + 3) : wanted_collectives(0, nullptr));
        for (int i = 0; i < kinds; ++i) calls.repeat_a_kind();
        failures = calls.log.failures;
        MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        auto* const again = reinterpret_cast<unsigned long long (*)()>(dlsym(RTLD_DEFAULT, "rondo_served_again"));
        if (rank == 0)
            std::printf("failures %d\ncalls %ld\nagain %llu\n", all, calls.log.calls, again != nullptr ? again() : 0);
    }
    MPI_Finalize();
    return failures != 0 ? 1 : 0;
}
