// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/frame_pool.hpp"

#include <array>
#include <new>

namespace rondo {
namespace {

constexpr std::size_t granule = 128;  // frames of the algorithms take 200 to 600 bytes
constexpr std::size_t classes = 16;
constexpr int kept_per_class = 64;

struct FreeFrame {
    FreeFrame* next;
};

struct FrameList {
    FreeFrame* first = nullptr;
    int length = 0;
};

class Pool {
  public:
    ~Pool() {
        alive = false;
        for (FrameList& list : lists) {
            while (list.first != nullptr) {
                FreeFrame* frame = list.first;
                list.first = frame->next;
                ::operator delete(frame);
            }
        }
    }

    std::array<FrameList, classes> lists;
    bool alive = true;
};

thread_local Pool pool;

constexpr std::size_t class_of(std::size_t bytes) { return (bytes + granule - 1) / granule; }

}  // namespace

void* take_frame(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    if (index >= classes) return ::operator new(bytes);
    if (!pool.alive) return ::operator new(index * granule);  // another thread may come to keep it
    FrameList& list = pool.lists[index];
    if (list.first == nullptr) return ::operator new(index * granule);
    FreeFrame* frame = list.first;
    list.first = frame->next;
    --list.length;
    return frame;
}

void return_frame(void* frame, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    if (index >= classes || !pool.alive || pool.lists[index].length == kept_per_class) {
        ::operator delete(frame);
        return;
    }
    FrameList& list = pool.lists[index];
    list.first = new (frame) FreeFrame{list.first};
    ++list.length;
}

}  // namespace rondo
