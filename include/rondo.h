/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program can say to Rondo while it runs. These functions are in the preload library; a program that shall also
   run without it finds them with dlsym(RTLD_DEFAULT, "rondo_choose"). Names are those of `rondo list`. */
#ifndef RONDO_H
#define RONDO_H

#ifdef __cplusplus
extern "C" {
#endif

/* Has calls of a collective ("exscan") served as `choice` says from now on, on all communicators: by "native", an
   algorithm ("doubling_123"), or one with parameters ("linear_pipeline:segment=32Ki"); "" gives the decision back to
   environment and rules. Between MPI_Init and MPI_Finalize; all ranks must choose alike, between the same collective
   calls, while no thread of theirs is in one. An algorithm that uses nodes is refused if nobody asked for them when MPI
   was initialised, as RONDO_EXSCAN=full_lane does, or RONDO_NODES. Changing forth and back is cheap: plans are kept.
   Returns 0; else nothing has changed, and `message` (of `size` bytes, with its terminating zero) says why. */
int rondo_choose(const char* collective, const char* choice, char* message, int size);

/* How many calls of a collective this process has given to the MPI library's own function since the last successful
   choice for it, and in `message` why it did so the last time: an algorithm may refuse some calls. -1 with a message if
   there is no such collective. */
long long rondo_left_to_library(const char* collective, char* message, int size);

/* How many calls of this thread Rondo has carried out without a second look at them, because the last one like them
   was. It tells a test whether calls went the way that those of a long-running program go. */
unsigned long long rondo_served_again(void);

/* 1 if all messages of Rondo between ranks of one node of MPI_COMM_WORLD go through memory that these ranks share,
   which is settled in MPI_Init, alike on all ranks; else 0. Rules call it shared_memory. */
int rondo_shares_memory(void);

/* If these ranks of MPI_COMM_WORLD, in number `size`, are on one node: to how many of its domains (processors with one
   cache, of one NUMA node, of one socket) they are bound. Else 1, and where nobody has made Rondo find out where ranks
   are. Rules call it domains. */
int rondo_domains(const int* ranks, int size);

#ifdef __cplusplus
}
#endif

#endif
