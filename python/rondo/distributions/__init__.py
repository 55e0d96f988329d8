# SPDX-License-Identifier: BSD-3-Clause
"""How a distributed array should lie so that its prefix sum ends earliest."""
