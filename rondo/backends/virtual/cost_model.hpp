// SPDX-License-Identifier: BSD-3-Clause
// What messages and operations take in virtual time. Time in any unit: rounds are counted with alpha = 1 and all else
// 0.
#pragma once

#include <limits>
#include <optional>

#include "rondo/core/block.hpp"

namespace rondo::virtual_machine {

/// Messages of every length leave at once.
inline constexpr Count no_eager_limit = std::numeric_limits<Count>::max();

/// Of messages on links of one class.
struct LinkCosts {
    double alpha = 1;     ///< of a message
    double beta = 0;      ///< per byte of a message
    double overhead = 0;  ///< of the processor, per message sent or received; overlapped runs only
};

class Network;

struct CostModel {
    double alpha = 1;     ///< of a message between nodes, as are beta and overhead
    double beta = 0;      ///< per byte of a message
    double gamma = 0;     ///< per byte that an operator produces
    double overhead = 0;  ///< of the processor, per message sent or received; overlapped runs only
    /// Of messages inside a node; nothing: they cost what others cost. Each rank has wires of its own for them.
    std::optional<LinkCosts> inside = std::nullopt;
    /// Through which all messages of a node to others leave, and through as many they come in. A message takes one, at
    /// rate 1/beta: the first that is free. Overlapped runs only.
    int lanes = 1;
    /// Each rank has wires of its own for messages to other nodes, too: these are parts of one. Then lanes and fluids
    /// are of no account.
    bool own_wires = false;
    /// Bytes of the longest message between nodes that leaves at once. Longer ones ask their receiver, and leave when
    /// it has answered; their sends complete with their receives.
    Count eager = no_eager_limit;
    double rendezvous = 0;  ///< of question and answer together
    /// Messages between nodes share lanes as fluids do (shared_wires.hpp), where else one at a time takes each; and
    /// sends up to the eager limit are buffered: they complete at once. Nearer to real networks, but slower to compute.
    /// Overlapped runs only.
    bool fluid = false;
    /// Whose links messages between nodes share besides (network.hpp); nullptr: none. Borrowed. Fluid runs only.
    const Network* network = nullptr;
};

}  // namespace rondo::virtual_machine
