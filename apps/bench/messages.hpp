// SPDX-License-Identifier: BSD-3-Clause
// The driver's own communication: point-to-point messages along binomial trees, so that no collective that is being
// measured, or that Rondo serves, administers its own measurement.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <type_traits>

namespace rondo::bench {

class Messages {
  public:
    /// `crowded`: ranks that wait sleep in between, for others need the core.
    Messages(MPI_Comm comm, bool crowded);

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    void send(const void* data, std::size_t bytes, int to) const;
    void receive(void* data, std::size_t bytes, int from) const;

    /// From rank 0 to all.
    void broadcast(void* data, std::size_t bytes) const;

    /// All values merged (by `Value::merge`, of any order) into that of rank 0; others' values are undefined then.
    template <class Value>
    void reduce(Value& value) const {
        static_assert(std::is_trivially_copyable_v<Value>);
        for (int distance = 1; distance < size_; distance *= 2) {
            if ((rank_ & distance) != 0) return send(&value, sizeof value, rank_ - distance);
            if (rank_ + distance >= size_) continue;
            Value other;
            receive(&other, sizeof other, rank_ + distance);
            value.merge(other);
        }
    }

  private:
    MPI_Comm comm_;
    bool crowded_;
    int rank_ = 0, size_ = 1;
};

}  // namespace rondo::bench
