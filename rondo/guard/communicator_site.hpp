// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rondo/backends/mpi/communicator.hpp"
#include "rondo/guard/site.hpp"

namespace rondo::guard {

/// A communicator of the program, where its ranks really are.
class CommunicatorSite final : public Site {
  public:
    /// `communicator`: the state of `comm`. Borrows it.
    CommunicatorSite(mpi::Communicator& communicator, MPI_Comm comm, bool call_waits_for_all);

    Attendance come_together(bool ready, std::span<float> times) override;
    void meet() override;
    bool agree_on(std::span<float> times) override;
    std::optional<Trial> take_up(const Trial& fresh) override;
    [[nodiscard]] bool keeps_begun() const override;
    void note(const Trial& trial) override;
    [[nodiscard]] Moment now() const override;
    [[nodiscard]] bool is_gone() const override;

  private:
    mpi::Communicator& communicator_;
    MPI_Comm comm_;
};

}  // namespace rondo::guard
