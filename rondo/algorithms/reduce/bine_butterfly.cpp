// SPDX-License-Identifier: BSD-3-Clause
// Bine butterfly: halving from the nearest partner to the farthest, then the root gathers the parts the same way back,
// at two thirds of the distances of halving_doubling, whose figures it has. [desensi2025bine]. Long vectors. The sums
// go round the circle of the ranks: for operators that commute.
#include "rondo/algorithms/patterns/halving.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/requirements.hpp"

namespace rondo::reduce {

Schedule bine_butterfly(const Call& call) {
    Schedule both = halve_and_gather(call, Halving::bine);
    co_yield steps_of(both);
}

constexpr Requirement requirements[] = {commutative_requirement};

const AlgorithmInfo bine_butterfly_info = {
    .collective = "reduce",
    .name = "bine_butterfly",
    .summary = "halving with nearer partners, then a gather: for long vectors",
    .citation = "desensi2025bine",
    .requirements = requirements,
    .tolerates_in_place = true,
    .schedule = bine_butterfly,
};

}  // namespace rondo::reduce
