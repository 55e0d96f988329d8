// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allgather and MPI_Allgatherv in all forms: every type, parts in any order with gaps between them, and ranks that
// describe the same data by different types.
#pragma once

#include "division_checks.hpp"
#include "moved_data.hpp"

class AllgatherChecker : public Checker {
  public:
    bool tame = false;  ///< on one rank, without displacements

    /// Where the parts go in the receive buffer.
    enum class Order { plain, shifted, gapped, backwards, none };

    /// Elements of one type on all ranks: the inputs of a problem.
    void run(const Problem& problem, MPI_Comm communicator, const Division& division) {
        const Data data = data_of(problem);
        run_orders(data, data, communicator, division);
    }

    /// So many words from each rank, twice at least. Each rank has layouts of its own for them, one to send from and
    /// one to receive into; over all shifts, every pair meets.
    void run_mixed(const std::vector<Layout>& layouts, MPI_Comm communicator, const Division& words) {
        const auto rank = static_cast<std::size_t>(rank_in(communicator));
        for (std::size_t shift = 0; shift < layouts.size(); ++shift) {
            const Layout& into = layouts[(rank * (1 + shift) + shift) % layouts.size()];
            const Layout& from = layouts[(rank + 3 * shift + 1) % layouts.size()];
            // What interlocks does not take all orders, and all ranks must make the same calls.
            const bool into_fits =
                !interlocks(into.type) && fits(into, total(words)) &&
                std::all_of(words.begin(), words.end(), [&](std::size_t count) { return fits(into, count); });
            run_orders(words_of(fits(from, words[rank]) ? from : layouts[0]), words_of(into_fits ? into : layouts[0]),
                       communicator, words);
        }
    }

