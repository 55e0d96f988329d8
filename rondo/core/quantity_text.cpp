// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/quantity_text.hpp"

namespace rondo {

std::string quantity_text(Count value) {
    static constexpr const char* suffixes[] = {"", "Ki", "Mi", "Gi"};
    int steps = 0;
    for (; steps < 3 && value != 0 && value % 1024 == 0; ++steps) value /= 1024;
    return std::to_string(value) + suffixes[steps];
}

}  // namespace rondo
