// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/network.hpp"
#include "testbed/fair_port.hpp"

namespace rondo::testbed {

/// When packets arrive: the alpha-beta model with one full-duplex port of k lanes a node, in virtual time. The network
/// may have a shape, whose links packets share on their way.
///
/// A packet of n bytes arrives alpha + n beta after it was sent if nothing is in its way (cut-through: it is paid
/// once), and is served at rate 1/beta by a lane of its sender's egress and a lane of its receiver's ingress. Packets
/// travel as frames short against alpha, and flows share ports and links fairly; within a flow order is kept.
/// Acknowledgements without data take alpha and no bandwidth, and what the head sends or receives takes no time.
class NetworkModel {
  public:
    struct Packet {
        unsigned from, to;  ///< the head is node number `nodes`
        std::uint64_t flow;
        std::uint32_t bytes;
        bool is_acknowledgement = false;  ///< only: no data, no end of a connection
        std::uint32_t name = 0;           ///< the caller's
    };
    struct Delivery {
        std::uint32_t packet;
        unsigned to;
        Nanoseconds time;
    };

    /// `shape`: nodes are at its first places. Throws rondo::Error if it has fewer.
    NetworkModel(unsigned nodes, unsigned lanes, const std::optional<virtual_machine::NetworkShape>& shape = {});

    /// Holds for what is sent, and for what is served, from now on. What flies is never overtaken.
    void set(Nanoseconds latency, std::uint64_t bits_per_second);

    /// `time` earlier than one that was computed already counts as that one.
    void send(const Packet& packet, Nanoseconds time);

    /// The next packet that is due until `now`, in the order of the times.
    std::optional<Delivery> deliver(Nanoseconds now);

    /// When to call deliver() again: not later than the next delivery; nothing if there is nothing under way.
    [[nodiscard]] std::optional<Nanoseconds> next() const;

    /// Of what the wire carries of other flows between two parts of a packet.
    [[nodiscard]] std::uint32_t frame_bytes() const { return frame_bytes_; }

  private:
    /// The far end of the network: a link between nodes, or what a node takes in.
    struct FarPort {
        FairPort port;
        double rate = 1;  ///< of a lane, relative to a node's
    };
    /// The ports between two nodes, the receiver's ingress last.
    struct Way {
        std::vector<std::size_t> ports;
        Nanoseconds hops = 0;  ///< beyond the latency
    };
    struct Flight {
        Nanoseconds arrival;
        std::uint64_t order;
        Frame frame;
        bool operator>(const Flight& other) const {
            return arrival != other.arrival ? arrival > other.arrival : order > other.order;
        }
    };
    struct End {
        Nanoseconds time;
        std::size_t port;
        bool operator>(const End& other) const { return time != other.time ? time > other.time : port > other.port; }
    };
    struct Undisturbed {
        Delivery delivery;
        std::uint64_t order;
        bool operator>(const Undisturbed& other) const {
            return delivery.time != other.delivery.time ? delivery.time > other.delivery.time : order > other.order;
        }
    };
    template <class Entry>
    using Earliest = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

    void run_until(Nanoseconds time);
    bool step(Nanoseconds until);
    void start_egress(std::size_t node);
    void start_far(std::size_t number);
    void fly(const Frame& frame, Nanoseconds arrival) { flights_.push({arrival, order_++, frame}); }
    void arrive();
    void end_far();
    /// The number of the way between two nodes.
    std::uint32_t way(unsigned from, unsigned to);
    std::size_t port_of(const virtual_machine::NetworkLink& link);
    [[nodiscard]] std::size_t next_port(const Frame& frame) const { return ways_[frame.way].ports[frame.passed]; }
    [[nodiscard]] Nanoseconds service_time(const Frame& frame, std::size_t port) const;

    unsigned nodes_, lanes_;
    std::optional<virtual_machine::Network> network_;
    std::vector<FairPort> egress_;
    std::vector<FarPort> far_;  // first those of the nodes, then links as they are met
    std::map<std::uint64_t, std::size_t> links_;
    std::map<std::pair<unsigned, unsigned>, std::uint32_t> numbers_of_ways_;
    std::vector<Way> ways_;
    Nanoseconds latency_ = 0;
    double nanoseconds_per_byte_ = 0;
    std::uint32_t frame_bytes_ = 0;

    Nanoseconds now_ = 0;
    Earliest<End> egress_ends_, far_ends_;
    Earliest<Flight> flights_;
    Nanoseconds last_arrival_ = 0;  // of what has left its sender, without hops
    Earliest<Undisturbed> undisturbed_;
    std::uint64_t order_ = 0;
    std::deque<Delivery> due_;
    Earliest<Nanoseconds> hints_;  // times at which a packet may be complete
};

}  // namespace rondo::testbed
