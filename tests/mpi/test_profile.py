# SPDX-License-Identifier: BSD-3-Clause
"""`rondo profile` with real programs: every call is counted, its place named, and its time split as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from launching import Run, launch
from mpi_libraries import PROGRAMS, MpiLibrary, preload_library
from rondo.profiling.profile import Line, Profile

RANKS = 4
DOUBLE = 8
FILE = 7 * 65536  # bytes of a rank's, without samples


def profiled(
    mpi: MpiLibrary,
    words: Sequence[object],
    directory: Path,
    ranks: int = RANKS,
    *,
    variables: Mapping[str, str] | None = None,
    before: Sequence[object] = (),
    options: Sequence[str] = (),
    timeout: float = 60,
) -> tuple[Run, Profile]:
    """What a run printed, and its profile."""
    preload_library(mpi.abi)
    output = directory / "profile.json"
    patience = mpi.patience if ranks > len(os.sched_getaffinity(0)) else {}
    command = mpi.command(ranks, {**patience, **(variables or {})}, words)
    # In this directory, since there the ranks' files are kept until they are read.
    line = ["env", "-C", directory, *before, sys.executable, "-m", "rondo", "profile", "--output", output, *options]
    run = launch([*line, "--", *command], {**os.environ, **mpi.environment}, timeout)
    return run, msgspec.json.decode(output.read_bytes(), type=Profile)


def lines(profile: Profile, function: str) -> list[Line]:
    return [line for line in profile.lines if line.function == function]


def line(profile: Profile, function: str) -> Line:
    (only,) = lines(profile, function)
    return only


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi", "mpiabi"], indirect=True)
def test_known_sleeps_are_split_into_waiting_and_moving(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("profile_sleeps.c")], tmp_path)
    run.check()
    truth = {(function, int(rank)): float(waited) for function, rank, waited in map(str.split, run.stdout.splitlines())}
    assert len(truth) == 5 * RANKS
    assert max(truth.values()) > 0.59  # of two rounds
    for (function, rank), waited in truth.items():
        share = next(
            share
            for line in lines(profile, function)
            if line.calls == 2 and profile.sites[line.site].function == function.removeprefix("MPI_").lower()
            for share in line.shares
            if share.rank == rank
        )
        assert share.sampled == share.calls == 2
        assert share.waiting == pytest.approx(waited, abs=0.02 * 0.6), (function, rank)
        assert share.waiting + share.moving == pytest.approx(share.seconds)
    assert profile.missing == []
    assert all(rank.in_mpi <= rank.run and rank.ended == "finalized" for rank in profile.ranks)


def test_time_in_wait_is_that_of_collectives_or_of_messages(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("profile_requests.c")], tmp_path, ranks=2)
    said = {name: float(seconds) for name, seconds in map(str.split, run.check().stdout.splitlines())}
    rest = said.pop("rest")
    assert min(said.values()) > 0.05
    half = said.pop("MPI_Ibarrier+MPI_Waitall") / 2
    said |= {"MPI_Ibarrier": half, "MPI_Waitall": half + rest}
    functions = {each.name: each.seconds[0] for each in profile.functions}
    for name in ("MPI_Wait", "MPI_Waitall", "MPI_Waitsome"):
        assert functions[name] == pytest.approx(said.pop(name), abs=0.02), name
    for name in ("MPI_Waitany", "MPI_Test", "MPI_Testall", "MPI_Testsome", "MPI_Request_get_status"):
        assert functions[name] < 0.02, name
    for name, seconds in said.items():
        share = line(profile, name).shares[0]
        # The program's clock sees what lies between two calls of MPI_Test as well.
        polled = name in ("MPI_Igather", "MPI_Ireduce", "MPI_Iallgather", "MPI_Ialltoall")
        assert (0.2 * seconds if polled else seconds - 0.02) < share.completing < seconds + 0.005, name
        assert share.completing <= share.seconds
        assert (share.waiting, share.moving, share.sampled) == (None, None, 0)
    assert not [each for each in profile.lines if each.function not in {*said, "MPI_Barrier"}]
    of_all = [sum(each.seconds[rank] for each in profile.functions) for rank in range(2)]
    for each in profile.lines:
        for share in each.shares:
            of_all[share.rank] += share.seconds
    assert of_all == pytest.approx([rank.in_mpi for rank in profile.ranks])


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi"], indirect=True)
def test_calls_of_all_sorts_are_counted(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("profile_kinds.c")], tmp_path)
    run.check()

    short, long = sorted(lines(profile, "MPI_Bcast"), key=lambda each: each.smallest)
    for each, length in ((short, 1), (long, 100)):
        assert (each.calls, each.bytes) == (1500, 1500 * length * DOUBLE)
        assert (each.smallest, each.largest, each.element, each.datatype) == (length * 8, length * 8, 8, "MPI_DOUBLE")
        assert (each.root, each.operator, each.collective) == (1, "", "bcast")
        assert [share.calls for share in each.shares] == [1500] * RANKS
        # All of the first 256 of a kind are sampled, half of as many more, a quarter of twice as many, ...
        assert {share.sampled for share in each.shares} == {short.shares[0].sampled}
        assert 500 < each.shares[0].sampled < 800
    row = profile.communicators[short.communicator]
    assert (row.name, row.made_by, row.size, row.nodes, row.number) == ("row", "MPI_Comm_split", 2, 1, 2)

    own = line(profile, "MPI_Allreduce")
    assert (own.operator, own.commutative, own.datatype, own.element, own.largest) == (
        "user function",
        False,
        "derived",
        16,
        80,
    )
    assert profile.communicators[own.communicator].made_by == "MPI_COMM_WORLD"
    whole = {
        "MPI_Allgather": ("allgather", 40, None, ""),
        "MPI_Reduce_scatter": ("reduce_scatter", 10, None, "MPI_MAX"),
        "MPI_Scatter": ("scatter", 28, 3, ""),
        "MPI_Gatherv": ("gatherv", 10, 0, ""),
        "MPI_Alltoall": ("alltoall", 12, None, ""),
        "MPI_Iallreduce": ("", 4, None, "MPI_MIN"),
    }
    for function, (collective, elements, root, operator) in whole.items():
        each = line(profile, function)
        assert (each.collective, each.bytes, each.root, each.operator) == (
            collective,
            elements * DOUBLE,
            root,
            operator,
        ), function
        assert (each.calls, len(each.shares)) == (1, RANKS)
    assert {share.sampled for share in line(profile, "MPI_Iallreduce").shares} == {0}
    gathered = line(profile, "MPI_Gatherv")  # other ranks know their part of the vector alone
    assert gathered.smallest == gathered.largest == gathered.bytes // gathered.calls
    assert profile.communicators[line(profile, "MPI_Neighbor_allgather").communicator].made_by == "MPI_Cart_create"
    barrier = line(profile, "MPI_Barrier")
    assert (barrier.calls, barrier.bytes, profile.communicators[barrier.communicator].number) == (3, 0, 6)

    functions = {each.name: each for each in profile.functions}
    assert (functions["MPI_Send"].calls, functions["MPI_Send"].bytes) == (1, 20 * DOUBLE)
    assert functions["MPI_Recv"].calls == 1
    assert functions["MPI_Comm_dup"].calls == 3 * RANKS
    assert functions["MPI_Wait"].calls == RANKS
    assert not {each.function for each in profile.lines} & set(functions)
    if "MPI_Barrier_init" in functions:
        assert functions["MPI_Start"].calls == RANKS
        assert any("persistent collectives (MPI_Barrier_init) have no lines" in each for each in profile.missing)
    source = (PROGRAMS / "profile_kinds.c").read_text().splitlines()
    for each in profile.lines:
        site = profile.sites[each.site]
        assert Path(site.file).name == "profile_kinds.c"
        assert each.function + "(" in source[site.line - 1]
        assert (site.function, site.frames) == ("main", [])


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize(
    ("ending", "states"),
    [
        ("abort", {"aborted", "cut off"}),
        ("kill", {"cut off"}),
        ("exit", {"cut off"}),
        ("exec", {"cut off"}),
        ("finalize", {"finalized"}),
    ],
)
def test_what_there_was_until_the_end_is_there(mpi: MpiLibrary, ending: str, states: set[str], tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("endings.c"), ending], tmp_path, 3)
    assert (run.returncode == 0) == (ending in ("finalize", "exit", "exec")) or ending in ("exit", "exec")
    assert {rank.ended for rank in profile.ranks} == states
    assert len(profile.ranks) == 3
    assert sum(each.calls for each in lines(profile, "MPI_Exscan")) == 12
    assert all(len(each.shares) == 3 for each in lines(profile, "MPI_Exscan"))
    assert bool(profile.missing) == (ending != "finalize")
    if ending == "abort":
        assert profile.ranks[1].ended == "aborted"
        assert any("rank 1 called MPI_Abort" in each for each in profile.missing)
    assert list(tmp_path.iterdir()) == [tmp_path / "profile.json"]


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_killed_ranks_that_called_no_collective_know_how_long_a_tick_is(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("profile_pauses.c")], tmp_path, 2)
    seconds = float(run.stdout.split()[0])
    assert [rank.ended for rank in profile.ranks] == ["cut off", "cut off"]
    assert profile.ranks[0].run == pytest.approx(seconds, abs=0.05)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # of no operator, MPICH ends the program
def test_errors_return_as_without_the_profiler(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = mpi.compile("profile_errors.c")
    native = launch(mpi.command(2, {}, [program]), {**os.environ, **mpi.environment}, 60)
    run, profile = profiled(mpi, [program], tmp_path, 2)
    assert (run.returncode, run.stdout) == (native.returncode, native.stdout)
    assert set(native.stdout.split()) == {"1"}
    assert [rank.ended for rank in profile.ranks] == ["finalized", "finalized"]


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize("without", [None, 0, 1])
def test_machine_without_a_file_is_not_waited_for(mpi: MpiLibrary, without: int | None, tmp_path: Path) -> None:
    check_namespaces()
    identity = tmp_path / "boot_id"
    identity.write_text("another machine\n")
    script = tmp_path / "rank.sh"
    script.write_text(
        f'[ "$PMI_RANK" = "{without}" ] && export RONDO_PROFILE=/nonexistent\n'
        'other="mount --bind $1 /proc/sys/kernel/random/boot_id && shift && exec \\"\\$@\\""\n'
        '[ "$PMI_RANK" = 0 ] || exec unshare --user --map-root-user --mount sh -c "$other" sh "$@"\n'
        "shift\n"
        'exec "$@"\n'
    )
    program = ["sh", script, identity, mpi.compile("profile_many.c"), "10"]
    run, profile = profiled(mpi, program, tmp_path, 2, options=["--abi", mpi.abi], timeout=30)
    run.check()
    assert [rank.ended for rank in profile.ranks] == ["cut off" if rank == without else "finalized" for rank in (0, 1)]
    assert (profile.clock_error > 0) == (without is None)
    if without is not None:
        assert f"rank {without} is not profiled" in run.stderr


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_spawned_processes_are_named_as_missing(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("spawning.c")], tmp_path, 2)
    run.check()
    assert len(profile.ranks) == 2
    assert any("1 process of another MPI_COMM_WORLD" in each for each in profile.missing)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_stripped_program_gives_module_and_offset(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = tmp_path / "stripped"
    shutil.copy(mpi.compile("hello.c", "-O2"), program)
    sleeps = tmp_path / "sleeps"
    shutil.copy(mpi.compile("profile_many.c"), sleeps)
    subprocess.run(["strip", "--strip-all", sleeps], check=True)
    _, profile = profiled(mpi, [sleeps, "10"], tmp_path, 2)
    for each in profile.lines:
        site = profile.sites[each.site]
        assert (site.function, site.file, site.line, site.module) == ("", "", 0, "sleeps")
        assert site.offset > 0
    assert any("call sites in sleeps have no line: no debug information" in each for each in profile.missing)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_without_the_processor_s_counter_waiting_is_split_too(mpi: MpiLibrary, tmp_path: Path) -> None:
    """As on machines whose kernel does not trust it: each rank sees another clock in the kernel's file."""
    check_namespaces()
    (tmp_path / "clock").write_text("hpet\n")
    mount = f"mount --bind {tmp_path}/clock /sys/devices/system/clocksource/clocksource0/current_clocksource"
    before = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    run, profile = profiled(mpi, [mpi.compile("profile_sleeps.c")], tmp_path, before=before)
    waited = [float(text.split()[2]) for text in run.check().stdout.splitlines() if text.startswith("MPI_Allreduce ")]
    (allreduce,) = (each for each in lines(profile, "MPI_Allreduce") if each.calls == 2)
    assert [share.waiting for share in allreduce.shares] == pytest.approx(waited, abs=0.02 * 0.6)
    assert max(waited) > 0.59


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_rebuilt_program_is_not_read_for_lines(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy(mpi.compile("profile_many.c"), program)
    other = mpi.compile("profile_many.c", "-O2")
    script = tmp_path / "script.sh"
    script.write_text(f"#!/bin/sh\n{program} 10\nmv -f {tmp_path}/next {program} 2> {tmp_path}/moved || true\n")
    shutil.copy(other, tmp_path / "next")
    script.chmod(0o755)
    _, profile = profiled(mpi, [script], tmp_path, 2, options=["--abi", mpi.abi])
    assert all(site.line == 0 and site.module == "program" for site in profile.sites)
    assert any("has been built again since" in each for each in profile.missing)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_sites_of_cplusplus_have_names_as_in_the_source(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("profile_sites.cpp", "-g")], tmp_path, 2)
    run.check()
    source = (PROGRAMS / "profile_sites.cpp").read_text().splitlines()
    functions = {
        "MPI_Barrier": "solver::Grid::synchronize() const",
        "MPI_Bcast": "void solver::share<double>(double&, ",
        "MPI_Allreduce": "main",  # of which compilers make a lambda a part
    }
    for function, name in functions.items():
        site = profile.sites[line(profile, function).site]
        assert site.function.startswith(name)
        assert Path(site.file).name == "profile_sites.cpp"
        assert f"{function}(" in source[site.line - 1]


