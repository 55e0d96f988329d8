// SPDX-License-Identifier: BSD-3-Clause
// How an algorithm describes itself. The registry, the command line, the selection's names, the conformance tests, the
// benchmark and the documentation's table are all made from this.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/core/call.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

enum class Unit : std::uint8_t { number, bytes };

/// An algorithm that may serve a part of a composition.
struct Alternative {
    std::string_view name;
    Schedule (*schedule)(const Call& call);
};

/// A whole number that tunes an algorithm. Values outside [minimum, maximum] are refused.
struct Parameter {
    std::string_view name;
    std::string_view summary;
    Count minimum;
    Count maximum;
    Count standard;  ///< the value of a user who sets nothing, where nobody can choose a better one
    Unit unit = Unit::number;
    /// True: who sets nothing leaves the value open, to be chosen for the call and the machine. `minimum` is above
    /// `rondo::automatic` then.
    bool automatic = false;
    /// Not empty: users name one of these; the number is its position. See `part_parameter`.
    std::span<const Alternative> alternatives = {};

    /// The alternative that a call names, for a call on some of its ranks.
    [[nodiscard]] Schedule part(const Call& call) const {
        return alternatives[static_cast<std::size_t>(call.setting(name))].schedule(call);
    }
};

/// Which algorithm serves a part of a composition; the standard is the first. They read no settings but those that the
/// composition declares, and have no requirements but its own.
[[nodiscard]] constexpr Parameter part_parameter(std::string_view name, std::string_view summary,
                                                 std::span<const Alternative> alternatives) {
    return {.name = name,
            .summary = summary,
            .minimum = 0,
            .maximum = static_cast<Count>(alternatives.size()) - 1,
            .standard = 0,
            .alternatives = alternatives};
}

/// A condition that a call must meet. `unmet` returns the reason for refusing, or nothing. It does not look at
/// `facts.starts`, which are not there yet, and takes memory for a reason only.
struct Requirement {
    std::string_view summary;
    std::optional<std::string> (*unmet)(const SharedFacts& facts, std::span<const Setting> settings);
};

struct AlgorithmInfo {
    std::string_view collective;  ///< "exscan": the name of the directory
    std::string_view name;        ///< "doubling_123": the name of the file
    std::string_view summary;     ///< one line
    std::string_view citation;    ///< key into the bibliography
    std::span<const Parameter> parameters = {};
    std::span<const Requirement> requirements = {};
    /// True if the algorithm is right when input and output are the same block. Otherwise a call in place copies its
    /// input to scratch first.
    bool tolerates_in_place = false;
    /// True if it cuts the part of each rank into segments, not the vector.
    bool has_segments_of_parts = false;
    /// True if it asks where ranks are. Only then does a call of it know, and only then do plans depend on it.
    bool uses_nodes = false;
    /// True if it uses nodes, and yet cuts the whole vector into segments, not what a lane carries.
    bool cuts_whole_vector = false;
    /// The elements of the longest part that it passes on in a slot (slots.hpp); nullptr: it has no slots.
    Count (*slot)(const SharedFacts& facts, std::span<const Setting> settings) = nullptr;
    /// False if the model never proposes it: it gains by something that the model leaves out.
    bool is_proposed = true;
    /// How many messages one exchange may send, and receive; nullptr: one.
    Count (*ports)(std::span<const Setting> settings) = nullptr;
    Schedule (*schedule)(const Call& call);

    [[nodiscard]] Count ports_of(std::span<const Setting> settings) const {
        return ports == nullptr ? 1 : ports(settings);
    }
    [[nodiscard]] const Parameter* parameter(std::string_view parameter_name) const;
    /// Every parameter at its standard value; nothing is open.
    [[nodiscard]] std::vector<Setting> standard_settings() const;
    /// As `standard_settings`, but parameters that can be chosen automatically are open.
    [[nodiscard]] std::vector<Setting> open_settings() const;
    /// The first that this call does not meet; nullptr: it can be served.
    [[nodiscard]] const Requirement* unmet(const SharedFacts& facts, std::span<const Setting> settings) const;
    /// Why this call cannot be served, with its figures, or nothing.
    [[nodiscard]] std::optional<std::string> refusal(const SharedFacts& facts, std::span<const Setting> settings) const;
};

/// The steps of `info` for `call`: the one way by which backends obtain a schedule. `call` must outlive it.
Schedule schedule_of(const Call& call, const AlgorithmInfo& info);

}  // namespace rondo
