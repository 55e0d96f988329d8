// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other: the sum of the elements of some ranks, if these have elements at all.
#pragma once

#include <cstdint>
#include <cstring>

#include "rondo/backends/mpi/reduction.hpp"
#include "rondo/prefix/failure.hpp"

namespace rondo::prefix {

/// In front of the data of a total, as ranks of one machine lay it out.
struct alignas(16) TotalHead {
    enum class State : std::int16_t {
        empty,    ///< no elements: whatever it is combined with stays as it is
        present,  ///< data follow
        failed,   ///< some rank could not find its total: no prefix behind it is known
    };
    State state = State::empty;
    Cause cause = Cause::reported;  ///< of a failure
    bool wants_total = false;       ///< the first of the ranks does
    std::int32_t error_class = 0;   ///< MPI's, of a failure
    /// Equal where ranks have given arguments that fit together. Of a failure: the rank at fault, as a number.
    std::uint64_t signature = 0;
};

TotalHead head_of_failure(const Failure& failure, bool wants_total);
Failure failure_of(const TotalHead& head);

inline TotalHead head_of(const char* total) {
    TotalHead head;
    std::memcpy(&head, total, sizeof head);
    return head;
}
inline void put_head(char* total, TotalHead head) { std::memcpy(total, &head, sizeof head); }
inline char* data_of(char* total) { return total + sizeof(TotalHead); }
inline const char* data_of(const char* total) { return total + sizeof(TotalHead); }

/// Combines totals. That of nothing is no matter of an operator, which need not know an identity.
class TotalCombiner : public mpi::Combiner {
  public:
    /// Applies the reduction to `count` elements, which stand `shift` bytes from their address. Borrows the reduction.
    TotalCombiner(const mpi::Reduction& reduction, Count count, Count data_bytes, Count shift)
        : reduction_(reduction), count_(count), bytes_(static_cast<std::size_t>(data_bytes)), shift_(shift) {}

    /// Of the message.
    [[nodiscard]] std::size_t bytes() const { return sizeof(TotalHead) + bytes_; }
    int combine(const void* left, const void* right, void* into, Count totals) const override;

  private:
    void combine_one(const char* left, const char* right, char* into) const;
    int combine_data(const char* left, const char* right, char* into) const;

    const mpi::Reduction& reduction_;
    Count count_;
    std::size_t bytes_;
    Count shift_;
};

}  // namespace rondo::prefix
