# SPDX-License-Identifier: BSD-3-Clause
"""Emulated clusters: their shapes, their nodes, and what MPI libraries need to run there."""
