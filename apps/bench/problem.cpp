// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace rondo::bench {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte poison{0xA5};

}  // namespace

const Collective* find_collective(std::string_view name) {
    for (const Collective& collective : collectives()) {
        if (name == collective.name) return &collective;
    }
    return nullptr;
}

Function function_of(const Collective& collective, Form form, bool is_native) {
    if (form == Form::blocking && !is_native) return collective.function;
    const std::string name = name_in_form(collective.function_name, form);
    return is_native ? library_function(name.c_str()) : program_function(name.c_str());
}

std::int64_t whole_bytes(const Collective& collective, Type type, std::int64_t count, int ranks) {
    return count * static_cast<std::int64_t>(data_bytes_of(type)) * (collective.counts == Counts::whole ? 1 : ranks);
}

Problem::Problem(const Collective& collective, Type type, Operator op, Parts parts, std::int64_t count, int rank,
                 int ranks)
    : collective_(&collective), type_(type), op_(op), count_(count), rank_(rank), ranks_(ranks),
      vectors_(collective.vectors(rank, ranks)), division_(parts, count, ranks, sends_to_all() ? rank : 0),
      arriving_(arriving(parts)), input_(static_cast<std::size_t>(input_elements()) * bytes_of(type)),
      output_(static_cast<std::size_t>(output_elements()) * bytes_of(type) + guard_bytes) {
    if (!collective.takes_lengths) return;
    if (sends_to_all() || collective.counts == Counts::part_of_input) {
        sent_ = told([&](int to) { return division_.part(to); });
    }
    if (sends_to_all()) received_ = told([&](int from) { return output_piece(from); });
    if (collective.counts == Counts::part_of_output) received_ = told([&](int from) { return division_.part(from); });
}

template <class PieceOf>
Problem::Told Problem::told(PieceOf&& piece_of) const {
    const auto number = static_cast<std::size_t>(ranks_);
    Told all(2 * number);
    for (std::size_t other = 0; other < number; ++other) {
        const Piece piece = piece_of(static_cast<int>(other));
        all[other] = static_cast<int>(piece.count);
        all[number + other] = static_cast<int>(piece.start);
    }
    return all;
}

std::vector<Problem::Arriving> Problem::arriving(Parts parts) const {
    std::vector<Arriving> all;
    std::int64_t end = 0;
    for (int from = 0; sends_to_all() && from < ranks_; ++from) {
        const Piece sent = Division(parts, count_, ranks_, from).part(rank_);
        all.push_back({.here = {end, sent.count}, .sent_from = sent.start});
        end += sent.count;
    }
    return all;
}

Piece Problem::output_piece(int vector) const {
    switch (collective_->counts) {
        case Counts::part_of_input: return {0, division_.part(rank_).count};
        case Counts::part_of_output: return division_.part(vector);
        case Counts::part_of_both: return arriving_[static_cast<std::size_t>(vector)].here;
        default: return {vector * count_, count_};
    }
}

std::int64_t Problem::first_element(int vector) const {
    switch (collective_->counts) {
        case Counts::part_of_input: return division_.part(rank_).start;
        case Counts::part_of_both: return arriving_[static_cast<std::size_t>(vector)].sent_from;
        default: return 0;
    }
}

std::int64_t Problem::own_count() const {
    return collective_->counts == Counts::whole ? count_ : division_.part(rank_).count;
}

std::int64_t Problem::input_elements() const {
    return sends_to_all() || collective_->counts == Counts::part_of_input ? division_.elements() : own_count();
}

std::int64_t Problem::output_elements() const {
    if (vectors_ == 0) return 0;
    const Piece last = output_piece(vectors_ - 1);
    return last.start + last.count;
}

void Problem::prepare(std::uint64_t repetition) {
    repetition_ = repetition;
    const Columns own(type_, op_, {rank_, rank_ + 1}, ranks_, repetition);
    own.write(input_.data(), input_.size());
    std::memset(output_.data(), static_cast<int>(poison), output_.size());
    if (collective_->starts_in_output && rank_ == 0) own.write(output_.data(), output_.size() - guard_bytes);
}

bool Problem::right() const {
    const Columns own(type_, op_, {rank_, rank_ + 1}, ranks_, repetition_);
    if (!own.equal(input_.data(), input_.size())) return false;
    for (int vector = 0; vector < vectors_; ++vector) {
        const RankRange contributors = collective_->contributors(vector, rank_, ranks_);
        if (contributors.empty()) continue;
        const Columns expected(type_, op_, contributors, ranks_, repetition_);
        const Piece piece = output_piece(vector);
        const std::byte* received = output_.data() + static_cast<std::size_t>(piece.start) * bytes_of(type_);
        const std::size_t bytes = static_cast<std::size_t>(piece.count) * bytes_of(type_);
        if (!expected.equal(received, bytes, static_cast<std::size_t>(first_element(vector)))) return false;
    }
    return std::all_of(output_.end() - guard_bytes, output_.end(), [](std::byte each) { return each == poison; });
}

Lengths Problem::lengths(const Told& told) const {
    return told.empty() ? Lengths{nullptr, nullptr} : Lengths{told.data(), told.data() + ranks_};
}

Arguments Problem::arguments(MPI_Comm comm) {
    // All parts of an exchange are as long, unless their lengths are told.
    const std::int64_t count = sends_to_all() ? count_ : own_count();
    return {input_.data(),      output_.data(),  static_cast<int>(count), lengths(sent_),
            lengths(received_), mpi_type(type_), mpi_operator(op_),       comm};
}

}  // namespace rondo::bench
