// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/model.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "rondo/backends/mpi/warn.hpp"
#include "rondo/backends/mpi/world.hpp"
#include "rondo/core/error.hpp"
#include "rondo/guard/history.hpp"
#include "rondo/selection/closing.hpp"

namespace rondo::interposer {
namespace {

constexpr std::size_t most_kinds = 4096;

/// Returns what tells placements apart: whether they are of domains, and the node of each rank, or, for regular ones,
/// the number of nodes. It is empty where nobody knows.
std::vector<Rank> nodes_of(const SharedFacts& facts) {
    const Placement* placement = facts.placement;
    if (placement == nullptr) return {};
    const Rank of_domains = placement->is_of_domains() ? 1 : 0;
    if (placement->is_regular()) return {of_domains, placement->nodes()};
    std::vector<Rank> nodes;
    nodes.reserve(static_cast<std::size_t>(facts.size) + 1);
    nodes.push_back(of_domains);
    for (Rank rank = 0; rank < facts.size; ++rank) nodes.push_back(placement->place(rank).node);
    return nodes;
}

/// Answers by what they depend on. Threads that ask at once may both find out.
template <class Kind, class Answer>
class Remembered {
  public:
    template <class FindOut>
    Answer get(const Kind& kind, FindOut&& find_out) {
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = known_.find(kind); found != known_.end()) return found->second;
        }
        Answer answer = find_out();
        const std::lock_guard lock(mutex_);
        if (known_.size() >= most_kinds) known_.clear();
        known_.emplace(kind, answer);
        return answer;
    }

  private:
    std::mutex mutex_;
    std::map<Kind, Answer> known_;
};

/// Choices of the model at addresses that stay.
class ModelChoices {
  public:
    const Choice* kept(const Choice& rule, const Choice& proposed) {
        const std::lock_guard lock(mutex_);
        const std::string text = to_string(proposed);
        const auto is_same = [&](const Made& made) { return made.rule == &rule && to_string(made.choice) == text; };
        const auto found = std::ranges::find_if(made_, is_same);
        if (found != made_.end()) return &found->choice;
        return &made_.emplace_back(Made{&rule, proposed}).choice;
    }

  private:
    struct Made {
        const Choice* rule;
        Choice choice;
    };
    std::mutex mutex_;
    std::deque<Made> made_;
};

ModelChoices& model_choices() {
    static ModelChoices& choices = *new ModelChoices;  // programs may call MPI while they end
    return choices;
}

/// The calls for which a proposal may be kept for the next run; nothing where nodes are unknown or differ, or one has
/// domains.
std::optional<ProposedCalls> kept_calls(const Collective& collective, const SharedFacts& usual) {
    const Placement* const placement = usual.placement;
    if (placement == nullptr || !placement->is_regular() || placement->is_of_domains()) return std::nullopt;
    return ProposedCalls{.collective = &collective,
                         .length = length_class(usual.bytes()),
                         .element_bytes = usual.element_bytes,
                         .commutative = usual.op.commutative,
                         .shape = Shape::of(usual.size, Spread::of(*placement), false)};
}

/// Returns what the model proposes. Should it fail, which it does on all ranks, the library has such calls.
std::optional<Proposal> proposed_if_possible(const Collective& collective, const SharedFacts& usual,
                                             const Machine& machine) {
    try {
        return proposed(collective, usual, machine);
    } catch (const Error& fault) {
        if (mpi::world().rank() != 0) return std::nullopt;
        mpi::warn(("the model cannot propose an algorithm for " + std::string(collective.name) + " of " +
                   std::to_string(usual.bytes()) + " bytes: " + fault.what())
                      .c_str());
        return std::nullopt;
    }
}

/// Returns what the model proposed in an earlier run; else asks it, and keeps the answer for the next run.
std::optional<Proposal> known_or_proposed(const Collective& collective, const SharedFacts& usual,
                                          const Machine& machine) {
    const std::optional<ProposedCalls> calls = kept_calls(collective, usual);
    if (calls) {
        if (const KeptProposal* const kept = guard::history().find(*calls))
            return Proposal{kept->choice, kept->seconds};
    }
    const std::optional<Proposal> fresh = proposed_if_possible(collective, usual, machine);
    if (calls && fresh) guard::history().note({*calls, fresh->choice, fresh->seconds});
    return fresh;
}

}  // namespace

std::vector<Setting> remembered_settings(const Choice& choice, const SharedFacts& usual, const Machine& machine) {
    using Kind = std::tuple<const Choice*, Rank, Count, Count, bool, std::vector<Rank>>;
    static auto& known = *new Remembered<Kind, std::vector<Setting>>;
    return known.get({&choice, usual.size, usual.count, usual.element_bytes, usual.op.commutative, nodes_of(usual)},
                     [&] { return closed_for_class(choice, usual, machine); });
}

ModelChoice remembered_proposal(const Choice& rule, const Collective& collective, const SharedFacts& facts,
                                const Machine& machine) {
    using Kind = std::tuple<const Collective*, Rank, Count, Count, bool, std::vector<Rank>>;
    static auto& known = *new Remembered<Kind, std::optional<Proposal>>;
    const SharedFacts usual = typical_call(collective, facts);
    const auto proposal =
        known.get({&collective, usual.size, usual.count, usual.element_bytes, usual.op.commutative, nodes_of(usual)},
                  [&] { return known_or_proposed(collective, usual, machine); });
    return {proposal ? model_choices().kept(rule, proposal->choice) : nullptr, lengths_like(facts.bytes())};
}

}  // namespace rondo::interposer
