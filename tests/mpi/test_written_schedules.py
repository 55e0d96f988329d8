# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from files carry collectives out, where calls are such as they are written for."""

from __future__ import annotations

from pathlib import Path

import msccl_schedules
import pytest
from click.testing import CliRunner
from mpi_libraries import MpiLibrary, results_command, results_of_data
from rondo.commands import main

pytestmark = pytest.mark.parallel

RANKS = 4
PUBLISHED = {
    "ring": msccl_schedules.ring(RANKS),
    "all_pairs": msccl_schedules.all_pairs(RANKS),
    "two_by_two": msccl_schedules.two_by_two(),
}
EXPORTED = ["alltoall/bruck", "bcast/two_tree", "reduce/binomial", "reduce_scatter/ring", "scatter/binomial"]


def check(mpi: MpiLibrary, collective: str, path: Path) -> None:
    """Results are those of the library, and the schedule was used where it could be."""
    command = results_command(mpi, collective, longest=200)
    native = mpi.run(command, RANKS, timeout=200).check()
    served = mpi.run_under_rondo(command, RANKS, timeout=200, **{collective: f"file:{path}"}).check()
    assert results_of_data(served.stdout) == results_of_data(native.stdout)
    assert served.report.calls(collective)[f"file:{path}"] > 0
    reasons = served.report.native_reasons(collective)
    assert f"file:{path} needs as many ranks as it is written for" in reasons
    if collective in ("allgather", "reduce_scatter"):
        assert "a schedule from a file needs parts of equal length" in reasons


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_published_schedules_have_the_results_of_the_library(mpi: MpiLibrary, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.xml"
    path.write_text(PUBLISHED[name].text())
    check(mpi, PUBLISHED[name].collective, path)


@pytest.mark.parametrize("algorithm", EXPORTED)
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_exported_schedules_have_the_results_of_the_library(mpi: MpiLibrary, algorithm: str, tmp_path: Path) -> None:
    path = tmp_path / "exported.xml"
    call = ["export", algorithm, "-n", str(RANKS), "--count", "2", "--format", "msccl", "-o", str(path)]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.stderr
    check(mpi, algorithm.partition("/")[0], path)
