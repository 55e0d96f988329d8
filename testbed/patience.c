// SPDX-License-Identifier: BSD-3-Clause
// Preload library for more ranks than cores: whoever polls in vain waits for a moment instead.
//
// MPI libraries poll without end, and ranks that poll keep the cores from the ranks that have work. After
// RONDO_PATIENCE_POLLS calls without an event, one after the other in a thread, that would return at once, a call waits
// up to RONDO_PATIENCE_US microseconds, or until an event (0: gives up the core and does not wait). A call that names a
// time to wait itself is left alone. Nothing but the waiting changes: a signal ends it, as the end of the time would.
//
// UCX over shared memory polls no descriptor; ucp_worker_progress then sleeps.
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_POLLS = 30, DEFAULT_MICROSECONDS = 1000, LONGEST_MICROSECONDS = 1000000 };
enum { SIGNAL_SET_BYTES = 8 };  // the kernel's
static const long nanoseconds_of_a_microsecond = 1000;

static long polls_before_waiting = DEFAULT_POLLS;
static struct timespec pause_time = {0};
static _Thread_local long polls_in_vain = 0;
static _Thread_local bool has_polled_descriptors = false;

static long setting(const char* name, long value, long largest) {
    const char* text = getenv(name);
    char* end = NULL;
    const long given = text == NULL ? value : strtol(text, &end, 10);
    return text != NULL && (end == text || *end != '\0' || given < 0 || given > largest) ? value : given;
}

__attribute__((constructor)) static void read_settings(void) {
    const long million = 1000000;
    const long microseconds = setting("RONDO_PATIENCE_US", DEFAULT_MICROSECONDS, LONGEST_MICROSECONDS);
    pause_time.tv_sec = microseconds / million;
    pause_time.tv_nsec = microseconds % million * nanoseconds_of_a_microsecond;
    polls_before_waiting = setting("RONDO_PATIENCE_POLLS", DEFAULT_POLLS, million);
    prctl(PR_SET_TIMERSLACK, (unsigned long)nanoseconds_of_a_microsecond);
}

// The function that the program would have called.
#define NEXT(name)                        \
    static __typeof__(&name) next = NULL; \
    if (next == NULL) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static bool is_impatient(void) { return pause_time.tv_sec == 0 && pause_time.tv_nsec == 0; }

// A call that would return at once is to wait now.
static bool must_wait(void) {
    has_polled_descriptors = true;
    if (polls_in_vain < polls_before_waiting) return false;
    if (!is_impatient()) return true;
    sched_yield();
    return false;
}

// This thread has done something else since it polled, so its next polls are no waiting. A program that computes can
// say so, as the benchmark driver does.
__attribute__((visibility("default"))) void rondo_forget_polls(void) { polls_in_vain = 0; }

static int counted(int events) {
    if (events == 0) {
        ++polls_in_vain;
    } else {
        polls_in_vain = 0;
    }
    return events;
}

// A handler has run while we waited, where the program would not have: to it, nothing has happened.
static bool was_interrupted(int result, int saved_errno) {
    if (result >= 0 || errno != EINTR) return false;
    errno = saved_errno;
    return true;
}

static int poll_epoll(int epfd, struct epoll_event* events, int maxevents, int timeout, const sigset_t* ss) {
    NEXT(epoll_pwait);
    if (timeout != 0) return next(epfd, events, maxevents, timeout, ss);
    if (!must_wait()) return counted(next(epfd, events, maxevents, 0, ss));
    const int saved_errno = errno;
    // The C library of many systems has no epoll_pwait2 yet, the kernel since 5.11.
    int result = (int)syscall(SYS_epoll_pwait2, epfd, events, maxevents, &pause_time, ss, (size_t)SIGNAL_SET_BYTES);
    if (result < 0 && errno == ENOSYS) {
        const long rounded = pause_time.tv_sec * 1000 + pause_time.tv_nsec / 1000000;  // milliseconds
        result = next(epfd, events, maxevents, rounded > 0 ? (int)rounded : 1, ss);
    }
    return counted(was_interrupted(result, saved_errno) ? 0 : result);
}

