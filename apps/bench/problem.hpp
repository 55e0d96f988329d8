// SPDX-License-Identifier: BSD-3-Clause
// What is measured: collectives (and traffic patterns) with their data. Adding one is one entry in collectives.cpp.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "choice.hpp"
#include "division.hpp"
#include "form.hpp"
#include "values.hpp"

namespace rondo::bench {

/// Lengths and places of parts, as MPI takes them; nullptr where the function takes none.
struct Lengths {
    const int* counts;
    const int* starts;
};

/// One call's arguments.
struct Arguments {
    void* input;
    void* output;
    int count;
    Lengths sent, received;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

/// What a call's count is of. Where it is of a part, the whole vector has as many parts as there are ranks.
enum class Counts : std::uint8_t {
    whole,
    part_of_input,   ///< a rank (the root) puts in the whole vector, and gets one part
    part_of_output,  ///< a rank puts in one part, and gets (the root does) the whole vector
    part_of_both,    ///< a rank puts in a vector of its own, and gets one with a part from each
};

struct Collective {
    const char* name;
    const char* function_name;  ///< of MPI; nullptr for a traffic pattern
    Function function;          ///< the blocking one, as programs call it, so that Rondo may serve it
    bool reduces;               ///< takes an operator
    bool starts_in_output;      ///< the root's input stands where the others' output will be
    double time_factor;         ///< what is reported, of what was timed
    bool rank_0_starts;         ///< and the others only answer: its time from its own start counts
    /// Calls the function in its form, or exchanges the messages of the pattern.
    void (*call)(const Callee& callee, const Arguments& arguments);
    Counts counts;
    bool takes_lengths;  ///< of each part; only where it does, parts may differ
    /// Vectors of `count` elements that the output of a rank consists of.
    int (*vectors)(int rank, int ranks);
    /// Whose inputs each of them is made of; none: it means nothing.
    RankRange (*contributors)(int vector, int rank, int ranks);
    /// Bus bandwidth = bytes / seconds * this, as nccl-tests defines it; 0 where it does not.
    double (*bus_factor)(int ranks);
};

std::span<const Collective> collectives();
/// Where a collective's function in this form is: the library's own, or as programs call it. nullptr if there is none.
Function function_of(const Collective& collective, Form form, bool is_native);
/// nullptr if there is none of this name.
const Collective* find_collective(std::string_view name);
/// Bytes of data in the whole vector of a call: what rules and tables call its length.
std::int64_t whole_bytes(const Collective& collective, Type type, std::int64_t count, int ranks);

/// Buffers of one rank for calls with one count: what goes in, what has to come out, and whether it did.
class Problem {
  public:
    /// Of a collective with parts, `count` is the length of one in the mean.
    Problem(const Collective& collective, Type type, Operator op, Parts parts, std::int64_t count, int rank, int ranks);

    /// Input of this repetition in place, output poisoned. Both are in the cache afterwards, as far as they fit.
    void prepare(std::uint64_t repetition);
    /// Whether output, input and what lies behind the output are as they have to be after the repetition that was
    /// prepared.
    [[nodiscard]] bool right() const;

    [[nodiscard]] Arguments arguments(MPI_Comm comm);
    [[nodiscard]] const Collective& collective() const { return *collective_; }
    /// Of the whole vector, the same on all ranks.
    [[nodiscard]] std::int64_t bytes() const { return whole_bytes(*collective_, type_, count_, ranks_); }

  private:
    /// What `lengths` holds: counts and starts, one behind the other.
    using Told = std::vector<int>;
    /// A part that comes from one rank in an exchange of all with all.
    struct Arriving {
        Piece here;
        std::int64_t sent_from;  ///< where it starts in the vector of the rank that sends it
    };
    template <class PieceOf>
    [[nodiscard]] Told told(PieceOf&& piece_of) const;
    /// By the ranks that send; empty if the call is no exchange of all with all.
    [[nodiscard]] std::vector<Arriving> arriving(Parts parts) const;
    [[nodiscard]] bool sends_to_all() const { return collective_->counts == Counts::part_of_both; }
    /// A vector of the output.
    [[nodiscard]] Piece output_piece(int vector) const;
    /// From which element on it shows the inputs that it is made of.
    [[nodiscard]] std::int64_t first_element(int vector) const;
    [[nodiscard]] std::int64_t input_elements() const;
    [[nodiscard]] std::int64_t output_elements() const;
    /// Of the part that this rank puts in, or gets; of no parts, of the vector.
    [[nodiscard]] std::int64_t own_count() const;
    [[nodiscard]] Lengths lengths(const Told& told) const;

    const Collective* collective_;
    Type type_;
    Operator op_;
    std::int64_t count_;
    int rank_, ranks_, vectors_;
    Division division_;  ///< of what this rank sends to all; else of what the root scatters or gathers
    std::vector<Arriving> arriving_;
    Told sent_, received_;  ///< lengths and places of parts; empty where the function takes none
    std::uint64_t repetition_ = 0;
    std::vector<std::byte> input_, output_;
};

}  // namespace rondo::bench
