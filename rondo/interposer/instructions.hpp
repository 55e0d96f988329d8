// SPDX-License-Identifier: BSD-3-Clause
// What the user and the site told Rondo to do in this process.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/backends/mpi/node.hpp"
#include "rondo/core/fingerprint.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/rules.hpp"
#include "rondo/selection/settings.hpp"

namespace rondo::interposer {

/// The index of a registered collective.
inline std::size_t index_of(const Collective& collective) {
    return static_cast<std::size_t>(&collective - collectives().data());
}

/// Which choices of the rules are compared with the library's own collective while the program runs, and taken back
/// where it is faster.
enum class Guard : std::uint8_t {
    off,
    exact,  ///< choices for calls whose results have the same bits whoever carries them out
    free,   ///< all choices
};

class Instructions {
  public:
    /// Reads the environment and the site's configuration. What is wrong with them is among `complaints()`; the calls
    /// that a faulty setting is about go to the library, and all if the configuration cannot be read.
    static Instructions from_environment();

    /// Fills in what the machine's figures leave to the library. Called before anything is decided.
    void know_library(std::string_view version);
    /// Takes the figures of the machine that were measured here. Called before anything is decided.
    void know_machine(const Machine& measured, std::string_view library_version);
    /// Drops nodes that do not fit the world, with a complaint.
    void know_ranks(int ranks);

    /// What was wrong, one line each.
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
    /// True if the user does not want Rondo in this process at all.
    [[nodiscard]] bool off() const { return off_; }
    /// Which setting leaves this program to the library; empty: none does.
    [[nodiscard]] const std::string& left_out_by() const { return left_out_by_; }
    /// Sets what to do with a collective in every situation from now on; nothing: what the environment says. Throws
    /// Error if there have been too many different choices. No thread may be reading.
    void override_choice(std::size_t collective, std::optional<Choice> choice);
    /// Tells the choices made by `override_choice` apart; 0 if the environment decides. Decisions made under another
    /// number are void.
    [[nodiscard]] std::uint16_t choice_number(std::size_t collective) const { return chosen_[collective]; }
    /// What to do in a situation, for all nodes that are possible; nullptr if nothing was said, nullopt if that depends
    /// on them. `lengths` become those with the same answer.
    [[nodiscard]] std::optional<const Choice*> choose(std::size_t collective, const Situation& situation,
                                                      const Spread& spread, Interval& lengths) const;
    /// The line of the rules that made this choice; 0 if none did.
    [[nodiscard]] int line_of(const Choice* choice) const { return rules_ ? rules_->line_of(choice) : 0; }
    /// True if a choice may depend on the nodes, or may use them, and they are not imposed.
    [[nodiscard]] bool ask_nodes() const;
    /// Where the ranks of the world are, whatever the library says; nothing: where that reports them.
    [[nodiscard]] const std::optional<Placement>& imposed_placement() const { return imposed_; }
    /// The machine model that fills in unset parameters. It has `eager` once the library is known.
    [[nodiscard]] const Machine& machine() const { return machine_; }
    /// True if nobody has said what the machine's figures are.
    [[nodiscard]] bool lacks_machine() const { return !is_machine_given_ && rules_.has_value(); }
    /// True if somebody has named a choice for a collective, which stays.
    [[nodiscard]] bool is_named(std::size_t collective) const {
        return chosen_[collective] != 0 || forced_[collective].has_value();
    }
    /// How the guard treats the rules' choices for a collective; a choice that somebody has named for it stays.
    [[nodiscard]] Guard guard(std::size_t collective) const { return is_named(collective) ? Guard::off : guard_; }
    /// Where verdicts of the guard are kept for the next run; empty: nowhere.
    [[nodiscard]] const std::string& learned_directory() const { return learned_directory_; }
    /// Bytes that all plans together may take.
    [[nodiscard]] Count plan_memory() const { return plan_memory_; }
    /// How memory is shared. On imposed nodes it is not, unless asked for: they stand for other machines.
    [[nodiscard]] mpi::MemorySharing memory_sharing() const {
        const bool is_automatic = memory_sharing_ == mpi::MemorySharing::automatic;
        const bool has_other_nodes = imposed_ && !imposed_->is_of_domains();
        return is_automatic && has_other_nodes ? mpi::MemorySharing::off : memory_sharing_;
    }
    /// Where reports go; empty: there is no report.
    [[nodiscard]] const std::string& report_directory() const { return report_directory_; }
    /// Where traces go; empty: there are none.
    [[nodiscard]] const std::string& trace_directory() const { return trace_directory_; }
    /// Where the file of this job goes; empty: it leaves none.
    [[nodiscard]] const std::string& jobs_directory() const { return jobs_directory_; }
    /// The rules that were read; empty: there are none.
    [[nodiscard]] const std::string& rules_path() const { return rules_path_; }
    /// Equal for equal instructions to equal versions of Rondo, which may understand them differently: ranks compare
    /// it.
    [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_.value(); }

  private:
    void read(const Settings& settings);
    void read_choice(std::size_t collective, const Given& given);
    void read_rules(const Given* path);
    void read_machine(const Given* path);
    void read_nodes(const Given* shape);
    void read_guard(const Given* given, const Given* directory);
    void read_plan_memory(const Given* given);
    void read_shared_memory(const Given* given);

    std::array<std::optional<Choice>, number_of_collectives> forced_;
    std::array<bool, number_of_collectives> spoiled_{};  // true after a variable that could not be read
    std::deque<Choice> choices_;                         // those made while the program runs; number n is at n - 1
    std::array<std::uint16_t, number_of_collectives> chosen_{};
    std::optional<Rules> rules_;
    Machine machine_;
    bool is_machine_given_ = false;
    std::string nodes_;
    std::optional<Placement> imposed_;
    Count plan_memory_ = Count{64} << 20;
    std::string report_directory_, trace_directory_, jobs_directory_, rules_path_;
    std::string learned_directory_;
    std::vector<std::string> complaints_;
    Fingerprint fingerprint_;
    Guard guard_ = Guard::off;
    mpi::MemorySharing memory_sharing_ = mpi::MemorySharing::automatic;
    bool off_ = false;
    std::string left_out_by_;
};

}  // namespace rondo::interposer
