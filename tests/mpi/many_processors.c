// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: processes see more processors than the machine has, but the ranks of $ON_THE_FIRST (blanks around
// each) the first alone.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* processors) {
    (void)process;
    memset(processors, 0, bytes);
    const char *rank = getenv("PMI_RANK"), *ranks = getenv("ON_THE_FIRST");
    char word[32] = "";
    if (rank != NULL) snprintf(word, sizeof word, " %s ", rank);
    const int number = rank != NULL && ranks != NULL && strstr(ranks, word) != NULL ? 1 : 64;
    for (int each = 0; each < number; ++each) CPU_SET_S(each, bytes, processors);
    return 0;
}
