// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <queue>

#include "testbed/fair_port.hpp"

namespace rondo::testbed {

/// When packets arrive: the alpha-beta model with one full-duplex port of k lanes a node, in virtual time.
///
/// A packet of n bytes arrives alpha + n beta after it was sent if nothing is in its way (cut-through: it is paid
/// once), and is served at rate 1/beta by a lane of its sender's egress and a lane of its receiver's ingress. Packets
/// travel as frames short against alpha, and flows share ports fairly; within a flow order is kept. Acknowledgements
/// without data take alpha and no bandwidth, and what the head sends or receives takes no time.
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

    NetworkModel(unsigned nodes, unsigned lanes);

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
    struct Flight {
        Nanoseconds arrival;
        Frame frame;
    };
    struct End {
        Nanoseconds time;
        unsigned node;
        bool operator>(const End& other) const { return time != other.time ? time > other.time : node > other.node; }
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
    void start_egress(unsigned node);
    void start_ingress(unsigned node);
    void arrive();
    void end_ingress();

    unsigned nodes_;
    std::vector<FairPort> egress_, ingress_;
    Nanoseconds latency_ = 0;
    double nanoseconds_per_byte_ = 0;
    std::uint32_t frame_bytes_ = 0;

    Nanoseconds now_ = 0;
    Earliest<End> egress_ends_, ingress_ends_;
    std::deque<Flight> flights_;  // in the order of arrival
    Earliest<Undisturbed> undisturbed_;
    std::uint64_t order_ = 0;
    std::deque<Delivery> due_;
    Earliest<Nanoseconds> hints_;  // times at which a packet may be complete
};

}  // namespace rondo::testbed
