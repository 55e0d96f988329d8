// SPDX-License-Identifier: BSD-3-Clause
// One scan or exscan in all its forms against a sequential reduction in rank order. Inputs are pure functions of
// (rank, index), so that every rank computes what it must get without any communication.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mpi.h>
#include <string>
#include <sys/mman.h>
#include <vector>

/// Repeatable noise.
inline std::uint64_t noise(std::uint64_t rank, std::uint64_t index, std::uint64_t salt = 0) {
    std::uint64_t x = rank * 0x9E3779B97F4A7C15U + index * 0xBF58476D1CE4E5B9U + salt * 0x94D049BB133111EBU + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// A datatype, an operator and what they mean. Pointers are addresses of one element of the datatype.
struct Problem {
    std::string name;
    MPI_Datatype type;
    MPI_Op op;
    std::function<void(int rank, std::size_t index, std::byte* element)> input;
    std::function<void(const std::byte* left, std::byte* right)> reduce;  ///< right = left (+) right
    /// Values of an element in a form that has no padding; elements are equal if these are.
    std::function<std::vector<double>(const std::byte* element)> values;
    /// Bytes that the type names may differ where values do not: padding within a number, and zeros of either sign.
    /// Otherwise elements are compared byte by byte. What lies between the parts of an element, padding included, and
    /// between elements is always compared byte by byte: it must not change. Hence neither `input` nor `reduce` may.
    bool compare_values = false;
};

/// Room for `count` elements, between guards, filled with a pattern that nothing but the elements may change.
class Buffer {
  public:
    Buffer(MPI_Datatype type, std::size_t count, std::byte pattern) : pattern_(pattern) {
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        MPI_Type_get_extent(type, &lower, &extent);
        MPI_Aint true_lower = 0;
        MPI_Aint true_extent = 0;
        MPI_Type_get_true_extent(type, &true_lower, &true_extent);
        extent_ = static_cast<std::size_t>(extent);
        // The address that the user passes need not be part of the data: true_lower may be negative or positive.
        origin_ = guard + (true_lower < 0 ? static_cast<std::size_t>(-true_lower) : 0);
        const std::size_t above = true_lower > 0 ? static_cast<std::size_t>(true_lower) : 0;
        bytes_.assign(origin_ + count * extent_ + above + static_cast<std::size_t>(true_extent) + guard, pattern);
    }
    std::byte* data() { return bytes_.data() + origin_; }
    std::byte* element(std::size_t index) { return data() + index * extent_; }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] bool guards_are_intact() const {
        const auto is_pattern = [this](std::byte byte) { return byte == pattern_; };
        return std::all_of(bytes_.begin(), bytes_.begin() + guard, is_pattern) &&
               std::all_of(bytes_.end() - guard, bytes_.end(), is_pattern);
    }

  private:
    static constexpr std::size_t guard = 64;
    std::byte pattern_;
    std::vector<std::byte> bytes_;
    std::size_t origin_ = 0;
    std::size_t extent_ = 0;
};

class Checker {
  public:
    enum class Collective { scan, exscan };

    /// Every form of both collectives.
    void run(const Problem& problem, MPI_Comm communicator, std::size_t count) {
        for (const Collective collective : {Collective::scan, Collective::exscan}) {
            for (const bool in_place : {false, true}) {
                run_form(problem, communicator, count, collective, in_place, false);
                if (has_large_count) run_form(problem, communicator, count, collective, in_place, true);
            }
            // In place is each rank's own affair.
            int rank = 0;
            MPI_Comm_rank(communicator, &rank);
            if (count == 7) run_form(problem, communicator, count, collective, rank % 2 == 0, false);
        }
    }

    void fail(const std::string& what) {
        ++failures;
        if (failures <= 10) std::fprintf(stderr, "wrong: %s\n", what.c_str());
    }

