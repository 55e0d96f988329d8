// SPDX-License-Identifier: BSD-3-Clause
// Lines of a file of what was learned: words `name=text` in a fixed order, behind the first ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rondo/core/block.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {

/// A word of a line, as a member of what the line says.
template <class Entry>
struct LearnedField {
    std::string_view name;
    void (*read)(Entry&, std::string_view);
    std::string (*text)(const Entry&);
    bool may_lack = false;  ///< lines that were written earlier do, and those in which it would say nothing
};

// These functions read such texts. All throw Error for others.
double seconds_of(std::string_view text);
Count number_of(std::string_view text, Count most);
Rank ranks_of(std::string_view text);
bool truth_of(std::string_view text);
std::string day_of(std::string_view text);  ///< as 2026-11-23
std::string seconds_text(double seconds);
std::string truth_text(bool value);

/// Reads the rest of a line into an entry. Throws Error.
template <class Entry>
void read_fields(Entry& entry, std::span<const LearnedField<Entry>> fields, std::string_view line) {
    std::string_view word = take_until(line, " ");
    for (const LearnedField<Entry>& field : fields) {
        const auto pieces = cut(word, "=");
        if (!pieces || pieces->first != field.name) {
            if (field.may_lack) continue;
            throw Error(std::string(field.name) + "= is expected, not " + quoted(word));
        }
        field.read(entry, pieces->second);
        word = take_until(line, " ");
    }
    if (!word.empty()) throw Error("nothing is expected behind the day, not " + quoted(word));
}

/// The words of an entry, each behind a blank.
template <class Entry>
std::string text_of_fields(const Entry& entry, std::span<const LearnedField<Entry>> fields) {
    std::string line;
    for (const LearnedField<Entry>& field : fields) {
        const std::string text = field.text(entry);
        if (!text.empty()) line += " " + std::string(field.name) + "=" + text;
    }
    return line;
}

}  // namespace rondo
