// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/unread_pieces.hpp"

namespace rondo::shared_memory {
namespace {

constexpr int most_of_one_tag = 8;
/// Those of earlier tags, too. Pieces of calls that failed are never read.
constexpr int most_of_all_tags = 16;

}  // namespace

void UnreadPieces::add(std::uint64_t parcel, int neighbour, std::uint32_t tag) {
    ParcelHead& head = parcels_.head(parcel);
    head.neighbour = neighbour;
    head.tag = tag;
    head.next = first_;
    first_ = parcel;
}

UnreadPieces::Form UnreadPieces::next_form(int neighbour, std::uint32_t tag) {
    int of_this_tag = 0, of_all_tags = 0;
    for (std::uint64_t* link = &first_; *link != 0;) {
        const std::uint64_t parcel = *link;
        ParcelHead& head = parcels_.head(parcel);
        if (head.neighbour == neighbour && is_read(head.read)) {
            *link = head.next;
            parcels_.give_back(parcel);
            continue;
        }
        of_all_tags += head.neighbour == neighbour ? 1 : 0;
        of_this_tag += head.neighbour == neighbour && head.tag == tag ? 1 : 0;
        link = &head.next;
    }
    if (of_this_tag >= most_of_one_tag) return Form::none;
    if (of_all_tags < most_of_all_tags) return Form::piece;
    return of_this_tag > 0 ? Form::none : Form::lines;
}

void UnreadPieces::leave() {
    while (first_ != 0) {
        const std::uint64_t parcel = first_;
        first_ = parcels_.head(parcel).next;
        parcels_.leave(parcel);
    }
}

}  // namespace rondo::shared_memory