    /// Data at addresses of their own: on every second rank by MPI_BOTTOM.
    void run_absolute(MPI_Comm communicator) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        const long own[2] = {7L + rank, 100L + rank};
        std::vector<long> all(2 * static_cast<std::size_t>(size), -1);
        count_call(size, all.size() * sizeof(long), 0);
        const auto absolute = [](const long* pair) {
            MPI_Aint places[2];
            MPI_Get_address(&pair[0], &places[0]);
            MPI_Get_address(&pair[1], &places[1]);
            MPI_Datatype type;
            MPI_Type_create_hindexed_block(2, 1, places, MPI_LONG, &type);
            MPI_Type_commit(&type);
            return type;
        };
        MPI_Datatype from = absolute(own);
        MPI_Datatype into = absolute(all.data());
        const bool sends = rank % 2 == 0;
        const bool receives = rank % 3 == 0;
        const int code = MPI_Allgather(sends ? MPI_BOTTOM : own, sends ? 1 : 2, sends ? from : MPI_LONG,
                                       receives ? MPI_BOTTOM : all.data(), receives ? 1 : 2, receives ? into : MPI_LONG,
                                       communicator);
        MPI_Type_free(&from);
        MPI_Type_free(&into);
        bool right = code == MPI_SUCCESS;
        for (int other = 0; other < size; ++other) {
            const auto place = 2 * static_cast<std::size_t>(other);
            right = right && all[place] == 7L + other && all[place + 1] == 100L + other;
        }
        if (!right) fail("allgather from or to MPI_BOTTOM");
    }

  private:
    using Data = MovedData;

    struct Form {
        Order order;
        bool in_place;
        bool large;
    };

    /// Each part's first element.
    static Division displacements(Order order, const Division& counts) {
        Division places(counts.size());
        std::size_t next = order == Order::plain ? 0 : 3;
        for (std::size_t step = 0; step < counts.size(); ++step) {
            const std::size_t rank = order == Order::backwards ? counts.size() - 1 - step : step;
            places[rank] = next;
            next += counts[rank] + (order == Order::gapped ? 1 + rank % 2 : 0);
        }
        return places;
    }

    void run_orders(const Data& from, const Data& into, MPI_Comm communicator, const Division& words) {
        const bool equal = std::count(words.begin(), words.end(), words[0]) == size_of(communicator);
        for (const Order order : {Order::none, Order::plain, Order::shifted, Order::gapped, Order::backwards}) {
            if (order == Order::none && !equal) continue;
            if (tame && size_of(communicator) == 1 && order != Order::none && order != Order::plain) continue;
            const bool apart = order == Order::none || order == Order::plain || order == Order::shifted;
            if (interlocks(into.type) && !apart) continue;
            for (const bool in_place : {false, true}) {
                large_ = !large_ && has_large_count;
                run_form(from, into, communicator, words, {order, in_place, large_});
            }
        }
    }

    static int call(Form form, const void* send, std::size_t send_count, MPI_Datatype send_type, void* receive,
                    const Division& counts, MPI_Datatype type, MPI_Comm communicator) {
        const Division places = displacements(form.order, counts);
#if MPI_VERSION >= 4
        if (form.large) {
            const auto count = static_cast<MPI_Count>(send_count);
            if (form.order == Order::none) {
                return MPI_Allgather_c(send, count, send_type, receive, static_cast<MPI_Count>(counts[0]), type,
                                       communicator);
            }
            return MPI_Allgatherv_c(send, count, send_type, receive, as<MPI_Count>(counts).data(),
                                    as<MPI_Aint>(places).data(), type, communicator);
        }
#endif
        const auto count = static_cast<int>(send_count);
        if (form.order == Order::none) {
            return MPI_Allgather(send, count, send_type, receive, static_cast<int>(counts[0]), type, communicator);
        }
        return MPI_Allgatherv(send, count, send_type, receive, as<int>(counts).data(), as<int>(places).data(), type,
                              communicator);
    }

    void run_form(const Data& from, const Data& into, MPI_Comm communicator, const Division& words, Form form) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        Division counts = words;
        for (std::size_t& count : counts) count /= into.words_per_element;
        const auto self = static_cast<std::size_t>(rank);
        const std::size_t send_count = words[self] / from.words_per_element;
        count_call(size, bytes_of(into.type, total(counts)), 0, true, is_even(bytes_of_parts(into.type, counts)));

        Division places = displacements(form.order == Order::none ? Order::plain : form.order, counts);
        std::size_t room = 0;
        for (std::size_t each = 0; each < counts.size(); ++each) room = std::max(room, places[each] + counts[each]);
        // No two buffers have the same pattern, so that a gap copied from anywhere shows.
        const std::byte pattern{static_cast<unsigned char>(rank)};
        Buffer send(from.type, send_count, pattern ^ std::byte{0x5A});
        Buffer receive(into.type, room, pattern ^ std::byte{0xA5});
        Buffer expected(into.type, room, pattern ^ std::byte{0xA5});
        from.fill(rank, send, 0, send_count);
        if (form.in_place) into.fill(rank, receive, places[self], counts[self]);
        for (int other = 0; other < size; ++other) {
            const auto each = static_cast<std::size_t>(other);
            into.fill(other, expected, places[each], counts[each]);
        }
        const Buffer send_before = send;
        const void* send_argument = send_count == 0 ? forbidden_page() : send.data();
        if (form.in_place) send_argument = MPI_IN_PLACE;

        const int code = call(form, send_argument, form.in_place ? 0 : send_count, from.type, receive.data(), counts,
                              into.type, communicator);

        const char* const orders[] = {"in one piece", "in one piece, shifted", "with gaps", "backwards", "plain"};
        std::string what = from.name + " to " + into.name + " allgather" + (form.order == Order::none ? "" : "v") +
                           (form.large ? "_c" : "") + ", " + orders[static_cast<int>(form.order)] +
                           (form.in_place ? ", in place" : "") + ", rank " + std::to_string(rank) + " of " +
                           std::to_string(size) + ", counts";
        for (const std::size_t each : words) what += " " + std::to_string(each);
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (send.bytes() != send_before.bytes()) fail(what + ": the send buffer changed");
        if (!receive.guards_are_intact()) fail(what + ": wrote outside of the receive buffer");
        if (!into.holds(receive, expected, room)) fail(what + ": wrong data, or bytes between them changed");
        record({static_cast<double>(total(words)), static_cast<double>(words[self])});
    }

    /// What Rondo cuts are bytes.
    static Division bytes_of_parts(MPI_Datatype type, const Division& counts) {
        Division bytes;
        for (const std::size_t count : counts) bytes.push_back(bytes_of(type, count));
        return bytes;
    }

    bool large_ = false;  // every second call
};
