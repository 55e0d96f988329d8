// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {
namespace {

using virtual_machine::Dragonfly;
using virtual_machine::FatTree;
using virtual_machine::most_places;
using virtual_machine::Torus;

constexpr std::size_t most_dimensions = 8;
constexpr std::string_view examples =
    "fat_tree:nodes=32,taper=2, dragonfly:nodes=16,global=4, torus:4x4x8, or flat for none";

/// The words behind the name of a shape, key=value.
class Words {
  public:
    Words(std::string_view name, std::string_view text) : name_(name) {
        while (!text.empty()) {
            const std::string_view word = trimmed(take_until(text, ","));
            const auto sides = cut(word, "=");
            if (!sides) throw Error("network " + quoted(name) + ": no '=' in " + quoted(word) + "; as in " + example());
            words_.push_back({trimmed(sides->first), trimmed(sides->second)});
        }
    }

    /// 0 if it may be missing and is.
    Rank whole(std::string_view key, bool is_required, Rank most = most_places, Rank least = 1) {
        const auto text = take(key, is_required);
        if (!text) return 0;
        const auto value = parse_quantity(*text);
        if (value && *value >= least && *value <= most) return static_cast<Rank>(*value);
        throw Error("network " + quoted(name_) + ": " + std::string(key) + "=" + std::string(*text) + "; expected " +
                    std::to_string(least) + " to " + std::to_string(most));
    }

    double number(std::string_view key, double standard, bool may_be_zero = false) {
        const auto text = take(key, std::isnan(standard));
        if (!text) return standard;
        double value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        const bool is_number = error == std::errc() && end == text->data() + text->size() && std::isfinite(value);
        if (is_number && (value > 0 || (value == 0 && may_be_zero))) return value;
        throw Error("network " + quoted(name_) + ": " + std::string(key) + "=" + std::string(*text) +
                    "; expected a number " + (may_be_zero ? "from 0 on" : "above 0"));
    }

    /// Behind the last one that is known.
    void finish() const {
        if (words_.empty()) return;
        throw Error("network " + quoted(name_) + " has no " + quoted(words_.front().key) + "; " +
                    suggestion(words_.front().key, known_));
    }

  private:
    struct Word {
        std::string_view key, value;
    };

    std::optional<std::string_view> take(std::string_view key, bool is_required) {
        known_.push_back(key);
        std::optional<std::string_view> found;
        for (auto word = words_.begin(); word != words_.end();) {
            if (word->key != key) {
                ++word;
                continue;
            }
            if (found) throw Error("network " + quoted(name_) + ": " + std::string(key) + " is said twice");
            found = word->value;
            word = words_.erase(word);
        }
        if (!found && is_required) {
            throw Error("network " + quoted(name_) + ": " + std::string(key) + " is missing; as in " + example());
        }
        return found;
    }

    [[nodiscard]] std::string example() const { return std::string(examples); }

    std::string_view name_;
    std::vector<Word> words_;
    std::vector<std::string_view> known_;
};

constexpr double required = std::numeric_limits<double>::quiet_NaN();

Torus parse_torus(std::string_view text) {
    Torus torus;
    Count nodes = 1;
    const std::string_view all = text;
    for (bool more = true; more;) {
        more = text.find('x') != std::string_view::npos;
        const auto length = parse_quantity(trimmed(take_until(text, "x")));
        const Count here = length.value_or(0);
        nodes = here >= 1 && here <= most_places ? nodes * here : Count{0};
        if (nodes < 1 || nodes > most_places || torus.lengths.size() == most_dimensions) {
            throw Error("network 'torus': " + quoted(all) + " has no size; expected up to " +
                        std::to_string(most_dimensions) + " lengths and " + std::to_string(most_places) +
                        " nodes, as in torus:4x4x8");
        }
        torus.lengths.push_back(static_cast<Rank>(here));
    }
    return torus;
}

Error too_few(Count places, Rank nodes) {
    return Error("a network of " + std::to_string(places) + " nodes; the job has " + std::to_string(nodes));
}

/// The first nodes of a random order of so many places, the same in every run: Fisher and Yates, with Knuth's MMIX.
std::vector<Rank> random_places(Rank places, Rank nodes, std::uint64_t seed) {
    std::vector<Rank> order(static_cast<std::size_t>(places));
    for (Rank place = 0; place < places; ++place) order[static_cast<std::size_t>(place)] = place;
    std::uint64_t state = seed;
    const auto next = [&] { return state = state * 6364136223846793005 + 1442695040888963407; };
    next();  // seeds that are near give other orders
    for (Rank node = 0; node < nodes; ++node) {
        const auto left = static_cast<std::uint64_t>(places - node);
        const auto other = static_cast<std::size_t>(node) + static_cast<std::size_t>((next() >> 33) % left);
        std::swap(order[static_cast<std::size_t>(node)], order[other]);
    }
    order.resize(static_cast<std::size_t>(nodes));
    return order;
}

std::vector<Rank> listed_places(std::string_view text, Rank first, Rank nodes) {
    std::vector<Rank> places = parse_node_numbers(text);
    if (places.size() < static_cast<std::size_t>(nodes)) {
        throw Error("placement " + quoted(text) + " names " + std::to_string(places.size()) + " nodes; the job has " +
                    std::to_string(nodes));
    }
    places.resize(static_cast<std::size_t>(nodes));
    for (Rank& place : places) {
        if (place < first) {
            throw Error("placement " + quoted(text) + " has node " + std::to_string(place) +
                        "; the network's first one is " + std::to_string(first));
        }
        place -= first;
    }
    return places;
}

/// Reads lists of names. Throws Error.
class NodeNames {
  public:
    explicit NodeNames(std::string_view text) : text_(text), rest_(text) {}

