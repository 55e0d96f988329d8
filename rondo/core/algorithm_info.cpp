// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/algorithm_info.hpp"

#include <new>

namespace rondo {
namespace {

Schedule with_input_kept(const Call& call, const AlgorithmInfo& info) {
    const Block kept = call.scratch(call.input().count);
    co_yield copy(call.input()).into(kept);
    const Call apart = call.on(kept, call.output());
    Schedule steps = info.schedule(apart);
    co_yield steps_of(steps);
}

}  // namespace

Schedule schedule_of(const Call& call, const AlgorithmInfo& info) {
    if (call.in_place() && !info.tolerates_in_place) return with_input_kept(call, info);
    return info.schedule(call);
}

const Parameter* AlgorithmInfo::parameter(std::string_view parameter_name) const {
    for (const Parameter& parameter : parameters) {
        if (parameter.name == parameter_name) return &parameter;
    }
    return nullptr;
}

std::vector<Setting> AlgorithmInfo::standard_settings() const {
    std::vector<Setting> settings;
    for (const Parameter& parameter : parameters) settings.push_back({parameter.name, parameter.standard});
    return settings;
}

std::vector<Setting> AlgorithmInfo::open_settings() const {
    std::vector<Setting> settings;
    for (const Parameter& parameter : parameters) {
        settings.push_back({parameter.name, parameter.automatic ? automatic : parameter.standard});
    }
    return settings;
}

std::optional<std::string> AlgorithmInfo::refusal(const SharedFacts& facts, std::span<const Setting> settings) const {
    const Requirement* requirement = unmet(facts, settings);
    return requirement == nullptr ? std::nullopt : requirement->unmet(facts, settings);
}

const Requirement* AlgorithmInfo::unmet(const SharedFacts& facts, std::span<const Setting> settings) const {
    for (const Requirement& requirement : requirements) {
        try {
            if (requirement.unmet(facts, settings)) return &requirement;
        } catch (const std::bad_alloc&) {
            return &requirement;  // there was a reason
        }
    }
    return nullptr;
}

}  // namespace rondo
