// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: before the program begins, the system refuses something to the ranks of $REFUSED_RANKS (blanks
// around each). $REFUSED is "name of a system call:error", by a filter; "mapping", of ranges of 256 MiB or more;
// "reading", of this process by others, who have no privilege (dumpable, and the capability of all ranks).
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(const char* what) {
    perror(what);
    _exit(9);
}

/// From now on the call fails if its second argument is that much or more.
static void refuse(unsigned call, unsigned least, unsigned error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, least, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no new privileges");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail("seccomp");
}

static void drop_capability_to_trace(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0) fail("capget");
    data[0].effective &= ~(1U << CAP_SYS_PTRACE);
    data[0].permitted &= ~(1U << CAP_SYS_PTRACE);
    if (syscall(SYS_capset, &header, data) != 0) fail("capset");
}

__attribute__((constructor)) static void begin(void) {
    const char* rank = getenv("PMI_RANK");
    if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *what = getenv("REFUSED"), *ranks = getenv("REFUSED_RANKS");
    if (rank == NULL || what == NULL || ranks == NULL) return;  // not a rank
    if (strcmp(what, "reading") == 0) drop_capability_to_trace();
    char word[32];
    snprintf(word, sizeof word, " %s ", rank);
    if (strstr(ranks, word) == NULL) return;
    const unsigned error = strstr(what, "ENOSYS") != NULL ? ENOSYS : EPERM;
    if (strncmp(what, "memfd_create:", 13) == 0) refuse(SYS_memfd_create, 0, error);
    else if (strncmp(what, "process_vm_readv:", 17) == 0) refuse(SYS_process_vm_readv, 0, error);
    else if (strcmp(what, "mapping") == 0) refuse(SYS_mmap, 256U << 20, ENOMEM);
    else if (strcmp(what, "reading") != 0 || prctl(PR_SET_DUMPABLE, 0) != 0) fail(what);
}
