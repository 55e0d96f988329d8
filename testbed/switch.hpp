// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <cstddef>
#include <memory>
#include <vector>

#include "testbed/cable.hpp"
#include "testbed/control.hpp"
#include "testbed/network_model.hpp"

namespace rondo::testbed {

/// Carries packets between cables as the model of the network says, in real time.
class Switch {
  public:
    /// One cable a node, and the head's. Obeys and fills the control page.
    Switch(std::vector<Cable> cables, Control& control, const std::optional<virtual_machine::NetworkShape>& shape);

    /// Runs until `ends` becomes true, which a handler of a signal sets that `unblocked` lets through while it sleeps.
    void run(const volatile std::sig_atomic_t& ends, const sigset_t& unblocked);

    /// Carries what is under way, and the answers to it, at once; returns when nothing has come for a while.
    void finish();

  private:
    struct Buffer {
        std::unique_ptr<std::byte[]> data;
        std::size_t size = 0;
    };
    struct Arrival {
        Nanoseconds time;
        NetworkModel::Packet packet;
    };

    /// Sleeps until a packet has come, or something is due, but not beyond `deadline`.
    void sleep(Nanoseconds deadline, const sigset_t* unblocked);
    void obey();
    void take_in();
    void take_in(unsigned node, Nanoseconds clock_offset);
    void deliver();
    void count_lost();
    std::uint32_t keep(std::span<const std::byte> data);

    std::vector<Cable> cables_;
    Control& control_;
    NetworkModel model_;
    Descriptor epoll_;
    std::vector<unsigned> ready_;  // nodes that have sent something
    std::vector<Arrival> arrivals_;
    std::vector<Buffer> buffers_;
    std::vector<std::uint32_t> free_buffers_;
    std::uint64_t latency_ns_ = 0, bits_per_second_ = 0;  // as the model knows them
    Nanoseconds awake_since_ = 0, lost_counted_ = 0, oversleep_ = 0;
};

}  // namespace rondo::testbed
