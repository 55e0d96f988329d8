// SPDX-License-Identifier: BSD-3-Clause
// One rank of each node that speaks for it.
#pragma once

#include <vector>

#include "rondo/core/call.hpp"

namespace rondo {

/// Where the first ranks do (Call::on_leaders), nobody needs this.
class Leaders {
  public:
    /// The root leads its node; the first ranks lead theirs.
    static Leaders with_root(const Call& call) {
        const auto [root_node, root_number] = call.place(call.facts().root);
        // Where the first of all nodes lead, no list of them is needed: on a million nodes each would make one.
        if (root_number == 0) return Leaders(call);
        return {call, [=](Rank node) { return node == root_node ? root_number : 0; }};
    }
    static Leaders last_ranks(const Call& call) {
        return {call, [&](Rank node) { return call.ranks_on_node(node) - 1; }};
    }

    /// Of this rank's node, its number there.
    [[nodiscard]] Rank number() const { return number_; }
    /// Does this rank lead?
    [[nodiscard]] bool lead() const { return lead_; }
    /// Another call on the leaders, numbered as the nodes are. Borrows from this.
    [[nodiscard]] Call on(const Call& call, Block input, Block output, const Call::Within& within) const {
        if (ranks_.empty()) return call.on_leaders(input, output, within);
        return call.on(RankMap(ranks_), node_, input, output, within);
    }

  private:
    /// The first ranks of all nodes.
    explicit Leaders(const Call& call) : node_(call.place(call.ranks().first).node) {
        lead_ = call.place(call.ranks().first).number == 0;
    }
    template <class Number>
    Leaders(const Call& call, Number&& number_on) {
        const auto [node, number] = call.place(call.ranks().first);
        node_ = node;
        number_ = number_on(node);
        lead_ = number == number_;
        if (!lead_) return;
        for (Rank each = 0; each < call.nodes(); ++each) {
            ranks_.push_back(call.group()(call.rank_at(each, number_on(each))));
        }
    }

    Rank node_ = 0, number_ = 0;
    bool lead_ = false;
    std::vector<Rank> ranks_;  // of the communicator, by node; empty: the first of each
};

}  // namespace rondo
