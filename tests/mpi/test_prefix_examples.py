# SPDX-License-Identifier: BSD-3-Clause
"""The examples of prefix sums give the same on any number of ranks, by hand and by Rondo."""

from __future__ import annotations

import sys

import pytest
from mpi_libraries import ROOT, MpiLibrary
from test_prefix_arrays import environment
from test_prefix_sums import linked

pytestmark = pytest.mark.parallel

EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_resampling_is_the_same_on_all_numbers_of_ranks(mpi: MpiLibrary) -> None:
    command = [sys.executable, EXAMPLES / "resampling.py", "20000"]
    outputs = {mpi.run(command, ranks, environment(mpi)).check().stdout for ranks in (1, 3)}
    (output,) = outputs
    assert output.startswith("12") and "of 20000 particles survive, checksum" in output


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_row_pointers_are_the_same_on_all_numbers_of_ranks(mpi: MpiLibrary) -> None:
    program = linked(mpi, EXAMPLES / "row_pointers.c")
    lengths = sum(row * 7919 % 31 for row in range(50000))
    for rows, ranks in ((50000, 1), (50000, 3), (2, 4)):
        expected = lengths if rows == 50000 else 7919 % 31
        output = mpi.run([program, rows], ranks).check().stdout
        assert output == f"{rows} rows, {expected} non-zeros\n"
