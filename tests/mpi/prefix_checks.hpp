// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums of a distributed array against a sequential loop over all of it.
#pragma once

#include "checker.hpp"
#include "rondo_prefix.h"

/// Ways to share an array out.
inline std::vector<std::vector<std::size_t>> distributions(int size, std::size_t each) {
    const auto ranks = static_cast<std::size_t>(size);
    std::vector<std::vector<std::size_t>> all;
    all.emplace_back(ranks, 0);
    all.emplace_back(ranks, 1);
    all.emplace_back(ranks, each);
    for (const std::size_t owner : {std::size_t{0}, ranks / 2, ranks - 1}) {  // one rank has all
        all.emplace_back(ranks, 0);
        all.back()[owner] = each;
    }
    all.emplace_back(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) all.back()[rank] = rank * rank * each / 7 % (2 * each);  // skewed
    all.emplace_back(ranks, 0);
    for (std::size_t rank = 1; rank < ranks; rank += 2) all.back()[rank] = each + rank;  // every other rank has none
    return all;
}

struct Form {
    bool exclusive, in_place, total;

    [[nodiscard]] std::string name() const {
        return std::string(exclusive ? " exclusive" : "") + (in_place ? " in place" : "") +
               (total ? " with total" : "");
    }
};

inline std::vector<Form> forms() {
    std::vector<Form> all;
    for (const bool exclusive : {false, true}) {
        for (const bool in_place : {false, true}) {
            for (const bool total : {false, true}) all.push_back({exclusive, in_place, total});
        }
    }
    return all;
}

class PrefixChecker : public Checker {
  public:
    void run(const Problem& problem, MPI_Comm communicator, std::size_t each) {
        for (const auto& counts : distributions(size_of(communicator), each)) {
            for (const Form& form : forms()) run_form(problem, communicator, counts, form);
        }
    }

    /// The operator has an element that changes no other, and Rondo knows it.
    static bool has_identity(const Problem& problem) {
        for (const MPI_Op op :
             {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR}) {
            if (problem.op == op)
                return problem.name.find("LOGICAL") == std::string::npos &&
                       problem.name.find("REAL16") == std::string::npos;
        }
        return false;
    }

    void run_form(const Problem& problem, MPI_Comm communicator, const std::vector<std::size_t>& counts, Form form) {
        const auto rank = static_cast<std::size_t>(rank_in(communicator));
        const std::size_t count = counts[rank];
        const auto own = static_cast<unsigned char>(rank);
        Buffer in(problem.type, count, std::byte{own} ^ std::byte{0x5A});
        Buffer out(problem.type, count, std::byte{own} ^ std::byte{0xA5});
        Buffer expected(problem.type, count, std::byte{own} ^ std::byte{0xA5});
        Buffer total(problem.type, 1, std::byte{0x66}), expected_total(problem.type, 1, std::byte{0x66});
        Buffer sum(problem.type, 1, std::byte{0x3C}), next(problem.type, 1, std::byte{0x3C});
        std::size_t first = 0, all = 0;
        for (std::size_t r = 0; r < counts.size(); ++r) {
            if (r < rank) first += counts[r];
            all += counts[r];
        }
        for (std::size_t global = 0; global < all; ++global) {
            const bool is_own = global >= first && global < first + count;
            std::byte* const place = is_own ? expected.element(global - first) : nullptr;
            if (is_own && form.exclusive && global > 0) copy_element(problem.type, sum.element(0), place);
            problem.input(static_cast<int>(global % 5), global, next.element(0));
            if (is_own) {
                copy_element(problem.type, next.element(0), in.element(global - first));
                if (form.in_place) copy_element(problem.type, next.element(0), out.element(global - first));
            }
            if (global > 0) problem.reduce(sum.element(0), next.element(0));
            copy_element(problem.type, next.element(0), sum.element(0));
            if (is_own && !form.exclusive) copy_element(problem.type, sum.element(0), place);
        }
        if (all > 0) copy_element(problem.type, sum.element(0), expected_total.element(0));

        const Buffer in_before = in;
        const void* const from = form.in_place ? MPI_IN_PLACE : in.data();
        const auto elements = static_cast<MPI_Count>(count);
        const int code = form.total ? rondo_prefix_total(from, out.data(), total.data(), elements, problem.type,
                                                         problem.op, form.exclusive, communicator)
                                    : rondo_prefix(from, out.data(), elements, problem.type, problem.op, form.exclusive,
                                                   communicator);

        const std::string what = problem.name + form.name() + ", " + std::to_string(count) + " of " +
                                 std::to_string(all) + ", rank " + std::to_string(rank) + " of " +
                                 std::to_string(counts.size());
        ++forms_checked;
        if (code != MPI_SUCCESS) {
            fail(what + ": error code " + std::to_string(code));
            return;
        }
        if (in.bytes() != in_before.bytes()) fail(what + ": the input changed");
        if (form.exclusive && first == 0 && count > 0) {
            check_first(problem, out, what);
            copy_element(problem.type, out.element(0), expected.element(0));
        }
        compare(problem, out, expected, count, what);
        if (form.total && all == 0) {
            check_first(problem, total, what + ": total of nothing");
        } else if (form.total) {
            compare(problem, total, expected_total, 1, what + ": total");
        }
        for (std::size_t index = 0; index < count; ++index) record(problem.values(out.element(index)));
    }

    long forms_checked = 0;

  private:
    /// Nothing comes before the first element: it changes no other.
    void check_first(const Problem& problem, Buffer& out, const std::string& what) {
        if (!has_identity(problem)) return;
        Buffer other(problem.type, 1, std::byte{0x11});
        for (std::size_t index = 0; index < 6; ++index) {
            problem.input(1, index, other.element(0));
            const auto before = problem.values(other.element(0));
            const bool is_logical = problem.op == MPI_LAND || problem.op == MPI_LOR || problem.op == MPI_LXOR;
            problem.reduce(out.element(0), other.element(0));
            const auto after = problem.values(other.element(0));
            if (!is_logical && before != after) fail(what + ": the first element is no identity");
        }
    }

    void compare(const Problem& problem, Buffer& found, Buffer& expected, std::size_t count, const std::string& what) {
        if (!found.guards_are_intact()) fail(what + ": wrote outside of the buffer");
        Buffer seen = found;
        for (std::size_t index = 0; index < count; ++index) {
            if (problem.values(seen.element(index)) != problem.values(expected.element(index))) {
                fail(what + ": element " + std::to_string(index) + " is " +
                     std::to_string(problem.values(seen.element(index))[0]) + " instead of " +
                     std::to_string(problem.values(expected.element(index))[0]));
                return;
            }
            if (problem.compare_values) copy_element(problem.type, expected.element(index), seen.element(index));
        }
        if (seen.bytes() != expected.bytes()) fail(what + ": bytes between or around the elements changed");
    }
};
