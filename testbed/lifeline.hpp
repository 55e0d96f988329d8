// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "testbed/files.hpp"

namespace rondo::testbed {

/// Ties a child's life to its parent's. Made before the fork.
class Lifeline {
  public:
    Lifeline();

    /// In the child: the kernel sends it this signal when the parent dies. Ends it if that has happened already.
    void hold(int signal);

  private:
    Descriptor ours_, of_parent_;  // ends of a pipe
};

}  // namespace rondo::testbed
