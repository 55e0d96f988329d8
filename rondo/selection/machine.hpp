// SPDX-License-Identifier: BSD-3-Clause
// The machine in figures: what a message and an operation cost, as `rondo calibrate` measures it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/cost_model.hpp"
#include "rondo/core/placement.hpp"

namespace rondo {

/// A machine file has lines `key = value`, and comments behind #. The standard figures describe nodes with one
/// 100 Gbit/s network of 2 us each, and cores that combine vectors in their cache.
class Machine {
  public:
    /// Stands for the standard figures in place of a file's name.
    static constexpr std::string_view standard = "standard";

    double alpha = 2e-6;     ///< seconds that a message takes to arrive
    double beta = 8e-11;     ///< seconds per byte of a message
    double overhead = 5e-7;  ///< seconds that the processor needs for a message, on either side
    double gamma = 5e-11;    ///< seconds per byte that an operator produces
    /// Seconds per byte of the passes of a prefix sum over an array longer than caches: reduce it, and make its sums.
    double first_pass = 1e-10, second_pass = 2e-10;
    // The same of messages inside a node.
    double alpha_inside = 3e-7, beta_inside = 1e-10, overhead_inside = 1e-7;
    // What messages between domains of a node cost. Unless the file says it, they cost what messages inside a node do.
    double alpha_across = 3e-7, beta_across = 1e-10, overhead_across = 1e-7;
    Count lanes = 1;  ///< of a node, through which its messages leave it and come in
    /// Bytes of the longest message that the library sends without asking the receiver. Nothing: not measured.
    std::optional<Count> eager;
    /// Seconds that longer ones take in addition. Nothing: two latencies.
    std::optional<double> rendezvous;
    /// The network's shape, as network.hpp reads it; empty: not known. Predictions use it; what ranks choose does not
    /// depend on it, because where a job lies in the network changes from run to run.
    std::string network;

    /// The costs by which calls are timed: of messages between nodes and inside nodes. If the placement is of domains
    /// of one node, these are the costs of messages between domains and inside domains.
    [[nodiscard]] virtual_machine::CostModel costs(const Placement* placement = nullptr) const;

    /// `name` is what errors call the text (a file's path). Throws Error: "<name>:<line>: what was expected". alpha and
    /// beta must be there; the others keep their standard values.
    static Machine parse(std::string_view text, std::string_view name);
    static Machine read(const std::string& path);  ///< also `standard`

    /// A segment that the file names for such calls: the first line for as many ranks and bytes as these, or up to half
    /// as many. It stands above what can be computed.
    [[nodiscard]] std::optional<Count> segment(const AlgorithmInfo& algorithm, Rank processes, Count bytes) const;

    /// Equal for equal machines (comments and layout apart): ranks compare it, because they choose by it.
    [[nodiscard]] std::uint64_t fingerprint() const;

  private:
    struct KnownSegment {
        const AlgorithmInfo* algorithm;
        Count processes, bytes, segment;
    };
    friend class MachineReader;
    std::vector<KnownSegment> segments_;
};

}  // namespace rondo
