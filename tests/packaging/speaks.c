/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints whether Rondo is in this process, which is not linked with it: rondo.h for the types, dlsym for the functions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rondo.h>
#include <stdio.h>

int main(void) {
    __typeof__(&rondo_served_again) served_again;
    *(void**)&served_again = dlsym(RTLD_DEFAULT, "rondo_served_again");
    if (served_again == NULL) puts("no Rondo");
    else printf("%llu served again\n", served_again());
    return 0;
}
