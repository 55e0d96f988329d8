# SPDX-License-Identifier: BSD-3-Clause
"""C++ exceptions of programs pass through Rondo's frames as they pass through the library's."""

from __future__ import annotations

import pytest
from mpi_libraries import MpiLibrary

FORCED = {"allreduce": "ring", "bcast": "binomial", "exscan": "doubling_123"}


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("thrower", [[], ["operator"]], ids=["error handler", "operator"])
def test_programs_catch_what_they_throw(mpi: MpiLibrary, thrower: list[str]) -> None:
    command = [mpi.compile("exceptions.cpp"), *thrower]
    native = mpi.run(command, 2)
    run = mpi.run_under_rondo(command, 2, **FORCED)
    assert "of the error handler, 1 destroyed" in native.stdout
    assert (run.stdout, run.returncode) == (native.stdout, native.returncode)
    if not thrower:
        assert run.report.calls("exscan")["doubling_123"] == 2 * 3
