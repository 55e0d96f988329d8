// SPDX-License-Identifier: BSD-3-Clause
// The least possible maximum of sums of two variables each, by smoothing [nesterov2005smooth].
//
// [nesterov2005smooth] Y. Nesterov, Smooth minimization of non-smooth functions, Mathematical Programming 103, 2005.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rondo {

/// max over rows of first * x_i + second * x_j + constant, over all x in a box whose sum is given.
class Minimax {
  public:
    struct Box {
        std::vector<double> least, most;
    };

    Minimax(std::size_t variables, double first, double second)
        : variables_(variables), first_(first), second_(second) {}

    /// A row. Of two for the same variables, the one with the larger constant counts. Variables beyond the last are 0.
    void add(std::uint32_t i, std::uint32_t j, double constant);

    [[nodiscard]] std::size_t rows() const { return rows_.size(); }
    [[nodiscard]] double value(const std::vector<double>& x) const;

    /// From there to the minimum, or near it: the maximum is at most some `precision` above it. The sum of the
    /// variables stays as it is, and they stay in the box, where they must be.
    [[nodiscard]] std::vector<double> minimise(std::vector<double> x, const Box& box, double precision) const;

  private:
    struct Row {
        std::uint32_t i, j;
        double constant;
    };

    [[nodiscard]] double at(const Row& row, const std::vector<double>& x) const;
    double smooth(const std::vector<double>& x, double width, std::vector<double>* gradient) const;
    [[nodiscard]] std::vector<double> descend(std::vector<double> x, const Box& box, double width, int steps) const;

    std::size_t variables_;
    double first_, second_;
    std::vector<Row> rows_;
    std::unordered_map<std::uint64_t, std::size_t> places_;  // of rows, by their variables
};

}  // namespace rondo
