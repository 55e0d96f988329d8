// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a communicator tell each other their totals. Kept with the communicator, as an attribute.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rondo/backends/mpi/operation.hpp"
#include "rondo/prefix/guidance.hpp"
#include "rondo/prefix/total.hpp"

namespace rondo::prefix {

/// One exchange is under way at a time.
class Exchange {
  public:
    /// That of a communicator. The first call is collective: it makes a communicator for messages. Returns what is
    /// wrong, which the library has told the communicator's error handler if `told`.
    static Failure of(MPI_Comm comm, const Guidance& guidance, Exchange*& found, bool& told);

    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    [[nodiscard]] Rank rank() const { return rank_; }
    [[nodiscard]] Rank size() const { return size_; }
    [[nodiscard]] bool is_last() const { return rank_ + 1 == size_; }
    /// Rondo's own, for its ranks.
    [[nodiscard]] MPI_Comm messages() const { return messages_; }
    /// False if ranks were given different instructions, of which none holds then.
    [[nodiscard]] bool agreed() const { return agreed_; }

    /// Begins an exclusive scan of the totals. All arguments are borrowed until `progress` has returned true. Throws
    /// what a plan throws, and then nothing has begun.
    void start_scan(const char* own, char* before, const TotalCombiner& combiner, bool commutative,
                    const Guidance& guidance);
    /// Begins to give the last rank's total to all others, in place. Throws what a plan throws, and then nothing has
    /// begun.
    void start_broadcast(char* total, std::size_t bytes);
    /// How many scans have begun. Of each, the tag of the broadcast behind it is known, whether that takes place or
    /// not: a rank that fails in between can be understood in the next call.
    [[nodiscard]] std::uint32_t calls() const { return calls_; }
    /// Of the last scan's totals; 0 before the first.
    [[nodiscard]] std::size_t bytes() const { return scan_.bytes; }
    /// Gives back memory that is held for the case that there is no more: enough to tell the others.
    void release_reserve() { reserve_.reset(); }
    /// True when it is over. `may_wait`: until then.
    bool progress(bool may_wait);
    /// MPI_SUCCESS, or what went wrong with a message.
    [[nodiscard]] int error() const { return operation_.error(); }

  private:
    Exchange() = default;
    int set_up(MPI_Comm comm, const Guidance& guidance);
    int describe_message(std::size_t bytes);
    void start(const Plan& plan, std::uint32_t tag);

    /// The last scan's: the next one is likely to be like it.
    struct Planned {
        std::size_t bytes = 0;
        bool commutative = false;
        std::shared_ptr<const Plan> plan;
    };

    MPI_Comm messages_{};
    Rank rank_ = 0, size_ = 1;
    std::vector<Rank> ranks_;
    bool agreed_ = true;
    std::uint32_t calls_ = 0;
    mpi::Route route_{};
    mpi::Datatype message_;  // of one total
    bool has_message_type_ = false;
    Planned scan_, broadcast_;
    mpi::Reduction reduction_;
    mpi::Operation operation_;
    std::unique_ptr<mpi::Operands> operands_;
    const Plan* plan_ = nullptr;  // under way
    std::unique_ptr<char[]> reserve_;
};

/// Makes the attribute key, once. False if the library refuses.
bool prepare_exchanges();
/// In MPI_Finalize: gives it back, and what is kept with MPI_COMM_WORLD, which not every library deletes in time. No
/// exchange is asked for from now on.
void end_exchanges();

}  // namespace rondo::prefix
