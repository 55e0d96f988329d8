// SPDX-License-Identifier: BSD-3-Clause
// Tallies in a file that is mapped into memory: they outlive a process that is killed, without a signal handler.
#pragma once

#include <string>
#include <string_view>

#include "rondo/core/kept_file.hpp"
#include "rondo/interposer/tally.hpp"

namespace rondo::interposer {

class KeptTallies {
  public:
    /// Makes the file, with all the space that it will ever need. `owner` says whose tallies these are. Returns nothing
    /// if that worked, else the reason; then there is no file.
    std::string open(const std::string& path, std::string_view owner);
    [[nodiscard]] bool is_open() const { return image_ != nullptr; }
    /// Adds a tally; nullptr if there is no file or it is full. Callers take turns.
    mpi::Tally* add(const mpi::Treatment& treatment);
    /// Notes that the process came to its end by itself.
    void mark_ended();
    /// Removes the file; the tallies stay usable.
    void remove_file();

  private:
    struct Image;

    KeptFile file_;
    Image* image_ = nullptr;
    std::size_t tallies_ = 0;
};

}  // namespace rondo::interposer
