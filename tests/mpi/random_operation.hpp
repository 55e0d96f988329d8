// SPDX-License-Identifier: BSD-3-Clause
// One collective call of a random program, in any of its forms: its buffers, and what they must hold afterwards, to the
// last byte.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "random_kinds.hpp"

#ifdef OPEN_MPI
#define HAS_PERSISTENT_COLLECTIVES (OMPI_MAJOR_VERSION >= 5)
#else
#define HAS_PERSISTENT_COLLECTIVES (MPI_VERSION >= 4)
#endif

namespace random_programs {

/// Buffers that calls use one after another.
struct Memory {
    std::vector<std::byte> input, output;
};

class Operation {
  public:
    Operation(const Kind& kind, const Group& group, Memory& memory)
        : kind_(kind), group_(group), memory_(memory), is_root_(group.rank == kind.root) {
        lay_out();
    }

    /// Gives the call its input. `number`: the data differ from call to call.
    void fill(int number) {
        number_ = number;
        draw_buffers(memory_.input, memory_.output);
    }
    /// Makes the call. Returns what that returns.
    int call(Form form, MPI_Request* request = nullptr);
    // Free what the call has been given, unless it is freed.
    void free_type() {
        if (type_ != MPI_DATATYPE_NULL && (kind_.layout->is_own() || is_repeated_)) MPI_Type_free(&type_);
        type_ = MPI_DATATYPE_NULL;
    }
    void free_operator() {
        if (op_ != MPI_OP_NULL && is_own(*kind_.op)) MPI_Op_free(&op_);
        op_ = MPI_OP_NULL;
    }
    /// What is wrong with the buffers after the call; empty if nothing is.
    [[nodiscard]] std::string error() const;
    /// False if Rondo may leave the call to the library whatever the rules say: it may have nothing to do, or be one of
    /// those before the first blocking call on its communicator (Open MPI).
    [[nodiscard]] bool is_surely_served() const {
#ifdef OPEN_MPI
        if (group_.comm != MPI_COMM_WORLD) return false;
#endif
        return group_.size > 1 && (is(Collective::barrier) || (kind_.elements > 0 && !kind_.has_own_lengths()));
    }
    [[nodiscard]] std::string description() const;

  private:
    /// Elements of a buffer, from `place` on: the block of that number of one rank, or those of several ranks combined.
    struct Piece {
        int place, count, block, first_rank, last_rank;
    };

    void lay_out();
    void lay_out_parts();
    int call_reduction(Form form, MPI_Request* request);
    int call_rooted(Form form, MPI_Request* request);
    int call_for_all(Form form, MPI_Request* request);
    void draw_buffers(std::vector<std::byte>& input, std::vector<std::byte>& output) const;
    void put_results(std::vector<std::byte>& output) const;

    [[nodiscard]] static std::uint64_t noise(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
        std::uint64_t mixed = a * 0x9e3779b97f4a7c15U + b * 0xc2b2ae3d27d4eb4fU + c * 0x165667b19e3779f9U;
        mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U;
        return mixed ^ (mixed >> 32);
    }
    /// The length of the part that goes from a rank to another one, which is that of the way back.
    [[nodiscard]] int length(int from, int to) const {
        if (!kind_.has_own_lengths()) return kind_.elements;
        const std::uint64_t drawn = noise(kind_.seed, static_cast<std::uint64_t>(std::min(from, to)),
                                          static_cast<std::uint64_t>(std::max(from, to)));
        return static_cast<int>(drawn % static_cast<std::uint64_t>(kind_.elements + 1));
    }
    [[nodiscard]] Words words(int rank, int block, int index) const {
        Words values{};
        for (std::size_t word = 0; word < static_cast<std::size_t>(kind_.layout->words); ++word) {
            const std::uint64_t of_element =
                noise(static_cast<std::uint64_t>(number_), static_cast<std::uint64_t>(rank),
                      static_cast<std::uint64_t>(index * most_words) + word);
            values[word] = limited(kind_.op ? &*kind_.op : nullptr, of_element + static_cast<std::uint64_t>(block) * 7);
        }
        return values;
    }
    [[nodiscard]] std::size_t bytes(int elements) const {
        return static_cast<std::size_t>(elements) * static_cast<std::size_t>(kind_.layout->extent);
    }
    [[nodiscard]] std::vector<int> in_bytes(std::vector<int> places) const {
        for (int& place : places) place = static_cast<int>(bytes(place));
        return places;
    }
    [[nodiscard]] bool is(Collective collective) const { return kind_.collective == collective; }
    /// Whether the input lies in the output buffer.
    [[nodiscard]] bool is_input_in_output() const { return is_in_place_ || is(Collective::bcast); }
    [[nodiscard]] const void* input() const {
        return is_input_in_output() ? MPI_IN_PLACE : static_cast<const void*>(memory_.input.data());
    }

