// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "rondo/backends/virtual/problem.hpp"

namespace rondo::virtual_machine {

/// What a collective finds and what it has to leave behind, on each rank.
struct Promise {
    std::string_view collective;
    /// False: the input means nothing on this rank.
    bool (*has_input)(const SharedFacts& facts, Rank rank);
    /// True: this rank's input stands in its output buffer, or there is only one buffer. Never where the part that does
    /// so is none for a plan (MPI_Gatherv, MPI_Scatterv).
    bool (*in_place)(const Problem& problem, Rank rank);
    /// What every element of the output holds in the end, seen from the first one; an undefined symbol: what it held
    /// before. Where parts are gathered: of the part of rank `part`. In an all-to-all: of the part from that rank, seen
    /// from where its vector starts; so in a scatter, of the part from the root.
    Symbol (*output)(const SharedFacts& facts, Rank rank, Rank part);
    /// The parts, of one element each, may stand in any order.
    bool in_any_order = false;
};

/// Throws Error for a collective about which nothing is known here.
const Promise& promise_of(std::string_view collective);

}  // namespace rondo::virtual_machine
