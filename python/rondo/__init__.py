# SPDX-License-Identifier: BSD-3-Clause
"""Rondo makes the collective operations of MPI programs faster without touching the programs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("rondo-mpi")
except PackageNotFoundError:  # a source tree on PYTHONPATH
    __version__ = "unknown"
