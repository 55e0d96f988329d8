// SPDX-License-Identifier: BSD-3-Clause
// Contexts: which tags on the communicator of Rondo's messages a communicator of the program has.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

/// Tells the messages of one user communicator from those of others: tags on the world's communicator.
class Context {
  public:
    Context() = default;
    Context(int number, int tags, int meeting_tag) : number_(number), tags_(tags), meeting_tag_(meeting_tag) {}

    [[nodiscard]] bool exists() const { return tags_ > 0; }
    [[nodiscard]] int number() const { return number_; }
    /// The tag of the call with this number. Calls that follow one another have different tags.
    [[nodiscard]] int tag(std::uint32_t call) const { return number_ * tags_ + tag_of_call(call, tags_); }
    /// The tag of a persistent call when it is started for the `starts`-th time. `call`: its number, less than
    /// `most_persistent`.
    [[nodiscard]] int tag(std::uint32_t call, std::uint32_t starts) const {
        return number_ * tags_ + tag_of_start(call, starts, tags_);
    }
    [[nodiscard]] std::uint32_t most_persistent() const { return most_persistent_of(tags_); }

    // The number of tags is a power of two. The lower half is for calls that follow one another. Persistent calls,
    // which ranks may start in any order, have some of the upper half each: what a start that failed has left is not
    // taken for the next one's.
    static int tag_of_call(std::uint32_t call, int tags) {
        return static_cast<int>(call & (static_cast<std::uint32_t>(tags) / 2 - 1));
    }
    static int tag_of_start(std::uint32_t call, std::uint32_t starts, int tags) {
        return tags / 2 + static_cast<int>(call * tags_of_persistent + starts % tags_of_persistent);
    }
    static std::uint32_t most_persistent_of(int tags) {
        return static_cast<std::uint32_t>(tags) / 2 / tags_of_persistent;
    }
    /// The tag of the barrier messages before a call. Those from one rank to another arrive in the order in which they
    /// were sent, and as many are sent as are received: a single tag will do.
    [[nodiscard]] int meeting_tag() const { return meeting_tag_; }

  private:
    static constexpr std::uint32_t tags_of_persistent = 8;

    int number_ = 0;
    int tags_ = 0;  // a power of two; 0: there is no context
    int meeting_tag_ = 0;
};

/// Those of this process.
class Contexts {
  public:
    /// How many tags each has at most, where the library allows tags up to `largest`: a power of two.
    static int most_tags(int largest);

    /// Lends out contexts of so many tags from now on. The first is that of MPI_COMM_WORLD.
    void begin(int tags);
    void end() { is_open_ = false; }

    /// A context that no communicator with a rank in common has; none if all are taken. Collective over `comm`, where
    /// ranks wait for each other unless it is MPI_COMM_WORLD.
    Context meet(MPI_Comm comm);
    /// Adds an owner to a context, which has messages under way there. Nobody else gets it before all have given it
    /// back.
    void share(Context context);
    void give_back(Context context);

  private:
    static constexpr int words = 8, most = words * 64;
    /// Returns the contexts that this rank offers to the others: each one that is free here has a bit. While another
    /// thread takes one, the rank offers nothing, so that two cannot take the same.
    struct Offer {
        std::uint64_t is_made = 0;
        std::uint64_t free[words] = {};
        std::uint64_t padding[1024 - words - 1] = {};
    };

    [[nodiscard]] Context context(int number) const { return {number, tags_, most * tags_ + number}; }
    Offer offer();
    Context settle(const Offer& common, bool is_mine, bool success);

    bool is_open_ = false;
    bool needs_padding_ = false;  // offers are made at their full length
    int tags_ = 0;                // tags of a context
    std::mutex mutex_;            // guards the members below
    std::uint64_t free_[words] = {};
    std::array<std::uint16_t, most> owners_{};  // owners of each context, on this rank
    bool offering_ = false;
};

}  // namespace rondo::mpi
