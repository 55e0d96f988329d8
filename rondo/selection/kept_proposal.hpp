// SPDX-License-Identifier: BSD-3-Clause
// What the model has proposed in an earlier run, so that this one need not ask it again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rondo/selection/choice.hpp"
#include "rondo/selection/kinds_of_calls.hpp"

namespace rondo {

/// Calls for which one proposal holds, with the figures of one machine.
struct ProposedCalls {
    const Collective* collective = nullptr;
    std::uint8_t length = 0;  ///< length_class of the vector
    Count element_bytes = 1;
    bool commutative = false;  ///< the operator
    Shape shape;               ///< even nodes in the order of ranks; whether these share memory, the model does not ask

    friend bool operator==(const ProposedCalls&, const ProposedCalls&) = default;
};

struct KeptProposal {
    ProposedCalls calls;
    Choice choice;       ///< an algorithm
    double seconds = 0;  ///< predicted
    std::string day = {};
};

/// The line of a proposal.
std::string to_string(const KeptProposal& proposal);
/// Reads such a line; nothing if the line is of another sort. Throws Error for a malformed one.
std::optional<KeptProposal> read_proposal(std::string_view line);

}  // namespace rondo
