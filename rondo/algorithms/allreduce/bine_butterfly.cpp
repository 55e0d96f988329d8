// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly: halving and doubling, from the nearest partner to the farthest and back, at two thirds of the
// distances. [desensi2025bine]. Long vectors; the figures are those of halving_doubling. The sums go round the circle
// of the ranks: for operators that commute.
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/patterns/halving.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::allreduce {

Schedule bine_butterfly(const Call& call) {
    Schedule both = halve_and_double(call, Halving::bine);
    co_yield steps_of(both);
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo bine_butterfly_info = {
    .collective = "allreduce",
    .name = "bine_butterfly",
    .summary = "halving and doubling with nearer partners: for long vectors on a power of two",
    .citation = "desensi2025bine",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = bine_butterfly,
};

}  // namespace rondo::allreduce
