// SPDX-License-Identifier: BSD-3-Clause
#define RONDO_KERNELS_LEVEL baseline
#include "rondo/kernels/level.hpp"