    std::vector<Rank> read() {
        do read_name();
        while (take(','));
        if (!rest_.empty()) fail();
        return std::move(numbers_);
    }

  private:
    static constexpr std::string_view digits = "0123456789";

    void read_name() {
        const std::size_t end = std::min(rest_.find_first_of(",["), rest_.size());
        const std::string_view name = trimmed(rest_.substr(0, end));
        rest_.remove_prefix(end);
        if (!take('[')) {
            const std::size_t letters = name.find_last_not_of(digits);
            const std::string_view number = letters == std::string_view::npos ? name : name.substr(letters + 1);
            return numbers_.push_back(value_of(number));
        }
        do read_range();
        while (take(','));
        if (!take(']')) fail();
    }

    void read_range() {
        const Rank from = read_number(), to = take('-') ? read_number() : from;
        if (to < from || static_cast<std::size_t>(to - from) >= most_places - numbers_.size()) fail();
        for (Rank number = from; number <= to; ++number) numbers_.push_back(number);
    }

    Rank read_number() {
        const std::size_t end = std::min(rest_.find_first_not_of(digits), rest_.size());
        const std::string_view number = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return value_of(number);
    }

    [[nodiscard]] Rank value_of(std::string_view number) const {
        Rank value = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (number.empty() || error != std::errc() || value >= most_places) fail();
        return value;
    }

    bool take(char character) {
        if (!rest_.starts_with(character)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    [[noreturn]] void fail() const {
        throw Error(quoted(text_) +
                    " is no placement; expected block, cyclic, random, random:SEED, or nodes with numbers at the end "
                    "of their names, as in node[001-004,010]");
    }

    std::string_view text_, rest_;
    std::vector<Rank> numbers_;
};

}  // namespace

std::optional<DescribedNetwork> parse_network(std::string_view text) {
    const std::string_view all = trimmed(text);
    if (all == "flat") return std::nullopt;
    std::string_view rest = all;
    const std::string_view name = trimmed(take_until(rest, ":"));
    DescribedNetwork found;
    const auto finish = [&](Words& words, Rank group, bool has_groups) {
        if (has_groups) found.shape.groups = words.whole("groups", false, most_places / group);
        found.shape.hop = words.number("hop", 0, true);
        found.first = words.whole("first", false, most_places - 1, 0);
        words.finish();
        return found;
    };
    if (name == "torus") {
        Torus torus = parse_torus(trimmed(take_until(rest, ",")));
        Words words(name, rest);
        torus.link = words.number("link", 1);
        found.shape.kind = std::move(torus);
        return finish(words, 1, false);
    }
    if (name != "fat_tree" && name != "dragonfly") {
        throw Error(quoted(all) + " is no network; expected something like " + std::string(examples));
    }
    Words words(name, rest);
    const Rank nodes = words.whole("nodes", true);
    if (name == "fat_tree") found.shape.kind = FatTree{nodes, words.number("taper", 1)};
    else found.shape.kind = Dragonfly{nodes, words.number("global", required)};
    return finish(words, nodes, true);
}

std::vector<Rank> parse_places(std::string_view text, const DescribedNetwork& network, Rank nodes) {
    const std::string_view all = trimmed(text);
    const virtual_machine::NetworkShape& shape = network.shape;
    const auto sides = cut(all, ":");
    const bool is_random = all == "random" || (sides && sides->first == "random");
    if (all != "block" && all != "cyclic" && !is_random) return listed_places(all, network.first, nodes);
    const Rank group = shape.group();
    const bool is_bounded = shape.groups > 0 || std::holds_alternative<Torus>(shape.kind);
    const Rank groups = is_bounded ? static_cast<Rank>(shape.places() / group) : (nodes + group - 1) / group;
    const Count places = Count{groups} * group;
    if (places < nodes) throw too_few(places, nodes);
    if (is_random) {
        const auto seed = sides ? parse_quantity(sides->second) : Count{1};
        if (!seed) throw Error("placement " + quoted(all) + ": expected a whole number, as in random:7");
        return random_places(static_cast<Rank>(places), nodes, static_cast<std::uint64_t>(*seed));
    }
    std::vector<Rank> found(static_cast<std::size_t>(nodes));
    for (Rank node = 0; node < nodes; ++node) {
        found[static_cast<std::size_t>(node)] = all == "block" ? node : node % groups * group + node / groups;
    }
    return found;
}

std::vector<Rank> parse_node_numbers(std::string_view text) { return NodeNames(text).read(); }

}  // namespace rondo
