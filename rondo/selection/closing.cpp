// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/closing.hpp"

#include <algorithm>
#include <bit>

#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo {
namespace {

constexpr Count whole_vector = segment_parameter.maximum;

/// Four to a power of two: the shortest length of the class of such lengths.
Count class_of(Count bytes) {
    const Count unit = std::max<Count>(1, static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(bytes))) / 4);
    return bytes / unit * unit;
}

SharedFacts usual_of_class(const SharedFacts& facts) {
    SharedFacts usual = facts;
    usual.count = std::max<Count>(1, class_of(facts.bytes()) / facts.element_bytes);
    usual.root = 0;
    usual.starts = {};
    return usual;
}

}  // namespace

bool has_open_segment(std::span<const Setting> settings) {
    return std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
        return setting.name == segment_parameter.name && setting.value == automatic;
    });
}

std::vector<Setting> closed_for_class(const Choice& choice, const SharedFacts& usual, const Machine& machine) {
    std::vector<Setting> settings =
        virtual_machine::closed_settings(*choice.algorithm, usual, choice.settings, machine.costs(usual.placement));
    const Count longest = virtual_machine::candidate_segments(*choice.algorithm, usual).back();
    for (Setting& setting : settings) {  // all that is cut, also of vectors in the class that are longer
        if (setting.name == segment_parameter.name && setting.value >= longest) setting.value = whole_vector;
    }
    return settings;
}

std::vector<Setting> settings_for(const Choice& choice, const SharedFacts& facts, const Machine& machine,
                                  const ClosedForClass& closed) {
    std::vector<Setting> settings = choice.settings;
    if (const auto known = machine.segment(*choice.algorithm, facts.size, facts.bytes())) {
        for (Setting& setting : settings) {
            if (setting.name == segment_parameter.name && setting.value == automatic) setting.value = *known;
        }
        if (choice.algorithm->refusal(facts, settings)) settings = choice.settings;
    }
    if (has_open_segment(settings)) settings = closed(choice, usual_of_class(facts), machine);
    for (Setting& setting : settings) {
        if (setting.name == segment_parameter.name && setting.value == whole_vector) setting.value = facts.bytes();
    }
    return settings;
}

}  // namespace rondo
