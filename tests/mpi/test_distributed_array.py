# SPDX-License-Identifier: BSD-3-Clause
"""rondo.distribution on the ranks of a communicator."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mpi_libraries import PROGRAMS, MpiLibrary

pytestmark = pytest.mark.parallel

pytest.importorskip("mpi4py", reason="mpi4py is not installed")


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_all_ranks_get_what_rank_0_finds(mpi: MpiLibrary, tmp_path: Path) -> None:
    command = [sys.executable, PROGRAMS / "distributed_array.py", tmp_path]
    run = mpi.run(command, 3, {"MPI4PY_LIBMPI": str(mpi.shared_library)})
    assert run.returncode == 0, run.stderr
    counts = [int(each) for each in run.stdout.split("agreed:")[1].split()]
    assert counts[1] > counts[0] == counts[2]
