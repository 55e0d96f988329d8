// SPDX-License-Identifier: BSD-3-Clause
// The part of XML in which schedules are written: elements with attributes, and nothing between them but comments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::written {

struct Element {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<Element> children;
    int line = 1;

    /// Throws Error, with the line, if there is no such attribute.
    [[nodiscard]] const std::string& text(std::string_view attribute) const;
    /// The value of an attribute; throws Error unless it is a whole number from `lowest` to `highest`.
    [[nodiscard]] std::int64_t number(std::string_view attribute, std::int64_t lowest, std::int64_t highest) const;
    /// The same, of an attribute that need not be there.
    [[nodiscard]] std::int64_t number_or(std::string_view attribute, std::int64_t lowest, std::int64_t highest,
                                         std::int64_t otherwise) const;

  private:
    [[nodiscard]] const std::string* find(std::string_view attribute) const;
};

/// The one element of a text. Throws Error: "line 3: what was wrong". Declarations of types and of entities are
/// refused.
Element parse_xml(std::string_view text);

}  // namespace rondo::written
