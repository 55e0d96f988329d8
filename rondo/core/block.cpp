// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/block.hpp"

#include <array>

namespace rondo {

std::string to_string(const Block& block) {
    static constexpr std::array names = {"input", "output", "scratch"};
    return std::string(names.at(static_cast<std::size_t>(block.buffer))) + "[" + std::to_string(block.first) + ", " +
           std::to_string(block.last()) + ")";
}

}  // namespace rondo
