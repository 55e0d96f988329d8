// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/neighbours.hpp"

#include <algorithm>
#include <utility>

#include "rondo/core/error.hpp"

namespace rondo::shared_memory {

Neighbours::Neighbours(int self, int count, const Options& options)
    : self_(self), count_(count), read_from_(std::max(options.read_from, most_inline + 1)),
      layout_(count, options.parcel_bytes), region_(layout_.bytes()),
      parcels_(region_, layout_.parcels(), options.parcel_bytes), found_(static_cast<std::size_t>(count)),
      channels_(std::make_unique<Channel[]>(static_cast<std::size_t>(count))),
      reasons_(static_cast<std::size_t>(count)) {
    if (!region_.commit(0, layout_.front_bytes())) throw Error("no memory to share to be had");
    at<Front>(region_.data(), 0)->key = address().key;
}

void Neighbours::connect(int neighbour, const RegionAddress& address, bool may_read) {
    std::string& reason = reasons_[static_cast<std::size_t>(neighbour)];
    Found& found = found_[static_cast<std::size_t>(neighbour)];
    Reach reach = Reach::refused;
    found.region = map_region(address, layout_.parcels(), reason);
    if (found.region && at<Front>(found.region.data(), 0)->key != address.key) {
        reason = "the shared memory of process " + std::to_string(address.process) + " is not what it should be";
        found.region = {};
    }
    // Later there would be no way around the queue.
    if (found.region && !region_.commit(layout_.queue(neighbour), Layout::queue_bytes)) {
        reason = "no memory for messages to process " + std::to_string(address.process);
        found.region = {};
    }
    if (found.region) {
        found.address = address;
        found.reads = may_read && read_from_ != Channel::never && can_read_process(address);
        reach = found.reads ? Reach::reads : Reach::granted;
    }
    notice_to(neighbour).reach.store(reach, std::memory_order_release);
}

void Neighbours::settle() {
    for (int each = 0; each < count_; ++each) {
        Found& found = found_[static_cast<std::size_t>(each)];
        if (each == self_ || !found.region) continue;
        std::byte* const data = found.region.data();
        auto* const notice = at<Notice>(data, layout_.notice(self_));
        const Reach reach = notice->reach.load(std::memory_order_acquire);
        if (reach != Reach::granted && reach != Reach::reads) {
            reasons_[static_cast<std::size_t>(each)] =
                "process " + std::to_string(found.address.process) + " cannot reach the shared memory of this one";
            continue;
        }
        channel(each).open({.own = &region_,
                            .own_queue = layout_.queue(each),
                            .own_notice = &notice_to(each),
                            .region = std::move(found.region),
                            .queue = at<Line>(data, layout_.queue(self_)),
                            .notice = notice,
                            .address = found.address,
                            .read_from = reach == Reach::reads ? read_from_ : Channel::never,
                            .may_write = found.reads});
    }
    found_.clear();
    region_.close();
}

Traffic Neighbours::sent() const {
    Traffic all;
    for (int each = 0; each < count_; ++each) {
        const Traffic sent = channel(each).sent();
        all.messages += sent.messages;
        all.bytes += sent.bytes;
    }
    return all;
}

}  // namespace rondo::shared_memory
