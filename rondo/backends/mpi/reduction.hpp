// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "rondo/backends/mpi/datatype.hpp"

namespace rondo::mpi {

/// Combines elements that neither MPI's operators nor its datatypes know.
class Combiner {
  public:
    /// Combines as Reduction::apply does.
    virtual int combine(const void* left, const void* right, void* into, Count count) const = 0;

  protected:
    ~Combiner() = default;
};

/// An operator on a datatype, as one call needs it.
class Reduction {
  public:
    /// No reduction.
    Reduction() = default;
    /// Borrows the datatype.
    Reduction(MPI_Op op, const Datatype& type);
    /// Borrows the combiner.
    Reduction(const Combiner& combiner, bool commutative)
        : subject_(&combiner), commutative_(commutative), has_combiner_(true) {}

    /// Why the library must deal with it, and report what is wrong with it: a literal; nullptr if it need not.
    [[nodiscard]] const char* objection() const { return objection_; }
    [[nodiscard]] bool commutative() const { return commutative_; }
    /// True if the operator is MPI's own.
    [[nodiscard]] bool predefined() const { return predefined_; }
    /// The kernels' name of a predefined operator; undefined for others.
    [[nodiscard]] kernels::Operation operation() const { return operation_; }
    /// True if the result has the same bits whoever applies the operator, Rondo or the library, in whatever order.
    /// False for a sum of floating-point numbers, and for a minimum or maximum: there may be NaN, and zeros of both
    /// signs.
    [[nodiscard]] bool keeps_bits() const { return keeps_bits_; }

    /// True if a kernel of Rondo's does it, on elements that lie one behind the other.
    [[nodiscard]] bool is_kernel() const { return kernel_ != nullptr; }
    void run_kernel(const void* left, const void* right, void* into, Count count) const {
        kernel_(left, right, into, static_cast<std::size_t>(count));
    }

    /// Computes into = left (+) right for `count` elements; `into` may be `left` or `right`. `copy(from, into, count)`
    /// copies elements. Both return an MPI error code.
    template <class CopyElements>
    int apply(const void* left, const void* right, void* into, Count count, CopyElements&& copy) const;

  private:
    [[nodiscard]] const Datatype& type() const { return *static_cast<const Datatype*>(subject_); }
    int reduce_local(const void* left, void* right_and_into, Count count) const;

    MPI_Op op_{};
    const void* subject_ = nullptr;  // the combiner if there is one; else the datatype
    kernels::Kernel kernel_ = nullptr;
    const char* objection_ = nullptr;
    kernels::Operation operation_{};
    bool commutative_ = false, predefined_ = false, keeps_bits_ = false, has_combiner_ = false;
};

/// Fills the table of predefined operators. Called once, after `connect`.
void learn_operators();

/// Asks the library what its own reductions of integers, truth values and bytes give at the extremes, and remembers
/// where Rondo's kernels give the same: no other operator keeps bits. Called once, in MPI_Init, after the tables are
/// filled. Libraries may saturate where kernels wrap around, or compare without signs. Returns a hash of the answers.
std::uint64_t compare_reductions();
/// Notes that no operator keeps bits, because the hashes of ranks differ, as their processors do.
void distrust_reductions();

template <class CopyElements>
int Reduction::apply(const void* left, const void* right, void* into, Count count, CopyElements&& copy) const {
    if (kernel_ != nullptr) {
        kernel_(left, right, into, static_cast<std::size_t>(count));
        return MPI_SUCCESS;
    }
    if (has_combiner_) return static_cast<const Combiner*>(subject_)->combine(left, right, into, count);
    // MPI_Reduce_local is inout = in (+) inout: only the right operand can be the result.
    if (into == left && commutative_) std::swap(left, right);
    if (into == left) {
        const std::size_t bytes = static_cast<std::size_t>(type().span(count));
        const auto spare = std::make_unique_for_overwrite<char[]>(bytes);
        char* copied = spare.get() - type().true_lower_bound;
        int error = copy(right, copied, count);
        if (error == MPI_SUCCESS) error = reduce_local(left, copied, count);
        return error == MPI_SUCCESS ? copy(copied, into, count) : error;
    }
    if (into != right) {
        if (const int error = copy(right, into, count); error != MPI_SUCCESS) return error;
    }
    return reduce_local(left, into, count);
}

}  // namespace rondo::mpi
