// SPDX-License-Identifier: BSD-3-Clause
// The functions of MPI that Rondo wraps, one line each. Everything that has to know all of them is made from here: the
// exported symbols (the build reads the names, too), what serves them, and the pointers to the library's own.
#pragma once

// function; its collective; the arguments that it takes; where its output means something.
// A name for each, as in the MPI standard. The forms with large counts (_c) go along, where the ABI has them.
#define RONDO_WRAPPED_FUNCTIONS(FUNCTION)                                \
    FUNCTION(Allgather, allgather, GATHERING, everywhere)                \
    FUNCTION(Allgatherv, allgather, GATHERING_PARTS, everywhere)         \
    FUNCTION(Allreduce, allreduce, REDUCING, everywhere)                 \
    FUNCTION(Alltoall, alltoall, EXCHANGING, everywhere)                 \
    FUNCTION(Alltoallv, alltoallv, EXCHANGING_PARTS, everywhere)         \
    FUNCTION(Bcast, bcast, MOVING, is_the_input)                         \
    FUNCTION(Exscan, exscan, REDUCING, after_rank_0)                     \
    FUNCTION(Gather, gather, GATHERING_TO_A_ROOT, at_the_root)           \
    FUNCTION(Gatherv, gatherv, GATHERING_PARTS_TO_A_ROOT, at_the_root)   \
    FUNCTION(Reduce, reduce, REDUCING_TO_A_ROOT, at_the_root)            \
    FUNCTION(Reduce_scatter, reduce_scatter, REDUCING_PARTS, everywhere) \
    FUNCTION(Reduce_scatter_block, reduce_scatter, REDUCING, everywhere) \
    FUNCTION(Scan, scan, REDUCING, everywhere)                           \
    FUNCTION(Scatter, scatter, SCATTERING, everywhere)                   \
    FUNCTION(Scatterv, scatterv, SCATTERING_PARTS, everywhere)

// Those without a count, which have no such forms.
#define RONDO_FUNCTIONS_WITHOUT_COUNT(FUNCTION) FUNCTION(Barrier, barrier, MEETING, everywhere)

// Wrapped, too, by code of their own.
#define RONDO_STARTING_FUNCTIONS(FUNCTION) \
    FUNCTION(Init)                         \
    FUNCTION(Init_thread)

// The arguments in their order. `counts` and `displacements` are arrays with a number for each rank, as `input_counts`
// and `input_displacements`; without `counts`, each rank's part has `count` elements where the vector has parts. They,
// and `datatype`, are of the whole vector where a part has its own (`part_count`, `part_type`): of a scatter or gather,
// which looks at them on the root alone. `buffer` is input and output.
#define RONDO_MEETING(EACH) EACH(comm)
#define RONDO_MOVING(EACH) EACH(buffer), EACH(count), EACH(datatype), EACH(root), EACH(comm)
#define RONDO_REDUCING(EACH) EACH(input), EACH(output), EACH(count), EACH(datatype), EACH(op), EACH(comm)
#define RONDO_REDUCING_TO_A_ROOT(EACH) \
    EACH(input), EACH(output), EACH(count), EACH(datatype), EACH(op), EACH(root), EACH(comm)
#define RONDO_REDUCING_PARTS(EACH) EACH(input), EACH(output), EACH(counts), EACH(datatype), EACH(op), EACH(comm)
#define RONDO_GATHERING(EACH) \
    EACH(input), EACH(input_count), EACH(input_type), EACH(output), EACH(count), EACH(datatype), EACH(comm)
#define RONDO_GATHERING_PARTS(EACH)                                                                                    \
    EACH(input), EACH(input_count), EACH(input_type), EACH(output), EACH(counts), EACH(displacements), EACH(datatype), \
        EACH(comm)
#define RONDO_EXCHANGING(EACH) RONDO_GATHERING(EACH)
#define RONDO_EXCHANGING_PARTS(EACH)                                                                          \
    EACH(input), EACH(input_counts), EACH(input_displacements), EACH(input_type), EACH(output), EACH(counts), \
        EACH(displacements), EACH(datatype), EACH(comm)
#define RONDO_GATHERING_TO_A_ROOT(EACH) \
    EACH(input), EACH(part_count), EACH(part_type), EACH(output), EACH(count), EACH(datatype), EACH(root), EACH(comm)
#define RONDO_GATHERING_PARTS_TO_A_ROOT(EACH)                                                                        \
    EACH(input), EACH(part_count), EACH(part_type), EACH(output), EACH(counts), EACH(displacements), EACH(datatype), \
        EACH(root), EACH(comm)
#define RONDO_SCATTERING(EACH) \
    EACH(input), EACH(count), EACH(datatype), EACH(output), EACH(part_count), EACH(part_type), EACH(root), EACH(comm)
#define RONDO_SCATTERING_PARTS(EACH)                                                                                 \
    EACH(input), EACH(counts), EACH(displacements), EACH(datatype), EACH(output), EACH(part_count), EACH(part_type), \
        EACH(root), EACH(comm)
