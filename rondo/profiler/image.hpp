// SPDX-License-Identifier: BSD-3-Clause
// What a rank leaves in its file, as python/rondo/profiling/image.py reads it: hence fixed sizes, and no pointers.
//
// Header, functions, lines, sites, communicators, instances, completing, texts; then samples, as many as there was need
// of. What is referred to by number or text is written before what refers to it, so that the file means something at
// any moment. Times are ticks of the rank's clock. A text is its distance from the begin of the texts; 0 is the empty
// one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rondo::profiler {

using Ticks = std::uint64_t;
using Text = std::uint32_t;
inline constexpr std::uint32_t none = ~std::uint32_t{0};

enum class State : std::uint32_t { running, finalized, aborted };

/// A tick and the same moment on the clock that all processes of a machine share (CLOCK_MONOTONIC).
struct Moment {
    Ticks ticks = 0;
    std::uint64_t nanoseconds = 0;
};

/// What the clock of the machine of rank 0 is ahead of this machine's, measured.
struct Offset {
    std::int64_t nanoseconds;
    std::uint64_t error;  ///< bound, nanoseconds
    std::uint64_t when;   ///< nanoseconds, on this machine's clock
};

struct Header {
    std::array<char, 16> magic;
    State state;
    std::uint32_t clocks;  ///< how many offsets there are: 0 to 2
    Ticks begin;           ///< the end of MPI_Init
    Ticks last;            ///< the end of the last call, or the begin of MPI_Finalize
    Moment first, later;
    std::array<Offset, 2> offsets;
    // How many there are.
    std::uint32_t functions, lines, sites, communicators, instances, text_bytes, samples;
    std::uint32_t threads;  ///< 1: several call MPI at the same time
    // For which there was no room.
    std::uint64_t calls_without_line, texts_without_place, instances_without_place, samples_without_place;
    std::array<char, 1024 - 184> owner;  ///< JSON object
};
static_assert(sizeof(Header) == 1024);

struct Function {
    std::array<char, 56> name;
    /// Of collectives: of the calls that belong to no line.
    std::uint64_t calls, ticks, bytes;
};
static_assert(sizeof(Function) == 80);

/// Calls that are alike.
struct Line {
    std::uint32_t function, site, communicator;
    std::uint32_t size_class;  ///< bits of the bytes; 0 where ranks may have different lengths
    std::int32_t root;         ///< -1: none
    std::uint32_t commutative;
    std::array<char, 32> datatype;
    std::array<char, 24> op;
    std::int64_t element;
    std::uint64_t calls, bytes, ticks, smallest, largest;
};
static_assert(sizeof(Line) == 128);

/// From where MPI is called.
struct Site {
    std::uint64_t offset;  ///< of the return address in its module
    Text module;           ///< path
    Text build_id;         ///< hexadecimal
    Text frames;           ///< of Python, a line each, the innermost first
    Text symbol;           ///< the dynamic symbol before it
    std::array<std::uint32_t, 2> unused;
};
static_assert(sizeof(Site) == 32);

/// Communicators that are alike.
struct CommunicatorKind {
    Text name;
    Text made_by;
    std::int32_t size, nodes, ranks_per_node;
    std::uint32_t number;
    std::array<std::uint32_t, 2> unused;
};
static_assert(sizeof(CommunicatorKind) == 32);

/// A communicator whose calls are sampled.
struct Instance {
    std::uint64_t id;  ///< the same on all of its ranks
    std::uint32_t communicator;
    std::int32_t rank, size;
    std::array<std::uint32_t, 3> unused;
};
static_assert(sizeof(Instance) == 32);

/// A call whose times are kept. Those of all ranks together have the same id, counter and number.
struct Sample {
    Ticks entry, exit;
    std::uint32_t instance, line;
    std::uint32_t number;  ///< of the calls that the counter has counted before
    std::uint32_t counter;
};
static_assert(sizeof(Sample) == 32);

struct Image {
    static constexpr std::array<char, 16> kind = {"rondo profile 2"};

    Header header;
    std::array<Function, 768> functions;
    std::array<Line, 1024> lines;
    std::array<Site, 1024> sites;
    std::array<CommunicatorKind, 512> communicators;
    std::array<Instance, 2048> instances;
    std::array<Ticks, 1024> completing;  ///< by line: in MPI_Wait and its like, for calls that do not block
    std::array<char, 128UL * 1024> texts;
};

/// Samples are added to the file by so many.
inline constexpr std::size_t samples_at_once = 2048;
inline constexpr std::size_t most_samples = 48 * samples_at_once;
/// The file's first part, up to a whole page.
inline constexpr std::size_t image_bytes = (sizeof(Image) + 65535) / 65536 * 65536;

/// Of the calls of a counter, all of the first so many are sampled, half of the next so many, a quarter of twice as
/// many, and so on: `number` decides, so that all ranks sample the same calls.
inline constexpr std::uint32_t all_sampled = 256;

}  // namespace rondo::profiler
