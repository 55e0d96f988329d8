// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/symmetry.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace rondo::virtual_machine {
namespace {

constexpr Rank largest_digit = 8;  // of algorithms that have groups of more than two, and of fewer than all

/// The plan of a rank: its shape, and its peers.
struct Seen {
    const PlanShape* shape;
    std::vector<Rank> peers;
};

/// Looks at the plans of a problem on nodes of as many ranks each.
class Looking {
  public:
    Looking(const Problem& problem, PlanShapes& shapes, Rank per_node)
        : problem_(problem), shapes_(shapes), nodes_(problem.facts), per_node_(per_node) {}

    [[nodiscard]] Seen at(Rank rank) {
        const auto call = problem_.call(rank);
        const Plan plan = Plan::of(*call, problem_.algorithm);
        messages_ += messages_of(plan);
        const PlanShape& shape = shapes_.of(plan, problem_.facts.size, nodes_.beside(rank));
        return {&shape, {shapes_.peers().begin(), shapes_.peers().end()}};
    }
    /// Sent by all that were looked at.
    [[nodiscard]] Count messages() const { return messages_; }

    [[nodiscard]] Rank node_of(Rank rank) const { return rank / per_node_; }
    [[nodiscard]] Rank number_of(Rank rank) const { return rank % per_node_; }
    [[nodiscard]] Rank rank_at(Rank node, Rank number) const { return node * per_node_ + number; }

  private:
    const Problem& problem_;
    PlanShapes& shapes_;
    const NodesOf nodes_;
    const Rank per_node_;
    Count messages_ = 0;
};

/// Is this rank of a node what the rank of the first node with its number becomes there?
bool is_like(const Seen& seen, const Seen& on_first_node, Rank node, const Translations& by, const Looking& looking) {
    const auto moved = [&](Rank peer) {
        return looking.rank_at(by.sum(looking.node_of(peer), node), looking.number_of(peer));
    };
    return std::ranges::equal(seen.peers, on_first_node.peers, {}, {}, moved);
}

/// Some ranks of other nodes, as (node, number): at both ends, in the middle, and anywhere, the same in every run.
std::vector<std::pair<Rank, Rank>> samples(Rank nodes, Rank per_node) {
    std::vector<std::pair<Rank, Rank>> found;
    found.emplace_back(nodes - 1, per_node - 1);
    for (const Rank node : {nodes - 1, nodes / 2, Rank{2}}) {
        if (node <= 0 || node >= nodes) continue;
        found.emplace_back(node, 0);  // which leads: others may have to do with their node alone
        found.emplace_back(node, node * 7 % per_node);
    }
    constexpr std::uint64_t factor = 6364136223846793005, increment = 1442695040888963407;  // Knuth's MMIX
    constexpr int anywhere = 6;
    std::uint64_t state = 1;
    const auto any = [&](Rank below) {
        state = state * factor + increment;
        return static_cast<Rank>((state >> 33) % static_cast<std::uint64_t>(below));
    };
    for (int i = 0; i < anywhere; ++i) {
        const Rank node = 1 + any(nodes - 1);
        found.emplace_back(node, any(per_node));
    }
    return found;
}

/// For each peer of each rank of the first node, what it is for all. Nothing if some rank would hear from one that does
/// not speak to it.
std::optional<std::vector<RankForAll>> ranks_for_all(std::span<const Seen> node, const Translations& by,
                                                     const Looking& looking) {
    std::vector<std::unordered_map<Rank, std::uint32_t>> numbers(node.size());  // of the peers of each rank
    for (std::size_t rank = 0; rank < node.size(); ++rank) {
        for (std::uint32_t number = 0; number < node[rank].peers.size(); ++number) {
            numbers[rank].emplace(node[rank].peers[number], number);
        }
    }
    std::vector<RankForAll> found;
    for (std::size_t rank = 0; rank < node.size(); ++rank) {
        RankForAll& own = found.emplace_back(RankForAll{node[rank].shape, {}});
        for (const Rank peer : node[rank].peers) {
            const Rank number = looking.number_of(peer);
            const Rank seen_from_there = looking.rank_at(by.difference(0, looking.node_of(peer)), Rank(rank));
            const auto& of_peer = numbers[static_cast<std::size_t>(number)];
            const auto counterpart = of_peer.find(seen_from_there);
            if (counterpart == of_peer.end()) return std::nullopt;
            own.peers.push_back({number, counterpart->second});
        }
    }
    return found;
}

}  // namespace

std::vector<Translations> Translations::of(Rank nodes) {
    std::vector<Translations> found;
    const auto add = [&](Translations translations) {
        if (std::ranges::find(found, translations) == found.end()) found.push_back(std::move(translations));
    };
    Translations rotations;
    rotations.digits_ = {nodes};
    add(rotations);
    for (Rank digit = 2; digit <= largest_digit; ++digit) {
        Translations by;
        for (Rank left = nodes; left > 1; left /= by.digits_.back()) {
            Rank values = std::min(left, digit);
            while (left % values != 0) --values;
            by.digits_.push_back(values > 1 ? values : left);
        }
        add(by);
    }
    return found;
}

Rank Translations::combined(Rank node, Rank by, int sign) const {
    Rank result = 0, weight = 1;
    for (const Rank values : digits_) {
        result += weight * ((node % values + sign * (by % values) + values) % values);
        node /= values;
        by /= values;
        weight *= values;
    }
    return result;
}

std::optional<NodeForAll> NodeForAll::of(const Problem& problem, PlanShapes& shapes, Count most) {
    const Placement* placement = problem.facts.placement;
    if (problem.parts != nullptr || (placement != nullptr && !placement->is_regular())) return std::nullopt;
    const Rank per_node = placement == nullptr ? 1 : placement->lanes(), nodes = problem.facts.size / per_node;
    if (nodes < 2) return std::nullopt;
    Looking looking(problem, shapes, per_node);
    auto candidates = Translations::of(nodes);
    const auto agrees = [&](const Seen& seen, const Seen& on_first_node, Rank node) {
        if (seen.shape != on_first_node.shape) return false;
        std::erase_if(candidates,
                      [&](const Translations& by) { return !is_like(seen, on_first_node, node, by, looking); });
        return !candidates.empty();
    };
    std::vector<Seen> node = {looking.at(0)};
    const Count messages_on_second = looking.messages();  // of a rank like that
    // If the others send as many, is it too much? Long plans are not made in vain.
    if (looking.messages() > most / per_node) return std::nullopt;
    if (!agrees(looking.at(looking.rank_at(1, 0)), node.front(), 1)) return std::nullopt;
    for (Rank number = 1; number < per_node; ++number) {
        node.push_back(looking.at(number));
        if (looking.messages() > most) return std::nullopt;
    }
    const Count messages = looking.messages() - messages_on_second;
    for (const auto& [of, number] : samples(nodes, per_node)) {
        if (!agrees(looking.at(looking.rank_at(of, number)), node[static_cast<std::size_t>(number)], of))
            return std::nullopt;
    }
    for (const Translations& by : candidates) {
        if (auto ranks = ranks_for_all(node, by, looking)) return NodeForAll{std::move(*ranks), messages};
    }
    return std::nullopt;
}

Count messages_of(const Plan& plan) {
    return std::ranges::count_if(plan.actions(), [](const Action& each) { return each.kind == ActionKind::send; });
}

}  // namespace rondo::virtual_machine
