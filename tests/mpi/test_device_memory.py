# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a GPU goes to the library, on all ranks. There is no GPU: a stand-in says which memory is one's."""

from __future__ import annotations

import pytest
from mpi_libraries import FORCED, FORCED_ALL_TO_ALL, LIBRARIES, MpiLibrary

# The standard ABI of MPICH is MPICH.
pytestmark = pytest.mark.parametrize("mpi", [name for name in LIBRARIES if name != "mpiabi"], indirect=True)
RANKS = 3
ROUNDS = 4
RUNTIMES = {"cuda": ["-Wl,-soname,libcuda.so.1"], "rocm": ["-DROCM", "-Wl,-soname,libamdhip64.so.6"]}


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_memory_of_a_device_on_one_rank_goes_to_the_library_on_all(mpi: MpiLibrary, runtime: str) -> None:
    stand_in = mpi.compile("gpu_stand_in.c", "-shared", "-fPIC", *RUNTIMES[runtime])
    forced = FORCED | FORCED_ALL_TO_ALL
    command = [mpi.compile("device_memory.cpp", "-ldl"), stand_in, str(ROUNDS)]
    run = mpi.run_under_rondo(command, RANKS, **forced).check()
    assert "failures 0" in run.stdout
    for collective, algorithm in forced.items():
        # The program itself ends with an allreduce.
        served = ROUNDS // 2 + (collective == "allreduce")
        assert run.report.calls(collective) == {algorithm: served * RANKS, "native": ROUNDS // 2 * RANKS}
        assert run.report.native_reasons(collective) == {"memory of a device": ROUNDS // 2 * RANKS}


def test_a_runtime_that_no_rank_has_loaded_is_not_asked(mpi: MpiLibrary) -> None:
    # Under a name that is none of a runtime's.
    stand_in = mpi.compile("gpu_stand_in.c", "-shared", "-fPIC")
    run = mpi.run_under_rondo(
        [mpi.compile("device_memory.cpp", "-ldl"), stand_in, "2"], RANKS, allreduce="ring"
    ).check()
    assert "questions 0" in run.stdout
    assert run.report.calls("allreduce") == {"ring": 3 * RANKS}
