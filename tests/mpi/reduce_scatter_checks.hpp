// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_scatter and MPI_Reduce_scatter_block in all forms against a sequential reduction in rank order.
#pragma once

#include "division_checks.hpp"

class ReduceScatterChecker : public Checker {
  public:
    /// In every form. `count`: about how many elements the longest part has.
    void run(const Problem& problem, MPI_Comm communicator, std::size_t count) {
        for (const Division& division : divisions(size_of(communicator), count)) run(problem, communicator, division);
    }

    void run(const Problem& problem, MPI_Comm communicator, const Division& division) {
        const Buffer part = reduced(problem, communicator, division);
        const bool equal = std::count(division.begin(), division.end(), division[0]) == size_of(communicator);
        for (const bool block : {false, true}) {
            for (const bool in_place : {false, true}) {
                if (block && !equal) continue;
                large_ = !large_ && has_large_count;
                run_form(problem, communicator, division, part, {block, in_place, large_});
            }
        }
    }

    bool tame = false;  ///< without elements that interlock or do not start at their address

  private:
    struct Form {
        bool block;
        bool in_place;
        bool large;
    };

    static int call(Form form, const void* send, void* receive, const Division& division, const Problem& problem,
                    MPI_Comm communicator) {
#if MPI_VERSION >= 4
        if (form.large) {
            if (form.block) {
                return MPI_Reduce_scatter_block_c(send, receive, static_cast<MPI_Count>(division[0]), problem.type,
                                                  problem.op, communicator);
            }
            return MPI_Reduce_scatter_c(send, receive, as<MPI_Count>(division).data(), problem.type, problem.op,
                                        communicator);
        }
#endif
        if (form.block) {
            return MPI_Reduce_scatter_block(send, receive, static_cast<int>(division[0]), problem.type, problem.op,
                                            communicator);
        }
        return MPI_Reduce_scatter(send, receive, as<int>(division).data(), problem.type, problem.op, communicator);
    }

    /// The elements of this rank's part, one after the other; only what the type names means anything.
    static Buffer reduced(const Problem& problem, MPI_Comm communicator, const Division& division) {
        const auto rank = static_cast<std::size_t>(rank_in(communicator));
        const std::size_t first = total({division.begin(), division.begin() + static_cast<std::ptrdiff_t>(rank)});
        Buffer result(problem.type, division[rank], std::byte{0});
        Buffer next(problem.type, 1, std::byte{0x3C});
        for (std::size_t index = 0; index < division[rank]; ++index) {
            problem.input(0, first + index, result.element(index));
            for (int other = 1; other < size_of(communicator); ++other) {
                problem.input(other, first + index, next.element(0));
                problem.reduce(result.element(index), next.element(0));
                copy_element(problem.type, next.element(0), result.element(index));
            }
        }
        return result;
    }

    void run_form(const Problem& problem, MPI_Comm communicator, const Division& division, const Buffer& part,
                  Form form) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        const std::size_t count = total(division);
        const std::size_t own = division[static_cast<std::size_t>(rank)];
        int commutative = 0;
        MPI_Op_commutative(problem.op, &commutative);
        // Elements that interlock are left to the library.
        if (!interlocks(problem.type)) {
            count_call(size, bytes_of(problem.type, count), 0, commutative != 0, is_even(division));
        }
        // No two buffers have the same pattern, so that a gap copied from anywhere shows.
        const std::byte pattern{static_cast<unsigned char>(rank)};
        Buffer send(problem.type, count, pattern ^ std::byte{0x5A});
        Buffer receive(problem.type, form.in_place ? count : own, pattern ^ std::byte{0xA5});
        for (std::size_t index = 0; index < count; ++index) {
            problem.input(rank, index, send.element(index));
            if (form.in_place) problem.input(rank, index, receive.element(index));
        }
        const Buffer send_before = send;
        Buffer expected = receive;
        Buffer results = part;
        for (std::size_t index = 0; index < own; ++index) {
            copy_element(problem.type, results.element(index), expected.element(index));
        }
        const bool is_insignificant = own == 0 && !form.in_place;

        const int code = call(form, form.in_place ? MPI_IN_PLACE : send.data(),
                              is_insignificant ? forbidden_page() : receive.data(), division, problem, communicator);

        std::string what = problem.name + " reduce_scatter" + (form.block ? "_block" : "") + (form.large ? "_c" : "") +
                           (form.in_place ? " in place" : "") + ", rank " + std::to_string(rank) + " of " +
                           std::to_string(size) + ", counts";
        for (const std::size_t each : division) what += " " + std::to_string(each);
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (send.bytes() != send_before.bytes()) fail(what + ": the send buffer changed");
        if (!receive.guards_are_intact()) fail(what + ": wrote outside of the receive buffer");
        Buffer found = receive;
        for (std::size_t index = 0; index < own; ++index) {
            const bool same = problem.values(found.element(index)) == problem.values(expected.element(index));
            if (!same) fail(what + ": wrong element " + std::to_string(index));
            if (!same) break;
            if (problem.compare_values) copy_element(problem.type, expected.element(index), found.element(index));
        }
        // Of the input, MPI says nothing; what lies between is the user's.
        for (std::size_t index = own; form.in_place && index < count; ++index) {
            copy_element(problem.type, expected.element(index), found.element(index));
        }
        if (found.bytes() != expected.bytes()) fail(what + ": bytes within or between the elements changed");
        for (std::size_t index = 0; index < own; ++index) record(problem.values(receive.element(index)));
    }

    bool large_ = false;  // every second call
};
