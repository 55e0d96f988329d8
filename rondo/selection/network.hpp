// SPDX-License-Identifier: BSD-3-Clause
// Networks and the nodes of a job in them, as users write them: fat_tree:nodes=32,taper=2 and node[001-004,010].
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rondo/backends/virtual/network.hpp"

namespace rondo {

struct DescribedNetwork {
    virtual_machine::NetworkShape shape;
    Rank first = 0;  ///< the number in the name of the node at place 0
};

/// Reads "fat_tree:nodes=32,taper=2", "dragonfly:nodes=16,global=4" or "torus:4x4x8". Nothing comes of "flat". Each may
/// have groups= (but a torus), hop= and first= besides. Throws Error, one line, for what says none of it.
std::optional<DescribedNetwork> parse_network(std::string_view text);

/// The places of the nodes of a job: "block", "cyclic", "random", "random:SEED", or a list of names as Slurm writes
/// it, of which the first nodes are taken. Throws Error, one line, for anything else, and for too few places.
std::vector<Rank> parse_places(std::string_view text, const DescribedNetwork& network, Rank nodes);

/// The numbers in the names of nodes: of "node[001-003,010],gpu7" 1, 2, 3, 10 and 7. Throws Error, one line.
std::vector<Rank> parse_node_numbers(std::string_view text);

}  // namespace rondo
