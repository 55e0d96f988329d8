# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that fail while others wait for them in memory that they share: these end as they would natively."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import secrets
import time
from pathlib import Path

import pytest
from launching import Run
from mpi_libraries import LIBRARIES, MpiLibrary

pytestmark = pytest.mark.parallel
NAMES = ["mpich", "openmpi", "impi"]
FORCED = {"allreduce": "circulant", "bcast": "binomial", "exscan": "doubling_123"}
SHORT, LONG = "1", "40000"  # elements: in lines; by reference, halves of it too


def live_on(job: str) -> list[Path]:
    """Processes of a job, which has a name of its own in its environment: shared memory without a name is gone with
    them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if job.encode() in (process / "environ").read_bytes():
                found.append(process)
    return found


def struck(mpi: MpiLibrary, ranks: int, *words: str) -> Run:
    job = f"job-{secrets.token_hex(8)}"
    variables = {"RONDO_SHARED_MEMORY": "on", "STRUCK_JOB": job}
    run = mpi.run_under_rondo([mpi.compile("struck_rank.c"), *words], ranks, environment=variables, **FORCED)
    assert not run.timed_out, run.stdout + run.stderr
    deadline = time.monotonic() + 10  # a launcher may end before the last rank has noticed that all others have
    while live_on(job) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert live_on(job) == []
    return run


@functools.cache
def native_ending(name: str, ending: str) -> bool:
    """Whether the launcher calls it a success."""
    mpi = LIBRARIES[name]
    run = mpi.run([mpi.compile("struck_rank.c"), ending, SHORT], 2)
    assert not run.timed_out
    return run.returncode == 0


WAYS = [
    (ending, ranks, elements)
    for ending in ("kill", "abort", "exit", "stop")
    for ranks, elements in ((2, SHORT), (2, LONG), (4, SHORT), (4, LONG))
]


@pytest.mark.parametrize(("ending", "ranks", "elements"), WAYS)
@pytest.mark.parametrize("mpi", NAMES, indirect=True)
def test_others_end_as_natively(mpi: MpiLibrary, ending: str, ranks: int, elements: str) -> None:
    run = struck(mpi, ranks, ending, elements)
    if ending != "exit":  # MPICH's launcher sometimes calls that a success, natively too
        assert (run.returncode == 0) == native_ending(mpi.name, ending)
    assert run.stdout.count("came to its end") == (ranks if ending == "stop" else 0)
    assert "wrong" not in run.stdout
    assert "Segmentation" not in run.stderr and "Bus error" not in run.stderr


def with_launcher_that_lets_ranks_live(mpi: MpiLibrary) -> MpiLibrary:
    words = ("--with-ft", "ulfm") if mpi.is_openmpi else ("-disable-auto-cleanup",)
    return dataclasses.replace(mpi, launcher_options=words)


def classes_of_errors(run: Run) -> set[str]:
    return set(re.findall(r"failed with an error of class (\d+)", run.stdout))


# Nobody ends the others, so they have to notice it themselves. Natively Open MPI does, with a code of its own; ranks
# of MPICH wait for ever.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("elements", [SHORT, LONG])
@pytest.mark.parametrize("ranks", [2, 4])
def test_errors_return_where_a_rank_is_no_more(mpi: MpiLibrary, elements: str, ranks: int) -> None:
    tolerant = with_launcher_that_lets_ranks_live(mpi)
    run = struck(tolerant, ranks, "exit", elements, "return")
    assert len(re.findall(r"^rank \d: \w+ failed", run.stdout, re.MULTILINE)) >= 1
    if mpi.is_openmpi:
        native = tolerant.run([mpi.compile("struck_rank.c"), "exit", SHORT, "return"], ranks)
        assert classes_of_errors(run) == classes_of_errors(native)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_errors_return_where_a_rank_was_killed(mpi: MpiLibrary) -> None:
    tolerant = with_launcher_that_lets_ranks_live(mpi)
    run = struck(tolerant, 2, "kill", LONG, "return")
    assert "rank 0: " in run.stdout
