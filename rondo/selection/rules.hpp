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

/// What a library calls itself, in few words, of what MPI_Get_library_version says: the first line, up to a comma, with
/// single blanks and no colons, as in "MPICH Version 5.0.2" and "Open MPI v5.0.11".
std::string plain_version(std::string_view text);

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
    Rank domains = 1;  ///< of the only node
    bool commutative = false;
    bool shared_memory = false;   ///< messages inside nodes go through it, of all pairs of ranks
    bool oversubscribed = false;  ///< some node, or the machine of all nodes, has fewer processors than ranks
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
    /// What a rule may have conditions on. Of yes and no: 1 and 0. The last two are of a Spread: a condition on
    /// ranks_per_node is one on both.
    enum Fact : std::size_t {
        bytes,
        processes,
        commutative,
        library,
        eager,
        nodes,
        shared_memory,
        oversubscribed,
        domains,
        fewest_on_node,
        most_on_node,
        facts  ///< how many
    };

    /// `name` is what errors call the text (a file's path). Throws Error: "<name>:<line>: what was expected".
    static Rules parse(std::string_view text, std::string_view name);
    static Rules read(const std::string& path);

    /// What is wrong with a line.
    struct Complaint {
        int line;
        std::string what;
    };
    /// As `parse`, but leaves out malformed lines, and says of each what is wrong.
    static Rules parse_what_is_right(std::string_view text, std::vector<Complaint>& complaints);

    /// The choice of the first rule that matches; nullptr if none does. Takes no memory.
    [[nodiscard]] const Choice* match(const Situation& situation) const noexcept;
    /// The same for all nodes that are possible, whatever the situation says of them; nullopt if it depends on them.
    /// `lengths` become those around the situation's for which the answer is the same.
    [[nodiscard]] std::optional<const Choice*> match(const Situation& situation, const Spread& spread,
                                                     Interval& lengths) const noexcept;

    /// Of the rule that has such a choice, by its address; 0 if none has.
    [[nodiscard]] int line_of(const Choice* choice) const noexcept;

    /// A rule that does not decide a call, and the first of its conditions that the call does not meet.
    struct PassedOver {
        int line;
        const Choice* choice;   ///< borrowed
        std::string condition;  ///< "ranks_per_node = 1"
        std::string value;      ///< what the call has: "16"
    };
    /// How the match for a call is found.
    struct Explanation {
        std::vector<PassedOver> passed_over;  ///< the rules of the collective above the one that decides
        int line = 0;                         ///< of the one that decides; 0: none does
        const Choice* choice = nullptr;       ///< of that one; borrowed
    };
    /// The match, and why the rules above it do not. The nodes are certain.
    [[nodiscard]] Explanation explain(const Situation& situation, const Spread& spread) const;

    /// What the rules of a collective choose, by line; without the library's own. Borrowed.
    [[nodiscard]] std::vector<const Choice*> choices(std::string_view collective) const;

    /// True if a match may depend on the nodes, or name an algorithm that uses them: to find out costs communication.
    [[nodiscard]] bool ask_nodes() const noexcept;
    /// True if a match may depend on the processors of nodes: the same costs.
    [[nodiscard]] bool ask_processors() const noexcept;

    /// A rule that never decides, because rules above it match every call that it would match.
    struct Unreachable {
        int line;
        std::vector<int> covered_by;  ///< lines
    };
    [[nodiscard]] std::vector<Unreachable> unreachable() const;

    /// A rule some of whose calls rules above it match.
    struct Overlap {
        int line;
        std::vector<int> with;  ///< lines
    };
    /// Those that decide some call. By line.
    [[nodiscard]] std::vector<Overlap> overlaps() const;

    /// A rule whose algorithm refuses some of the calls that the rule matches.
    struct Refusing {
        int line;
        const Choice* choice;                 ///< borrowed
        std::vector<std::string_view> needs;  ///< of the algorithm, what some of these calls have not
        bool always;                          ///< each call that was tried was refused
    };
    /// Found by trying: all ends of what a rule asks for, powers of two in between, several roots. Each rank is on a
    /// node of its own. By line.
    [[nodiscard]] std::vector<Refusing> refusing() const;

    /// Calls of as many ranks, of lengths for which the choice is the same.
    struct Region {
        Interval bytes;
        const Choice* choice;    ///< borrowed; nullptr: no rule matches
        std::vector<int> lines;  ///< of the rules that decide
    };
    struct Row {
        Interval processes;
        std::vector<Region> regions;  ///< by length, without a gap
    };
    /// What the rules choose for calls on two ranks or more that are alike in all but ranks and bytes. Every node has
    /// as many ranks.
    [[nodiscard]] std::vector<Row> regions(const Situation& situation, Rank ranks_per_node) const;

    /// Equal for equal rules (comments and layout apart): ranks compare it before they trust each other's choices.
    [[nodiscard]] std::uint64_t fingerprint() const;

  private:
    /// A rule's conditions on one fact, all together.
    using Bounds = Interval;
    /// What is possible of each fact of a call.
    using Values = std::array<Interval, facts>;

    struct Rule {
        std::string_view collective;
        std::array<Bounds, facts> bounds;
        Choice choice;
        int line = 0;
    };
    friend class RuleReader;
    friend class RuleCoverage;
    friend class RuleTrial;

    struct Fit;
    static Values values_of(const Situation& situation, const Spread& spread) noexcept;
    static Fit fit_of(const Rule& rule, const Values& possible) noexcept;
    template <class PassOver>
    std::optional<const Rule*> search(const Situation& situation, const Values& possible, Interval& lengths,
                                      PassOver&& pass_over) const;
    /// As `match`.
    [[nodiscard]] std::optional<const Rule*> deciding(const Situation& situation, const Spread& spread,
                                                      Interval& lengths) const noexcept;

    /// Those of a collective.
    struct Group {
        std::string_view collective;
        std::size_t first, size;
    };
    [[nodiscard]] std::span<const Rule> rules_of(std::string_view collective) const noexcept;
    static Rules grouped(std::vector<Rule> rules);

    std::vector<Rule> rules_;  // group by group
    std::vector<Group> groups_;
};

}  // namespace rondo
