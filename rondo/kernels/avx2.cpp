// SPDX-License-Identifier: BSD-3-Clause
#define RONDO_KERNELS_LEVEL avx2
#include "rondo/kernels/level.hpp"
