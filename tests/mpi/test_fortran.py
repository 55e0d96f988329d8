# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs are served through all three interfaces: mpif.h, use mpi, use mpi_f08."""

from __future__ import annotations

import re

import pytest
from mpi_libraries import MpiLibrary

pytestmark = pytest.mark.parallel

RANKS = 4


@pytest.mark.parametrize("mpi", ["debian_mpich", "debian_openmpi"], indirect=True)
@pytest.mark.parametrize("interface", ["MPIF_H", "MPI", "MPI_F08"])
@pytest.mark.parametrize(("exscan", "scan"), [("doubling_123", "doubling"), ("linear_pipeline", "linear_pipeline")])
def test_fortran_interface_is_served(mpi: MpiLibrary, interface: str, exscan: str, scan: str) -> None:
    program = mpi.compile("fortran_scan.f90", "-cpp", f"-DUSE_{interface}")
    native = mpi.run([program], RANKS).check()
    run = mpi.run_under_rondo([program], RANKS, exscan=exscan, scan=scan).check()
    assert run.stdout == native.stdout
    scans, exscans, failures = (int(word) for word in re.findall(r"\d+", run.stdout))
    assert failures == 0
    assert run.report.calls("exscan") == {exscan: exscans * RANKS}
    assert run.report.calls("scan") == {scan: scans * RANKS}
