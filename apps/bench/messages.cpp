// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

#include <algorithm>

#include "clock.hpp"

namespace rondo::bench {
namespace {

constexpr int message_tag = 1;
constexpr double shortest_sleep = 20e-6, longest_sleep = 1e-3;

}  // namespace

Messages::Messages(MPI_Comm comm, bool crowded) : comm_(comm), crowded_(crowded) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
}

void Messages::send(const void* data, std::size_t bytes, int to) const {
    MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, message_tag, comm_);
}

void Messages::receive(void* data, std::size_t bytes, int from) const {
    MPI_Request request;
    MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, message_tag, comm_, &request);
    if (!crowded_) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    double pause = shortest_sleep;
    for (int arrived = 0; MPI_Test(&request, &arrived, MPI_STATUS_IGNORE), arrived == 0;) {
        sleep_seconds(pause);
        pause = std::min(2 * pause, longest_sleep);
    }
}

void Messages::broadcast(void* data, std::size_t bytes) const {
    int distance = 1;
    while (distance < size_ && (rank_ & distance) == 0) distance *= 2;
    if (rank_ != 0) receive(data, bytes, rank_ - distance);
    for (distance /= 2; distance > 0; distance /= 2) {
        if (rank_ + distance < size_) send(data, bytes, rank_ + distance);
    }
}

}  // namespace rondo::bench
