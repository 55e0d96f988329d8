// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/prefix/total.hpp"

#include <new>

namespace rondo::prefix {

using State = TotalHead::State;

TotalHead head_of_failure(const Failure& failure, bool wants_total) {
    int error_class = MPI_ERR_OTHER;
    mpi::library().Error_class(failure.error, &error_class);
    const auto rank = static_cast<std::int64_t>(failure.rank);
    return {State::failed, failure.cause, wants_total, error_class, static_cast<std::uint64_t>(rank)};
}

Failure failure_of(const TotalHead& head) {
    return {head.error_class, head.cause, static_cast<Rank>(static_cast<std::int64_t>(head.signature))};
}

/// A failure is an answer, too: the others go on.
int TotalCombiner::combine(const void* left, const void* right, void* into, Count totals) const {
    const auto step = static_cast<Count>(bytes());
    for (Count i = 0; i < totals; ++i) {
        combine_one(static_cast<const char*>(left) + i * step, static_cast<const char*>(right) + i * step,
                    static_cast<char*>(into) + i * step);
    }
    return MPI_SUCCESS;
}

void TotalCombiner::combine_one(const char* left, const char* right, char* into) const {
    const TotalHead first = head_of(left), second = head_of(right);
    const bool left_decides = first.state == State::failed || second.state == State::empty;
    const bool right_decides = second.state == State::failed || first.state == State::empty;
    Failure failure;
    if (first.state != State::failed && second.state != State::failed && first.signature != second.signature) {
        failure = {MPI_ERR_TYPE, Cause::differing};
    } else if (left_decides || right_decides) {
        const char* const from = left_decides ? left : right;
        if (from != into) std::memcpy(into, from, bytes());
        TotalHead decided = head_of(into);
        decided.wants_total = first.wants_total;
        put_head(into, decided);
        return;
    } else {
        failure.error = combine_data(left, right, into);
        if (failure.error == MPI_ERR_NO_MEM) failure.cause = Cause::memory;
    }
    TotalHead head = first;
    head.state = State::present;
    put_head(into, failure.is_any() ? head_of_failure(failure, first.wants_total) : head);
}

int TotalCombiner::combine_data(const char* left, const char* right, char* into) const {
    try {
        const auto copy = [this](const void* from, void* to, Count) {
            std::memcpy(static_cast<char*>(to) + shift_, static_cast<const char*>(from) + shift_, bytes_);
            return MPI_SUCCESS;
        };
        return reduction_.apply(data_of(left) - shift_, data_of(right) - shift_, data_of(into) - shift_, count_, copy);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

}  // namespace rondo::prefix
