// SPDX-License-Identifier: BSD-3-Clause
// All-broadcast on circulant graphs: every rank broadcasts its part in `blocks` blocks, all ranks at once, and what
// goes over a link in a round travels in one message. [traff2024optimal]. Rounds: blocks - 1 + ceil(log2 p). A message
// has about 1/blocks of the vector, however the parts differ: for vectors most of which is in a few parts. Messages of
// several pieces are packed in scratch.
#include <vector>

#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/topology/circulant.hpp"

namespace rondo::allgather {

namespace {

constexpr Parameter parameters[] = {
    {.name = "blocks",
     .summary = "into how many blocks every part is cut",
     .minimum = 1,
     .maximum = 4096,
     .standard = 8},
};

/// The pieces of the output that a message consists of.
struct Message {
    std::vector<Block> pieces;
    Count count = 0;

    /// Neighbours become one piece.
    void append(const Block& piece) {
        if (piece.empty()) return;
        count += piece.count;
        if (pieces.empty() || pieces.back().last() != piece.first) pieces.push_back(piece);
        else pieces.back() = pieces.back().part(0, pieces.back().count + piece.count);
    }
    /// Where it lies when it travels.
    [[nodiscard]] Block place(const Call& call) const {
        return pieces.size() == 1 ? pieces.front() : call.scratch(count);
    }
    [[nodiscard]] bool is_packed() const { return pieces.size() > 1; }
};

class Messages {
  public:
    explicit Messages(const Call& call)
        : parts_(call.parts(call.output())), size_(call.ranks().second), blocks_(call.setting("blocks")), skips_(size_),
          receives_(skips_), rounds_(skips_.rounds(), blocks_) {}

    [[nodiscard]] Count rounds() const { return rounds_.size(); }
    [[nodiscard]] Rank receiver(Rank rank, Count round) const { return skips_.up(rank, rounds_.skip_of(round)); }
    [[nodiscard]] Rank sender(Rank rank, Count round) const { return skips_.down(rank, rounds_.skip_of(round)); }

    /// In a round every rank gets a block, or none yet, of each part but its own.
    [[nodiscard]] Message to(Rank rank, Count round) const {
        Message message;
        for (Rank root = 0; root < size_; ++root) {
            if (root == rank) continue;
            const Rank distance = root < rank ? rank - root : rank - root + size_;
            const Count block = rounds_.block(round, receives_(distance, rounds_.skip_of(round)));
            if (block >= 0) message.append(Parts(parts_[root], blocks_)[block]);
        }
        return message;
    }

  private:
    Parts parts_;
    Rank size_;
    Count blocks_;
    topology::CirculantSkips skips_;
    topology::CirculantReceives receives_;
    topology::CirculantRounds rounds_;
};

/// Refuses blocks so many that the plan would take more memory than skewed parts save time.
std::optional<std::string> too_many_pieces(const SharedFacts& facts, std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.name != "blocks" || setting.value * facts.size <= most_segments) continue;
        return "blocks=" + quantity_text(setting.value) + " of " + std::to_string(facts.size) +
               " ranks are more than " + std::to_string(most_segments) + " pieces";
    }
    return std::nullopt;
}

constexpr Requirement requirements[] = {{"at most 131072 blocks of all ranks together", too_many_pieces}};

}  // namespace

Schedule all_broadcast(const Call& call) {
    const Rank r = call.ranks().first;
    const Messages messages(call);
    co_yield copy(call.input()).into(call.parts(call.output())[r]);
    for (Count round = 0; round < messages.rounds(); ++round) {
        const Rank to = messages.receiver(r, round), from = messages.sender(r, round);
        const Message outgoing = messages.to(to, round), incoming = messages.to(r, round);
        const Block departure = outgoing.place(call), arrival = incoming.place(call);
        Count packed = 0, unpacked = 0;
        for (std::size_t i = 0; outgoing.is_packed() && i < outgoing.pieces.size(); ++i) {
            const Block piece = outgoing.pieces[i];
            co_yield copy(piece).into(departure.part(packed, piece.count));
            packed += piece.count;
        }
        co_yield exchange(send(departure, to), receive(arrival, from));
        for (std::size_t i = 0; incoming.is_packed() && i < incoming.pieces.size(); ++i) {
            const Block piece = incoming.pieces[i];
            co_yield copy(arrival.part(unpacked, piece.count)).into(piece);
            unpacked += piece.count;
        }
    }
}

const AlgorithmInfo all_broadcast_info = {
    .collective = "allgather",
    .name = "all_broadcast",
    .summary = "all ranks broadcast at once, in blocks: blocks-1+ceil(log2 p) rounds, for parts that differ much",
    .citation = "traff2024optimal",
    .parameters = parameters,
    .requirements = requirements,
    .tolerates_in_place = true,
    .is_proposed = false,  // the model takes parts for equal
    .schedule = all_broadcast,
};

}  // namespace rondo::allgather