    long failures = 0;
    long scans = 0;  ///< calls that have something to do: more than one rank, more than no element
    long exscans = 0;
    std::uint64_t digest = 14695981039346656037U;  ///< FNV-1a over all results
#if MPI_VERSION >= 4
    static constexpr bool has_large_count = true;
#else
    static constexpr bool has_large_count = false;
#endif

  private:
    static int call(Collective collective, bool large, const void* send, void* receive, std::size_t count,
                    const Problem& problem, MPI_Comm communicator) {
        const bool is_scan = collective == Collective::scan;
#if MPI_VERSION >= 4
        if (large) {
            return (is_scan ? MPI_Scan_c : MPI_Exscan_c)(send, receive, static_cast<MPI_Count>(count), problem.type,
                                                         problem.op, communicator);
        }
#endif
        return (is_scan ? MPI_Scan : MPI_Exscan)(send, receive, static_cast<int>(count), problem.type, problem.op,
                                                 communicator);
    }

    /// A page that nobody can read or write: the receive buffer of exscan on rank 0 is not significant.
    static void* forbidden_page() {
        static void* page = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return page;
    }

    void run_form(const Problem& problem, MPI_Comm communicator, std::size_t count, Collective collective,
                  bool in_place, bool large) {
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(communicator, &rank);
        MPI_Comm_size(communicator, &size);
        const bool is_scan = collective == Collective::scan;
        if (size > 1 && count > 0) ++(is_scan ? scans : exscans);

        // No two buffers have the same pattern, so that a gap copied from anywhere shows.
        const std::byte own{static_cast<unsigned char>(rank)};
        Buffer send(problem.type, count, own ^ std::byte{0x5A});
        Buffer receive(problem.type, count, own ^ std::byte{0xA5});
        Buffer expected(problem.type, count, own ^ std::byte{0xA5});
        for (std::size_t index = 0; index < count; ++index) {
            problem.input(rank, index, send.element(index));
            if (in_place) problem.input(rank, index, receive.element(index));
            expect(problem, is_scan ? rank : rank - 1, in_place ? rank : -1, index, expected);
        }
        const Buffer send_before = send;
        const bool is_insignificant = !is_scan && rank == 0 && !in_place;
        const void* send_argument = in_place ? MPI_IN_PLACE : send.data();
        void* receive_argument = is_insignificant ? forbidden_page() : receive.data();

        const int code = call(collective, large, send_argument, receive_argument, count, problem, communicator);

        const std::string what = problem.name + (is_scan ? " scan" : " exscan") + (large ? "_c" : "") +
                                 (in_place ? " in place" : "") + ", count " + std::to_string(count) + ", rank " +
                                 std::to_string(rank) + " of " + std::to_string(size);
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (send.bytes() != send_before.bytes()) fail(what + ": the send buffer changed");
        if (!receive.guards_are_intact()) fail(what + ": wrote outside of the receive buffer");
        Buffer found = receive;
        for (std::size_t index = 0; problem.compare_values && !is_insignificant && index < count; ++index) {
            if (problem.values(found.element(index)) != problem.values(expected.element(index))) break;
            copy_element(problem, expected, index, found, index);
        }
        if (found.bytes() != expected.bytes()) fail(what + describe_difference(problem, found, expected, count));
        if (!is_insignificant) record(problem, receive, count);
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
            copy_element(problem, next, 0, expected, index);
        }
    }

    static void copy_element(const Problem& problem, Buffer& from, std::size_t from_index, Buffer& to,
                             std::size_t to_index) {
        // By way of MPI's own notion of the type, which leaves gaps alone.
        MPI_Sendrecv(from.element(from_index), 1, problem.type, 0, 0, to.element(to_index), 1, problem.type, 0, 0,
                     MPI_COMM_SELF, MPI_STATUS_IGNORE);
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

    void record(const Problem& problem, Buffer& result, std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            for (double value : problem.values(result.element(index))) {
                value += 0.0;  // -0 equals 0
                std::uint64_t bits = 0;
                std::memcpy(&bits, &value, sizeof bits);
                digest = (digest ^ bits) * 1099511628211U;
            }
        }
    }
};
