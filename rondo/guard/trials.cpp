// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/trials.hpp"

#include <algorithm>

namespace rondo::guard {

Trial* TrialTable::find(const TrialKey& key, const void* chosen) const {
    for (Trial& trial : places_.first(used_)) {
        if (trial.key() == key && trial.chosen() == chosen) return &trial;
    }
    return nullptr;
}

bool TrialTable::is_about_others(const TrialKey& key, const void* chosen) const {
    const auto is_of_key = [&](const Trial& trial) { return trial.key() == key; };
    return find(key, chosen) == nullptr && std::ranges::any_of(places_.first(used_), is_of_key);
}

Trial* TrialTable::add(const Trial& trial) {
    if (used_ == places_.size()) return nullptr;
    places_[used_] = trial;
    return &places_[used_++];
}

bool operator==(const TrialTable& a, const TrialTable& b) {
    return a.timeouts_ == b.timeouts_ && std::ranges::equal(a.places_.first(a.used_), b.places_.first(b.used_));
}

Trial* Trials::begin(const Trial& trial) {
    Trial* const begun = own_.add(trial);
    if (begun == nullptr) return nullptr;
    const bool is_fresh = trial.timed_calls() == 0;
    if (on_one_node_) begun->stay_on_one_node();
    if (world_ != nullptr && is_fresh && !world_->is_about_others(trial.key(), trial.chosen()))
        begun->wait_for(calls_to_wait);
    return begun;
}

/// Takes over the world's verdict. A trial that revalidates goes on by itself: only some ranks may ask before its next
/// call, as others have it cached.
Trial* Trials::adopt(Trial* trial) const {
    if (trial == nullptr || world_ == nullptr || trial->is_over() || trial->revalidates()) return trial;
    const Trial* const known = world_->find(trial->key(), trial->chosen());
    if (known != nullptr && known->is_over()) *trial = *known;
    return trial;
}

}  // namespace rondo::guard
