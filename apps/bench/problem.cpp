// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <algorithm>
#include <cstring>

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

std::int64_t whole_bytes(const Collective& collective, Type type, std::int64_t count, int ranks) {
    return count * static_cast<std::int64_t>(data_bytes_of(type)) * (collective.counts == Counts::whole ? 1 : ranks);
}

Problem::Problem(const Collective& collective, Type type, Operator op, std::int64_t count, int rank, int ranks)
    : collective_(&collective), type_(type), op_(op), count_(count), rank_(rank), ranks_(ranks),
      vectors_(collective.vectors(rank, ranks)), vector_bytes_(static_cast<std::size_t>(count) * bytes_of(type)),
      input_(vector_bytes_ * static_cast<std::size_t>(puts_in_all_parts() ? ranks : 1)),
      output_(vector_bytes_ * static_cast<std::size_t>(vectors_) + guard_bytes) {}

bool Problem::puts_in_all_parts() const {
    return collective_->counts == Counts::part_of_input || collective_->counts == Counts::part_of_both;
}

void Problem::prepare(std::uint64_t repetition) {
    repetition_ = repetition;
    const Columns own(type_, op_, {rank_, rank_ + 1}, ranks_, repetition);
    own.write(input_.data(), input_.size());
    std::memset(output_.data(), static_cast<int>(poison), output_.size());
    if (collective_->starts_in_output && rank_ == 0) own.write(output_.data(), vector_bytes_);
}

bool Problem::right() const {
    const Columns own(type_, op_, {rank_, rank_ + 1}, ranks_, repetition_);
    if (!own.equal(input_.data(), input_.size())) return false;
    const std::size_t first = puts_in_all_parts() ? static_cast<std::size_t>(rank_ * count_) : 0;
    for (int vector = 0; vector < vectors_; ++vector) {
        const RankRange contributors = collective_->contributors(vector, rank_, ranks_);
        if (contributors.empty()) continue;
        const Columns expected(type_, op_, contributors, ranks_, repetition_);
        const std::byte* received = output_.data() + vector_bytes_ * static_cast<std::size_t>(vector);
        if (!expected.equal(received, vector_bytes_, first)) return false;
    }
    return std::all_of(output_.end() - guard_bytes, output_.end(), [](std::byte each) { return each == poison; });
}

Arguments Problem::arguments(MPI_Comm comm) {
    return {input_.data(), output_.data(), static_cast<int>(count_), mpi_type(type_), mpi_operator(op_), comm};
}

}  // namespace rondo::bench
