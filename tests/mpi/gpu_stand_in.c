// SPDX-License-Identifier: BSD-3-Clause
// In place of a GPU and its runtime: memory that the process cannot touch, and copies to and from it, in the words of
// CUDA, ROCm or Level Zero. As strict as these may be: CUDA copies only in the context of the memory, Level Zero
// answers only in a context and copies only by a list of commands of the device, and what goes to the device arrives
// when it is waited for. Whoever asks is counted.
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { size = 1 << 20 };

static char *device, *behind;  // the same memory: to speak of, and to read and write
static int questions = 0, copies_to_fail = 0;
static struct {
    void* into;
    const void* from;
    size_t bytes;
} under_way;

__attribute__((constructor)) static void set_up(void) {
    const int file = memfd_create("device", 0);
    if (ftruncate(file, size) != 0) return;
    device = mmap(NULL, size, PROT_NONE, MAP_SHARED, file, 0);
    behind = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

void* stand_in_memory(void) { return device; }
int stand_in_questions(void) { return questions; }
void stand_in_fail(int copies) { copies_to_fail = copies; }

static int is_device(const void* address) {
    return (uintptr_t)address >= (uintptr_t)device && (uintptr_t)address < (uintptr_t)device + size;
}

static int is_known(const void* address) {
    ++questions;
    return is_device(address);
}

static void* reach(const void* address) {
    return is_device(address) ? behind + ((const char*)address - device) : (char*)address;
}

static int wait_for_copy(void) {
    if (under_way.bytes > 0) memcpy(reach(under_way.into), under_way.from, under_way.bytes);
    under_way.bytes = 0;
    return 0;
}

static int copy(void* into, const void* from, size_t bytes) {
    wait_for_copy();
    if (copies_to_fail > 0) {
        --copies_to_fail;
        return 1;
    }
    if (is_device(into) && !is_device(from)) {
        under_way.into = into;
        under_way.from = from;
        under_way.bytes = bytes;
        return 0;
    }
    memcpy(reach(into), reach(from), bytes);
    return 0;
}

#ifdef ROCM
struct Attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct Attributes* attributes, const void* address) {
    if (!is_known(address)) return 1;
    memset(attributes, 0, sizeof *attributes);
    attributes->device_pointer = (void*)address;
    return 0;
}

int hipMemcpy(void* into, const void* from, size_t bytes, int kind) { return kind == 4 ? copy(into, from, bytes) : 1; }
int hipStreamSynchronize(void* stream) { return stream == NULL ? wait_for_copy() : 1; }
#elif defined(LEVEL_ZERO)
enum { context_description = 0xd, queue_description = 0xe, memory_properties = 0x17 };
static int drivers[2], contexts[2], gpu, list, lists = 0;  // handles; the second driver has the memory

int zeDriverGet(uint32_t* count, void** found) {
    ++questions;
    if (device == NULL) return 0x78000001;  // not initialised
    const uint32_t room = *count;
    *count = 2;
    for (uint32_t i = 0; i < room && i < 2; ++i) found[i] = &drivers[i];
    return 0;
}

int zeContextCreate(void* driver, const uint32_t* description, void** context) {
    if (*description != context_description) return 1;
    *context = driver == &drivers[0] ? &contexts[0] : &contexts[1];
    return 0;
}

struct Properties {
    uint32_t structure;
    void* next;
    uint32_t type;
    uint64_t identifier, page;
};

int zeMemGetAllocProperties(void* context, const void* address, struct Properties* answer, void** owner) {
    if (answer->structure != memory_properties || answer->next != NULL) return 1;
    const int known = is_known(address) && context == &contexts[1];
    answer->type = known ? 2 : 0;
    *owner = known ? &gpu : NULL;
    return 0;
}

struct Queue {
    uint32_t structure;
    const void* next;
    uint32_t ordinal, index, flags, mode, priority;
};

int zeCommandListCreateImmediate(void* context, void* owner, const struct Queue* description, void** made) {
    if (context != &contexts[1] || owner != &gpu || description->structure != queue_description) return 1;
    if (description->mode != 1 || lists > 0) return 1;  // one that is not freed is one too many
    ++lists;
    *made = &list;
    return 0;
}

int zeCommandListAppendMemoryCopy(void* by, void* into, const void* from, size_t bytes, void* signal, uint32_t waits,
                                  void** events) {
    if (by != &list || signal != NULL || waits != 0 || events != NULL) return 1;
    return copy(into, from, bytes) != 0 || wait_for_copy() != 0;
}

int zeCommandListDestroy(void* freed) { return freed == &list && lists-- == 1 ? 0 : 1; }
#else
static int context, is_current = 0;

int cuPointerGetAttribute(void* data, int attribute, uintptr_t address) {
    if (!is_known((const void*)address)) return 1;
    if (attribute == 1) *(void**)data = &context;
    else if (attribute == 2) *(unsigned*)data = 2;
    else return 1;
    return 0;
}

int cuCtxPushCurrent_v2(void* pushed) {
    is_current = pushed == &context;
    return !is_current;
}
int cuCtxPopCurrent_v2(void** popped) {
    *popped = &context;
    is_current = 0;
    return 0;
}
int cuMemcpy(uintptr_t into, uintptr_t from, size_t bytes) {
    return is_current ? copy((void*)into, (const void*)from, bytes) : 1;
}
int cuStreamSynchronize(void* stream) { return is_current && stream == NULL ? wait_for_copy() : 1; }
#endif

// For the program.
void stand_in_copy(void* into, const void* from, size_t bytes) { memcpy(reach(into), reach(from), bytes); }