    Kind kind_;
    Group group_;
    Memory& memory_;
    bool is_root_, is_in_place_ = false, is_repeated_ = false;
    int number_ = 0, input_elements_ = 0, output_elements_ = 0;
    std::vector<Piece> inputs_, outputs_;
    std::vector<int> counts_, input_places_, output_places_;  // by ranks, as the call wants them
    std::vector<int> input_bytes_, output_bytes_;             // places, where parts have types
    std::vector<MPI_Datatype> types_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
};

/// Says which parts of the buffers the call reads and writes.
inline void Operation::lay_out() {
    const int n = kind_.elements, me = group_.rank, last = group_.size - 1;
    counts_.assign(static_cast<std::size_t>(group_.size), n);
    input_places_ = output_places_ = counts_;
    is_in_place_ = kind_.in_place && !is(Collective::bcast);
    switch (kind_.collective) {
        case Collective::barrier: break;
        case Collective::bcast:
            if (is_root_) inputs_ = {{0, n, 0, me, me}};
            outputs_ = {{0, n, 0, kind_.root, kind_.root}};
            break;
        case Collective::reduce:
            is_in_place_ = is_in_place_ && is_root_;
            inputs_ = {{0, n, 0, me, me}};
            if (is_root_) outputs_ = {{0, n, 0, 0, last}};
            break;
        case Collective::allreduce:
        case Collective::scan:
        case Collective::exscan:
            inputs_ = {{0, n, 0, me, me}};
            outputs_ = {{0, n, 0, 0, is(Collective::allreduce) ? last : is(Collective::scan) ? me : me - 1}};
            break;
        default: lay_out_parts();
    }
    constexpr int beside = 3;  // elements that the call must leave alone
    const auto last_of = [](const std::vector<Piece>& pieces) {
        int end = 0;
        for (const Piece& piece : pieces) end = std::max(end, piece.place + piece.count);
        return end;
    };
    input_elements_ = beside + last_of(inputs_);
    output_elements_ = beside + std::max(last_of(outputs_), is_input_in_output() ? last_of(inputs_) : 0);
}

/// Lays out a call whose vector has a part for each rank. Parts whose lengths are arguments have gaps between them, and
/// the first one is any rank's.
inline void Operation::lay_out_parts() {
    const int me = group_.rank, size = group_.size;
    const Collective what = kind_.collective;
    const bool reduces = kind_.reduces(), has_places = what > Collective::reduce_scatter;
    const bool exchanges = what == Collective::alltoall || what == Collective::alltoallv;
    const bool scatters = what == Collective::scatter || what == Collective::scatterv;
    const bool gathers_to_root = what == Collective::gather || what == Collective::gatherv;
    if (scatters || gathers_to_root) is_in_place_ = is_in_place_ && is_root_;
    for (int rank = 0; rank < size; ++rank)
        counts_[static_cast<std::size_t>(rank)] = exchanges ? length(me, rank) : length(rank, rank);
    const auto place_parts = [&](std::vector<int>& places, std::uint64_t salt) {
        const auto shift = has_places ? noise(kind_.seed, salt) : 0;
        for (int i = 0, place = 0; i < size; ++i) {
            const auto rank = (static_cast<std::size_t>(i) + shift) % static_cast<std::size_t>(size);
            if (has_places) place += static_cast<int>(noise(kind_.seed, salt, rank) % 3);
            places[rank] = place;
            place += counts_[rank];
        }
    };
    place_parts(input_places_, 1000);
    place_parts(output_places_, is_in_place_ && exchanges ? 1000 : 2000);
    for (int rank = 0; rank < size; ++rank) {
        const auto i = static_cast<std::size_t>(rank);
        if (exchanges || reduces || (scatters && is_root_))
            inputs_.push_back({input_places_[i], counts_[i], rank, me, me});
        const bool receives_all = exchanges || (!reduces && !scatters && (is_root_ || !gathers_to_root));
        if (receives_all) outputs_.push_back({output_places_[i], counts_[i], exchanges ? me : 0, rank, rank});
    }
    const int own = counts_[static_cast<std::size_t>(me)];
    if (reduces) outputs_ = {{0, own, me, 0, size - 1}};
    else if (scatters && !is_in_place_) outputs_ = {{0, own, me, kind_.root, kind_.root}};
    else if (!exchanges && !scatters)
        inputs_ = {{is_in_place_ ? output_places_[static_cast<std::size_t>(me)] : 0, own, 0, me, me}};
}

inline void Operation::draw_buffers(std::vector<std::byte>& input, std::vector<std::byte>& output) const {
    input.assign(bytes(input_elements_), std::byte{0x5a});
    output.assign(bytes(output_elements_), std::byte{0xa5});
    const bool is_root_of_scatter = is(Collective::scatter) || is(Collective::scatterv);
    std::vector<std::byte>& home = is_input_in_output() && !is_root_of_scatter ? output : input;
    for (const Piece& piece : inputs_)
        for (int i = 0; i < piece.count; ++i)
            put(*kind_.layout, home.data() + bytes(piece.place + i), words(group_.rank, piece.block, i));
}

inline void Operation::put_results(std::vector<std::byte>& output) const {
    for (const Piece& piece : outputs_) {
        for (int i = 0; i < piece.count; ++i) {
            Words result = words(piece.first_rank, piece.block, i);
            for (int rank = piece.first_rank + 1; rank <= piece.last_rank; ++rank)
                result = combine(*kind_.op, result, words(rank, piece.block, i));
            put(*kind_.layout, output.data() + bytes(piece.place + i), result);
        }
    }
}

inline std::string Operation::error() const {
    if (is(Collective::barrier)) return {};
    std::vector<std::byte> input, output;
    draw_buffers(input, output);
    const auto differs = [](const auto& name, const auto& found, const auto& expected, std::size_t bytes) {
        const auto end = expected.begin() + static_cast<std::ptrdiff_t>(bytes);
        const auto at = std::mismatch(expected.begin(), end, found.begin());
        if (at.first == end) return std::string();
        return std::string(name) + " byte " + std::to_string(at.first - expected.begin()) + " is " +
               std::to_string(std::to_integer<int>(*at.second)) + ", not " +
               std::to_string(std::to_integer<int>(*at.first));
    };
    const std::string error = differs("input", memory_.input, input, input.size());
    if (!error.empty() || (is(Collective::exscan) && group_.rank == 0)) return error;  // the result is undefined there
    put_results(output);
    // What a reduce-scatter in place leaves behind the result is undefined.
    const bool has_rest = is_in_place_ && (is(Collective::reduce_scatter) || is(Collective::reduce_scatter_block));
    return differs("output", memory_.output, output, has_rest ? bytes(outputs_.front().count) : output.size());
}

inline std::string Operation::description() const {
    std::string text = names_of_collectives[static_cast<std::size_t>(kind_.collective)];
    if (is(Collective::barrier)) return text;
    text += " of " + std::to_string(kind_.elements) + " (" + kind_.layout->name + ")";
    if (kind_.op) text += " operator " + std::to_string(static_cast<int>(*kind_.op));
    if (is_in_place_) text += " in place";
    return text + ", root " + std::to_string(kind_.root) + ", rank " + std::to_string(group_.rank) + " of " +
           std::to_string(group_.size) + ", data " + std::to_string(number_);
}

#if HAS_PERSISTENT_COLLECTIVES
#define PERSISTENT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define PERSISTENT(name, ...) MPI_ERR_UNSUPPORTED_OPERATION
#endif
#define CALL(lower_case, name, ...)                                        \
    (form == Form::blocking      ? MPI_##name(__VA_ARGS__)                 \
     : form == Form::nonblocking ? MPI_I##lower_case(__VA_ARGS__, request) \
                                 : PERSISTENT(name, __VA_ARGS__))

inline int Operation::call(Form form, MPI_Request* request) {
    // Ranks may describe the data of a broadcast in several ways.
    is_repeated_ = is(Collective::bcast) && kind_.elements > 1 && noise(kind_.seed, 0) % 3 == 0 && group_.rank % 2 == 0;
    type_ = make_type(*kind_.layout, is_repeated_ ? kind_.elements : 1);
    if (kind_.op) op_ = make_operator(*kind_.op, *kind_.layout);
    if (is(Collective::barrier)) return CALL(barrier, Barrier, group_.comm);
    if (kind_.reduces()) return call_reduction(form, request);
    switch (kind_.collective) {
        case Collective::allgather:
        case Collective::allgatherv:
        case Collective::alltoall:
        case Collective::alltoallv: return call_for_all(form, request);
        default: return call_rooted(form, request);
    }
}

inline int Operation::call_reduction(Form form, MPI_Request* request) {
    const int n = kind_.elements, root = kind_.root;
    const MPI_Comm comm = group_.comm;
    void* const out = memory_.output.data();
    switch (kind_.collective) {
        case Collective::reduce:
            return CALL(reduce, Reduce, input(), is_root_ ? out : nullptr, n, type_, op_, root, comm);
        case Collective::allreduce: return CALL(allreduce, Allreduce, input(), out, n, type_, op_, comm);
        case Collective::scan: return CALL(scan, Scan, input(), out, n, type_, op_, comm);
        case Collective::exscan: return CALL(exscan, Exscan, input(), out, n, type_, op_, comm);
        case Collective::reduce_scatter_block:
            return CALL(reduce_scatter_block, Reduce_scatter_block, input(), out, n, type_, op_, comm);
        default: return CALL(reduce_scatter, Reduce_scatter, input(), out, counts_.data(), type_, op_, comm);
    }
}

inline int Operation::call_rooted(Form form, MPI_Request* request) {
    const int n = kind_.elements, root = kind_.root, own = counts_[static_cast<std::size_t>(group_.rank)];
    const MPI_Comm comm = group_.comm;
    void* const out = memory_.output.data();
    const void* const parts = memory_.input.data();
    void* const part = is_in_place_ ? MPI_IN_PLACE : out;
    const int* const counts = is_root_ ? counts_.data() : nullptr;
    switch (kind_.collective) {
        case Collective::bcast: return CALL(bcast, Bcast, out, is_repeated_ ? 1 : n, type_, root, comm);
        case Collective::scatter: return CALL(scatter, Scatter, parts, n, type_, part, n, type_, root, comm);
        case Collective::gather: return CALL(gather, Gather, input(), n, type_, out, n, type_, root, comm);
        case Collective::scatterv:
            return CALL(scatterv, Scatterv, parts, counts, input_places_.data(), type_, part, own, type_, root, comm);
        default:
            return CALL(gatherv, Gatherv, input(), own, type_, out, counts, output_places_.data(), type_, root, comm);
    }
}

inline int Operation::call_for_all(Form form, MPI_Request* request) {
    const int n = kind_.elements, own = counts_[static_cast<std::size_t>(group_.rank)];
    const MPI_Comm comm = group_.comm;
    void* const out = memory_.output.data();
    const int *const counts = counts_.data(), *const places = output_places_.data();
    switch (kind_.collective) {
        case Collective::allgather: return CALL(allgather, Allgather, input(), n, type_, out, n, type_, comm);
        case Collective::allgatherv:
            return CALL(allgatherv, Allgatherv, input(), own, type_, out, counts, places, type_, comm);
        case Collective::alltoall: return CALL(alltoall, Alltoall, input(), n, type_, out, n, type_, comm);
        default:
            // Open MPI's own takes places for extents on one rank alone.
            if (kind_.seed % 2 == 0 || group_.size == 1)
                return CALL(alltoallv, Alltoallv, input(), counts, input_places_.data(), type_, out, counts, places,
                            type_, comm);
            types_.assign(counts_.size(), type_);
            input_bytes_ = in_bytes(input_places_);
            output_bytes_ = in_bytes(output_places_);
            return CALL(alltoallw, Alltoallw, input(), counts, input_bytes_.data(), types_.data(), out, counts,
                        output_bytes_.data(), types_.data(), comm);
    }
}

#undef CALL
#undef PERSISTENT

}  // namespace random_programs
