# SPDX-License-Identifier: BSD-3-Clause
"""MPI_THREAD_MULTIPLE: threads of one process call collectives at the same time, each on its own communicator.

They begin nonblocking ones, too, which another thread may complete.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from mpi_libraries import FORCED, ROOT, MpiLibrary

THREADS = 4
RANKS = 3

# ThreadSanitizer sees no more of an MPI library than its locks and atomics in libc; UCX's hooks into memory mapping run
# before its runtime is ready in a new thread.
SANITIZED_BUILD = ROOT / "build" / "threads"
RACE_FOUND = 66
SANITIZER: Mapping[str, str] = {
    "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1:exitcode={RACE_FOUND}",
    "UCX_MEM_EVENTS": "n",
    "UCX_MEM_MMAP_HOOK_MODE": "none",
}


PIPELINES = dict.fromkeys(FORCED, "linear_pipeline:segment=64")


# Many short calls; fewer ones of many messages each.
@pytest.mark.parametrize(("rounds", "forced"), [(1000, FORCED), (150, PIPELINES)], ids=["short", "pipelines"])
def test_threads_call_collectives_at_the_same_time(mpi: MpiLibrary, rounds: int, forced: dict[str, str]) -> None:
    run = mpi.run_under_rondo([mpi.compile("threads.cpp"), str(rounds)], RANKS, **forced).check()
    if "not provided" in run.stdout:
        pytest.skip(f"{mpi.name} was built without MPI_THREAD_MULTIPLE")
    assert run.stdout == "failures 0\n"
    served = {
        collective: run.report.calls(collective)[choice.partition(":")[0]] for collective, choice in forced.items()
    }
    assert served["scan"] + served["exscan"] == rounds * THREADS * RANKS
    assert served["bcast"] == rounds * THREADS * RANKS
    assert served["reduce"] == rounds * THREADS * RANKS


# Served alone: MPICH 5.0.2 itself reports errors in MPI_Testall.
BEGUN = {"allreduce": "recursive_doubling", "bcast": "binomial", "barrier": "dissemination"}


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("bcast", ["binomial", "linear_pipeline:segment=4Ki"])
def test_threads_begin_collectives_at_the_same_time(mpi: MpiLibrary, bcast: str) -> None:
    rounds = 60
    command = [mpi.compile("pending_threads.cpp"), str(rounds)]
    run = mpi.run_under_rondo(command, RANKS, timeout=150, **{**BEGUN, "bcast": bcast}).check()
    assert run.stdout == "failures 0\n"
    assert run.report.calls("bcast") == {bcast.partition(":")[0]: rounds * THREADS * RANKS}
    assert run.report.calls("allreduce")["recursive_doubling"] >= 3 * rounds * THREADS * RANKS


# Thread-local memory comes off the stacks of all threads.
def test_threads_may_have_small_stacks(mpi: MpiLibrary) -> None:
    program = mpi.compile("small_stacks.c")
    native = mpi.run([program], RANKS).check()
    if "error 0" not in native.stdout:
        pytest.skip(f"{mpi.name} itself takes more than such a stack has")
    assert mpi.run_under_rondo([program], RANKS, allreduce="recursive_doubling").check().stdout == native.stdout


WITH_MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)


@pytest.fixture
def sanitized_mpich(mpi: MpiLibrary, monkeypatch: pytest.MonkeyPatch) -> MpiLibrary:
    if not (SANITIZED_BUILD / "librondo_mpich.so").exists():
        pytest.skip(
            "no build/threads; make soak-mpi builds it, or: cmake --preset threads && cmake --build --preset threads"
        )
    monkeypatch.setenv("RONDO_LIBRARY_DIR", str(SANITIZED_BUILD))
    return mpi


@pytest.mark.soak
@WITH_MPICH
def test_the_thread_sanitizer_finds_no_race_in_rondo(sanitized_mpich: MpiLibrary) -> None:
    program = sanitized_mpich.compile("threads.cpp", "-fsanitize=thread")
    run = sanitized_mpich.run_under_rondo(
        [program, "100"], 2, **{**FORCED, "scan": "linear_pipeline:segment=64"}, environment=SANITIZER
    ).check()
    assert "ThreadSanitizer" not in run.stderr
    assert run.stdout == "failures 0\n"
    assert run.report.calls("exscan")["doubling_123"] > 0


@pytest.mark.soak
@WITH_MPICH
def test_the_thread_sanitizer_finds_no_race_in_begun_calls(sanitized_mpich: MpiLibrary) -> None:
    program = sanitized_mpich.compile("pending_threads.cpp", "-fsanitize=thread")
    run = sanitized_mpich.run_under_rondo([program, "20"], 2, environment=SANITIZER, timeout=150, **BEGUN).check()
    assert "ThreadSanitizer" not in run.stderr
    assert run.stdout == "failures 0\n"
    assert run.report.calls("bcast")["binomial"] > 0


@pytest.mark.soak
@WITH_MPICH
def test_the_thread_sanitizer_finds_a_planted_race(sanitized_mpich: MpiLibrary) -> None:
    program = sanitized_mpich.compile("racing_threads.cpp", "-fsanitize=thread")
    run = sanitized_mpich.run_under_rondo([program], 2, exscan="doubling_123", environment=SANITIZER)
    assert "ThreadSanitizer: data race" in run.stderr
    assert run.returncode == RACE_FOUND
