// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "testbed/options.hpp"

namespace rondo::testbed {

/// Memory in which the kernel leaves packets for the switch. Every packet takes a slot, however short it is.
class Ring {
  public:
    /// For at least so many packets.
    Ring(std::size_t packets, std::size_t longest_packet);

    [[nodiscard]] std::size_t slots() const { return blocks_ * slots_in_block(); }
    [[nodiscard]] std::size_t slot_bytes() const { return slot_bytes_; }
    [[nodiscard]] std::size_t blocks() const { return blocks_; }
    [[nodiscard]] std::size_t bytes() const { return blocks_ * block_bytes; }
    /// Where a slot begins.
    [[nodiscard]] std::size_t offset(std::size_t slot) const {
        return slot / slots_in_block() * block_bytes + slot % slots_in_block() * slot_bytes_;
    }

    static constexpr std::size_t block_bytes = std::size_t{1} << 20U;

  private:
    [[nodiscard]] std::size_t slots_in_block() const { return block_bytes / slot_bytes_; }

    std::size_t slot_bytes_, blocks_;
};

/// For what a node may send while the switch does not run: TCP sends to every rank as much as its buffer takes.
Ring ring_of_node(const Shape& shape);

/// The head sends to all nodes at once when a program starts and ends: many packets, all of them short.
Ring ring_of_head(const Shape& shape);

/// What all rings take.
std::size_t ring_bytes(const Shape& shape);

}  // namespace rondo::testbed
