// SPDX-License-Identifier: BSD-3-Clause
// What was decided about calls on a communicator, and what it was decided for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/core/plan.hpp"

namespace rondo::mpi {

/// What tells calls on one communicator apart, as far as choice and plan depend on it. Equal on all ranks, but for
/// `in_place`, which changes no message, and for `division` where not all ranks know the lengths of the parts.
struct CallKey {
    std::uint16_t collective = 0;  ///< index in the registry
    std::uint16_t choice = 0;      ///< number of the choice that the program has made while it runs
    bool commutative = false;
    bool in_place = false;
    bool over_int = false;  ///< true if there are more elements than an int counts
    /// What a trial may change: who carries out the call, or also its last bits. Operators and datatypes differ in
    /// that.
    enum class Compared : std::uint8_t { nothing, choice, choice_and_bits } compared = Compared::nothing;
    Count count = 0;
    Count element_bytes = 0;  ///< size of the data of one element
    Rank root = 0;
    /// Division::hash, or Exchanging::hash_of_places, which this rank alone knows. The decision keeps what the hash
    /// stands for.
    std::uint32_t division = 0;

    friend bool operator==(const CallKey&, const CallKey&) = default;
};

class Tally;

/// What was decided for a kind of call.
struct Decision {
    /// The Choice that selected Rondo; nullptr: calls are left to the library.
    const void* chosen = nullptr;
    const char* reason = "";  ///< why the library has the calls; never freed
    /// The lengths in bytes for which every call of this collective with the same commutativity is left to the library,
    /// as the rules have it. Usually none.
    Count lowest = 0, highest = -1;
    bool holds_on_any = false;              ///< true if these lengths hold on all communicators of as many ranks
    std::string_view algorithm = "native";  ///< never freed
    int line = 0;                           ///< the line of the rules that chose; 0: none did
    /// Why the library has calls that only begin, by what an earlier run has found out; nothing until one has asked,
    /// and nullptr if it does not have them.
    std::optional<const char*> lost_before;
    std::array<Tally*, number_of_forms> tallies{};  ///< where such calls are counted, by form; nullptr: none was yet
    std::shared_ptr<const Plan> plan = nullptr;     ///< made when Rondo has to carry out such a call
    /// The starts (or places) of the parts that the plan was made for; nullptr if they are even, or make no difference.
    std::shared_ptr<const std::vector<Count>> starts = nullptr;

    [[nodiscard]] bool holds_whatever_the_parts() const { return lowest <= highest; }
};
static_assert(std::is_nothrow_move_assignable_v<Decision>);

/// The last decisions about one collective on a communicator, so that calls of several lengths in turn find theirs.
/// Each has a number, by which it is found again until another one takes its place. A decision that is not found is
/// made anew, to the same effect: plans have a store of their own.
class Decisions {
  public:
    /// The decision for this key, which becomes the last one; nullptr if there is none.
    Decision* find(const CallKey& key);
    /// Replaces the decision for this key, or the oldest. The new one becomes the last. `so_far` counts decisions.
    /// Needs no memory: a rank that had none would not count a call that the others run.
    Decision& put(const CallKey& key, Decision decision, std::uint32_t& so_far) noexcept;

    /// The number of the last decision; 0 if there is none.
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
    std::unique_ptr<Place[]> others_;  // made for the second decision, if there is memory
    std::uint8_t last_ = 0;
};

}  // namespace rondo::mpi
