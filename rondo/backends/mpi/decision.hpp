// SPDX-License-Identifier: BSD-3-Clause
// What was decided about calls on a communicator, and what it was decided for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "rondo/core/plan.hpp"

namespace rondo::mpi {

/// What tells calls on one communicator apart, as far as choice and plan depend on it. Equal on all ranks, but for
/// `in_place`, which changes no message, and where parts are whose lengths not all ranks know.
struct CallKey {
    std::uint16_t collective = 0;  ///< index in the registry
    std::uint16_t choice = 0;      ///< number of what the program has chosen while it runs
    bool commutative = false;
    bool in_place = false;
    bool over_int = false;  ///< more elements than an int counts
    /// A trial may change who carries out the call, or also its last bits: operators and datatypes differ in that.
    enum class Doubt : std::uint8_t { none, choice, choice_and_bits } doubt = Doubt::none;
    Count count = 0;
    Count element_bytes = 0;  ///< size of the data of one element
    Rank root = 0;
    /// Division::hash, or Exchanging::hash_of_places, which this rank alone knows: what exactly it stands for is kept
    /// with the decision.
    std::uint32_t division = 0;

    friend bool operator==(const CallKey&, const CallKey&) = default;
};

class Tally;

/// What was decided for a kind of call.
struct Decision {
    /// By whose word Rondo may carry such calls out: different for different words. nullptr: the library does.
    const void* chosen = nullptr;
    const char* reason = "";  ///< why the library does; lives for ever
    /// The lengths in bytes for which the library does, whatever else is different in calls of the collective with as
    /// commutative an operator: where the rules say nothing else. Usually none.
    Count lowest = 0, highest = -1;
    bool holds_on_any = false;                   ///< also on all communicators of as many ranks, for these lengths
    Tally* tally = nullptr;                      ///< where such calls are counted, nullptr if they are not
    std::shared_ptr<const Plan> plan = nullptr;  ///< made when Rondo has to carry out such a call
    /// For which the plan is made: of the parts of the vector, or their places; nullptr if they are even, or make no
    /// difference.
    std::shared_ptr<const std::vector<Count>> starts = nullptr;

    [[nodiscard]] bool holds_whatever_the_parts() const { return lowest <= highest; }
};
static_assert(std::is_nothrow_move_assignable_v<Decision>);

/// The last decisions about one collective on a communicator, so that calls of several lengths in turn find theirs.
/// Each has a number, by which it is found again as long as no other one has taken its place. What is not found is
/// decided anew, to the same effect: plans have a store of their own.
class Decisions {
  public:
    /// The one for this key, which is the last one then; nullptr if it is not there.
    Decision* find(const CallKey& key);
    /// In place of the one for this key, or of the oldest. It is the last one then. `so_far` counts decisions. Needs no
    /// memory: a rank that had none would not count a call that the others run.
    Decision& put(const CallKey& key, Decision decision, std::uint32_t& so_far) noexcept;

    /// Of the last one; 0 if there is none.
    [[nodiscard]] std::uint32_t last_number() const { return place(last_).number; }
    [[nodiscard]] const Decision* of_number(std::uint32_t number) const {
        const Place& found = place(number % most);
        return found.number == number ? &found.decision : nullptr;
    }

  private:
    static constexpr std::size_t most = 8;
    struct Place {
        CallKey key;
        std::uint32_t number = 0;  // 0: there is none
        Decision decision;

        [[nodiscard]] bool is_for(const CallKey& call) const;
    };

    [[nodiscard]] const Place& place(std::size_t index) const { return index == 0 ? first_ : others_[index - 1]; }
    [[nodiscard]] Place& place(std::size_t index) { return index == 0 ? first_ : others_[index - 1]; }

    Place first_;
    std::unique_ptr<Place[]> others_;  // once there is a second one, and memory
    std::uint8_t last_ = 0;
};

}  // namespace rondo::mpi
