# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of distributed arrays: rondo_prefix, in programs that link with Rondo, with and without `rondo run`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mpi_libraries import ROOT, MpiLibrary, preload_library

EVERY_DAY = ["mpich", "openmpi", "impi"]


def linked(mpi: MpiLibrary, source: str | Path) -> Path:
    """A program that is linked with Rondo's library for prefix sums."""
    library = preload_library(mpi.abi).with_name(f"librondo-prefix-{mpi.abi}.so")
    return mpi.compile(source, f"-I{ROOT / 'include'}", str(library), f"-Wl,-rpath,{library.parent}")


def check(mpi: MpiLibrary, ranks: int, *arguments: str, preloaded: bool = False, **environment: str) -> None:
    command = [linked(mpi, "prefix_sums.cpp"), *arguments]
    run = mpi.run_under_rondo if preloaded else mpi.run
    output = run(command, ranks, environment=environment, timeout=300).check().stdout
    checked, failures = (int(number) for number in re.findall(r"^(?:checked|failures) (\d+)$", output, re.MULTILINE))
    assert failures == 0
    assert checked > 1000


@pytest.mark.parametrize("mpi", EVERY_DAY, indirect=True)
def test_sums_are_those_of_a_loop(mpi: MpiLibrary) -> None:
    check(mpi, 3, "5003", "brief")


@pytest.mark.soak
@pytest.mark.parametrize("ranks", [1, 2, 4, 5, 6, 7, 8, 9])
def test_sums_are_those_of_a_loop_everywhere(mpi: MpiLibrary, ranks: int) -> None:
    check(mpi, ranks, "200003")


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.soak)], indirect=True)
def test_sums_are_the_same_under_rondo_run(mpi: MpiLibrary) -> None:
    check(mpi, 2, "5003", "brief", preloaded=True)
