# SPDX-License-Identifier: BSD-3-Clause
"""MPI_THREAD_MULTIPLE: threads of one process scan at the same time, each on its own communicator."""

from __future__ import annotations

import pytest
from mpi_libraries import MpiLibrary

CALLS = 2000
THREADS = 4
RANKS = 3


@pytest.mark.parametrize(("exscan", "scan"), [("doubling_123", "doubling"), ("linear_pipeline:segment=64",) * 2])
def test_threads_scan_at_the_same_time(mpi: MpiLibrary, exscan: str, scan: str) -> None:
    run = mpi.run_under_rondo([mpi.compile("threads.cpp"), str(CALLS)], RANKS, exscan=exscan, scan=scan).check()
    if "not provided" in run.stdout:
        pytest.skip(f"{mpi.name} was built without MPI_THREAD_MULTIPLE")
    assert run.stdout == "failures 0\n"
    served = run.report.calls("exscan")[exscan.partition(":")[0]] + run.report.calls("scan")[scan.partition(":")[0]]
    assert served == CALLS * THREADS * RANKS
