// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::shared_memory {

/// Takes data where they lie, instead of having them copied.
class Consumer {
  public:
    /// When the first bytes of a message come: are they for `consume`?
    virtual bool wants(std::uint32_t index) = 0;
    /// The bytes of the message from byte `first` on. They come piece by piece, in order; all pieces but the last are
    /// of a multiple of `granule` bytes.
    virtual void consume(std::uint32_t index, const std::byte* data, std::size_t first, std::size_t bytes) = 0;

    static constexpr std::size_t granule = 1024;

  protected:
    ~Consumer() = default;
};

}  // namespace rondo::shared_memory
