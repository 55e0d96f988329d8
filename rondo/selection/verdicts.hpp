// SPDX-License-Identifier: BSD-3-Clause
// Who was faster in the trials of earlier runs, Rondo's choice or the library, trials that these runs have not ended,
// and what the model has proposed in them: a text with a line for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/selection/choice.hpp"
#include "rondo/selection/kept_proposal.hpp"
#include "rondo/selection/kinds_of_calls.hpp"

namespace rondo {

struct Verdict {
    const Collective* collective = nullptr;
    Count bytes = 0;           ///< of the vector in the first call; it holds for all of their length_class
    bool commutative = false;  ///< the operator
    bool rounding = false;     ///< the result's last bits depend on who carries the call out
    /// Ranks need not wait for all, as some of them have no part, in a collective where they do otherwise.
    bool empty_parts = false;
    Shape shape;
    Choice choice;  ///< as the rules have it
    /// Seconds of an undisturbed call of each; both 0: they could not be compared. Equal if there is no difference: the
    /// library has them then.
    double rondo = 0, library = 0;
    int calls = 0;     ///< of each that were compared; 0: nobody knows
    double alone = 0;  ///< not 0 if they came in a row and may have overlapped: about the seconds of one alone
    /// No verdict yet: so many seconds each call took that was timed before the program ended.
    std::vector<double> begun = {};
    std::string day = {};  ///< "2026-11-23"

    [[nodiscard]] bool is_begun() const { return !begun.empty(); }
    /// How much it says: nothing yet, that nobody could compare, or who was faster.
    [[nodiscard]] int certainty() const { return is_begun() ? 0 : is_compared() ? 2 : 1; }
    /// Another one would change the last bits of results.
    [[nodiscard]] bool keeps_bits() const { return rounding && !is_begun(); }
    [[nodiscard]] bool is_compared() const { return rondo > 0 || library > 0; }
    /// The library has such calls.
    [[nodiscard]] bool is_lost() const { return !is_compared() || library <= rondo; }
    /// They are about the same, whatever they say.
    [[nodiscard]] bool is_about(const Verdict& other) const;
};

/// The line of a verdict.
std::string to_string(const Verdict& verdict);

class Verdicts {
  public:
    struct Complaint {
        int line;
        std::string what;
    };
    /// Leaves out malformed lines, and says of each what is wrong. Of two about the same, the later one holds.
    static Verdicts parse(std::string_view text, std::vector<Complaint>& complaints);

    /// The one about such calls; nullptr if there is none. Takes no memory.
    [[nodiscard]] const Verdict* find(std::string_view collective, std::uint8_t length, bool commutative, bool rounding,
                                      bool empty_parts, const Shape& shape, const Choice& choice) const noexcept;
    /// What was proposed for such calls; nullptr if nothing was. Takes no memory.
    [[nodiscard]] const KeptProposal* find(const ProposedCalls& calls) const noexcept;
    [[nodiscard]] std::span<const Verdict> all() const { return all_; }
    [[nodiscard]] std::span<const KeptProposal> proposals() const { return proposals_; }
    [[nodiscard]] bool empty() const { return all_.empty() && proposals_.empty(); }
    /// In place of what is known about the same.
    void add(Verdict verdict);
    void add(KeptProposal proposal);
    template <class Predicate>
    void remove_if(Predicate&& predicate) {
        std::erase_if(all_, predicate);
    }
    template <class Predicate>
    void remove_proposals_if(Predicate&& predicate) {
        std::erase_if(proposals_, predicate);
    }
    /// What `parse` reads, with a heading for people.
    [[nodiscard]] std::string text() const;

  private:
    std::vector<Verdict> all_;
    std::vector<KeptProposal> proposals_;
};

}  // namespace rondo