@pytest.mark.parametrize("mpi", ["debian_mpich", "debian_openmpi"], indirect=True)
@pytest.mark.parametrize("interface", ["MPIF_H", "MPI", "MPI_F08"])
def test_fortran_sites_are_lines_of_fortran(mpi: MpiLibrary, interface: str, tmp_path: Path) -> None:
    program = mpi.compile("fortran_scan.f90", "-cpp", f"-DUSE_{interface}")
    run, profile = profiled(mpi, [program], tmp_path, 2)
    scans, exscans, _ = (int(word) for word in run.check().stdout.split()[1::2])
    assert sum(each.calls for each in lines(profile, "MPI_Scan")) == scans
    assert sum(each.calls for each in lines(profile, "MPI_Exscan")) == exscans
    source = (PROGRAMS / "fortran_scan.f90").read_text().splitlines()
    for each in profile.lines:
        site = profile.sites[each.site]
        assert Path(site.file).name == "fortran_scan.f90"
        assert f"{each.function}(" in source[site.line - 1]


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_python_sites_are_frames_of_python(mpi: MpiLibrary, mpi4py: Path, tmp_path: Path) -> None:
    script = tmp_path / "steps.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "def step(comm, value):\n"
        "    return comm.allreduce(value)\n"
        "def main():\n"
        "    comm = MPI.COMM_WORLD\n"
        "    for i in range(50):\n"
        "        step(comm, i)\n"
        "    comm.Barrier()\n"
        "main()\n"
    )
    variables = {
        "PYTHONPATH": str(mpi4py / "site"),
        "MPI4PY_LIBMPI": str(mpi.shared_library),
    }
    command = [sys.executable, script]
    run, profile = profiled(mpi, command, tmp_path, 2, variables=variables, options=["--abi", mpi.abi])
    run.check()
    (barrier,) = (each for each in lines(profile, "MPI_Barrier") if profile.sites[each.site].frames)
    assert profile.sites[barrier.site].frames == ["steps.py:8 in main", "steps.py:9 in <module>"]
    steps = [
        each
        for each in profile.lines
        if profile.sites[each.site].frames[:3] == ["steps.py:3 in step", "steps.py:7 in main", "steps.py:9 in <module>"]
    ]
    assert sum(each.calls for each in steps) >= 50


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_names_for_which_there_is_no_room_are_missing(mpi: MpiLibrary, mpi4py: Path, tmp_path: Path) -> None:
    script = tmp_path / "places.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "comm = MPI.COMM_WORLD\n"
        "for line in range(200):  # each is a place of its own, of 1 KiB\n"
        "    exec(compile('\\n' * line + 'comm.Barrier()', 1024 * 'x', 'exec'))\n"
    )
    variables = {
        "PYTHONPATH": str(mpi4py / "site"),
        "MPI4PY_LIBMPI": str(mpi.prefix.parent / "lib" / "libmpi.so.12"),
    }
    command = [sys.executable, script]
    run, profile = profiled(mpi, command, tmp_path, 2, variables=variables, options=["--abi", mpi.abi])
    run.check()
    assert sum(each.calls for each in lines(profile, "MPI_Barrier")) == 200
    frames = [profile.sites[each.site].frames for each in lines(profile, "MPI_Barrier")]
    assert 100 < sum(map(bool, frames)) < 128
    assert any("all names together" in each for each in profile.missing)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_python_threads_that_call_with_the_lock_of_the_interpreter_end(
    mpi: MpiLibrary, mpi4py: Path, tmp_path: Path
) -> None:
    library = mpi.prefix.parent / "lib" / "libmpi.so.12"
    script = tmp_path / "threads.py"
    script.write_text(
        "import ctypes, threading\n"
        "from mpi4py import MPI\n"
        "comm, other = MPI.COMM_WORLD.Dup(), MPI.COMM_WORLD.Dup()\n"
        "set_name = ctypes.PyDLL(None).MPI_Comm_set_name\n"
        "done = threading.Event()\n"
        "def rename():\n"
        "    while not done.is_set():\n"
        "        set_name(ctypes.c_int(other.handle), b'other')\n"
        "thread = threading.Thread(target=rename)\n"
        "thread.start()\n"
        "for line in range(50):  # each is a place of its own\n"
        "    exec(compile('\\n' * line + 'comm.Barrier()', 'barrier.py', 'exec'))\n"
        "done.set()\n"
        "thread.join()\n"
    )
    variables = {"PYTHONPATH": str(mpi4py / "site"), "MPI4PY_LIBMPI": str(library)}
    command = [sys.executable, script]
    run, profile = profiled(mpi, command, tmp_path, 2, variables=variables, options=["--abi", mpi.abi], timeout=30)
    run.check()
    assert sum(each.calls for each in lines(profile, "MPI_Barrier")) == 50


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_many_calls_do_not_grow_the_process(mpi: MpiLibrary, tmp_path: Path) -> None:
    run, profile = profiled(mpi, [mpi.compile("profile_many.c"), "300000"], tmp_path, 2)
    assert line(profile, "MPI_Bcast").calls == 300_000
    assert int(run.check().stdout) < 512  # KiB, of samples


