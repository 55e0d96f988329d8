// SPDX-License-Identifier: BSD-3-Clause
// A sender that stops, or ends, when it has taken a share of a message and has not yet written it into the reader.
//
// The system hands the sender's write to a handler of signals, which stops or ends the process there, as the system may
// at any time, and else writes.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/backends/shared_memory/filter_calls.hpp"
#include "tests/backends/shared_memory/processes.hpp"

namespace rondo::shared_memory {
namespace {

constexpr std::size_t bytes = std::size_t{3} << 20;
constexpr std::byte own_again{0x5a};

#if defined(__x86_64__)
constexpr int of_call[] = {REG_RDI, REG_RSI, REG_R10};
auto& register_of(ucontext_t& context, int which) { return context.uc_mcontext.gregs[of_call[which]]; }
auto& result_of(ucontext_t& context) { return context.uc_mcontext.gregs[REG_RAX]; }
#elif defined(__aarch64__)
constexpr int of_call[] = {0, 1, 3};
auto& register_of(ucontext_t& context, int which) { return context.uc_mcontext.regs[of_call[which]]; }
auto& result_of(ucontext_t& context) { return context.uc_mcontext.regs[0]; }
#endif

#if defined(__x86_64__) || defined(__aarch64__)

volatile std::sig_atomic_t signal_before_write;

/// What is written in two parts is not handed over again.
void stop_and_write(int, siginfo_t*, void* context) {
    ::kill(::getpid(), signal_before_write);
    ucontext_t& call = *static_cast<ucontext_t*>(context);
    // NOLINTBEGIN(performance-no-int-to-ptr): registers
    const auto& from = *reinterpret_cast<const iovec*>(register_of(call, 1));
    const auto* const into = reinterpret_cast<const iovec*>(register_of(call, 2));
    // NOLINTEND(performance-no-int-to-ptr)
    const iovec parts[] = {{from.iov_base, 1}, {static_cast<std::byte*>(from.iov_base) + 1, from.iov_len - 1}};
    const ssize_t written =
        ::process_vm_writev(static_cast<pid_t>(register_of(call, 0)), static_cast<const iovec*>(parts), 2, into, 1, 0);
    result_of(call) = static_cast<std::remove_reference_t<decltype(result_of(call))>>(written < 0 ? -errno : written);
}

void be_signalled_before_each_write(int signal) {
    signal_before_write = signal;
    struct sigaction action{};
    action.sa_sigaction = stop_and_write;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSYS, &action, nullptr);
    filter_calls(SYS_process_vm_writev, SECCOMP_RET_TRAP, 1);
}

/// Process 1 sends, and is signalled before it writes what it has taken. When the reader sees that the turn is its own,
/// `read` says what it does; a short message, which it has asked for first, is there by then.
class Scene {
  public:
    Scene(int signal, const std::function<void(Process&, Transfers&, std::vector<std::byte>&)>& read)
        : cast_(2, Role([=](Process& process) {
                    const auto neighbours = process.meet(by_address);
                    Transfers transfers(*neighbours);
                    std::vector<std::byte> data(bytes);
                    if (process.self() == 1) {
                        be_signalled_before_each_write(signal);
                        fill(data, 1);
                        transfers.send(0, 0, data.data(), bytes, 0);
                        process.wait_until([&] { return process.board().signal == 1; });
                        transfers.send(0, 1, data.data(), 1, 1);
                        process.poll_until_idle(transfers);
                        return;
                    }
                    std::byte first{};
                    transfers.receive(1, 1, &first, 1, 1);
                    transfers.receive(1, 0, data.data(), bytes, 0);
                    process.wait_until([&] { return transfers.poll().moved; });
                    process.board().signal = 1;
                    process.wait_until([&] { return process.board().signal == 2; });
                    read(process, transfers, data);
                })) {}

    /// Until the sender has what is to come before its first write.
    void await_signal() {
        siginfo_t information{};
        ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(cast_.process(1)), &information, WSTOPPED | WEXITED | WNOWAIT), 0);
        ASSERT_NE(information.si_code, CLD_EXITED);
        cast_.board().signal = 2;
    }
    /// The reader must not get so far before the sender goes on.
    void expect_not(int signal) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_NE(cast_.board().signal, signal);
    }
    void go_on() {
        siginfo_t end{};
        const auto sender = static_cast<id_t>(cast_.process(1));
        while (::waitid(P_PID, sender, &end, WEXITED | WNOWAIT | WNOHANG) == 0 && end.si_pid == 0) {
            ::kill(cast_.process(1), SIGCONT);
            std::this_thread::yield();
        }
    }
    Cast& cast() { return cast_; }

  private:
    Cast cast_;
};

/// All of it, and the signal that it is there.
void expect_arrival(Process& process, Transfers& transfers, const std::vector<std::byte>& data) {
    std::vector<std::byte> expected(bytes);
    fill(expected, 1);
    process.poll_until_idle(transfers);
    process.board().signal = 3;
    process.require(data == expected, "wrong data");
}

TEST(shared_memory_stops, of_a_sender_that_has_taken_a_share_are_waited_for) {
    Scene scene(SIGSTOP, [](Process& process, Transfers& transfers, std::vector<std::byte>& data) {
        expect_arrival(process, transfers, data);
    });
    scene.await_signal();
    scene.expect_not(3);
    scene.go_on();
}

TEST(shared_memory_stops, of_a_sender_that_has_taken_a_share_are_waited_for_where_the_rest_cannot_be_read) {
    Scene scene(SIGSTOP, [](Process& process, Transfers& transfers, std::vector<std::byte>& data) {
        filter_calls(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM);
        const Transfers::Progress progress = transfers.poll();
        process.require(progress.completed.size() == 1 && progress.moved, "the short message is no progress");
        process.require(!transfers.poll().moved, "goes on");
        expect_arrival(process, transfers, data);
    });
    scene.await_signal();
    scene.expect_not(3);
    scene.go_on();
}

TEST(shared_memory_stops, of_a_sender_that_has_taken_a_share_hold_up_who_gives_up_its_message) {
    Scene scene(SIGSTOP, [](Process& process, Transfers& transfers, std::vector<std::byte>& data) {
        transfers.abandon();
        process.board().signal = 3;
        std::ranges::fill(data, own_again);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const bool is_untouched = std::ranges::all_of(data, [](std::byte each) { return each == own_again; });
        process.require(is_untouched, "memory of a call that was abandoned has been written");
    });
    scene.await_signal();
    scene.expect_not(3);
    scene.go_on();
}

TEST(shared_memory_stops, for_ever_of_a_sender_that_has_taken_a_share_hold_up_nobody) {
    Scene scene(SIGKILL, [](Process& process, Transfers& transfers, std::vector<std::byte>&) {
        process.wait_until([&] { return !transfers.poll().moved && transfers.ended_neighbour() == 1; });
        process.require(transfers.failure() == nullptr && !transfers.idle(), "does not wait");
        transfers.abandon();
        process.require(transfers.idle(), "goes on");
    });
    scene.await_signal();
    EXPECT_EQ(scene.cast().wait(1), SIGKILL);
}

#endif

}  // namespace
}  // namespace rondo::shared_memory
