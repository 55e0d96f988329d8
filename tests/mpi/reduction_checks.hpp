// SPDX-License-Identifier: BSD-3-Clause
// One reducing collective in all its forms against a sequential reduction in rank order.
#pragma once

#include "checker.hpp"

enum class Collective { scan, exscan, reduce, allreduce };

inline constexpr const char* names_of_collectives[] = {"scan", "exscan", "reduce", "allreduce"};

inline Collective collective_named(const std::string& name) {
    for (int index = 0; index < 4; ++index) {
        if (name == names_of_collectives[index]) return static_cast<Collective>(index);
    }
    std::abort();
}

class ReductionChecker : public Checker {
  public:
    explicit ReductionChecker(Collective subject) : collective(subject) {}

    /// Every form, with one root.
    void run(const Problem& problem, MPI_Comm communicator, std::size_t count) {
        run(problem, communicator, count, next_root(size_of(communicator)));
    }

    void run_with_every_root(const Problem& problem, MPI_Comm communicator, std::size_t count) {
        const int roots = collective == Collective::reduce ? size_of(communicator) : 1;
        for (int root = 0; root < roots; ++root) run(problem, communicator, count, root);
    }

    /// Of a collective without a root.
    [[nodiscard]] auto function() const {
        return collective == Collective::scan     ? MPI_Scan
               : collective == Collective::exscan ? MPI_Exscan
                                                  : MPI_Allreduce;
    }

    const Collective collective;
    /// Without what crashes some libraries: reductions in place of long vectors to a root other than 0 (MPICH 4.0), and
    /// of elements that interlock (Intel MPI).
    bool tame = false;

  private:
    void run(const Problem& problem, MPI_Comm communicator, std::size_t count, int root) {
        for (const bool in_place : {false, true}) {
            run_form(problem, communicator, count, root, in_place, false);
            if (has_large_count) run_form(problem, communicator, count, root, in_place, true);
        }
        // In place is each rank's own affair.
        if (count == 7) run_form(problem, communicator, count, root, rank_in(communicator) % 2 == 0, false);
    }

    int call(bool large, const void* send, void* receive, std::size_t count, const Problem& problem, int root,
             MPI_Comm communicator) const {
#if MPI_VERSION >= 4
        if (large) {
            const auto elements = static_cast<MPI_Count>(count);
            if (collective == Collective::reduce) {
                return MPI_Reduce_c(send, receive, elements, problem.type, problem.op, root, communicator);
            }
            const auto large_function = collective == Collective::scan     ? MPI_Scan_c
                                        : collective == Collective::exscan ? MPI_Exscan_c
                                                                           : MPI_Allreduce_c;
            return large_function(send, receive, elements, problem.type, problem.op, communicator);
        }
#endif
        const auto elements = static_cast<int>(count);
        if (collective == Collective::reduce) {
            return MPI_Reduce(send, receive, elements, problem.type, problem.op, root, communicator);
        }
        return function()(send, receive, elements, problem.type, problem.op, communicator);
    }

    /// The last rank whose input is in the result of this one; -1 if nothing is, or there is no result.
    [[nodiscard]] int last_summand(int rank, int size, int root) const {
        switch (collective) {
            case Collective::scan: return rank;
            case Collective::exscan: return rank - 1;
            case Collective::reduce: return rank == root ? size - 1 : -1;
            case Collective::allreduce: return size - 1;
        }
        return -1;
    }

    /// What stands for a receive buffer that nobody may touch: anything.
    static void* insignificant_buffer(int rank, std::size_t count, void* send) {
        void* const buffers[] = {forbidden_page(), nullptr, send};
        return buffers[(static_cast<std::size_t>(rank) + count) % 3];
    }

    void run_form(const Problem& problem, MPI_Comm communicator, std::size_t count, int root, bool wants_in_place,
                  bool large) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        int commutative = 0;
        MPI_Op_commutative(problem.op, &commutative);
        // Elements that interlock are left to the library.
        if (!interlocks(problem.type)) count_call(size, bytes_of(problem.type, count), root, commutative != 0);
        const bool reduces = collective == Collective::reduce;
        const bool can_be_in_place = !reduces || (rank == root && (root == 0 || !tame));
        const bool in_place = wants_in_place && can_be_in_place;
        const int last = last_summand(rank, size, root);
        const bool is_insignificant = last < 0 && !in_place;

        // No two buffers have the same pattern, so that a gap copied from anywhere shows.
        const std::byte own{static_cast<unsigned char>(rank)};
        Buffer send(problem.type, count, own ^ std::byte{0x5A});
        Buffer receive(problem.type, count, own ^ std::byte{0xA5});
        Buffer expected(problem.type, count, own ^ std::byte{0xA5});
        for (std::size_t index = 0; index < count; ++index) {
            problem.input(rank, index, send.element(index));
            if (in_place) problem.input(rank, index, receive.element(index));
            expect(problem, last, in_place ? rank : -1, index, expected);
        }
        const Buffer send_before = send;
        const void* send_argument = in_place ? MPI_IN_PLACE : send.data();
        void* receive_argument = receive.data();
        if (is_insignificant) {
            receive_argument = reduces ? insignificant_buffer(rank, count, send.data()) : forbidden_page();
        }

        const int code = call(large, send_argument, receive_argument, count, problem, root, communicator);

        const std::string what = problem.name + " " + names_of_collectives[static_cast<int>(collective)] +
                                 (large ? "_c" : "") + (in_place ? " in place" : "") + ", count " +
                                 std::to_string(count) + ", rank " + std::to_string(rank) + " of " +
                                 std::to_string(size) + (reduces ? ", root " + std::to_string(root) : "");
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (send.bytes() != send_before.bytes()) fail(what + ": the send buffer changed");
        if (!receive.guards_are_intact()) fail(what + ": wrote outside of the receive buffer");
        Buffer found = receive;
        for (std::size_t index = 0; problem.compare_values && !is_insignificant && index < count; ++index) {
            if (problem.values(found.element(index)) != problem.values(expected.element(index))) break;
            copy_element(problem.type, expected.element(index), found.element(index));
        }
        if (found.bytes() != expected.bytes()) fail(what + describe_difference(problem, found, expected, count));
        for (std::size_t index = 0; !is_insignificant && index < count; ++index) {
            record(problem.values(receive.element(index)));
        }
    }

    /// The reduction of ranks 0 to `last`; nothing to reduce leaves the input of `own` (if not -1) in place.
    static void expect(const Problem& problem, int last, int own, std::size_t index, Buffer& expected) {
        std::byte* element = expected.element(index);
        if (last < 0) {
            if (own >= 0) problem.input(own, index, element);
            return;
        }
        problem.input(0, index, element);
        Buffer next(problem.type, 1, std::byte{0x3C});
        for (int rank = 1; rank <= last; ++rank) {
            problem.input(rank, index, next.element(0));
            problem.reduce(element, next.element(0));
            copy_element(problem.type, next.element(0), element);
        }
    }

    static std::string describe_difference(const Problem& problem, Buffer& found, Buffer& expected, std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            const auto left = problem.values(found.element(index));
            const auto right = problem.values(expected.element(index));
            if (left != right) {
                return ": element " + std::to_string(index) + " is " + std::to_string(left[0]) + " instead of " +
                       std::to_string(right[0]);
            }
        }
        return ": bytes between or around the elements changed";
    }
};
