// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/transfers.hpp"

namespace rondo::shared_memory {

Transfers::~Transfers() {
    abandon();
    if (neighbours_.sign_.is_same_process()) sends_.leave_unread();
}

Transfers::Progress Transfers::poll() {
    completed_.clear();
    if (failure() != nullptr) return {completed_, false};
    const bool sent = !sends_.idle() && sends_.poll(completed_);
    const bool received = !receives_.idle() && receives_.poll(completed_);
    return {completed_, sent || received};
}

int Transfers::ended_neighbour() const {
    if (idle()) return alone_with_ >= 0 && neighbours_.channel(alone_with_).neighbour_has_ended() ? alone_with_ : -1;
    const int ended = sends_.ended_neighbour();
    return ended >= 0 ? ended : receives_.ended_neighbour();
}

void Transfers::abandon() {
    if (neighbours_.sign_.is_same_process()) {
        sends_.let_go();
        receives_.let_go();
    }
    sends_.clear();
    receives_.clear();
}

}  // namespace rondo::shared_memory
