// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm for which call, as data: a rules file, first match wins.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/core/placement.hpp"
#include "rondo/selection/choice.hpp"

namespace rondo {

/// Whose collectives the native ones are.
enum class MpiLibrary : std::uint8_t { other, mpich, openmpi, impi };

/// By what MPI_Get_library_version says.
MpiLibrary library_of(std::string_view version);

/// Throws Error: "mpich", "openmpi", "impi", as the command line calls them.
MpiLibrary require_library(std::string_view name);

/// What rules may look at: facts that MPI makes equal on all ranks of the communicator.
struct Situation {
    std::string_view collective;
    Count bytes = 0;          ///< count * size of the datatype: the data, without gaps
    Rank processes = 1;       ///< size of the communicator
    Rank ranks_per_node = 0;  ///< on every node; 0: nobody knows
    Rank nodes = 0;
    bool commutative = false;
    bool shared_memory = false;  ///< messages inside nodes go through it, of all pairs of ranks
    MpiLibrary library = MpiLibrary::other;
    Count eager = std::numeric_limits<Count>::max();  ///< bytes of the longest message that waits for no receiver
};

/// Both ends included.
struct Interval {
    Count lowest = 0, highest = std::numeric_limits<Count>::max();
};

/// Immutable once read. Without any rule, nothing matches.
class Rules {
  public:
    /// `name` is what errors call the text (a file's path). Throws Error: "<name>:<line>: what was expected".
    static Rules parse(std::string_view text, std::string_view name);
    static Rules read(const std::string& path);

    /// The choice of the first rule that matches; nullptr if none does. Takes no memory.
    [[nodiscard]] const Choice* match(const Situation& situation) const noexcept;
    /// The same for all nodes that are possible, whatever the situation says of them; nullopt if it depends on them.
    /// `lengths` become those around the situation's for which the answer is the same.
    [[nodiscard]] std::optional<const Choice*> match(const Situation& situation, const Spread& spread,
                                                     Interval& lengths) const noexcept;

    /// True if a match may depend on the nodes, or name an algorithm that uses them: to find out costs communication.
    [[nodiscard]] bool ask_nodes() const noexcept;

    /// A rule that never decides, because rules above it match every call that it would match.
    struct Unreachable {
        int line;
        std::vector<int> covered_by;  ///< lines
    };
    [[nodiscard]] std::vector<Unreachable> unreachable() const;

    /// Equal for equal rules (comments and layout apart): ranks compare it before they trust each other's choices.
    [[nodiscard]] std::uint64_t fingerprint() const;

  private:
    /// A rule's conditions on one fact, all together.
    using Bounds = Interval;
    /// What a rule may have bounds on. Of yes and no: 1 and 0. The last two are of a Spread.
    enum Fact : std::size_t {
        bytes,
        processes,
        commutative,
        library,
        eager,
        nodes,
        shared_memory,
        fewest_on_node,
        most_on_node,
        facts  ///< how many
    };

    struct Rule {
        std::string_view collective;
        std::array<Bounds, facts> bounds;
        Choice choice;
        int line = 0;
    };
    friend class RuleReader;
    friend class RuleCoverage;

    enum class Share : std::uint8_t;
    static Share share_of(const Bounds& asked, const Spread::Range& possible) noexcept;
    static Share share_of(const Rule& rule, const Spread& spread) noexcept;

    /// Those of a collective.
    struct Group {
        std::string_view collective;
        std::size_t first, size;
    };
    [[nodiscard]] std::span<const Rule> rules_of(std::string_view collective) const noexcept;

    std::vector<Rule> rules_;  // group by group
    std::vector<Group> groups_;
};

}  // namespace rondo
