// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/decision.hpp"

#include <new>
#include <utility>

namespace rondo::mpi {

bool Decisions::Place::is_for(const CallKey& call) const {
    if (number == 0) return false;
    if (!decision.holds_whatever_the_parts() || key.over_int || call.over_int) return key == call;
    const Count bytes = call.count * call.element_bytes;
    return key.choice == call.choice && key.commutative == call.commutative && decision.lowest <= bytes &&
           bytes <= decision.highest;
}

Decision* Decisions::find(const CallKey& key) {
    if (place(last_).is_for(key)) return &place(last_).decision;
    for (std::uint8_t index = 0; others_ != nullptr && index < most; ++index) {
        if (!place(index).is_for(key)) continue;
        last_ = index;
        return &place(index).decision;
    }
    return nullptr;
}

Decision& Decisions::put(const CallKey& key, Decision decision, std::uint32_t& so_far) noexcept {
    if (first_.number != 0 && find(key) == nullptr) {
        if (others_ == nullptr) others_.reset(new (std::nothrow) Place[most - 1]);
        if (others_ != nullptr) last_ = static_cast<std::uint8_t>((last_ + 1U) % most);
    }
    std::uint32_t number = 0;
    do number = static_cast<std::uint32_t>(++so_far * most + last_);
    while (number == 0);
    Place& taken = place(last_);
    taken = {key, number, std::move(decision)};
    return taken.decision;
}

}  // namespace rondo::mpi
