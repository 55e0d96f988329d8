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
    /// As Reduction::apply.
    virtual int combine(const void* left, const void* right, void* into, Count count) const = 0;

  protected:
    ~Combiner() = default;
};

/// An operator on a datatype, as one call needs it.
class Reduction {
  public:
    /// None.
    Reduction() = default;
    /// Borrows the datatype.
    Reduction(MPI_Op op, const Datatype& type);
    /// Borrows the combiner.
    Reduction(const Combiner& combiner, bool commutative)
        : subject_(&combiner), commutative_(commutative), has_combiner_(true) {}

    /// Why the library must deal with it, and report what is wrong with it: a literal; nullptr if it need not.
    [[nodiscard]] const char* objection() const { return objection_; }
    [[nodiscard]] bool commutative() const { return commutative_; }
    /// The operator is MPI's own.
    [[nodiscard]] bool predefined() const { return predefined_; }
    /// Which of them, as kernels name it; means nothing for others.
    [[nodiscard]] kernels::Operation operation() const { return operation_; }
    /// The result has the same bits whoever applies the operator, Rondo or the library, in whatever order. Not a sum of
    /// floating-point numbers, nor a minimum or maximum: there may be NaN, and zeros of both signs.
    [[nodiscard]] bool keeps_bits() const { return keeps_bits_; }

    /// Rondo's own code does it, on elements that lie one behind the other.
    [[nodiscard]] bool is_kernel() const { return kernel_ != nullptr; }
    void run_kernel(const void* left, const void* right, void* into, Count count) const {
        kernel_(left, right, into, static_cast<std::size_t>(count));
    }

    /// into = left (+) right for `count` elements; `into` may be `left` or `right`. `copy(from, into, count)` copies
    /// elements and returns an MPI error code. Returns one.
    template <class CopyElements>
    int apply(const void* left, const void* right, void* into, Count count, CopyElements&& copy) const;

  private:
    [[nodiscard]] const Datatype& type() const { return *static_cast<const Datatype*>(subject_); }
    int reduce_local(const void* left, void* right_and_into, Count count) const;

    MPI_Op op_{};
    const void* subject_ = nullptr;  // the combiner, where there is one; else the datatype
    kernels::Kernel kernel_ = nullptr;
    const char* objection_ = nullptr;
    kernels::Operation operation_{};
    bool commutative_ = false, predefined_ = false, keeps_bits_ = false, has_combiner_ = false;
};

/// Fills the table of predefined operators. Once, after `connect`.
void learn_operators();

/// Asks the library what its own reductions of integers, truth values and bytes give at the extremes, and remembers
/// where that is what Rondo's kernels give: no other operator keeps bits. Once, in MPI_Init, after the tables are
/// filled. Libraries may saturate where kernels wrap around, or compare without signs. Returns a hash of the answers.
std::uint64_t compare_reductions();
/// The hashes of ranks differ, because their processors do: no operator keeps bits.
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
