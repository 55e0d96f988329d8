// SPDX-License-Identifier: BSD-3-Clause
// MSCCL's XML [cowan2023mscclang]: what each GPU, a rank, does in its thread blocks. A thread block takes its steps one
// after the other, sends to one rank at most and receives from one. A step may wait for one step of another thread
// block of its rank. Messages are buffered, and come in their order on a connection: of a sender to a receiver in a
// channel.
//
// [cowan2023mscclang] M. Cowan, S. Maleki, M. Musuvathi, O. Saarikivi, Y. Xiong, MSCCLang: Microsoft collective
// communication language, ASPLOS 2023.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::written {

inline constexpr int no_step = -1;

/// What a step does, as far as it applies, in this order.
struct MscclKind {
    std::string_view name;
    bool receives = false;
    bool reduces = false;  ///< combines what came, or else the target, with the source
    bool writes = false;   ///< into the target
    bool sends = false;    ///< the outcome, or else the source
};

struct MscclStep {
    const MscclKind* kind;
    Block source, target;  ///< in chunks of the buffers of MSCCL
    int block = no_step;   ///< the thread block that it waits for
    int step = no_step;    ///< and its step
    bool is_waited_for = false;
};

struct MscclBlock {
    Rank send = no_rank, receive = no_rank;
    int channel = 0;
    std::vector<MscclStep> steps;
};

struct MscclProgram {
    std::string name;
    std::string_view collective;  ///< as Rondo calls it
    Rank ranks = 0;
    Count chunks = 0;  ///< of the whole vector
    Rank root = 0;
    /// A rank has one buffer for its input and its output: input and output are the same, or the smaller one is where
    /// it belongs in the larger one.
    bool in_place = false;
    std::vector<Count> scratch;                   ///< chunks, by rank
    std::vector<std::vector<MscclBlock>> blocks;  ///< by rank, and number

    /// How many chunks a rank puts in, and gets.
    [[nodiscard]] Count input_chunks() const;
    [[nodiscard]] Count output_chunks() const;
};

/// Throws Error: where, and what was wrong.
MscclProgram read_msccl(std::string_view text);

/// "rank 3, thread block 2, step 5 (rrc): ", for messages.
std::string where(const MscclProgram& program, Rank rank, std::size_t block, std::size_t step);

}  // namespace rondo::written
