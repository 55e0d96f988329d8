// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/memory.hpp"

#include <algorithm>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {

Memory::Memory(Rank rank, const Block& input, bool has_slots) : has_slots_(has_slots) {
    if (!input.empty()) {
        buffers_[static_cast<std::size_t>(input.buffer)].assign(input.first, input.last(),
                                                                Symbol::input_of(rank).moved(input.first));
    }
}

Data Memory::peek(const Block& block) {
    Data data;
    buffers_[static_cast<std::size_t>(block.buffer)].visit(block, [&](Count first, Count last, const Symbol& symbol) {
        data.push_back({first - block.first, last - first, symbol.moved(-block.first)});
    });
    return data;
}

Data Memory::read(const Block& block) {
    Data data = peek(block);
    for (const Piece& piece : data) {
        if (!piece.symbol.defined() && !has_slots_) {
            throw Error("reads " + to_string(block.part(piece.offset, piece.count)) +
                        ", where nothing was written yet");
        }
    }
    return data;
}

void Memory::write(const Block& block, const Data& data) {
    auto& buffer = buffers_[static_cast<std::size_t>(block.buffer)];
    for (const Piece& piece : data) {
        const Count first = block.first + piece.offset;
        buffer.assign(first, first + piece.count, piece.symbol.moved(block.first));
    }
}

void Memory::forget(const Block& block) {
    buffers_[static_cast<std::size_t>(block.buffer)].assign(block.first, block.last(), Symbol());
}

Data Memory::read(const BlockRow& row) {
    Data data;
    for (Count index = 0; index < row.number; ++index) {
        const Block block = row[row.distance < 0 ? row.number - 1 - index : index];
        const Count offset = block.first - row.bounds().first;
        for (const Piece& piece : read(block)) {
            data.push_back({piece.offset + offset, piece.count, piece.symbol.moved(offset)});
        }
    }
    return data;
}

void Memory::copy(const BlockRow& from, const BlockRow& into) {
    for (Count index = 0; index < into.number; ++index) write(into[index], read(from[index]));
}

Data combined(const Data& left, const Data& right, bool commutative) {
    Data result;
    for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
        const Count left_end = left[i].offset + left[i].count, right_end = right[j].offset + right[j].count;
        const Count first = std::max(left[i].offset, right[j].offset), last = std::min(left_end, right_end);
        result.push_back({first, last - first, Symbol::combined(left[i].symbol, right[j].symbol, commutative)});
        if (left_end == last) ++i;
        if (right_end == last) ++j;
    }
    return result;
}

}  // namespace rondo::virtual_machine
