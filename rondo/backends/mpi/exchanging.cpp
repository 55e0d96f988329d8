// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/exchanging.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rondo/backends/mpi/device_memory.hpp"

namespace rondo::mpi {
namespace {

constexpr Count piece_bytes = Count{1} << 30;

}  // namespace

ExchangedParts::ExchangedParts(const PlacedParts& parts, Rank still)
    : parts_(parts), still_(still), plain_(are_plain()), direct_(plain_), first_(parts.buffer) {
    if (!parts.displacements.is_argument()) {
        bytes_ = bytes_of(0) * parts.counts.size();
    } else {
        bool found = false;
        Count lowest = 0;
        for (Rank rank = 0; rank < parts.counts.size(); ++rank) {
            if (count_of(rank) == 0) continue;
            const Count offset = parts.offset(rank);
            lowest = found ? std::min(lowest, offset) : offset;
            found = true;
            bytes_ += bytes_of(rank);
        }
        first_ = beyond(first_, lowest);
    }
    if (on_device(first_)) direct_ = false;
}

bool ExchangedParts::are_plain() const {
    if (parts_.types.empty()) return lies_as_packed(parts_.type);
    for (Rank rank = 0; rank < parts_.counts.size(); ++rank) {
        if (count_of(rank) > 0 && !is_plain(rank)) return false;
    }
    return true;
}

bool ExchangedParts::overlap() const {
    if (!direct_ || !parts_.displacements.is_argument()) return false;
    // Most parts stand in the order of their ranks.
    bool in_order = true;
    Count end = 0;
    visit([&](Count first, Count bytes) {
        if (bytes == 0) return;
        in_order = in_order && first >= end;
        end = first + bytes;
    });
    if (in_order) return false;
    try {
        std::vector<std::pair<Count, Count>> places;
        visit([&](Count first, Count bytes) {
            if (bytes > 0) places.emplace_back(first, first + bytes);
        });
        std::ranges::sort(places);
        const auto overlapping = [](const auto& one, const auto& next) { return next.first < one.second; };
        return std::ranges::adjacent_find(places, overlapping) != places.end();
    } catch (const std::bad_alloc&) {
        return true;  // unknown: they may overlap
    }
}

template <class Move>
int ExchangedParts::for_each_piece(Move&& move) const {
    Count packed = 0;
    for (Rank rank = 0; rank < parts_.counts.size(); ++rank) {
        const Count count = count_of(rank);
        if (count == 0) continue;
        const UserData part = parts_[rank];
        const bool plain = is_plain(rank);
        const Count most = std::max<Count>(1, piece_bytes / part.type.size);
        for (Count done = 0; done < count;) {
            const Count piece = std::min(most, count - done);
            // Beyond MPI_BOTTOM, data are recognised only by a buffer that starts there.
            char* const start = beyond(part.buffer, done * part.type.extent);
            const UserData data{start, piece, part.type};
            if (const int error = move(data, plain, packed); error != MPI_SUCCESS) return error;
            packed += data.bytes();
            done += piece;
        }
    }
    return MPI_SUCCESS;
}

int ExchangedParts::enter(char* at, MPI_Comm comm) const {
    if (direct_) return MPI_SUCCESS;
    return for_each_piece(
        [&](const UserData& data, bool plain, Count packed) { return pack(data, plain, at + packed, comm); });
}

int ExchangedParts::leave(const char* at, MPI_Comm comm) const {
    if (direct_) return MPI_SUCCESS;
    return for_each_piece(
        [&](const UserData& data, bool plain, Count packed) { return unpack(at + packed, data, plain, comm); });
}

std::vector<Count> Exchanging::places() const {
    std::vector<Count> places;
    const auto add = [&](Count first, Count bytes) {
        places.push_back(first);
        places.push_back(bytes);
    };
    outgoing_.visit(add);
    places.insert(places.begin(), static_cast<Count>(places.size() / 2));
    incoming_.visit(add);
    return places;
}

bool Exchanging::has_places(std::span<const Count> places) const {
    std::size_t at = 1;
    bool equal = true;
    const auto compare = [&](Count first, Count bytes) {
        equal = equal && at + 1 < places.size() && places[at] == first && places[at + 1] == bytes;
        at += 2;
    };
    outgoing_.visit(compare);
    incoming_.visit(compare);
    return equal && at == places.size();
}

std::uint32_t Exchanging::hash_of_places() const {
    std::uint64_t hash = 0x9E3779B97F4A7C15U;
    const auto add = [&](Count first, Count bytes) {
        for (const Count number : {first, bytes}) {
            hash = (hash ^ static_cast<std::uint64_t>(number)) * 0xBF58476D1CE4E5B9U;
            hash ^= hash >> 29;
        }
    };
    outgoing_.visit(add);
    incoming_.visit(add);
    return static_cast<std::uint32_t>(hash) | 1U;
}

}  // namespace rondo::mpi
