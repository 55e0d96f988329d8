// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "testbed/fair_port.hpp"
#include "testbed/files.hpp"
#include "testbed/ring.hpp"

namespace rondo::testbed {

/// The switch's end of a node's cable: all IPv4 packets that the node sends, segments still to be cut (GSO) included.
///
/// Packets come through a ring in shared memory: rootless, no other buffer of the kernel is large enough for what a
/// node sends at once, and the kernel writes into it when each packet was sent, however late the switch looks.
class Cable {
  public:
    struct Packet {
        std::span<const std::byte> data;  ///< as transmit() takes it; valid until release()
        std::span<const std::byte> ip;    ///< the part from the IPv4 header on
        Nanoseconds sent;                 ///< on CLOCK_REALTIME
    };

    /// `device` is one of the calling process's network namespace. `ring` bounds what waits for the switch.
    Cable(const std::string& device, const Ring& ring);
    Cable(Cable&& other) noexcept;
    Cable& operator=(Cable&&) = delete;
    Cable(const Cable&) = delete;
    Cable& operator=(const Cable&) = delete;
    ~Cable();

    [[nodiscard]] int descriptor() const { return socket_.number(); }

    /// The oldest packet not yet released; nothing if there is none.
    [[nodiscard]] std::optional<Packet> receive() const;
    void release();

    /// Hands a packet of receive() of any cable to this node; false if the node's kernel does not take it.
    [[nodiscard]] bool transmit(std::span<const std::byte> data) const;

    /// Packets that the ring had no room for, since the last call.
    [[nodiscard]] unsigned lost() const;

  private:
    [[nodiscard]] std::byte* slot() const;

    Descriptor socket_;
    int device_ = 0;
    Ring ring_;
    std::byte* memory_ = nullptr;
    std::size_t slot_ = 0;
};

}  // namespace rondo::testbed
