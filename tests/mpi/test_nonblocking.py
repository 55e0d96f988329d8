# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking collectives: many under way at a time, and going on wherever the program waits.

test_results.py checks each algorithm in its nonblocking form.
"""

from __future__ import annotations

import pytest
from mpi_libraries import MpiLibrary

from rondo import _core

# Nodes of one rank each: memory is not shared, and any algorithm may serve.
NODES = {2: "1,1", 3: "1,1,1", 4: "2x2", 5: "1,1,1,1,1"}
COLLECTIVES = [each["name"] for each in _core.collectives()]
ALGORITHMS = {name: [each["name"] for each in _core.algorithms(name)] for name in COLLECTIVES}
STEPS = 500
GOES_ON = ["mpich", "openmpi"]
OTHERS = ["impi", "mpiabi"]
WAITING = ["Recv", "Ssend", "Probe", "Iprobe", "Win_fence", "Comm_split", "Reduce", "Allreduce", "File_write_all"]


def chosen(number: int) -> dict[str, str]:
    """The variables that force an algorithm for each collective."""
    return {f"RONDO_{name.upper()}": names[number % len(names)] for name, names in ALGORITHMS.items()}


@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[] if seed < 3 else pytest.mark.soak) for seed in range(40)])
def test_many_calls_are_under_way_between_others(mpi: MpiLibrary, seed: int) -> None:
    ranks = 2 + seed % 4
    frees_early = "0" if mpi.is_openmpi else "1"
    command = [mpi.compile("pending_calls.c"), str(seed), str(STEPS), frees_early, "1"]
    environment = {"RONDO_NODES": NODES[ranks], **chosen(seed)}
    if seed % 2 != 0:
        environment["RONDO_REPORT"] = ""  # as users run it
    run = mpi.run_under_rondo(command, ranks, environment=environment, timeout=150).check()
    assert run.stdout.startswith("failures 0\n"), run.stdout
    if seed % 2 != 0:
        return
    served = {name: run.report.calls(name) for name in COLLECTIVES}
    assert sum(calls for by in served.values() for name, calls in by.items() if name != "native") > 100, served


@pytest.mark.parametrize("mpi", OTHERS, indirect=True)
def test_other_libraries_keep_their_calls(mpi: MpiLibrary) -> None:
    has_persistent = "0" if mpi.name == "impi" else "1"  # Intel MPI itself waits for ever in them
    command = [mpi.compile("pending_calls.c"), "1", "200", "0", has_persistent]
    run = mpi.run_under_rondo(command, 3, environment={"RONDO_NODES": NODES[3], **chosen(0)}, timeout=150).check()
    assert run.stdout.startswith("failures 0\n"), run.stdout
    assert run.report.native_reasons("bcast")["this MPI library goes on with its own nonblocking calls alone"] > 0


@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
@pytest.mark.parametrize("where", WAITING)
def test_calls_go_on_while_a_rank_waits_elsewhere(
    mpi: MpiLibrary, where: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("written"))
    forced = {"allreduce": "ring", "bcast": "linear_pipeline:segment=4Ki", "barrier": "dissemination"}
    run = mpi.run_under_rondo([mpi.compile("progress.c"), where], 3, environment={}, timeout=60, **forced).check()
    assert run.stdout == f"went on in MPI_{where}\n"
    assert run.report.calls("bcast")["linear_pipeline"] >= 15  # MPI_File_open calls some itself
    assert run.report.calls("barrier")["dissemination"] >= 15


@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
def test_errors_come_from_the_call_or_the_wait(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("pending_errors.c")], 2, environment={}, bcast="binomial").check()
    assert sorted(run.stdout.splitlines()) == [
        "rank 0: begun 0, in the wait nothing, in the call MPI_ERR_COUNT",
        "rank 0: made with nothing, in the waits nothing nothing, in the call MPI_ERR_COUNT",
        "rank 1: begun 0, in the wait MPI_ERR_TRUNCATE, in the call MPI_ERR_COUNT",
        "rank 1: made with nothing, in the waits MPI_ERR_TRUNCATE MPI_ERR_TRUNCATE, in the call MPI_ERR_COUNT",
    ]


@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
@pytest.mark.parametrize("algorithm", ["binomial", "linear_pipeline:segment=4Ki"])
def test_persistent_requests_do_what_requests_do(mpi: MpiLibrary, algorithm: str) -> None:
    frees_early = "0" if mpi.is_openmpi else "1"
    run = mpi.run_under_rondo(
        [mpi.compile("persistent_requests.c"), frees_early],
        3,
        environment={"RONDO_NODES": NODES[3]},
        bcast=algorithm,
    ).check()
    found = dict(line.split() for line in run.stdout.splitlines())
    assert found["failures"] == "0"
    assert run.report.calls("bcast") == {algorithm.partition(":")[0]: 3 * int(found["starts"])}
    assert {each["form"] for rank in run.report.ranks for each in rank["entries"] if each["collective"] == "bcast"} == {
        "persistent"
    }
