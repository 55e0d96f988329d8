// SPDX-License-Identifier: BSD-3-Clause
// Texts in the JSON that ranks write: in kept files, and in what the benchmark driver measures.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// With its quotation marks. Control characters are left out.
inline std::string json_text(std::string_view text) {
    std::string result = "\"";
    for (const char letter : text) {
        if (static_cast<unsigned char>(letter) < 0x20) continue;
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter;
    }
    return result + '"';
}

}  // namespace rondo
