# SPDX-License-Identifier: BSD-3-Clause
"""Communicators with ranks of another program are left to the library: those ranks may not have Rondo."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mpi_libraries import MpiLibrary


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_spawned_ranks_are_left_to_the_library(mpi: MpiLibrary) -> None:
    if mpi.is_openmpi:  # whose shared memory does not reach spawned ranks
        mpi = replace(mpi, environment={**mpi.environment, "OMPI_MCA_btl": "self,sm,tcp"})
    run = mpi.run_under_rondo([mpi.compile("spawning.c")], 2, timeout=40, allreduce="ring").check()
    said = [line for line in run.stdout.splitlines() if line.startswith("rank ")]
    assert sorted(said) == [f"rank {rank} of 3: 2 right, 3 in its own world" for rank in range(2)]
    assert run.report.native_reasons("allreduce")["processes of several programs"] >= 2 * 2
    assert run.report.calls("allreduce")["ring"] == 2
