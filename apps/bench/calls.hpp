// SPDX-License-Identifier: BSD-3-Clause
// Calls of a collective by candidates, in its forms: what is timed, and what has to be there before.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "form.hpp"
#include "plan.hpp"
#include "problem.hpp"

namespace rondo::bench {

class Calls {
  public:
    /// All of them must live longer.
    Calls(const Plan& plan, Problem& problem, MPI_Comm comm);
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;
    /// Frees the persistent requests.
    ~Calls();

    /// Has the candidate serve the next call. A persistent one gets its request the first time. Collective.
    void prepare(std::int32_t candidate, Form form);
    /// Makes the call that was prepared, or begins it.
    void begin();
    /// Waits until it is over.
    void finish();
    /// The request of the call that has begun. A blocking call has none.
    [[nodiscard]] MPI_Request& request() { return *callee_.request; }

    /// Whether Rondo left the last call to the library, though an algorithm of Rondo's was to serve it, and why.
    bool left_to_library(std::string& reason) const;

  private:
    using Starter = int (*)(MPI_Request*);
    /// A persistent call of a candidate.
    struct Persistent {
        MPI_Request request = MPI_REQUEST_NULL;
        bool left_to_library = false;
        std::string reason;
    };

    [[nodiscard]] bool is_native() const { return plan_.candidates[candidate_] == native; }
    [[nodiscard]] bool asks_left_to_library(std::string& reason) const;

    const Plan& plan_;
    Problem& problem_;
    Arguments arguments_;
    std::size_t candidate_ = 0;
    Callee callee_;
    Starter start_ = nullptr;
    MPI_Request begun_ = MPI_REQUEST_NULL;
    std::vector<Persistent> persistent_;  ///< of each candidate
};

}  // namespace rondo::bench
