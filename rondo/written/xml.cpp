// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/xml.hpp"

#include <algorithm>
#include <charconv>

#include "rondo/core/error.hpp"

namespace rondo::written {
namespace {

constexpr int deepest = 16;  // of elements in one another
constexpr std::string_view blanks = " \t\r\n";

bool belongs_to_name(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-' || letter == '.' || letter == ':';
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    Element document() {
        skip_between_elements();
        expect("<", "an element");
        Element top = element(0);
        skip_between_elements();
        if (!rest().empty()) throw error("something stands behind the element '" + top.name + "'");
        return top;
    }

  private:
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

    [[nodiscard]] Error error(const std::string& what) const {
        const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
        return Error("line " + std::to_string(line) + ": " + (at_ >= text_.size() ? "the file is cut off: " : "") +
                     what);
    }

    [[nodiscard]] bool take(std::string_view word) {
        if (!rest().starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    void expect(std::string_view word, const std::string& what) {
        if (!take(word)) throw error("expected " + what);
    }

    void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

    void skip_to_behind(std::string_view end, const std::string& what) {
        const std::size_t found = text_.find(end, at_);
        at_ = found == std::string_view::npos ? text_.size() : found + end.size();
        if (found == std::string_view::npos) throw error("expected the end of " + what);
    }

    /// Blanks, comments and instructions to programs.
    void skip_between_elements() {
        for (skip_blanks();; skip_blanks()) {
            if (take("<!--")) skip_to_behind("-->", "a comment");
            else if (take("<?")) skip_to_behind("?>", "an instruction");
            else break;
        }
        if (rest().starts_with("<!")) throw error("declarations are not read; leave them out");
    }

    std::string name(const std::string& what) {
        const std::size_t first = at_;
        while (at_ < text_.size() && belongs_to_name(text_[at_])) ++at_;
        if (at_ == first) throw error("expected " + what);
        return std::string(text_.substr(first, at_ - first));
    }

    [[nodiscard]] int line() {
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                             text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
        counted_ = at_;
        return line_;
    }

    /// Behind its "<".
    Element element(int depth) {
        if (depth > deepest)
            throw error("elements stand in one another more than " + std::to_string(deepest) + " deep");
        Element found;
        found.line = line();
        found.name = name("the name of an element");
        for (skip_blanks(); !rest().empty() && belongs_to_name(rest().front()); skip_blanks()) read_attribute(found);
        if (take("/>")) return found;
        expect(">", "'>' at the end of the element '" + found.name + "'");
        for (skip_between_elements(); !rest().starts_with("</"); skip_between_elements()) {
            expect("<", "an element, or </" + found.name + ">");
            found.children.push_back(element(depth + 1));
        }
        expect("</" + found.name, "</" + found.name + ">, for it is open since line " + std::to_string(found.line));
        skip_blanks();
        expect(">", "'>' behind </" + found.name);
        return found;
    }

    void read_attribute(Element& element) {
        std::string key = name("the name of an attribute");
        skip_blanks();
        expect("=", "'=' behind " + key);
        skip_blanks();
        const std::string_view quote = rest().substr(0, 1);
        if (quote != "\"" && quote != "'") throw error("expected the value of " + key + " in quotes");
        const std::size_t first = ++at_;
        skip_to_behind(quote, "the value of " + key);
        const std::string_view value = text_.substr(first, at_ - 1 - first);
        // Numbers and names of schedules need no entities; other names are for people.
        if (value.find('<') != std::string_view::npos) throw error("'<' stands in the value of " + key);
        const auto has_its_name = [&](const auto& each) { return each.first == key; };
        if (std::ranges::any_of(element.attributes, has_its_name)) throw error(key + " is there twice");
        element.attributes.emplace_back(std::move(key), value);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t counted_ = 0;  // up to where lines are counted
    int line_ = 1;
};

}  // namespace

const std::string* Element::find(std::string_view attribute) const {
    const auto found = std::ranges::find(attributes, attribute, &std::pair<std::string, std::string>::first);
    return found == attributes.end() ? nullptr : &found->second;
}

const std::string& Element::text(std::string_view attribute) const {
    if (const std::string* value = find(attribute)) return *value;
    throw Error("line " + std::to_string(line) + ": " + name + " has no " + std::string(attribute));
}

std::int64_t Element::number(std::string_view attribute, std::int64_t lowest, std::int64_t highest) const {
    const std::string& value = text(attribute);
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = problem == std::errc() && end == value.data() + value.size();
    if (is_number && number >= lowest && number <= highest) return number;
    throw Error("line " + std::to_string(line) + ": " + name + " has " + std::string(attribute) + "=\"" + value +
                "\"; expected " + std::to_string(lowest) + " to " + std::to_string(highest));
}

std::int64_t Element::number_or(std::string_view attribute, std::int64_t lowest, std::int64_t highest,
                                std::int64_t otherwise) const {
    return find(attribute) == nullptr ? otherwise : number(attribute, lowest, highest);
}

Element parse_xml(std::string_view text) { return Reader(text).document(); }

}  // namespace rondo::written
