// SPDX-License-Identifier: BSD-3-Clause
// The functions of the preload library, called by their addresses.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace rondo::testbed {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int polls_before_waiting = 3;
constexpr Milliseconds pause{200}, hardly_any{100};

class Patience : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        ::setenv("RONDO_PATIENCE_POLLS", "3", 1);
        ::setenv("RONDO_PATIENCE_US", "200000", 1);
        library = ::dlopen(RONDO_PATIENCE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << ::dlerror();
    }

    template <class Function>
    static Function* patient(const char* name) {
        return reinterpret_cast<Function*>(::dlsym(library, name));
    }

    void SetUp() override {
        ASSERT_EQ(::pipe(pipe.data()), 0);
        epoll = ::epoll_create1(0);
        epoll_event event{.events = EPOLLIN, .data = {.fd = pipe[0]}};
        ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, pipe[0], &event), 0);
        make_event();
        EXPECT_EQ(poll_once(), 1);  // an event makes patience start again
        char letter = 0;
        ASSERT_EQ(::read(pipe[0], &letter, 1), 1);
    }
    void TearDown() override {
        for (const int file : {pipe[0], pipe[1], epoll}) ::close(file);
    }

    void make_event() const { ASSERT_EQ(::write(pipe[1], "x", 1), 1); }

    [[nodiscard]] int poll_once(int timeout = 0) const {
        pollfd file{.fd = pipe[0], .events = POLLIN, .revents = POLLIN};
        const int result = patient<decltype(::poll)>("poll")(&file, 1, timeout);
        if (result == 0) EXPECT_EQ(file.revents, 0);
        return result;
    }
    [[nodiscard]] int epoll_once(int timeout = 0) const {
        epoll_event event{};
        return patient<decltype(::epoll_wait)>("epoll_wait")(epoll, &event, 1, timeout);
    }
    [[nodiscard]] int select_once() const {
        fd_set files;
        FD_ZERO(&files);
        FD_SET(pipe[0], &files);
        timeval none{};
        const int result = patient<decltype(::select)>("select")(pipe[0] + 1, &files, nullptr, nullptr, &none);
        EXPECT_EQ(FD_ISSET(pipe[0], &files) != 0, result == 1);
        return result;
    }

    template <class Call>
    static Milliseconds time_of(const Call& call) {
        const auto start = std::chrono::steady_clock::now();
        call();
        return std::chrono::steady_clock::now() - start;
    }

    /// In vain, and without waiting.
    void exhaust() const {
        for (int i = 0; i < polls_before_waiting; ++i) EXPECT_EQ(poll_once(), 0);
    }

    static inline void* library = nullptr;
    std::array<int, 2> pipe{};
    int epoll = -1;
};

TEST_F(Patience, waits_only_after_polls_in_vain) {
    EXPECT_LT(time_of([this] { exhaust(); }), hardly_any);
    EXPECT_GE(time_of([this] { EXPECT_EQ(poll_once(), 0); }), pause);
    EXPECT_GE(time_of([this] { EXPECT_EQ(epoll_once(), 0); }), pause);
    EXPECT_GE(time_of([this] { EXPECT_EQ(select_once(), 0); }), pause);
}

TEST_F(Patience, is_ended_by_an_event_and_starts_again) {
    exhaust();
    make_event();
    EXPECT_LT(time_of([this] { EXPECT_EQ(epoll_once(), 1); }), hardly_any);
    EXPECT_EQ(select_once(), 1);
    EXPECT_EQ(poll_once(), 1);
}

TEST_F(Patience, starts_again_for_who_has_done_something_else) {
    exhaust();
    patient<void()>("rondo_forget_polls")();
    EXPECT_LT(time_of([this] { exhaust(); }), hardly_any);
    EXPECT_GE(time_of([this] { EXPECT_EQ(poll_once(), 0); }), pause);
}

TEST_F(Patience, leaves_calls_alone_that_name_a_time) {
    exhaust();
    EXPECT_LT(time_of([this] { EXPECT_EQ(poll_once(1), 0); }), hardly_any);
    EXPECT_LT(time_of([this] { EXPECT_EQ(epoll_once(1), 0); }), hardly_any);
    make_event();
    EXPECT_EQ(epoll_once(-1), 1);
    EXPECT_EQ(poll_once(-1), 1);
}

TEST_F(Patience, of_one_thread_is_not_that_of_another) {
    exhaust();
    std::thread([this] { EXPECT_LT(time_of([this] { EXPECT_EQ(poll_once(), 0); }), hardly_any); }).join();
}

TEST_F(Patience, hides_that_a_handler_ended_the_waiting) {
    struct sigaction action{}, before{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, &before);
    const pthread_t self = ::pthread_self();
    for (const bool use_epoll : {false, true}) {
        exhaust();
        std::thread sender([self] {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            ::pthread_kill(self, SIGUSR1);
        });
        errno = 77;
        EXPECT_EQ(use_epoll ? epoll_once() : poll_once(), 0);
        EXPECT_EQ(errno, 77);
        sender.join();
    }
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(Patience, passes_the_signal_mask_on) {
    static volatile std::sig_atomic_t handled;
    handled = 0;
    struct sigaction action{}, before{};
    action.sa_handler = [](int) { handled = 1; };
    ::sigaction(SIGUSR1, &action, &before);
    sigset_t all;
    ::sigfillset(&all);
    exhaust();
    std::thread sender([self = ::pthread_self()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ::pthread_kill(self, SIGUSR1);
    });
    epoll_event event{};
    const Milliseconds time =
        time_of([&] { EXPECT_EQ(patient<decltype(::epoll_pwait)>("epoll_pwait")(epoll, &event, 1, 0, &all), 0); });
    sender.join();
    EXPECT_GE(time, pause);  // not cut short
    EXPECT_EQ(handled, 1);   // but afterwards
    ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace rondo::testbed
