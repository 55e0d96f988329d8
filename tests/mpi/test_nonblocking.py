# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking and persistent collectives: they go on wherever the program waits, and requests do what requests do.

test_results.py checks each algorithm in these forms, test_random_programs.py many calls under way at a time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import (
    FORCED,
    FORCED_ALL_TO_ALL,
    FORCED_PARTS_OF_THE_ROOT,
    IMPI,
    OF_PARTS,
    TAME,
    MpiLibrary,
    results_of_data,
)

pytestmark = pytest.mark.parallel
GOES_ON = ["mpich", "openmpi"]
WAITING = [
    *("Recv", "Ssend", "Probe", "Iprobe", "Mrecv", "Waitall", "Waitany"),
    *("Win_fence", "Comm_split", "Reduce", "Allreduce", "Neighbor_allgather", "File_write_all"),
    *("File_iwrite", "Finalize"),
]


@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
@pytest.mark.parametrize("where", WAITING)
@pytest.mark.parametrize("form", ["nonblocking", "persistent"])
def test_calls_go_on_while_a_rank_waits_elsewhere(
    mpi: MpiLibrary, where: str, form: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("written"))
    forced = {"allreduce": "ring", "bcast": "linear_pipeline:segment=4Ki", "barrier": "dissemination"}
    command = [mpi.compile("progress.c"), where, str(int(form == "persistent"))]
    run = mpi.run_under_rondo(command, 3, environment={}, timeout=60, **forced).check()
    assert run.stdout == f"went on in MPI_{where}\n"
    assert run.report.calls("bcast")["linear_pipeline"] >= 15  # MPI_File_open calls some itself
    assert run.report.calls("barrier")["dissemination"] >= 15


SEVERAL_THREADS = {"MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE", "OMPI_MPI_THREAD_LEVEL": "3"}


# Inside MPICH's engine nobody may wait for a message then, not even for one to itself.
@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
@pytest.mark.parametrize("collective", [*FORCED, *FORCED_ALL_TO_ALL, *FORCED_PARTS_OF_THE_ROOT])
def test_all_datatypes_are_moved_where_several_threads_may_call(mpi: MpiLibrary, collective: str) -> None:
    program = "results_of_parts.cpp" if collective in OF_PARTS else "results.cpp"
    nonblocking = ("-include", str(Path(__file__).with_name("nonblocking.h")))
    arguments = [collective, "301", "brief", *(["tame"] if collective in TAME.get(mpi.name, set()) else [])]
    native = mpi.run([mpi.compile(program), *arguments], 3, timeout=200).check()
    algorithm = {**FORCED, **FORCED_ALL_TO_ALL, **FORCED_PARTS_OF_THE_ROOT}[collective]
    command = [mpi.compile(program, *nonblocking), *arguments]
    # With Open MPI, a blocking call of Rondo's makes the way for nonblocking ones.
    forced = {"barrier": "dissemination", collective: algorithm}
    run = mpi.run_under_rondo(command, 3, environment=SEVERAL_THREADS, timeout=200, **forced).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    assert run.report.calls(collective)[algorithm] > 0, run.report.native_reasons(collective)


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
        environment={"RONDO_NODES": "1,1,1"},
        bcast=algorithm,
    ).check()
    found = dict(line.split() for line in run.stdout.splitlines())
    assert found["failures"] == "0"
    assert run.report.calls("bcast") == {algorithm.partition(":")[0]: 3 * int(found["starts"])}
    assert {each["form"] for rank in run.report.ranks for each in rank["entries"] if each["collective"] == "bcast"} == {
        "persistent"
    }


def many_requests(mpi: MpiLibrary, overlapping: int, others: int) -> dict[str, int]:
    """What the program of that name found."""
    forced = {"allreduce": "recursive_doubling", "bcast": "binomial", "barrier": "dissemination"}
    command = [mpi.compile("many_requests.c"), str(overlapping), str(others)]
    run = mpi.run_under_rondo(command, 2, environment={}, timeout=600, **forced).check()
    found = {name: int(figure) for name, figure in (line.split() for line in run.stdout.splitlines())}
    assert found["failures"] == 0
    served = run.report.calls("allreduce")["recursive_doubling"] + run.report.calls("bcast")["binomial"]
    assert served > 1.9 * (overlapping + others)
    return found


# There are 32768 tags. MPICH's ranks, which sleep while they wait, take ten times as long as Open MPI's, which yield.
@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=pytest.mark.soak)], indirect=True)
def test_calls_get_tags_however_many_are_under_way(mpi: MpiLibrary) -> None:
    many_requests(mpi, 200_000, 0)


@pytest.mark.soak
@pytest.mark.parametrize("mpi", GOES_ON, indirect=True)
def test_a_million_calls_leave_nothing_in_memory(mpi: MpiLibrary) -> None:
    assert many_requests(mpi, 0, 1_000_000)["grown"] < 2000  # KiB: two bytes a call


# Intel's benchmarks come as a program alone, for libraries of MPICH's ABI.
@pytest.mark.soak
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_benchmarks_of_intel_run(mpi: MpiLibrary) -> None:
    program = IMPI / "bin" / "IMB-NBC"
    if not program.exists():
        pytest.skip(f"no {program}")
    forced = FORCED | FORCED_ALL_TO_ALL | FORCED_PARTS_OF_THE_ROOT | {"barrier": "dissemination"}
    environment = {"LD_LIBRARY_PATH": str(mpi.shared_library.parent)}
    command = [program, "-iter", "3", "-msglog", "17", "-npmin", "2"]
    run = mpi.run_under_rondo(command, 4, environment=environment, timeout=600, **forced).check()
    assert "All processes entering MPI_Finalize" in run.stdout
    not_measured = {"exscan", "scan"}
    for collective in forced.keys() - not_measured:
        assert run.report.calls(collective)[forced[collective]] > 0, run.report.calls(collective)
