/* SPDX-License-Identifier: BSD-3-Clause
 * Preloaded, it makes the last of three ranks late: its host name is long in coming, which Rondo asks for between the
 * library's own MPI_Init and its first message. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gethostname(char* name, size_t length) {
    static int asked = 0;
    const char* rank = getenv("PMI_RANK");
    if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
    void* caller = __builtin_return_address(0);
    Dl_info info;
    const int is_rondo = dladdr(caller, &info) != 0 && strstr(info.dli_fname, "librondo") != NULL;
    if (is_rondo && rank != NULL && strcmp(rank, "2") == 0 && asked++ == 0) sleep(12);
    return ((int (*)(char*, size_t))dlsym(RTLD_NEXT, "gethostname"))(name, length);
}
