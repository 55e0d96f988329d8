// SPDX-License-Identifier: BSD-3-Clause
// MPI_Bcast in all its forms: every type, and ranks that describe the same data by different types.
#pragma once

#include "checker.hpp"
#include "user_problems.hpp"

class BcastChecker : public Checker {
  public:
    /// Elements of one type on all ranks: the problem's input of the root.
    void run(const Problem& problem, MPI_Comm communicator, std::size_t count) {
        const int root = next_root(size_of(communicator));
        const auto fill = [&](Buffer& buffer) {
            for (std::size_t index = 0; index < count; ++index) problem.input(root, index, buffer.element(index));
        };
        const auto same = [&](Buffer& found, Buffer& expected) {
            for (std::size_t index = 0; problem.compare_values && index < count; ++index) {
                if (problem.values(found.element(index)) != problem.values(expected.element(index))) return false;
                copy_element(problem.type, expected.element(index), found.element(index));
            }
            return found.bytes() == expected.bytes();
        };
        broadcast({problem.name, problem.type, count, fill, same}, communicator, root);
        Buffer result(problem.type, count, std::byte{0});
        fill(result);
        for (std::size_t index = 0; index < count; ++index) record(problem.values(result.element(index)));
    }

    /// So many words in all. Each rank has a layout of its own for them; over all shifts, every pair of layouts meets.
    void run_mixed(const std::vector<Layout>& layouts, MPI_Comm communicator, std::size_t words, int root) {
        const int rank = rank_in(communicator);
        for (std::size_t shift = 0; shift < layouts.size(); ++shift) {
            const std::size_t choice = static_cast<std::size_t>(rank) * (1 + shift) + shift;
            const Layout& layout = layouts[choice % layouts.size()];
            const std::size_t words_per_element = 2 * layout.maps.size();
            const std::size_t count = words / words_per_element;
            const bool interlocks = layout.name == "interlocked";
            if (words % words_per_element != 0 || (interlocks && count > most_interlocked)) {
                broadcast(words_of(layouts[0], words / 2, root), communicator, root);
            } else {
                broadcast(words_of(layout, count, root), communicator, root);
            }
        }
    }

    /// Data at addresses of their own: on every second rank by MPI_BOTTOM.
    void run_absolute(MPI_Comm communicator, int root) {
        const int rank = rank_in(communicator);
        long parts[2] = {rank == root ? 7L + root : -1, rank == root ? 100L + root : -1};
        count_call(size_of(communicator), sizeof parts, root);
        int code = MPI_SUCCESS;
        if (rank % 2 == 0) {
            code = MPI_Bcast(parts, 2, MPI_LONG, root, communicator);
        } else {
            MPI_Aint places[2];
            MPI_Get_address(&parts[0], &places[0]);
            MPI_Get_address(&parts[1], &places[1]);
            MPI_Datatype absolute;
            MPI_Type_create_hindexed_block(2, 1, places, MPI_LONG, &absolute);
            MPI_Type_commit(&absolute);
            code = MPI_Bcast(MPI_BOTTOM, 1, absolute, root, communicator);
            MPI_Type_free(&absolute);
        }
        if (code != MPI_SUCCESS || parts[0] != 7L + root || parts[1] != 100L + root) fail("bcast from MPI_BOTTOM");
    }

    /// Up to so many elements of the interlocked layout have no word in common.
    static constexpr std::size_t most_interlocked = 32;

  private:
    struct Data {
        std::string name;
        MPI_Datatype type;
        std::size_t count;
        std::function<void(Buffer&)> fill;
        std::function<bool(Buffer& found, Buffer& expected)> same;
    };

    static Data words_of(const Layout& layout, std::size_t count, int root) {
        const auto fill = [&layout, count, root](Buffer& buffer) {
            std::uint64_t word = 0;
            for (std::size_t index = 0; index < count; ++index) {
                for (const auto& map : layout.maps) {
                    for (const std::ptrdiff_t offset : map) {
                        store(buffer.element(index) + offset, noise(static_cast<std::uint64_t>(root), word++, 7));
                    }
                }
            }
        };
        return {layout.name, layout.type, count, fill,
                [](Buffer& found, Buffer& expected) { return found.bytes() == expected.bytes(); }};
    }

    static int call(bool large, void* buffer, const Data& data, int root, MPI_Comm communicator) {
#if MPI_VERSION >= 4
        if (large) return MPI_Bcast_c(buffer, static_cast<MPI_Count>(data.count), data.type, root, communicator);
#endif
        return MPI_Bcast(buffer, static_cast<int>(data.count), data.type, root, communicator);
    }

    void broadcast(const Data& data, MPI_Comm communicator, int root) {
        for (const bool large : {false, true}) {
            if (!large || has_large_count) broadcast(data, communicator, root, large);
        }
    }

    void broadcast(const Data& data, MPI_Comm communicator, int root, bool large) {
        const int rank = rank_in(communicator);
        const int size = size_of(communicator);
        count_call(size, bytes_of(data.type, data.count), root);
        // No two ranks have the same pattern, so that a gap copied from anywhere shows.
        const std::byte pattern = std::byte{static_cast<unsigned char>(rank)} ^ std::byte{0xA5};
        Buffer buffer(data.type, data.count, pattern);
        Buffer expected(data.type, data.count, pattern);
        if (rank == root) data.fill(buffer);
        data.fill(expected);

        const int code = call(large, buffer.data(), data, root, communicator);

        const std::string what = data.name + " bcast" + (large ? "_c" : "") + ", count " + std::to_string(data.count) +
                                 ", rank " + std::to_string(rank) + " of " + std::to_string(size) + ", root " +
                                 std::to_string(root);
        if (code != MPI_SUCCESS) fail(what + ": error code " + std::to_string(code));
        if (!buffer.guards_are_intact()) fail(what + ": wrote outside of the buffer");
        if (!data.same(buffer, expected)) fail(what + ": wrong data, or bytes between the elements changed");
    }
};
