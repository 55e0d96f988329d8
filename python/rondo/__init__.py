# SPDX-License-Identifier: BSD-3-Clause
"""Rondo makes the collective operations of MPI programs faster without touching the programs."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

try:
    __version__ = version("rondo-mpi")
except PackageNotFoundError:  # a source tree on PYTHONPATH
    __version__ = "unknown"

# What programs call, by the module that has it. Loaded when it is first used: the command line needs no NumPy, no MPI.
_CALLS = {
    "distribution": "distributions.distribution",
    "prefix_sum": "prefix_sums",
    "redistribute": "distributions.redistribution",
}


def __getattr__(name: str) -> Any:
    if name in _CALLS:
        return getattr(importlib.import_module(f"{__name__}.{_CALLS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_CALLS])
