// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/addresses.hpp"

namespace rondo::testbed {
namespace {

constexpr std::uint32_t first_address = 198U << 24U | 18U << 16U | 1U;
constexpr std::uint32_t head_address = 198U << 24U | 18U << 16U | 1U << 8U | 1U;

}  // namespace

std::string name_of(unsigned node, unsigned nodes) { return node == nodes ? "head" : "node" + std::to_string(node); }

std::uint32_t address_of(unsigned node, unsigned nodes) { return node == nodes ? head_address : first_address + node; }

std::string address_text(unsigned node, unsigned nodes) {
    const std::uint32_t address = address_of(node, nodes);
    std::string text;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        text += std::to_string(address >> shift & 255U) + (shift == 0 ? "" : ".");
    }
    return text;
}

std::optional<unsigned> node_at(std::uint32_t address, unsigned nodes) {
    if (address == head_address) return nodes;
    const std::uint32_t node = address - first_address;
    return node < nodes ? std::optional<unsigned>(node) : std::nullopt;
}

std::optional<unsigned> node_called(std::string_view text, unsigned nodes) {
    for (unsigned node = 0; node <= nodes; ++node) {
        if (text == name_of(node, nodes) || text == address_text(node, nodes)) return node;
        if (node < nodes && text == std::to_string(node)) return node;
    }
    return std::nullopt;
}

}  // namespace rondo::testbed
