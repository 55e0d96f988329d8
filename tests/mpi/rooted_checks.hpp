// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scatter, MPI_Scatterv, MPI_Gather and MPI_Gatherv in all forms: every type and root, parts with gaps between
// them, and ranks that describe the same data by different types. What means nothing on a rank is nonsense there.
#pragma once

#include "division_checks.hpp"
#include "moved_data.hpp"

class RootedChecker : public Checker {
  public:
    bool scatters = false;
    bool parts_differ = false;  ///< MPI_Scatterv and MPI_Gatherv, otherwise the functions with one count

    /// Elements of one type on all ranks.
    void run(const Problem& problem, MPI_Comm communicator, const Division& division) {
        run_forms(data_of(problem), data_of(problem), communicator, division);
    }

    /// The same, as many for each rank.
    void run_equal(const Problem& problem, MPI_Comm communicator, std::size_t count) {
        run(problem, communicator, Division(static_cast<std::size_t>(size_of(communicator)), count));
    }

    /// So many words for each rank. Each describes its part by a layout of its own, and so does the root all of them;
    /// over all shifts, every pair meets.
    void run_mixed(const std::vector<Layout>& layouts, MPI_Comm communicator, const Division& words) {
        const auto rank = static_cast<std::size_t>(rank_in(communicator));
        for (std::size_t shift = 0; shift < layouts.size(); ++shift) {
            const Layout& of_whole = layouts[shift];
            const Layout& of_part = layouts[(rank + 3 * shift + 1) % layouts.size()];
            const bool whole_fits =
                !interlocks(of_whole.type) && fits(of_whole, total(words)) &&
                std::all_of(words.begin(), words.end(), [&](std::size_t count) { return fits(of_whole, count); });
            run_forms(words_of(whole_fits ? of_whole : layouts[0]),
                      words_of(fits(of_part, words[rank]) ? of_part : layouts[0]), communicator, words);
        }
    }

