// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw in all forms: every type, parts of any lengths in any order with gaps
// between them, and ranks that describe the same data by different types.
#pragma once

#include "division_checks.hpp"
#include "user_problems.hpp"

class AlltoallChecker : public Checker {
  public:
    /// MPI_Alltoallv and MPI_Alltoallw in turn, otherwise MPI_Alltoall.
    explicit AlltoallChecker(bool parts_differ) : parts_differ_(parts_differ) {}

    /// Where the parts go in a buffer.
    enum class Order { plain, shifted, gapped, backwards };

    /// Words, or elements, from a rank to another.
    using Lengths = std::function<std::size_t(int from, int to)>;

    /// Elements of one type on all ranks: the inputs of a problem.
    void run(const Problem& problem, MPI_Comm communicator, const Lengths& lengths) {
        const auto fill = [&problem](int from, int to, Buffer& buffer, std::size_t first, std::size_t count) {
            for (std::size_t index = 0; index < count; ++index)
                problem.input(1000 * from + to, index, buffer.element(first + index));
        };
        const Data data = {problem.name, problem.type, 1, fill, problem.compare_values ? &problem : nullptr};
        run_orders(data, data, communicator, lengths);
    }

    /// Each rank has layouts of its own for the words, one to send from and one to receive into.
    void run_mixed(const std::vector<Layout>& layouts, MPI_Comm communicator, const Lengths& words) {
        const auto rank = static_cast<std::size_t>(rank_in(communicator));
        for (std::size_t shift = 0; shift < layouts.size(); ++shift) {
            const Layout& from = layouts[(rank + 3 * shift + 1) % layouts.size()];
            const Layout& into = layouts[(rank * (1 + shift) + shift) % layouts.size()];
            run_orders(words_of(fits(from, communicator, words) ? from : layouts[0]),
                       words_of(fits(into, communicator, words) ? into : layouts[0]), communicator, words);
        }
    }

