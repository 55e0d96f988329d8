# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of collectives, unmodified, as its source distribution has them, with its wheel from PyPI.

A test that fails natively as well is not held against Rondo.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mpi_libraries import FORCED, FORCED_ALL_TO_ALL, FORCED_PARTS_OF_THE_ROOT, MpiLibrary, Run

pytestmark = pytest.mark.parallel

BEGUN = ["-i", "test_cco_nb_", "-i", "test_cco_pr_"]
BLOCKING = ["-i", "test_cco_", "-i", "test_op", "-e", "test_cco_nb_", "-e", "test_cco_pr_"]
MODULES = ["-i", "test_cco_", "-i", "test_op"]
LIBRARIES = ["mpich", "openmpi"]
TIMEOUT = 600  # seconds; MPICH alone takes a minute for all-to-alls on four ranks that share two processors
EVERYTHING = {**FORCED, **FORCED_ALL_TO_ALL, **FORCED_PARTS_OF_THE_ROOT, "barrier": "dissemination"}
# What Rondo leaves to the library: mpi4py's tests broadcast nothing, too.
LEFT = {
    "one process",
    "inter-communicator",
    "empty",
    "the first nonblocking calls on a communicator",
}
# And where nobody knows how the library goes on with the calls of others.
LEFT_WITHOUT_AN_ENGINE = LEFT | {"this MPI library goes on with its own nonblocking calls alone"}


def failures(run: Run) -> set[str]:
    """Names of tests that failed on some rank, or `crash`."""
    if run.timed_out:
        return {"timeout"}
    names = set(re.findall(r"^(?:FAIL|ERROR): (.*)$", run.stdout + run.stderr, re.MULTILINE))
    return names or ({"crash"} if run.returncode != 0 else set())


def check(
    mpi: MpiLibrary,
    mpi4py: Path,
    ranks: int,
    *arguments: str,
    forced: Mapping[str, str] = EVERYTHING,
    not_called: Sequence[str] = (),
    modules: Sequence[str] = MODULES,
    **more: str,
) -> Run:
    command = [sys.executable, mpi4py / "test" / "main.py", *modules, *arguments]
    variables = {
        "PYTHONPATH": str(mpi4py / "site"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPI4PY_LIBMPI": str(mpi.shared_library),
        **more,
    }
    run = mpi.run_under_rondo(command, ranks, **forced, environment=variables, timeout=TIMEOUT)
    failed = failures(run)
    if failed:
        failed -= failures(mpi.run(command, ranks, environment=variables, timeout=TIMEOUT))
    assert not failed, run.stderr[-4000:]
    tests = re.search(r"Ran (\d+) tests", run.stderr)
    assert tests is not None and int(tests[1]) > 0
    for collective, algorithm in forced.items():
        if collective in not_called:
            continue
        assert run.report.calls(collective)[algorithm] > 0
        left = run.report.native_reasons(collective)
        expected = LEFT_WITHOUT_AN_ENGINE if mpi.name == "impi" else LEFT
        assert {reason for reason in left if not reason.startswith(f"{algorithm} needs ")} <= expected
    return run


@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_blocking_collectives_of_mpi4py_pass(mpi: MpiLibrary, mpi4py: Path) -> None:
    check(mpi, mpi4py, 2, modules=BLOCKING)


@pytest.mark.soak
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_collectives_of_mpi4py_pass(mpi: MpiLibrary, mpi4py: Path) -> None:
    check(mpi, mpi4py, 2)


@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_nonblocking_and_persistent_collectives_of_mpi4py_pass_where_one_thread_calls(
    mpi: MpiLibrary, mpi4py: Path
) -> None:
    check(mpi, mpi4py, 2, modules=BEGUN, MPI4PY_RC_THREAD_LEVEL="serialized")


@pytest.mark.soak
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_served_collectives_of_mpi4py_pass_on_four_ranks(mpi: MpiLibrary, mpi4py: Path) -> None:
    names = ["*Scan*", "*Exscan*", "*Bcast*", "*Reduce*", "*Allgather*", "*Allreduce*"]
    words = [word for name in names for word in ("-k", name)]
    check(mpi, mpi4py, 4, *words, not_called=["alltoall", "alltoallv", "barrier", *FORCED_PARTS_OF_THE_ROOT])


@pytest.mark.soak
@pytest.mark.parametrize("algorithm", ["full_lane", "k_lane"])
@pytest.mark.parametrize("mpi", [*LIBRARIES, "impi"], indirect=True)
def test_exchanges_of_mpi4py_pass_on_two_nodes(mpi: MpiLibrary, mpi4py: Path, algorithm: str) -> None:
    words = [word for name in ("*Alltoall*", "*Gather*", "*Scatter*") for word in ("-k", name)]
    on_nodes = dict.fromkeys(("alltoall", "gather", "scatter"), algorithm)
    others = {each: EVERYTHING[each] for each in ("alltoallv", "gatherv", "scatterv")}
    check(mpi, mpi4py, 4, *words, forced=on_nodes | others, RONDO_NODES="2x2")


@pytest.mark.soak
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_collectives_of_mpi4py_pass_through_shared_memory(mpi: MpiLibrary, mpi4py: Path) -> None:
    run = check(mpi, mpi4py, 2, RONDO_SHARED_MEMORY="on")
    assert all(rank["shared_memory"]["messages"] > 1000 for rank in run.report.ranks)
