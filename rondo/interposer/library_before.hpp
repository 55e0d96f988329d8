// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// The library's own collective before Rondo's: the result is Rondo's, the input stays. Both may be repeated. Borrows
/// what it is made of.
class LibraryBefore {
  public:
    /// `may_be_tried`: this rank has a call that both can carry out.
    LibraryBefore(const SeenCall& seen, const mpi::CallKey& key, bool may_be_tried)
        : seen_(seen), key_(key), call_(seen.call), users_(seen.call.output), may_be_tried_(may_be_tried) {}
    /// Makes room for a copy of the buffer of a call in place. False if there is none, or the call may not be tried.
    bool prepare() {
        if (!may_be_tried_ || !key_.in_place) return may_be_tried_;
        mpi::notice_device_runtimes();
        const auto bytes = static_cast<std::size_t>(seen_.type.span(key_.count));
        constexpr std::size_t most = std::size_t{256} << 20;  // a program might miss more
        if (bytes <= most && !mpi::on_device(call_.output)) vector_.reset(new (std::nothrow) char[bytes]);
        if (vector_ == nullptr) return false;
        bytes_ = bytes;
        if (call_.input == call_.output) call_.input = vector_.get();
        call_.output = vector_.get();
        return true;
    }
    int carry_out() { return seen_.function.native(mpi::library(), call_); }
    /// Copies the user's buffer of a call in place: before each call by the library, which works on the copy, and after
    /// the last one, to keep the input for Rondo's calls.
    void take_input() {
        if (vector_ != nullptr) std::memcpy(vector_.get(), users_, bytes_);
    }
    /// Restores the user's buffer before Rondo's call is repeated.
    void give_back_input() {
        if (vector_ != nullptr) std::memcpy(users_, vector_.get(), bytes_);
    }

  private:
    const SeenCall& seen_;
    const mpi::CallKey& key_;
    UserCall call_;
    void* users_;
    bool may_be_tried_;
    std::size_t bytes_ = 0;
    std::unique_ptr<char[]> vector_;  // the copy for a call in place, which would lose its input
};

}  // namespace rondo::interposer
