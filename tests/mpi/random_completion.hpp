// SPDX-License-Identifier: BSD-3-Clause
// How a random program completes its requests, and what it finds then.
#pragma once

#include "random_program.hpp"

namespace random_programs {

/// Completes some requests by a function of this rank's choice. Returns their slots.
inline std::vector<int> Program::complete() {
    std::vector<int> indices(slots);
    int done = 1;
    switch (own_.below(7)) {
        case 0: MPI_Waitany(slots, requests_.data(), indices.data(), MPI_STATUS_IGNORE); break;
        case 1: MPI_Waitsome(slots, requests_.data(), &done, indices.data(), MPI_STATUSES_IGNORE); break;
        case 2: MPI_Testsome(slots, requests_.data(), &done, indices.data(), MPI_STATUSES_IGNORE); break;
        case 3: MPI_Testany(slots, requests_.data(), indices.data(), &done, MPI_STATUS_IGNORE); break;
        case 4: return complete_all();
        default: {
            const auto is_under_way = [this](int index) { return slot(index).is_under_way; };
            do indices[0] = own_.below(slots);
            while (!is_under_way(indices[0]));
            if (own_.one_in(2)) MPI_Request_get_status(request(indices[0]), &done, MPI_STATUS_IGNORE);
            if (done != 0 && own_.one_in(2)) MPI_Test(&request(indices[0]), &done, MPI_STATUS_IGNORE);
            else if (done != 0) MPI_Wait(&request(indices[0]), MPI_STATUS_IGNORE);
        }
    }
    indices.resize(static_cast<std::size_t>(done));
    return indices;
}

/// Completes all requests, waiting or if they happen to be complete. MPICH 5.0.2 itself waits for ever in MPI_Waitall
/// for a persistent collective of its own that is not started, and gives an error in MPI_Testall for one that is
/// complete. These are null here.
inline std::vector<int> Program::complete_all() {
    const bool waits = own_.one_in(3);
    std::array<MPI_Request, slots> requests{};
    requests.fill(MPI_REQUEST_NULL);
    std::vector<int> indices;
    for (int index = 0; index < slots; ++index) {
        const bool is_persistent = index >= first_persistent && index < first_received;
        if (!slot(index).is_under_way || (is_persistent && !waits)) continue;
        indices.push_back(index);
        requests[static_cast<std::size_t>(index)] = request(index);
    }
    int done = 1;
    if (waits) MPI_Waitall(slots, requests.data(), MPI_STATUSES_IGNORE);
    else MPI_Testall(slots, requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) return {};
    for (const int index : indices) request(index) = requests[static_cast<std::size_t>(index)];
    return indices;
}

inline void Program::complete_some() {
    log_.begin("the completion of requests");
    const auto is_under_way = [](const Slot& each) { return each.is_under_way; };
    while (std::any_of(slots_.begin(), slots_.end(), is_under_way)) {
        for (const int index : complete()) note_completed(index);
        if (own_.one_in(3)) return;
    }
}

inline void Program::finish(int index) {
    if (!slot(index).is_under_way) return;
    log_.begin("a wait for a request", slot(index).operation.get(), index);
    MPI_Wait(&request(index), MPI_STATUS_IGNORE);
    note_completed(index);
}

/// Checks what a completed request has brought.
inline void Program::note_completed(int index) {
    Slot& here = slot(index);
    here.is_under_way = false;
    if (here.operation != nullptr) check(*here.operation);
    if (index < first_persistent) {
        here.operation->free_type();
        here.operation->free_operator();
        here.operation.reset();
    }
    if (index >= first_received && index < first_sent &&
        std::any_of(here.message.begin(), here.message.end(), [&](int word) { return word != here.expected; }))
        log_.note("a message", "it is another one");
}

/// Completes and frees all that is left.
inline void Program::end() {
    for (int index = 0; index < slots; ++index) finish(index);
    for (int index = first_persistent; index < first_received; ++index) {
        if (slot(index).operation == nullptr) continue;
        MPI_Request_free(&request(index));
        slot(index).operation->free_type();
        slot(index).operation->free_operator();
    }
    log_.begin("a call whose request is freed");
    for (const auto& each : left_) {
        int found = 0;
        while (each->operation != nullptr && !each->operation->error().empty())
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    // After this, no rank needs the buffers of such calls any more.
    log_.begin("the barrier at the end");
    if (is_left_) MPI_Barrier(MPI_COMM_WORLD);
    free_other_group();
}

}  // namespace random_programs
