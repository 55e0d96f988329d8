// SPDX-License-Identifier: BSD-3-Clause
// Thread blocks that race: what one writes, another reads or writes, and nothing says who comes first. A vector clock
// [mattern1989virtual] for each thread block says which steps of all others come before it in every run: those before
// them in their thread blocks, those that they wait for, and those that sent what they receive. So a race is found in
// whatever order steps are looked at.
//
// [mattern1989virtual] F. Mattern, Virtual time and global states of distributed systems, Parallel and Distributed
// Algorithms, 1989.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "rondo/core/range_map.hpp"
#include "rondo/written/msccl.hpp"

namespace rondo::written {

class Races {
  public:
    /// By thread block of all ranks: how many of its first steps come before.
    using Clock = std::vector<std::uint32_t>;

    /// Clocks of all steps take at most so many numbers; of larger programs, races cannot be found.
    static constexpr std::size_t most_numbers = std::size_t{1} << 26;
    static bool can_be_found(const MscclProgram& program);

    explicit Races(const MscclProgram& program);

    /// A step is taken; those that it waits for were. `came`: the clock of the message that it receives, if it does.
    void take(Rank rank, std::size_t block, std::size_t step, const Clock* came);
    /// That step reads or writes elements of a rank's buffers. Throws Error if it races with another that was taken.
    void read(const Block& elements);
    void write(const Block& elements);
    /// Of the latest step of a thread block, for the message that it sends.
    [[nodiscard]] const Clock& clock(Rank rank, std::size_t block) const { return clocks_[number(rank, block)]; }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Uses {
        std::uint32_t writer = none, latest_reader = none;  // into accesses_
    };
    struct Access {
        std::uint32_t block, step;
        std::uint32_t reader_before = none;
    };

    [[nodiscard]] std::size_t number(Rank rank, std::size_t block) const {
        return first_[static_cast<std::size_t>(rank)] + block;
    }
    RangeMap<Uses>& uses(const Block& elements) {
        return uses_[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(elements.buffer)];
    }
    std::uint32_t add_access(std::uint32_t reader_before);
    void expect_before(std::uint32_t access, const Block& elements, const char* does) const;
    static void join(Clock& clock, const Clock& other);

    const MscclProgram& program_;
    std::vector<std::size_t> first_;  // number of the first thread block, by rank
    std::vector<Clock> clocks_;       // of the latest step, by thread block
    std::map<std::tuple<Rank, std::size_t, std::size_t>, Clock> waited_for_;
    std::vector<std::array<RangeMap<Uses>, buffers>> uses_;  // by rank
    std::vector<Access> accesses_;
    Rank rank_ = 0;  // of the step that is taken
    std::size_t block_ = 0, step_ = 0;
};

}  // namespace rondo::written
