// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <new>

#include "tests/backends/mpi/memory.hpp"

namespace rondo::mpi::made_up {
namespace {

struct Limit {
    std::size_t least = 0;
    int pieces = 0, times = 0;
};
thread_local constinit Limit limit;

void* allocate(std::size_t bytes, std::size_t alignment) {
    if (limit.times > 0 && bytes >= limit.least && limit.pieces-- <= 0) return --limit.times, nullptr;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    void* const memory = allocate(bytes > 0 ? bytes : 1, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

NoMemory::NoMemory(std::size_t least, int pieces_before, int times) { limit = {least, pieces_before, times}; }
NoMemory::~NoMemory() { limit = {}; }

}  // namespace rondo::mpi::made_up

using namespace rondo::mpi::made_up;

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes > 0 ? bytes : 1, usual); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes > 0 ? bytes : 1, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(bytes > 0 ? bytes : 1, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
