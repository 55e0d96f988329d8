// SPDX-License-Identifier: BSD-3-Clause
// What there is to do in a function of MPI besides timing it, by the words that are its arguments. A role is made
// before the call, and may look at what the call will change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "rondo/profiler/recorder.hpp"
#include "rondo/profiler/requests.hpp"

namespace rondo::profiler::role {

struct Nothing {
    static constexpr bool is_of_requests = false;  ///< and then nothing as long as none of a collective is open
    explicit Nothing(const Word* /*arguments*/, std::uint32_t /*count*/) {}
    static void after(const Word* /*arguments*/, std::uint32_t /*count*/, std::uint32_t /*function*/) {}
    static std::uint64_t bytes(const Word* /*arguments*/) { return 0; }
};
/// Completes one request: the first argument says where it is.
struct CompletesOne : Nothing {
    static constexpr bool is_of_requests = true;
    explicit CompletesOne(const Word* arguments, std::uint32_t count)
        : Nothing(arguments, count),
          completion_({std::bit_cast<const HandleWord*>(arguments[0]), 1}, Completion::Of::all) {}
    Ticks own_part(Ticks elapsed) { return completion_.share_out(elapsed); }

  private:
    Completion completion_;
};
/// The first argument says how many requests there are, the second where.
template <Completion::Of of>
struct CompletesSeveral : Nothing {
    static constexpr bool is_of_requests = true;
    explicit CompletesSeveral(const Word* arguments, std::uint32_t count)
        : Nothing(arguments, count),
          completion_({std::bit_cast<const HandleWord*>(arguments[1]),
                       static_cast<std::size_t>(std::max(static_cast<int>(arguments[0]), 0))},
                      of) {}
    Ticks own_part(Ticks elapsed) { return completion_.share_out(elapsed); }

  private:
    Completion completion_;
};
using CompletesAll = CompletesSeveral<Completion::Of::all>;
using CompletesSome = CompletesSeveral<Completion::Of::some>;
/// The first argument is a request.
struct Asks : Nothing {
    static constexpr bool is_of_requests = true;
    explicit Asks(const Word* arguments, std::uint32_t count)
        : Nothing(arguments, count), request_(static_cast<HandleWord>(arguments[0])),
          completion_({&request_, 1}, Completion::Of::all) {}
    Ticks own_part(Ticks elapsed) { return completion_.share_out(elapsed); }

  private:
    HandleWord request_;
    Completion completion_;
};
struct Frees : Nothing {
    static constexpr bool is_of_requests = true;
    explicit Frees(const Word* arguments, std::uint32_t count) : Nothing(arguments, count) {
        forget_request(*std::bit_cast<const HandleWord*>(arguments[0]));
    }
};
struct Sends : Nothing {
    using Nothing::Nothing;
    /// The second and third argument say what is sent. The upper half of a word that holds an int means nothing.
    static std::uint64_t bytes(const Word* arguments) {
        const std::int64_t count = static_cast<int>(arguments[1]);
        return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0) *
                                          size_of_type(static_cast<HandleWord>(arguments[2])));
    }
};
/// Sends as many as a large count says.
struct SendsMany : Nothing {
    using Nothing::Nothing;
    static std::uint64_t bytes(const Word* arguments) {
        return arguments[1] * static_cast<std::uint64_t>(size_of_type(static_cast<HandleWord>(arguments[2])));
    }
};
struct MakesLast : Nothing {
    using Nothing::Nothing;
    static void after(const Word* arguments, std::uint32_t count, std::uint32_t function) {
        note_communicator(*std::bit_cast<const HandleWord*>(arguments[count - 1]), name_of(function));
    }
};
/// Not to be asked about before the request is done.
struct MakesLastButOne : Nothing {
    using Nothing::Nothing;
    static void after(const Word* arguments, std::uint32_t count, std::uint32_t function) {
        announce_communicator(*std::bit_cast<const HandleWord*>(arguments[count - 2]), name_of(function));
    }
};
struct Ends : Nothing {
    /// Before the library can give its handle to a new one.
    explicit Ends(const Word* arguments, std::uint32_t count) : Nothing(arguments, count) {
        forget_communicator(*std::bit_cast<const HandleWord*>(arguments[0]));
    }
};
struct Renames : Nothing {
    using Nothing::Nothing;
    static void after(const Word* arguments, std::uint32_t /*count*/, std::uint32_t /*function*/) {
        rename_communicator(static_cast<HandleWord>(arguments[0]));
    }
};
struct Changes : Nothing {
    using Nothing::Nothing;
    static void after(const Word* /*arguments*/, std::uint32_t /*count*/, std::uint32_t /*function*/) {
        mpi::end_epoch();
    }
};

}  // namespace rondo::profiler::role
