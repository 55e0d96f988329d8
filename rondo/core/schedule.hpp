// SPDX-License-Identifier: BSD-3-Clause
// A schedule: the lazy sequence of the steps of one rank, written as a coroutine.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/core/frame_pool.hpp"
#include "rondo/core/step.hpp"

namespace rondo {

class Call;
const RankMap& group_of(const Call& call);

/// What `steps_of` hands to co_yield: the steps of another schedule take the place of this one step.
class Schedule;
struct NestedSteps {
    Schedule& schedule;
};

/// Owns its coroutine; moves, does not copy. The `Call` that the coroutine was given is borrowed: it must live, at the
/// same place, as long as the schedule. Not to be used by two threads at a time.
class [[nodiscard]] Schedule {
  public:
    class promise_type;
    using Handle = std::coroutine_handle<promise_type>;

    Schedule(Schedule&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Schedule& operator=(Schedule&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;
    ~Schedule() {
        if (handle_) handle_.destroy();
    }

    /// The next step, or nullptr at the end. It is a view into the suspended coroutine: gone with the next call.
    /// Throws what the algorithm throws.
    const Step* next();

    class Iterator {
      public:
        using difference_type = std::ptrdiff_t;
        using value_type = Step;
        explicit Iterator(Schedule& schedule) : schedule_(&schedule), step_(schedule.next()) {}
        const Step& operator*() const { return *step_; }
        Iterator& operator++() {
            step_ = schedule_->next();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const Iterator& i, std::default_sentinel_t /*end*/) { return i.step_ == nullptr; }

      private:
        Schedule* schedule_;
        const Step* step_;
    };

    Iterator begin() { return Iterator(*this); }
    static std::default_sentinel_t end() { return {}; }

  private:
    explicit Schedule(Handle handle) : handle_(handle) {}
    Handle handle_;
};

/// Composition: `auto part = binomial(call); co_yield steps_of(part);`. Nothing has been read from the schedule yet. It
/// is a named variable of the coroutine, because GCC 12 destroys temporaries of a co_yield expression twice.
[[nodiscard]] inline NestedSteps steps_of(Schedule& schedule) { return {schedule}; }

class Schedule::promise_type {
  public:
    /// An algorithm's first argument is its call: peers of its steps are numbered in that call's group.
    template <class... More>
    explicit promise_type(const Call& call, const More&... /*more*/) : root_(this) {
        step_.group = &group_of(call);
    }

    Schedule get_return_object() { return Schedule(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error_ = std::current_exception(); }

    template <std::size_t N>
    std::suspend_always yield_value(const Exchange<N>& exchange) {
        return yield_value(std::span<const Transfer>(exchange.transfers));
    }
    std::suspend_always yield_value(std::span<const Transfer> transfers) {
        step_.kind = StepKind::exchange;
        step_.transfers = transfers;
        return {};
    }
    std::suspend_always yield_value(const Combine& combine) {
        step_.kind = StepKind::combine;
        step_.left = combine.left;
        step_.right = combine.right;
        step_.into = combine.target;
        return {};
    }
    std::suspend_always yield_value(const Copy& copy) {
        step_.kind = StepKind::copy;
        step_.left = copy.from.first;
        step_.into = copy.target.first;
        if (copy.from.number != copy.target.number) throw Error("copies a row to another of other length");
        step_.pieces = {copy.from.number, copy.from.distance, copy.target.distance};
        return {};
    }

    /// Resumes the nested schedule in this one's place; when it ends, this one goes on.
    struct Descend {
        Handle nested;
        [[nodiscard]] bool await_ready() const noexcept { return !nested || nested.done(); }
        std::coroutine_handle<> await_suspend(Handle parent) const noexcept {
            promise_type& child = nested.promise();
            child.root_ = parent.promise().root_;
            child.parent_ = parent;
            child.root_->leaf_ = nested;
            return nested;
        }
        void await_resume() const {
            if (nested && nested.promise().error_) std::rethrow_exception(nested.promise().error_);
        }
    };
    Descend yield_value(NestedSteps steps) {
        const Handle nested = steps.schedule.handle_;
        if (nested && nested.promise().leaf_) throw Error("a schedule that has been read from cannot be nested");
        return {nested};
    }

    struct Ascend {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle finished) const noexcept {
            promise_type& promise = finished.promise();
            if (!promise.parent_) return std::noop_coroutine();
            promise.root_->leaf_ = promise.parent_;
            return promise.parent_;
        }
        void await_resume() const noexcept {}
    };
    Ascend final_suspend() noexcept { return {}; }

    void* operator new(std::size_t bytes) { return take_frame(bytes); }
    void operator delete(void* frame, std::size_t bytes) noexcept { return_frame(frame, bytes); }

  private:
    friend class Schedule;
    Step step_;
    promise_type* root_;
    Handle leaf_;    // of the root only: the innermost coroutine, which runs next
    Handle parent_;  // of nested ones only
    std::exception_ptr error_;
};

inline const Step* Schedule::next() {
    if (!handle_ || handle_.done()) return nullptr;
    promise_type& root = handle_.promise();
    if (!root.leaf_) root.leaf_ = handle_;
    root.leaf_.resume();
    if (handle_.done()) {
        if (root.error_) std::rethrow_exception(std::exchange(root.error_, nullptr));
        return nullptr;
    }
    return &root.leaf_.promise().step_;
}

}  // namespace rondo
