// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/lifeline.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>

#include "testbed/failure.hpp"

namespace rondo::testbed {

Lifeline::Lifeline() {
    std::array<int, 2> ends;
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_failure("cannot make a pipe");
    ours_ = Descriptor(ends[0]);
    of_parent_ = Descriptor(ends[1]);
}

// The number of a parent in another PID namespace is 0, dead or alive; the pipe tells.
void Lifeline::hold(int signal) {
    of_parent_ = Descriptor();
    ::prctl(PR_SET_PDEATHSIG, signal);
    pollfd end{.fd = ours_.number(), .events = POLLIN, .revents = 0};
    if (::poll(&end, 1, 0) != 0) ::_exit(1);
}

}  // namespace rondo::testbed