    /// Up to `count` from each rank to each; only the first is for MPI_Alltoall.
    static std::vector<Lengths> lengths(int size, std::size_t count) {
        const auto few = [count](int from, int to) {
            return noise(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), 3) % (count + 1);
        };
        return {
            [count](int, int) { return count; },
            few,
            [few](int from, int to) { return (from + to) % 3 == 0 ? 0 : few(from, to); },
            [count](int from, int to) { return from == 0 || to == 0 ? count : 0; },
            [count, size](int from, int to) { return from == size - 1 && to == size / 2 ? count : 0; },
        };
    }

  private:
    struct Data {
        std::string name;
        MPI_Datatype type;
        std::size_t words_per_element;
        /// What is from one rank for another, from the element `first` on.
        std::function<void(int from, int to, Buffer& buffer, std::size_t first, std::size_t count)> fill;
        const Problem* values;  ///< to compare with; nullptr: byte by byte
    };

    struct Form {
        Order order;
        bool in_place;
        bool large;
        bool typed;  ///< MPI_Alltoallw
    };

    /// How one side is called.
    struct Side {
        Division counts, places;
        std::size_t room = 0;
    };

    /// A side as MPI_Alltoallw has it: places in bytes, and a type for each part. Some parts have half as many elements
    /// of a type of two.
    template <class Number, class Place>
    struct TypedSide {
        std::vector<Number> counts;
        std::vector<Place> places;
        std::vector<MPI_Datatype> types;
        MPI_Datatype two = MPI_DATATYPE_NULL;

        TypedSide(const Side& side, MPI_Datatype type) {
            MPI_Aint lower_bound = 0, extent = 0;
            MPI_Type_get_extent(type, &lower_bound, &extent);
            MPI_Type_contiguous(2, type, &two);
            MPI_Type_commit(&two);
            for (std::size_t rank = 0; rank < side.counts.size(); ++rank) {
                const bool by_twos = rank % 2 == 1 && side.counts[rank] % 2 == 0;
                counts.push_back(static_cast<Number>(side.counts[rank] / (by_twos ? 2 : 1)));
                places.push_back(static_cast<Place>(static_cast<MPI_Aint>(side.places[rank]) * extent));
                types.push_back(by_twos ? two : type);
#ifndef OPEN_MPI
                if (counts.back() == 0) types.back() = MPI_DATATYPE_NULL;
#endif
            }
        }
        TypedSide(const TypedSide&) = delete;
        TypedSide& operator=(const TypedSide&) = delete;
        ~TypedSide() { MPI_Type_free(&two); }
    };

    static bool fits(const Layout& layout, MPI_Comm communicator, const Lengths& words) {
        if (interlocks(layout.type)) return false;  // does not take all orders
        for (int from = 0; from < size_of(communicator); ++from) {
            for (int to = 0; to < size_of(communicator); ++to) {
                if (words(from, to) % (2 * layout.maps.size()) != 0) return false;
            }
        }
        return true;
    }

    static Data words_of(const Layout& layout) {
        const auto fill = [&layout](int from, int to, Buffer& buffer, std::size_t first, std::size_t count) {
            std::uint64_t word = 0;
            for (std::size_t index = 0; index < count; ++index) {
                for (const auto& map : layout.maps) {
                    for (const std::ptrdiff_t offset : map) {
                        store(buffer.element(first + index) + offset,
                              noise(static_cast<std::uint64_t>(from), word++, static_cast<std::uint64_t>(to)));
                    }
                }
            }
        };
        return {layout.name, layout.type, 2 * layout.maps.size(), fill, nullptr};
    }

    static Side side_of(Order order, Division counts) {
        Side side{std::move(counts), {}};
        side.places.resize(side.counts.size());
        std::size_t next = order == Order::plain ? 0 : 3;
        for (std::size_t step = 0; step < side.counts.size(); ++step) {
            const std::size_t rank = order == Order::backwards ? side.counts.size() - 1 - step : step;
            side.places[rank] = next;
            next += side.counts[rank];
            side.room = std::max(side.room, next);
            next += order == Order::gapped ? 1 + rank % 2 : 0;
        }
        return side;
    }

    void run_orders(const Data& from, const Data& into, MPI_Comm communicator, const Lengths& words) {
        constexpr Order orders[] = {Order::plain, Order::shifted, Order::gapped, Order::backwards};
        for (const bool in_place : {false, true}) {
            const Order order = parts_differ_ ? orders[turn_ % std::size(orders)] : Order::plain;
            const bool large = has_large_count && turn_ / 4 % 2 == 0;
            const bool typed = takes_types(communicator) && (is_typed_first(communicator, words) != in_place);
            run_form(from, into, communicator, words, {order, in_place, large, typed});
            ++turn_;
        }
        ++turn_;  // so that calls in place meet all of them, too
    }

    /// On one rank alone, Open MPI takes places for extents, and writes anywhere.
    bool takes_types(MPI_Comm communicator) const {
#ifdef OPEN_MPI
        if (size_of(communicator) == 1) return false;
#endif
        return parts_differ_;
    }
    /// Equal on all ranks, which have not all been in the same communicators before.
    static bool is_typed_first(MPI_Comm communicator, const Lengths& words) {
        const int size = size_of(communicator);
        return noise(words(0, size - 1), words(size / 2, 0), static_cast<std::uint64_t>(size)) % 2 == 0;
    }

    int call_typed(Form form, const void* send, const Side& sent, MPI_Datatype send_type, void* receive,
                   const Side& received, MPI_Datatype type, MPI_Comm communicator) const {
        const bool has_counts = !form.in_place;  // else they mean nothing
#if MPI_VERSION >= 4
        if (form.large) {
            const TypedSide<MPI_Count, MPI_Aint> from(sent, send_type), into(received, type);
            return MPI_Alltoallw_c(send, has_counts ? from.counts.data() : nullptr,
                                   has_counts ? from.places.data() : nullptr, has_counts ? from.types.data() : nullptr,
                                   receive, into.counts.data(), into.places.data(), into.types.data(), communicator);
        }
#endif
        const TypedSide<int, int> from(sent, send_type), into(received, type);
        return MPI_Alltoallw(send, has_counts ? from.counts.data() : nullptr, has_counts ? from.places.data() : nullptr,
                             has_counts ? from.types.data() : nullptr, receive, into.counts.data(), into.places.data(),
                             into.types.data(), communicator);
    }

    int call(Form form, const void* send, const Side& sent, MPI_Datatype send_type, void* receive, const Side& received,
             MPI_Datatype type, MPI_Comm communicator) const {
        if (form.typed) return call_typed(form, send, sent, send_type, receive, received, type, communicator);
        const bool has_counts = !form.in_place;  // else they mean nothing
        const std::size_t send_count = has_counts ? sent.counts[0] : 0;
        if (form.in_place) send_type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
        if (form.large) {
            if (!parts_differ_) {
                return MPI_Alltoall_c(send, static_cast<MPI_Count>(send_count), send_type, receive,
                                      static_cast<MPI_Count>(received.counts[0]), type, communicator);
            }
            return MPI_Alltoallv_c(send, has_counts ? as<MPI_Count>(sent.counts).data() : nullptr,
                                   has_counts ? as<MPI_Aint>(sent.places).data() : nullptr, send_type, receive,
                                   as<MPI_Count>(received.counts).data(), as<MPI_Aint>(received.places).data(), type,
                                   communicator);
        }
#endif
        if (!parts_differ_) {
            return MPI_Alltoall(send, static_cast<int>(send_count), send_type, receive,
                                static_cast<int>(received.counts[0]), type, communicator);
        }
        return MPI_Alltoallv(send, has_counts ? as<int>(sent.counts).data() : nullptr,
                             has_counts ? as<int>(sent.places).data() : nullptr, send_type, receive,
                             as<int>(received.counts).data(), as<int>(received.places).data(), type, communicator);
    }

    void run_form(const Data& from, const Data& into, MPI_Comm communicator, const Lengths& words, Form form) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        // In place, two ranks have as much for each other.
        const auto length = [&](int sender, int receiver) {
            if (form.in_place && sender > receiver) std::swap(sender, receiver);
            return words(sender, receiver);
        };
        Division out;
        Division in;
        for (int other = 0; other < size; ++other) {
            out.push_back(length(rank, other) / from.words_per_element);
            in.push_back(length(other, rank) / into.words_per_element);
        }
        const Side sent = side_of(parts_differ_ ? next_order(form.order) : form.order, out);
        const Side received = side_of(form.order, in);
        count_call(size, bytes_of(into.type, total(received.counts)), 0);

        // No two buffers have the same pattern, so that a gap copied from anywhere shows.
        const std::byte pattern{static_cast<unsigned char>(rank)};
        Buffer send(from.type, sent.room, pattern ^ std::byte{0x5A});
        Buffer receive(into.type, received.room, pattern ^ std::byte{0xA5});
        Buffer expected(into.type, received.room, pattern ^ std::byte{0xA5});
        for (int other = 0; other < size; ++other) {
            const auto each = static_cast<std::size_t>(other);
            from.fill(rank, other, send, sent.places[each], sent.counts[each]);
            if (form.in_place) into.fill(rank, other, receive, received.places[each], received.counts[each]);
            into.fill(other, rank, expected, received.places[each], received.counts[each]);
        }
        const Buffer send_before = send;
        const void* send_argument = total(sent.counts) == 0 ? forbidden_page() : send.data();
        if (form.in_place) send_argument = MPI_IN_PLACE;

        const int code = call(form, send_argument, sent, from.type, receive.data(), received, into.type, communicator);

        const char* const orders[] = {"in one piece", "in one piece, shifted", "with gaps", "backwards"};
        std::string what = from.name + " to " + into.name + " alltoall" +
                           (form.typed      ? "w"
                            : parts_differ_ ? "v"
                                            : "") +
                           (form.large ? "_c" : "") + ", " + orders[static_cast<int>(form.order)] +
                           (form.in_place ? ", in place" : "") + ", rank " + std::to_string(rank) + " of " +
                           std::to_string(size) + ", counts";
        for (const std::size_t each : received.counts) what += " " + std::to_string(each);
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (send.bytes() != send_before.bytes()) fail(what + ": the send buffer changed");
        if (!receive.guards_are_intact()) fail(what + ": wrote outside of the receive buffer");
        for (std::size_t index = 0; into.values != nullptr && index < received.room; ++index) {
            if (into.values->values(receive.element(index)) != into.values->values(expected.element(index))) break;
            copy_element(into.type, expected.element(index), receive.element(index));
        }
        if (receive.bytes() != expected.bytes()) fail(what + ": wrong data, or bytes between them changed");
        record({static_cast<double>(total(out)), static_cast<double>(total(in))});
    }

    static Order next_order(Order order) {
        switch (order) {
            case Order::plain: return Order::shifted;
            case Order::shifted: return Order::plain;
            case Order::gapped: return Order::backwards;
            default: return Order::gapped;
        }
    }

    bool parts_differ_;
    std::size_t turn_ = 0;  // each call takes another order than the one before it
};
