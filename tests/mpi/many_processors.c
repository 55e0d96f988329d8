// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: processes see more processors than the machine has.
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* processors) {
    (void)process;
    memset(processors, 0, bytes);
    for (int each = 0; each < 64; ++each) CPU_SET_S(each, bytes, processors);
    return 0;
}