    /// Data at addresses of their own: the root's by MPI_BOTTOM.
    void run_absolute(MPI_Comm communicator) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        const auto ranks = static_cast<std::size_t>(size);
        const int root = next_root(size);
        std::vector<long> all(ranks, -1);
        long own = scatters ? -1 : 100L + rank;
        for (std::size_t each = 0; scatters && each < ranks; ++each) all[each] = 100L + static_cast<long>(each);
        count_call(size, all.size() * sizeof(long), root);
        MPI_Aint place = 0;
        MPI_Get_address(all.data(), &place);
        MPI_Datatype at_place;
        MPI_Type_create_hindexed_block(1, 1, &place, MPI_LONG, &at_place);
        MPI_Datatype absolute;
        MPI_Type_create_resized(at_place, 0, sizeof(long), &absolute);
        MPI_Type_commit(&absolute);
        const std::vector<int> counts(ranks, 1);
        std::vector<int> places(ranks);
        std::iota(places.begin(), places.end(), 0);
        int code = MPI_SUCCESS;
        if (parts_differ && scatters)
            code =
                MPI_Scatterv(MPI_BOTTOM, counts.data(), places.data(), absolute, &own, 1, MPI_LONG, root, communicator);
        else if (parts_differ)
            code =
                MPI_Gatherv(&own, 1, MPI_LONG, MPI_BOTTOM, counts.data(), places.data(), absolute, root, communicator);
        else if (scatters) code = MPI_Scatter(MPI_BOTTOM, 1, absolute, &own, 1, MPI_LONG, root, communicator);
        else code = MPI_Gather(&own, 1, MPI_LONG, MPI_BOTTOM, 1, absolute, root, communicator);
        MPI_Type_free(&absolute);
        MPI_Type_free(&at_place);
        bool right = code == MPI_SUCCESS && own == 100L + rank;
        for (std::size_t each = 0; rank == root && each < ranks; ++each) {
            right = right && all[each] == 100L + static_cast<long>(each);
        }
        if (!right) fail(name() + " from or to MPI_BOTTOM");
    }

  private:
    using Data = MovedData;

    struct Form {
        int root;
        bool in_place;
        bool large;
    };

    /// What one rank passes for the whole vector, or for its part.
    struct Side {
        void* buffer;
        std::size_t count;
        MPI_Datatype type;
    };

    [[nodiscard]] std::string name() const { return scatters ? "scatter" : "gather"; }

    void run_forms(const Data& whole, const Data& part, MPI_Comm communicator, const Division& words) {
        const bool equal = std::count(words.begin(), words.end(), words[0]) == size_of(communicator);
        if (parts_differ ? interlocks(whole.type) : !equal) return;
        const int root = next_root(size_of(communicator));
        for (const bool in_place : {false, true}) {
            large_ = !large_ && has_large_count;
            run_form(whole, part, communicator, words, {root, in_place, large_});
        }
        large_ = !large_;  // so that both forms meet both places
    }

    /// Backwards, with gaps: a part's place is no other's.
    static Division places(const Division& counts, bool with_counts) {
        Division first(counts.size());
        std::size_t next = with_counts ? 2 : 0;
        for (std::size_t step = 0; step < counts.size(); ++step) {
            const std::size_t rank = with_counts ? counts.size() - 1 - step : step;
            first[rank] = next;
            next += counts[rank] + (with_counts ? 1 + rank % 2 : 0);
        }
        return first;
    }

    template <class Count, class Displacement>
    struct Arrays {
        std::vector<Count> counts;
        std::vector<Displacement> displacements;
        bool mean_something;

        Arrays(const Division& each, bool is_root)
            : counts(as<Count>(each)), displacements(as<Displacement>(places(each, true))), mean_something(is_root) {}
        [[nodiscard]] const Count* count() const { return mean_something ? counts.data() : nullptr; }
        [[nodiscard]] const Displacement* place() const { return mean_something ? displacements.data() : nullptr; }
    };

    int call(const Form& form, const Side& whole, const Division& counts, const Side& part,
             MPI_Comm communicator) const {
        const bool is_root = rank_in(communicator) == form.root;
#if MPI_VERSION >= 4
        if (form.large) {
            const Arrays<MPI_Count, MPI_Aint> arrays(counts, is_root);
            const auto part_count = static_cast<MPI_Count>(part.count);
            const auto whole_count = static_cast<MPI_Count>(whole.count);
            if (scatters && parts_differ)
                return MPI_Scatterv_c(whole.buffer, arrays.count(), arrays.place(), whole.type, part.buffer, part_count,
                                      part.type, form.root, communicator);
            if (scatters)
                return MPI_Scatter_c(whole.buffer, whole_count, whole.type, part.buffer, part_count, part.type,
                                     form.root, communicator);
            if (parts_differ)
                return MPI_Gatherv_c(part.buffer, part_count, part.type, whole.buffer, arrays.count(), arrays.place(),
                                     whole.type, form.root, communicator);
            return MPI_Gather_c(part.buffer, part_count, part.type, whole.buffer, whole_count, whole.type, form.root,
                                communicator);
        }
#endif
        const Arrays<int, int> arrays(counts, is_root);
        const auto part_count = static_cast<int>(part.count);
        const auto whole_count = static_cast<int>(whole.count);
        if (scatters && parts_differ)
            return MPI_Scatterv(whole.buffer, arrays.count(), arrays.place(), whole.type, part.buffer, part_count,
                                part.type, form.root, communicator);
        if (scatters)
            return MPI_Scatter(whole.buffer, whole_count, whole.type, part.buffer, part_count, part.type, form.root,
                               communicator);
        if (parts_differ)
            return MPI_Gatherv(part.buffer, part_count, part.type, whole.buffer, arrays.count(), arrays.place(),
                               whole.type, form.root, communicator);
        return MPI_Gather(part.buffer, part_count, part.type, whole.buffer, whole_count, whole.type, form.root,
                          communicator);
    }

    void run_form(const Data& whole, const Data& part, MPI_Comm communicator, const Division& words, const Form& form) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        const auto self = static_cast<std::size_t>(rank);
        const bool is_root = rank == form.root;
        const bool in_place = form.in_place && is_root;
        Division counts = words;
        for (std::size_t& count : counts) count /= whole.words_per_element;
        const std::size_t part_count = words[self] / part.words_per_element;
        count_call(size, bytes_of(whole.type, total(counts)), form.root);

        const Division first = places(counts, parts_differ);
        std::size_t room = 0;
        for (std::size_t each = 0; is_root && each < counts.size(); ++each) {
            room = std::max(room, first[each] + counts[each]);
        }
        // No two buffers have the same pattern, so that a gap copied from anywhere shows.
        const std::byte pattern{static_cast<unsigned char>(rank)};
        Buffer own(part.type, part_count, pattern ^ std::byte{0x5A});
        Buffer all(whole.type, room, pattern ^ std::byte{0xA5});
        Buffer expected_own = own;
        Buffer expected_all = all;
        part.fill(rank, scatters ? expected_own : own, 0, part_count);
        for (int other = 0; is_root && other < size; ++other) {
            const auto each = static_cast<std::size_t>(other);
            whole.fill(other, expected_all, first[each], counts[each]);
            if (scatters || (in_place && other == rank)) whole.fill(other, all, first[each], counts[each]);
        }
        if (!scatters || in_place) expected_own = own;

        const Side nothing = {forbidden_page(), 7, MPI_DATATYPE_NULL};
        const Side stands = {MPI_IN_PLACE, 7, MPI_DATATYPE_NULL};
        const Side part_side = {part_count == 0 ? forbidden_page() : own.data(), part_count, part.type};
        const int code = call(form, is_root ? Side{all.data(), counts[0], whole.type} : nothing, counts,
                              in_place ? stands : part_side, communicator);

        const std::string what = whole.name + " and " + part.name + " " + name() + (parts_differ ? "v" : "") +
                                 (form.large ? "_c" : "") + (form.in_place ? ", in place" : "") + ", root " +
                                 std::to_string(form.root) + ", rank " + std::to_string(rank) + " of " +
                                 std::to_string(size) + ", " + std::to_string(words[self]) + " words";
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (!own.guards_are_intact() || !all.guards_are_intact()) fail(what + ": wrote outside of the buffers");
        if (!part.holds(own, expected_own, part_count)) fail(what + ": wrong part");
        if (!whole.holds(all, expected_all, room)) fail(what + ": wrong vector, or bytes between its parts changed");
        record({static_cast<double>(total(words)), static_cast<double>(words[self])});
    }

    bool large_ = false;  // every second call
};
