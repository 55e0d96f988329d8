// SPDX-License-Identifier: BSD-3-Clause
// What a ping-pong says of a network: the time of a message over its length is a line, or two with one slope.
#pragma once

#include <vector>

namespace rondo::bench {

struct Line {
    double latency;           ///< alpha, seconds
    double seconds_per_byte;  ///< beta
    double rendezvous;        ///< what long messages take in addition, if the library asks the receiver first; else 0
    double residual;          ///< largest relative deviation of a measured time from the line
};

/// The measured times are about what it says.
bool is_good(const Line& line);

/// Of messages of rising lengths in bytes, and the seconds that each took. One line if it is good, else the best with a
/// step upwards: no library is faster because it asks first.
Line best_fit(const std::vector<double>& sizes, const std::vector<double>& seconds);

}  // namespace rondo::bench