int epoll_pwait(int epfd, struct epoll_event* events, int maxevents, int timeout, const sigset_t* ss) {
    return poll_epoll(epfd, events, maxevents, timeout, ss);
}

int epoll_wait(int epfd, struct epoll_event* events, int maxevents, int timeout) {
    return poll_epoll(epfd, events, maxevents, timeout, NULL);
}

static bool is_zero(const struct timespec* time) { return time != NULL && time->tv_sec == 0 && time->tv_nsec == 0; }

static int poll_files(struct pollfd* fds, nfds_t nfds, const struct timespec* timeout, const sigset_t* ss) {
    NEXT(ppoll);
    if (!is_zero(timeout)) return next(fds, nfds, timeout, ss);
    if (!must_wait()) return counted(next(fds, nfds, timeout, ss));
    const int saved_errno = errno;
    int result = next(fds, nfds, &pause_time, ss);
    if (was_interrupted(result, saved_errno)) {
        for (nfds_t i = 0; i < nfds; ++i) fds[i].revents = 0;
        result = 0;
    }
    return counted(result);
}

int ppoll(struct pollfd* fds, nfds_t nfds, const struct timespec* timeout, const sigset_t* ss) {
    return poll_files(fds, nfds, timeout, ss);
}

int poll(struct pollfd* fds, nfds_t nfds, int timeout) {
    NEXT(poll);
    if (timeout != 0) return next(fds, nfds, timeout);
    return poll_files(fds, nfds, &(struct timespec){0}, NULL);
}

static void clear(fd_set* set, int nfds) {
    for (int file = 0; set != NULL && file < nfds; ++file) FD_CLR(file, set);
}

static int poll_sets(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds, const struct timespec* timeout,
                     const sigset_t* sigmask) {
    NEXT(pselect);
    if (!is_zero(timeout)) return next(nfds, readfds, writefds, exceptfds, timeout, sigmask);
    if (!must_wait()) return counted(next(nfds, readfds, writefds, exceptfds, timeout, sigmask));
    const int saved_errno = errno;
    int result = next(nfds, readfds, writefds, exceptfds, &pause_time, sigmask);
    if (was_interrupted(result, saved_errno)) {
        clear(readfds, nfds);
        clear(writefds, nfds);
        clear(exceptfds, nfds);
        result = 0;
    }
    return counted(result);
}

int pselect(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds, const struct timespec* timeout,
            const sigset_t* sigmask) {
    return poll_sets(nfds, readfds, writefds, exceptfds, timeout, sigmask);
}

int select(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds, struct timeval* timeout) {
    NEXT(select);
    if (nfds == 0 || timeout == NULL || timeout->tv_sec != 0 || timeout->tv_usec != 0) {
        return next(nfds, readfds, writefds, exceptfds, timeout);
    }
    return poll_sets(nfds, readfds, writefds, exceptfds, &(struct timespec){0}, NULL);
}

// UCX may have been loaded where RTLD_NEXT does not look, as by mpi4py: whoever called sees it.
static void* seen_by(const void* caller, const char* name) {
    Dl_info info;
    if (dladdr(caller, &info) == 0) return NULL;
    void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return library != NULL ? dlsym(library, name) : NULL;
}

unsigned ucp_worker_progress(void* worker) {
    NEXT(ucp_worker_progress);
    if (next == NULL) {
        next = (__typeof__(&ucp_worker_progress))seen_by(__builtin_return_address(0), "ucp_worker_progress");
    }
    has_polled_descriptors = false;
    const unsigned events = next(worker);
    if (events != 0) {
        polls_in_vain = 0;
    } else if (!has_polled_descriptors && ++polls_in_vain >= polls_before_waiting) {
        const int saved_errno = errno;
        if (is_impatient()) {
            sched_yield();
        } else {
            nanosleep(&pause_time, NULL);
        }
        errno = saved_errno;
    }
    return events;
}
