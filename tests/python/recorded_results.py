# SPDX-License-Identifier: BSD-3-Clause
"""Results that the pages of docs/benchmarks keep, as files of `rondo bench`."""

from __future__ import annotations

from pathlib import Path

from script_loader import script

EXSCAN = "bandwidth-exscan-8x1-mpich.json"
"""Eight ranks, one on each emulated node; native and three algorithms."""


def recorded(file: str, directory: Path) -> Path:
    """Writes such a file into a directory."""
    path = directory / file
    path.write_bytes(script("measurements").texts()[file] + b"\n")
    return path
