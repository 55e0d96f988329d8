// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/races.hpp"

#include <algorithm>
#include <string>

#include "rondo/core/error.hpp"

namespace rondo::written {

bool Races::can_be_found(const MscclProgram& program) {
    std::size_t blocks = 0, steps = 0;
    for (const std::vector<MscclBlock>& rank : program.blocks) {
        blocks += rank.size();
        for (const MscclBlock& block : rank) steps += block.steps.size();
    }
    return blocks == 0 || blocks + steps <= most_numbers / blocks;
}

Races::Races(const MscclProgram& program) : program_(program), uses_(program.blocks.size()) {
    std::size_t blocks = 0;
    for (const std::vector<MscclBlock>& rank : program.blocks) {
        first_.push_back(blocks);
        blocks += rank.size();
    }
    clocks_.assign(blocks, Clock(blocks));
}

void Races::take(Rank rank, std::size_t block, std::size_t step, const Clock* came) {
    rank_ = rank;
    block_ = block;
    step_ = step;
    const MscclStep& taken = program_.blocks[static_cast<std::size_t>(rank)][block].steps[step];
    Clock& own = clocks_[number(rank, block)];
    if (taken.block >= 0) {
        const auto key = std::tuple(rank, static_cast<std::size_t>(taken.block), static_cast<std::size_t>(taken.step));
        join(own, waited_for_.at(key));
    }
    if (came != nullptr) join(own, *came);
    own[number(rank, block)] = static_cast<std::uint32_t>(step + 1);
    if (taken.is_waited_for) waited_for_.insert_or_assign(std::tuple(rank, block, step), own);
}

void Races::read(const Block& elements) {
    uses(elements).visit(elements, [&](Count, Count, Uses& run) {
        expect_before(run.writer, elements, "reads");
        run.latest_reader = add_access(run.latest_reader);
    });
}

void Races::write(const Block& elements) {
    const Uses own{.writer = add_access(none)};
    uses(elements).replace(elements.first, elements.last(), own, [&](Count, Count, const Uses& run) {
        expect_before(run.writer, elements, "writes");
        for (std::uint32_t each = run.latest_reader; each != none; each = accesses_[each].reader_before) {
            expect_before(each, elements, "writes");
        }
    });
}

std::uint32_t Races::add_access(std::uint32_t reader_before) {
    accesses_.push_back({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(step_), reader_before});
    return static_cast<std::uint32_t>(accesses_.size() - 1);
}

void Races::expect_before(std::uint32_t access, const Block& elements, const char* does) const {
    if (access == none) return;
    const Access& other = accesses_[access];
    if (clock(rank_, block_)[number(rank_, other.block)] > other.step) return;
    throw Error(where(program_, rank_, block_, step_) + does + " " + to_string(elements) + " (in chunks), while step " +
                std::to_string(other.step) + " of thread block " + std::to_string(other.block) +
                " may be using it: neither waits for the other");
}

void Races::join(Clock& clock, const Clock& other) {
    std::ranges::transform(clock, other, clock.begin(), [](auto one, auto two) { return std::max(one, two); });
}

}  // namespace rondo::written
