// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/call.hpp"

#include <algorithm>
#include <string>

#include "rondo/core/error.hpp"

namespace rondo {

Count Call::setting(std::string_view name) const {
    for (const Setting& setting : settings_) {
        if (setting.name == name) return setting.value;
    }
    throw Error("the algorithm reads a parameter that it does not declare: " + std::string(name));
}

Count Call::size_of(Buffer buffer) const {
    if (buffer == Buffer::scratch) return scratch_used();
    if (buffer == Buffer::input) return in_place() ? 0 : input_.count;
    return in_place() ? std::max(input_.last(), output_.last()) : output_.count;
}

Count Call::segment_count() const {
    const Count bytes = setting("segment");
    if (bytes == automatic) throw Error("segment=auto was not resolved before the call");
    return std::max<Count>(1, bytes / std::max<Count>(1, facts_.element_bytes));
}

void Call::refuse_unequal_parts() {
    throw Error("in an all-to-all, every rank has as many elements for each: the count is no multiple of the ranks");
}

Call Call::on_node(Block input, Block output, const Within& within) const {
    const auto [node, number] = place(local_.rank);
    const Placement* placement = facts_.placement;
    return Call(*this, placement == nullptr ? RankMap(group_(node), 1, 1) : placement->on_node(node), number, input,
                output, within);
}

Call Call::on_lane(Block input, Block output, const Within& within) const {
    const auto [node, number] = place(local_.rank);
    if (number >= lanes()) throw Error("a rank that is in no lane takes part in one");
    const Placement* placement = facts_.placement;
    return Call(*this, placement == nullptr ? group_ : placement->on_lane(number), node, input, output, within);
}

Call Call::on_leaders(Block input, Block output, const Within& within) const {
    if (place(local_.rank).number != 0) throw Error("a rank that leads no node takes part among the leaders");
    return on_lane(input, output, within);
}

}  // namespace rondo
