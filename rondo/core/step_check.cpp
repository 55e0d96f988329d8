// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/step_check.hpp"

#include <algorithm>
#include <string>

#include "rondo/core/error.hpp"

namespace rondo {
namespace {

void check_inside(const Block& block, const Call& call) {
    const Count size = call.size_of(block.buffer);
    if (block.first < 0 || block.count < 0 || block.last() > size) {
        throw Error(to_string(block) + " is outside its buffer, which has " + std::to_string(size) + " elements");
    }
}

void check_target(const Block& target, const Call& call) {
    check_inside(target, call);
    if (target.buffer == Buffer::input) throw Error("writes the input buffer " + to_string(target));
}

void check_operand(const Block& operand, const Block& target, const Call& call) {
    check_inside(operand, call);
    if (operand.count != target.count) {
        throw Error(to_string(operand) + " and the target " + to_string(target) + " have unequal counts");
    }
    if (overlap(operand, target) && !(operand == target)) {
        throw Error("the target " + to_string(target) + " overlaps the operand " + to_string(operand) + " in part");
    }
}

void check_rows(const Step& step, const Call& call) {
    const BlockRow from = step.pieces.from(step.left), into = step.pieces.into(step.into);
    if (from.empty() && into.empty()) return;
    if (from.first.count != into.first.count) {
        throw Error(to_string(from.first) + " and the target " + to_string(into.first) + " have unequal counts");
    }
    check_inside(from.bounds(), call);
    check_target(into.bounds(), call);
    if (overlap(from.bounds(), into.bounds())) {
        throw Error("the target row in " + to_string(into.bounds()) + " overlaps its source");
    }
    if (std::max(into.distance, -into.distance) < into.first.count) {
        throw Error("blocks of the target row in " + to_string(into.bounds()) + " overlap");
    }
}

}  // namespace

void check(const Step& step, const Call& call) {
    if (step.kind == StepKind::exchange) {
        for (const Transfer& transfer : step.transfers) {
            if (step.peer(transfer) == no_rank) continue;
            if (transfer.direction == Direction::receive) check_target(transfer.block, call);
            else check_inside(transfer.block, call);
        }
        return;
    }
    if (step.kind == StepKind::copy && step.pieces.number != 1) {
        check_rows(step, call);
        return;
    }
    check_operand(step.left, step.into, call);
    if (step.kind == StepKind::combine) check_operand(step.right, step.into, call);
    const bool nothing_happens = step.into.empty() || (step.kind == StepKind::copy && step.left == step.into);
    if (!nothing_happens) check_target(step.into, call);
}

}  // namespace rondo
