// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace rondo {

/// What ranks compare instead of what they were told: FNV-1a, 64 bits, of all that was added, in its order.
class Fingerprint {
  public:
    constexpr void add(std::integral auto value) {
        const auto bits = static_cast<std::uint64_t>(value);
        for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(bits >> shift));
    }
    constexpr void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
    /// The length comes first: "ab", "c" is not "a", "bc".
    constexpr void add(std::string_view text) {
        add(text.size());
        for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
    }
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  private:
    constexpr void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3U; }
    std::uint64_t value_ = 0xCBF29CE484222325U;
};

}  // namespace rondo
