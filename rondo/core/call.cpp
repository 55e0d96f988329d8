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
    return in_place() ? std::max(input_.last(), output_.count) : output_.count;
}

Segments Call::segments(Block block) const {
    const Count bytes = setting("segment");
    if (bytes == automatic) throw Error("segment=auto was not resolved before the call");
    return {block, std::max<Count>(1, bytes / std::max<Count>(1, facts_.element_bytes))};
}

}  // namespace rondo
