// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/prefix/prefix.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rondo/core/fingerprint.hpp"

namespace rondo::prefix {
namespace {

using State = TotalHead::State;

/// A new operation's totals each begin where any element may.
std::size_t room_for(const TotalCombiner& combiner) {
    return (combiner.bytes() + alignof(TotalHead) - 1) / alignof(TotalHead) * alignof(TotalHead);
}

bool is_truncation(int error) {
    int error_class = MPI_ERR_OTHER;
    mpi::library().Error_class(error, &error_class);
    return error_class == MPI_ERR_TRUNCATE;
}

}  // namespace

Prefix::Prefix(const Array& array, void* total, std::unique_ptr<Passes> passes, Exchange& exchange,
               const Guidance& guidance)
    : array_(array), total_(total), passes_(std::move(passes)), exchange_(exchange), guidance_(guidance),
      combiner_(passes_->combiner()), totals_(3 * room_for(combiner_)), own_(totals_.data()),
      before_(own_ + room_for(combiner_)), all_(before_ + room_for(combiner_)) {}

bool Prefix::progress(bool may_wait) {
    switch (stage_) {
        case Stage::first_pass:
            if (has_failed() || first_pass()) begin_scan();
            break;
        case Stage::scan:
            if (exchange_.progress(may_wait)) end_scan();
            break;
        case Stage::second_pass:
            if (total_arrives_ && exchange_.progress(false)) total_arrives_ = false;
            if (has_failed() || second_pass()) end_second_pass();
            break;
        case Stage::total:
            if (!total_arrives_ || exchange_.progress(may_wait)) end_total();
            break;
        case Stage::done: break;
    }
    return stage_ == Stage::done;
}

bool Prefix::needs_first_pass() const { return exchange_.size() > 1 && (!exchange_.is_last() || total_ != nullptr); }

std::uint64_t Prefix::signature() const {
    Fingerprint fingerprint;
    fingerprint.add(passes_->signature());
    fingerprint.add(array_.exclusive ? 1 : 0);
    fingerprint.add(total_ != nullptr ? 1 : 0);
    return fingerprint.value();
}

template <class Work>
bool Prefix::is_through(Work&& work) {
    if (done_ < array_.count) {
        const Count count = std::min(passes_->piece(), array_.count - done_);
        try {
            note(work(done_, count));
        } catch (const std::bad_alloc&) {  // others wait
            note(MPI_ERR_NO_MEM);
        }
        done_ += count;
    }
    return done_ == array_.count || has_failed();
}

bool Prefix::first_pass() {
    if (!needs_first_pass()) return true;
    is_scanned_ = !passes_->reduces_first();
    return is_through([this](Count first, Count count) {
        return is_scanned_ ? passes_->scan(first, count, nullptr) : passes_->reduce(first, count);
    });
}

void Prefix::begin_scan() {
    tells_total_ = total_ != nullptr;
    if (has_failed()) {
        put_head(own_, head_of_failure(failure_, tells_total_));
    } else {
        const bool is_known = array_.count > 0 && needs_first_pass();
        put_head(
            own_,
            {.state = is_known ? State::present : State::empty, .wants_total = tells_total_, .signature = signature()});
        if (is_known) std::memcpy(data_of(own_), passes_->sum(), combiner_.bytes() - sizeof(TotalHead));
    }
    stage_ = Stage::scan;
    if (exchange_.size() == 1) end_scan();
    else exchange_.start_scan(own_, before_, combiner_, passes_->is_commutative(), guidance_);
}

/// The others wait for it.
void Prefix::begin_broadcast() {
    try {
        exchange_.start_broadcast(all_, combiner_.bytes());
    } catch (const std::bad_alloc&) {
        exchange_.release_reserve();
        exchange_.start_broadcast(all_, combiner_.bytes());
    }
    total_arrives_ = true;
}

void Prefix::end_scan() {
    stage_ = Stage::second_pass;
    done_ = 0;
    if (exchange_.size() == 1) return;
    if (exchange_.error() != MPI_SUCCESS) {                                            // who knows what the others have
        if (is_truncation(exchange_.error())) note({MPI_ERR_TYPE, Cause::differing});  // a total of another datatype
        else note(exchange_.error());
        stage_ = Stage::done;
        return;
    }
    const TotalHead before = head_of(before_);
    // Ranks that differ fail, but all of them go the way of rank 0, or some would wait in vain.
    if (exchange_.rank() > 0) tells_total_ = before.wants_total;
    if (tells_total_) {
        if (exchange_.is_last()) combiner_.combine(before_, own_, all_, 1);
        begin_broadcast();
    }
    if (before.state == State::failed) note(failure_of(before));
    else if (exchange_.rank() > 0 && before.signature != signature()) note({MPI_ERR_TYPE, Cause::differing});
    if (!is_scanned_) passes_->restart();
}

bool Prefix::second_pass() {
    const bool has_prefix = head_of(before_).state == State::present;
    const char* const prefix = has_prefix ? data_of(before_) : nullptr;
    if (is_scanned_ && !has_prefix) return true;
    return is_through([&](Count first, Count count) {
        return is_scanned_ ? passes_->add(first, count, prefix) : passes_->scan(first, count, prefix);
    });
}

void Prefix::end_second_pass() {
    const bool is_first = array_.count > 0 && head_of(before_).state == State::empty;
    if (!has_failed() && array_.exclusive && is_first) note(passes_->put_identity(array_.into));
    stage_ = tells_total_ ? Stage::total : Stage::done;
    if (exchange_.size() > 1 || total_ == nullptr) return;
    if (array_.count > 0 && !has_failed()) {
        put_head(all_, {.state = State::present, .wants_total = true, .signature = signature()});
        std::memcpy(data_of(all_), passes_->sum(), combiner_.bytes() - sizeof(TotalHead));
    }
}

void Prefix::end_total() {
    stage_ = Stage::done;
    if (exchange_.size() > 1) note(exchange_.error());
    if (has_failed()) return;
    const TotalHead all = head_of(all_);
    if (all.state == State::failed) note(failure_of(all));
    else if (all.state == State::present) note(passes_->put(data_of(all_), total_));
    else note(passes_->put_identity(total_));
}

}  // namespace rondo::prefix
