# SPDX-License-Identifier: BSD-3-Clause
"""Measuring collectives: what to measure, the runs, their results and what follows from them."""
