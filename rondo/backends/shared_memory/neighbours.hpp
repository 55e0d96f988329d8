// SPDX-License-Identifier: BSD-3-Clause
// The processes of one node, as one of them reaches the others through memory. No MPI: whoever uses it exchanges the
// addresses, and waits for all once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rondo/backends/shared_memory/channel.hpp"
#include "rondo/backends/shared_memory/parcels.hpp"
#include "rondo/backends/shared_memory/region.hpp"

namespace rondo::shared_memory {

struct Options {
    /// Of parcels, at most; taken when they are needed.
    std::size_t parcel_bytes = std::size_t{256} << 20;
    /// Messages of so many bytes are read in the sender's own memory, where the system lets the reader. Shorter ones do
    /// not make up for the system call.
    std::size_t read_from = std::size_t{32} << 10;
};

/// Set up in three steps, each by all processes of the node: make; `connect` to every address; when all have done so,
/// `settle`. Then safe with any number of threads.
///
/// A child of fork has no part in it: transfers fail there, and nothing of its parent's is touched.
class Neighbours {
  public:
    /// This process is number `self` of `count` on the node. Throws Error, in plain words, where there can be no such
    /// memory: then the others find this process out of reach.
    Neighbours(int self, int count, const Options& options = {});
    Neighbours(const Neighbours&) = delete;
    Neighbours& operator=(const Neighbours&) = delete;

    [[nodiscard]] const RegionAddress& address() const { return region_.address(); }
    /// `may_read`: the neighbour's own memory, where the system allows it. Then it waits until this process has read.
    void connect(int neighbour, const RegionAddress& address, bool may_read = true);
    void settle();

    /// Both ways; the neighbour has the same answer.
    [[nodiscard]] bool reaches(int neighbour) const { return channel(neighbour).is_open(); }
    /// Why not; empty if all is well.
    [[nodiscard]] const std::string& reason(int neighbour) const {
        return reasons_[static_cast<std::size_t>(neighbour)];
    }

    /// To all neighbours together. By any thread.
    [[nodiscard]] Traffic sent() const;

  private:
    friend class Transfers;

    /// A neighbour between `connect` and `settle`.
    struct Found {
        Mapping region;
        RegionAddress address{};
        bool reads = false;  ///< this process, in it
    };

    [[nodiscard]] Channel& channel(int neighbour) const { return channels_[static_cast<std::size_t>(neighbour)]; }
    [[nodiscard]] Notice& notice_to(int neighbour) const {
        return *at<Notice>(region_.data(), layout_.notice(neighbour));
    }

    int self_, count_;
    std::size_t read_from_;
    ForkSign sign_;
    Layout layout_;
    Region region_;
    Parcels parcels_;
    std::vector<Found> found_;
    std::unique_ptr<Channel[]> channels_;
    std::vector<std::string> reasons_;
};

}  // namespace rondo::shared_memory
