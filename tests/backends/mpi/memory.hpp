// SPDX-License-Identifier: BSD-3-Clause
// Memory that runs out where a test wants it to.
#pragma once

#include <cstddef>
#include <limits>

namespace rondo::mpi::made_up {

/// While it lives, this thread gets so many pieces of memory of at least so many bytes, and then so many times none.
class NoMemory {
  public:
    explicit NoMemory(std::size_t least = 0, int pieces_before = 0, int times = std::numeric_limits<int>::max());
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
    ~NoMemory();
};

}  // namespace rondo::mpi::made_up
