// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace rondo::bench {
namespace {

double number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= 0))
        throw std::runtime_error("expected a number that is not negative");
    return value;
}

template <class Value>
Value required(std::optional<Value> found, const char* expected) {
    if (!found) throw std::runtime_error(std::string("expected ") + expected);
    return *found;
}

std::int64_t count_of(const std::string& text) {
    const double value = number(text);
    if (value > INT_MAX) throw std::runtime_error("expected at most 2147483647 elements");
    return static_cast<std::int64_t>(value);
}

void read_line(Plan& plan, const std::string& key, const std::string& value) {
    if (key == "collective") {
        plan.collective = find_collective(value);
        if (plan.collective == nullptr) throw std::runtime_error("the driver knows no collective of this name");
    } else if (key == "type") {
        plan.type = required(find_type(value), "int, long, float, double, float_int, double_int, long_int or 2int");
    } else if (key == "operator") {
        plan.op = required(find_operator(value), "sum, bxor, bor, max, min, maxloc or minloc");
    } else if (key == "parts") {
        plan.parts = required(find_parts(value), "equal, skewed, uniform, normal, heavy or sparse");
    } else if (key == "candidate") {
        plan.candidates.push_back(value);
    } else if (key == "count") {
        plan.counts.push_back(count_of(value));
    } else if (key == "without") {  // <count> <candidate>
        const std::size_t blank = value.find(' ');
        if (blank == std::string::npos) throw std::runtime_error("expected a count and a candidate");
        plan.left_out.emplace_back(count_of(value.substr(0, blank)), value.substr(blank + 1));
    } else if (key == "start") {
        if (value != "clock" && value != "barrier") throw std::runtime_error("expected clock or barrier");
        plan.starts.push_back(value == "clock" ? Start::clock : Start::barrier);
    } else if (key == "form") {
        plan.forms.push_back(required(find_form(value), "blocking, nonblocking or persistent"));
    } else if (key == "pieces") {
        plan.pieces = static_cast<int>(number(value));
    } else if (key == "computing") {
        plan.computing = number(value);
    } else if (key == "repetitions") {
        plan.repetitions = static_cast<int>(number(value));
    } else if (key == "warmup") {
        plan.warmups = static_cast<int>(number(value));
    } else if (key == "seconds") {
        plan.seconds = number(value);
    } else if (key == "seed") {
        plan.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "clock") {
        plan.learned_clock = value == "learned";
    } else if (key == "clock_skew") {
        plan.clock_skew = number(value);
    } else if (key == "clock_drift") {
        plan.clock_drift = number(value);
    } else {
        throw std::runtime_error("unknown key");
    }
}

void check_forms(const Plan& plan) {
    for (const Form form : plan.forms) {
        if (form == Form::blocking) continue;
        const Collective& collective = *plan.collective;
        if (collective.function == nullptr)
            throw std::runtime_error(std::string("plan: ") + collective.name + " has one form alone");
        if (function_of(collective, form, true) == nullptr || function_of(collective, form, false) == nullptr)
            throw std::runtime_error("this MPI library has no " + name_in_form(collective.function_name, form));
    }
}

void check(const Plan& plan) {
    if (plan.collective == nullptr) throw std::runtime_error("plan: no line 'collective'");
    if (plan.candidates.empty()) throw std::runtime_error("plan: no line 'candidate'");
    if (plan.counts.empty()) throw std::runtime_error("plan: no line 'count'");
    if (plan.starts.empty()) throw std::runtime_error("plan: no line 'start'");
    if (plan.forms.empty()) throw std::runtime_error("plan: no line 'form'");
    check_forms(plan);
    if (plan.collective->reduces && !defined(plan.op, plan.type)) {
        throw std::runtime_error(std::string("plan: ") + name_of(plan.op) + " is not defined on " + name_of(plan.type));
    }
    if (plan.parts != Parts::equal && !plan.collective->takes_lengths) {
        throw std::runtime_error(std::string("plan: parts of ") + plan.collective->name + " are equal");
    }
}

}  // namespace

const char* name_of(Start start) { return start == Start::clock ? "clock" : "barrier"; }

void Plan::check(int ranks) const {
    if (ranks < 2)
        throw std::runtime_error("one rank has nobody to communicate with; start more, with the launcher of this MPI");
    const std::int64_t longest = *std::max_element(counts.begin(), counts.end());
    if (collective->takes_lengths && (longest * ranks > INT_MAX || most_received(parts, longest, ranks) > INT_MAX)) {
        throw std::runtime_error(std::to_string(longest) + " elements for each of " + std::to_string(ranks) +
                                 " ranks: MPI's int cannot say where the last part starts");
    }
}

bool Plan::leaves_out(std::int64_t count, const std::string& candidate) const {
    return std::find(left_out.begin(), left_out.end(), std::pair(count, candidate)) != left_out.end();
}

Plan parse_plan(const std::string& text) {
    Plan plan;
    std::istringstream lines(text);
    std::string line;
    for (int number_of_line = 1; std::getline(lines, line); ++number_of_line) {
        if (line.empty()) continue;
        const std::size_t blank = line.find(' ');
        const std::string key = line.substr(0, blank);
        try {
            read_line(plan, key, blank == std::string::npos ? "" : line.substr(blank + 1));
        } catch (const std::runtime_error& error) {
            throw std::runtime_error("plan:" + std::to_string(number_of_line) + ": " + line + ": " + error.what());
        }
    }
    check(plan);
    return plan;
}

}  // namespace rondo::bench
