// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/symbol.hpp"

#include <algorithm>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

void append(std::vector<Run>& runs, Run run) {
    if (!runs.empty() && runs.back().last + 1 == run.first) runs.back().last = run.last;
    else runs.push_back(run);
}

}  // namespace

Symbol Symbol::combined(const Symbol& left, const Symbol& right, bool commutative) {
    if (!left.defined() || !right.defined()) {
        throw Error("combines an element that holds nothing yet (" + left.text() + " with " + right.text() + ")");
    }
    if (left.shift_ != right.shift_)
        throw Error("combines different elements of " + left.text() + " and " + right.text());
    for (const Run& a : left.runs_) {
        for (const Run& b : right.runs_) {
            if (a.first <= b.last && b.first <= a.last) {
                throw Error("counts an input twice: " + left.text() + " with " + right.text());
            }
        }
    }
    std::vector<Run> parts = left.runs_;
    parts.insert(parts.end(), right.runs_.begin(), right.runs_.end());
    if (commutative) std::sort(parts.begin(), parts.end(), [](Run a, Run b) { return a.first < b.first; });
    Symbol result;
    result.shift_ = left.shift_;
    for (const Run& run : parts) append(result.runs_, run);
    return result;
}

std::string Symbol::text() const {
    if (!defined()) return "nothing";
    std::string text;
    for (const Run& run : runs_) {
        if (!text.empty()) text += " ";
        text += "V" + std::to_string(run.first);
        if (run.last != run.first) text += "..V" + std::to_string(run.last);
    }
    if (shift_ != 0) text += " (of the element " + std::to_string(shift_) + " further on)";
    return text;
}

}  // namespace rondo::virtual_machine
