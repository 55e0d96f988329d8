// SPDX-License-Identifier: BSD-3-Clause
// Preload library for tests with more ranks than cores: a rank that polls UCX in vain goes to sleep for a moment.
// Debian's MPICH has no setting for that, and without it nine ranks on two cores hardly move.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/prctl.h>
#include <time.h>

enum { POLLS_BEFORE_SLEEP = 20, SLEEP_NANOSECONDS = 50000, TIMER_SLACK_NANOSECONDS = 1000 };

typedef unsigned (*progress_function)(void*);

unsigned ucp_worker_progress(void* worker) {
    static progress_function next = NULL;
    static __thread unsigned polls_in_vain = 0;
    if (next == NULL) {
        prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NANOSECONDS);
        next = (progress_function)dlsym(RTLD_NEXT, "ucp_worker_progress");
    }
    const unsigned events = next(worker);
    if (events != 0) {
        polls_in_vain = 0;
    } else if (++polls_in_vain >= POLLS_BEFORE_SLEEP) {
        polls_in_vain = 0;
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NANOSECONDS}, NULL);
    }
    return events;
}
