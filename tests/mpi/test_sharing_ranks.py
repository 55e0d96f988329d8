# SPDX-License-Identifier: BSD-3-Clause
"""What programs do while their ranks share memory: spawn, fork, make communicators, use stacks of their own."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest
from launching import Run
from mpi_libraries import FORCED, MpiLibrary

pytestmark = pytest.mark.parallel

NAMES = ["mpich", "openmpi", "impi"]
SERVED = {"allreduce": "circulant", "bcast": "binomial", "exscan": "doubling_123"}
ALL = pytest.mark.parametrize("mpi", NAMES, indirect=True)
TWO_LIBRARIES = pytest.mark.parametrize("mpi", NAMES[:2], indirect=True)


def sharing(mpi: MpiLibrary, ranks: int, *words: str, timeout: float = 100, **variables: str) -> Run:
    environment = {"RONDO_SHARED_MEMORY": "on", **variables}
    command = [mpi.compile("sharing_ranks.cpp"), *words]
    run = mpi.run_under_rondo(command, ranks, environment=environment, timeout=timeout, **SERVED).check()
    assert "failures 0\n" in run.stdout
    assert "wrong" not in run.stderr
    for collective, algorithm in SERVED.items():
        assert run.report.calls(collective)[algorithm] > 0
    return run


@TWO_LIBRARIES
def test_children_share_memory_among_themselves(mpi: MpiLibrary) -> None:
    if mpi.is_openmpi:  # which reaches no other world through memory
        mpi = dataclasses.replace(mpi, environment={**mpi.environment, "OMPI_MCA_btl": "self,sm,tcp"})
    run = sharing(mpi, 2, "spawn")
    assert run.stdout.count("failures 0\n") == 2  # one world each
    assert run.report.native_reasons("allreduce")["processes of several programs"] > 0
    assert run.report.native_reasons("allreduce")["inter-communicator"] > 0


@ALL
@pytest.mark.parametrize("what", ["fork", "stack", "descriptors"])
def test_ranks_share_memory_whatever_the_program_does(mpi: MpiLibrary, what: str) -> None:
    sharing(mpi, 2, what)


@ALL
def test_ten_thousand_communicators_leave_no_shared_memory_behind(mpi: MpiLibrary) -> None:
    command = [mpi.compile("many_communicators.cpp", "-ldl"), "churn", "10000"]
    run = mpi.run_under_rondo(command, 2, environment={"RONDO_SHARED_MEMORY": "on"}, timeout=150, **FORCED).check()
    assert int(re.search(r"growth (-?\d+)", run.stdout)[1]) < 1024


# In KiB. A queue for each ordered pair; at most 16 pieces of 64 are under way to a neighbour.
@TWO_LIBRARIES
def test_shared_memory_is_bounded(mpi: MpiLibrary) -> None:
    ranks = 4
    run = sharing(mpi, ranks, "memory", str(4 << 20))
    in_all = int(re.search(r"sum (\d+)", run.stdout)[1])
    assert 4 * ranks * (ranks - 1) < in_all < ranks * (ranks - 1) * (4 + 16 * 68) + 128 * ranks


# More than 2^31 bytes in a call, on both sides of each transfer.
@pytest.mark.soak
@TWO_LIBRARIES
def test_vectors_of_more_than_two_gibibytes(mpi: MpiLibrary) -> None:
    free = re.search(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())
    if int(free[1]) < 16 << 20 or os.sysconf("SC_PAGESIZE") > 4096:
        pytest.skip("needs 16 GiB")
    sharing(mpi, 2, "huge", "2100", timeout=300)
