// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/frame_pool.hpp"

#include <array>
#include <new>
#include <utility>

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

struct Pool {
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        for (FrameList& list : lists) {
            while (list.first != nullptr) {
                FreeFrame* frame = list.first;
                list.first = frame->next;
                ::operator delete(frame);
            }
        }
    }

    std::array<FrameList, classes> lists;
};

/// Owns a thread's pool. Thread-local memory holds no more than a pointer to it: it is scarce where a library is loaded
/// late, as librondo.so loads those for the ABIs.
class PoolOfThread {
  public:
    constexpr PoolOfThread() = default;
    PoolOfThread(const PoolOfThread&) = delete;
    PoolOfThread& operator=(const PoolOfThread&) = delete;
    ~PoolOfThread() {
        has_ended_ = true;
        delete std::exchange(pool_, nullptr);
    }
    /// nullptr where nothing can be kept: the thread is about to end, or there is no memory.
    FrameList* list(std::size_t index) noexcept {
        if (pool_ == nullptr && !has_ended_) pool_ = new (std::nothrow) Pool;
        return pool_ != nullptr ? &pool_->lists[index] : nullptr;
    }

  private:
    Pool* pool_ = nullptr;
    bool has_ended_ = false;
};

constinit thread_local PoolOfThread pool;

constexpr std::size_t class_of(std::size_t bytes) { return (bytes + granule - 1) / granule; }

}  // namespace

void* take_frame(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    if (index >= classes) return ::operator new(bytes);
    FrameList* const list = pool.list(index);
    if (list == nullptr || list->first == nullptr)
        return ::operator new(index * granule);  // another thread may come to keep it
    FreeFrame* frame = list->first;
    list->first = frame->next;
    --list->length;
    return frame;
}

void return_frame(void* frame, std::size_t bytes) noexcept {
    const std::size_t index = class_of(bytes);
    FrameList* const list = index < classes ? pool.list(index) : nullptr;
    if (list == nullptr || list->length == kept_per_class) {
        ::operator delete(frame);
        return;
    }
    list->first = new (frame) FreeFrame{list->first};
    ++list->length;
}

}  // namespace rondo
