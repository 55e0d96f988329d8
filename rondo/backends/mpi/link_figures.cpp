// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/link_figures.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

#include "rondo/backends/mpi/clock.hpp"

namespace rondo::mpi {
namespace {

constexpr int tag = 0;
constexpr int shortest = 8;
// Lengths of messages there and back. The rate comes from the two longest ones that there is time for.
constexpr int longest = 1 << 21;
constexpr int lengths[] = {1 << 13, 1 << 16, 1 << 19, longest};
constexpr int rounds_at_once = 2, most_rounds = 20;
constexpr double share_of_length = 0.2;  // of the time; two rounds of a length may take longer
constexpr int few_in_a_row = 16, many_in_a_row = 80, rows = 3;

/// The first rank asks the second one for messages there and back, or for messages in a row and one back. No messages
/// mean that this was all.
struct Wish {
    std::int32_t bytes, there_and_back, in_a_row;
};

class End {
  public:
    End(MPI_Comm comm, Rank peer) : comm_(comm), peer_(peer), room_(new (std::nothrow) char[longest]) {}

    /// Bytes of the longest message that this end can take.
    [[nodiscard]] std::int32_t room() const { return room_ != nullptr ? longest : 0; }
    bool send(int bytes) { return send(room_.get(), bytes); }
    bool receive(int bytes) { return receive(room_.get(), bytes); }
    bool send(const void* data, int bytes) {
        return library().Send(data, bytes, library().byte, peer_, tag, comm_) == MPI_SUCCESS;
    }
    bool receive(void* data, int bytes) {
        return library().Recv(data, bytes, library().byte, peer_, tag, comm_, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }

  private:
    MPI_Comm comm_;
    Rank peer_;
    std::unique_ptr<char[]> room_;
};

void answer(End& end) {
    const std::int32_t room = end.room();
    if (!end.send(&room, sizeof room)) return;
    for (Wish wish{}; end.receive(&wish, sizeof wish) && wish.there_and_back + wish.in_a_row > 0;) {
        for (int i = 0; i < wish.there_and_back; ++i) {
            if (!end.receive(wish.bytes) || !end.send(wish.bytes)) return;
        }
        for (int i = 0; i < wish.in_a_row; ++i) {
            if (!end.receive(wish.bytes)) return;
        }
        if (wish.in_a_row > 0 && !end.send(wish.bytes)) return;
    }
}

double seconds_since(std::uint64_t start) { return static_cast<double>(now() - start) * 1e-9; }

/// The end that measures. Times are infinite after a message that has failed.
class Measuring {
  public:
    Measuring(End& end, double seconds) : end_(end), seconds_(seconds), start_(now()) {}

    std::optional<LinkFigures> figures() {
        std::int32_t room = 0;
        if (!end_.receive(&room, sizeof room)) return std::nullopt;
        if (std::min(room, end_.room()) == 0) {
            end();
            return std::nullopt;
        }
        const double latency = one_way(shortest);
        const double per_byte = latency < failed ? rate(latency) : failed;
        const double overhead = per_byte < failed ? in_a_row() : failed;
        end();
        const bool is_known = latency > 0 && per_byte > 0 && overhead < failed;
        return is_known ? std::optional(LinkFigures{latency, per_byte, overhead}) : std::nullopt;
    }

  private:
    static constexpr double failed = std::numeric_limits<double>::infinity();

    [[nodiscard]] double left() const { return seconds_ - seconds_since(start_); }

    bool ask(const Wish& wish) { return end_.send(&wish, sizeof wish); }
    void end() { ask({}); }

    /// The shortest time that a message took, of as many there and back as there is time for. The first ones are cold.
    double one_way(int bytes) {
        const std::uint64_t begin = now();
        double least = failed;
        for (int rounds = 0; rounds < most_rounds; rounds += rounds_at_once) {
            if (rounds > 0 && seconds_since(begin) > share_of_length * seconds_) break;
            if (!ask({bytes, rounds_at_once, 0})) return failed;
            for (int i = 0; i < rounds_at_once; ++i) {
                const std::uint64_t start = now();
                if (!end_.send(bytes) || !end_.receive(bytes)) return failed;
                least = std::min(least, seconds_since(start) / 2);
            }
        }
        return least;
    }

    /// Returns the seconds per byte. Longer messages are tried while there is time for them.
    double rate(double latency) {
        double per_byte = 0, before = latency;
        int bytes_before = shortest;
        for (const int bytes : lengths) {
            const double expected = before + per_byte * (bytes - bytes_before);
            if (bytes_before > shortest && 2 * rounds_at_once * expected > left()) break;
            const double least = one_way(bytes);
            if (least == failed) return failed;
            per_byte = std::max(least - before, 0.0) / (bytes - bytes_before);
            before = least;
            bytes_before = bytes;
        }
        return per_byte;
    }

    /// Returns the seconds that each further message in a row takes.
    double in_a_row() {
        double few = failed, many = failed;
        for (int row = 0; row < rows; ++row) {
            few = std::min(few, row_of(few_in_a_row));
            many = std::min(many, row_of(many_in_a_row));
            if (std::max(few, many) == failed) return failed;
        }
        return std::max(many - few, 0.0) / (many_in_a_row - few_in_a_row);
    }
    double row_of(int messages) {
        if (!ask({shortest, 0, messages})) return failed;
        const std::uint64_t start = now();
        for (int i = 0; i < messages; ++i) {
            if (!end_.send(shortest)) return failed;
        }
        return end_.receive(shortest) ? seconds_since(start) : failed;
    }

    End& end_;
    double seconds_;
    std::uint64_t start_;
};

}  // namespace

std::optional<LinkFigures> measure_link(MPI_Comm comm, Rank here, Rank first, Rank second, double seconds) {
    End end(comm, here == first ? second : first);
    if (here == first) return Measuring(end, seconds).figures();
    answer(end);
    return std::nullopt;
}

}  // namespace rondo::mpi
