// SPDX-License-Identifier: BSD-3-Clause
// In place of a GPU and its runtime: memory of which it says that it is a device's, in the words of CUDA or of ROCm.
// Whoever asks is counted.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char memory[1 << 16];
static int questions = 0;

void* stand_in_memory(void) { return memory; }
int stand_in_questions(void) { return questions; }

static int is_device(const void* address) {
    ++questions;
    return (uintptr_t)address >= (uintptr_t)memory && (uintptr_t)address < (uintptr_t)memory + sizeof memory;
}

#ifdef ROCM
struct Attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct Attributes* attributes, const void* address) {
    if (!is_device(address)) return 1;
    memset(attributes, 0, sizeof *attributes);
    attributes->device_pointer = (void*)address;
    return 0;
}
#else
int cuPointerGetAttribute(void* data, int attribute, const void* address) {
    if (attribute != 2 || !is_device(address)) return 1;
    *(unsigned*)data = 2;
    return 0;
}
#endif