def check_namespaces() -> None:
    if launch(["unshare", "--user", "--map-root-user", "--mount", "true"], os.environ, 10).returncode != 0:
        pytest.skip("mounting needs a user namespace of our own")


def small_disk(directory: Path, size: int) -> list[object]:
    """What runs a command in a directory that only it sees, with so many bytes of space."""
    check_namespaces()
    small = directory / "small"
    small.mkdir()
    script = 'mount -t tmpfs -o size="$1" none "$2" && cd "$2" || exit 99; shift 2; exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", size, small]


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_disk_that_gets_full_loses_only_samples(mpi: MpiLibrary, tmp_path: Path) -> None:
    disk = small_disk(tmp_path, 2 * FILE + os.sysconf("SC_PAGESIZE"))
    run, profile = profiled(mpi, [mpi.compile("profile_many.c"), "5000"], tmp_path, 2, before=disk)
    run.check()
    assert line(profile, "MPI_Bcast").calls == 5000
    assert line(profile, "MPI_Bcast").shares[0].sampled == 0
    assert any("no space for more samples" in each for each in profile.missing)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_program_runs_where_there_is_no_space_for_a_file(mpi: MpiLibrary, tmp_path: Path) -> None:
    disk = small_disk(tmp_path, FILE // 2)
    run, profile = profiled(mpi, [mpi.compile("profile_many.c"), "10"], tmp_path, 2, before=disk)
    run.check()
    assert "rank 0 is not profiled" in run.stderr
    assert (profile.ranks, profile.lines) == ([], [])
    assert any("no rank left anything" in each for each in profile.missing)
    assert "makes a page" not in run.stderr  # there is nothing to show
