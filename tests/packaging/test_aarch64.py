# SPDX-License-Identifier: BSD-3-Clause
"""The package for aarch64 runs, on a processor that qemu emulates: C++ tests, real MPI programs, the Python module.

Programs take some ten times as long as natively, so there are few ranks and few cases. It does not show what comes of
stores that others see in another order than they were made: an x86-64 keeps them in order, and what it emulates does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from aarch64_machine import PROCESSOR, EmulatedLibrary, Machine, emulated
from mpi_libraries import FORCED, FORCED_ALL_TO_ALL, FORCED_PARTS_OF_THE_ROOT, ROOT

sys.path += [str(ROOT / "scripts"), str(ROOT / "tests" / "mpi")]
import portable
import test_prefix_sums
import test_results
from rondo.profiling import reading
from site_preload import run_on_site

# These run as they are, with the libraries of this file.
from test_choices import test_program_changes_algorithms_while_it_runs  # noqa: F401
from test_profiler import CALLS, RANKS, test_preloaded_tool_sees_every_call_once  # noqa: F401

pytestmark = pytest.mark.soak

BUILD_SECONDS = 7200
ROOM_SECONDS = 900
DEBIAN = {"mpich": "debian_mpich", "openmpi": "debian_openmpi"}
"""Whose library it is that tests call by the name of an ABI."""
COLLECTIVES = FORCED | FORCED_ALL_TO_ALL | FORCED_PARTS_OF_THE_ROOT
GOOGLETEST = Path("/usr/src/googletest")  # Debian has its sources
SLEEPERS = 4  # ranks of profile_sleeps.c


def build(*words: object) -> None:
    subprocess.run([str(word) for word in words], cwd=ROOT, check=True, timeout=BUILD_SECONDS)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="rondo-aarch64-", dir="/var/tmp") as folder:  # hundreds of MiB
        yield emulated(Path(folder))


@pytest.fixture(scope="module")
def installed(machine: Machine) -> Path:
    """The files of the wheel."""
    build("make", "wheel", f"PROCESSORS={PROCESSOR}")
    (wheel,) = portable.DIST.glob(f"*-{portable.platform(PROCESSOR)}.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(machine.folder / "installed")
    return machine.folder / "installed"


# ------------------------------------------------------------------ the C++ tests


@pytest.fixture(scope="module")
def built(installed: Path) -> Path:
    """The folder of the package's build, which knows the C++ tests by now."""
    if not GOOGLETEST.is_dir():
        pytest.skip(f"no {GOOGLETEST}: apt install libgtest-dev libgmock-dev")
    folder = portable.build_folder(PROCESSOR)
    own, prefix = folder / "googletest", folder / "googletest" / "prefix"
    settings = {
        "CMAKE_TOOLCHAIN_FILE": ROOT / "cmake" / "Zig.cmake",
        "RONDO_ZIG_TOOLS": folder / "tools",
        "RONDO_PROCESSOR": PROCESSOR,
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_INSTALL_PREFIX": prefix,
        "CMAKE_INSTALL_LIBDIR": "lib",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    build("cmake", "-G", "Ninja", "-S", GOOGLETEST, "-B", own, *options)
    build("cmake", "--build", own, "--target", "install")
    build("cmake", "-B", folder, "-DRONDO_BUILD_TESTS=ON", f"-DGTest_DIR={prefix}/lib/cmake/GTest")
    build("cmake", "--build", folder, "--target", *(f"{room}_test" for room in ROOMS))
    return folder


# Those in which a processor, or its compiler, may matter.
ROOMS = [
    *("kernels", "core", "conformance", "selection", "guard", "backends_shared_memory", "backends_mpi", "interposer"),
    "profiler",
]
# qemu 7.2 has no filters of system calls, reads and writes no other process, wipes no memory on fork, counts no
# addresses of a process, and without the kernel's help starts no program of its processor.
LACKING = {
    "backends_shared_memory": [
        "shared_memory_refusals.*",
        "shared_memory_stops.*",
        "shared_memory_transfers.*",
        "shared_memory_orders/*",  # of steps, on any processor alike: minutes
        "shared_memory.is_read_in_a_neighbour_by_who_may_alone",
        "shared_memory.is_not_for_children",
        "shared_memory.names_a_process_that_has_ended_before_its_memory_was_read",
        "shared_memory_processes.exchange_messages_after_exec",
    ],
}


@pytest.mark.parametrize("room", ROOMS)
def test_room(machine: Machine, built: Path, room: str) -> None:
    left_out = f"--gtest_filter=-{':'.join(LACKING.get(room, []))}"
    run = machine.run([built / f"{room}_test", "--gtest_brief=1", left_out], os.environ, seconds=ROOM_SECONDS).check()
    assert "[  PASSED  ]" in run.stdout


# ------------------------------------------------------------------ programs with MPI


@pytest.fixture(scope="module")
def libraries(machine: Machine, installed: Path) -> Iterator[dict[str, EmulatedLibrary]]:
    """By ABI. While they are used, tests find the package's libraries."""
    found = {abi: machine.library(name) for abi, name in DEBIAN.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RONDO_LIBRARY_DIR", str(installed / "rondo" / "lib"))
        for each in found.values():
            patch.setitem(test_results.LIBRARIES, each.name, each)
        test_results.native_results.cache_clear()  # may be of this machine's processor
        yield found
    test_results.native_results.cache_clear()


@pytest.fixture(params=list(DEBIAN))
def mpi(libraries: dict[str, EmulatedLibrary], request: pytest.FixtureRequest) -> EmulatedLibrary:
    return libraries[request.param]


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_call_is_served(mpi: EmulatedLibrary, ranks: int) -> None:
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], ranks, **FORCED).check()
    for collective, calls in CALLS.items():
        assert run.report.calls(collective) == {FORCED[collective]: calls * ranks}


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_results_are_those_of_the_library(mpi: EmulatedLibrary, collective: str, ranks: int) -> None:
    test_results.check(mpi, collective, COLLECTIVES[collective], "301", "brief", ranks=ranks)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_results_that_went_through_shared_memory_are_right(mpi: EmulatedLibrary, collective: str) -> None:
    shared = {"RONDO_SHARED_MEMORY": "on"}
    test_results.check(mpi, collective, COLLECTIVES[collective], "20011", "brief", ranks=2, environment=shared)


# With MPICH 4.0 Rondo leaves these to the library; Open MPI 4 has no persistent ones.
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
@pytest.mark.parametrize("collective", ["allreduce", "alltoallv", "bcast", "scan"])
def test_nonblocking_calls_give_the_native_results(mpi: EmulatedLibrary, collective: str) -> None:
    choice = COLLECTIVES[collective]
    test_results.test_other_forms_give_the_native_results(mpi, collective, choice, "nonblocking", 3)


def test_calls_that_are_not_looked_at_again_are_right(mpi: EmulatedLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("random_calls.cpp"), "1", "20"], 3, **COLLECTIVES, timeout=150).check()
    assert run.stdout.startswith("failures 0\n")


def test_messages_go_through_shared_memory(mpi: EmulatedLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], 2, environment={"RONDO_SHARED_MEMORY": "on"}, **FORCED)
    assert all(rank["shared_memory"]["messages"] > 0 for rank in run.check().report.ranks)


@pytest.mark.parametrize("binding", ["-Wl,-z,now,-z,relro", "-Wl,-z,lazy,-z,norelro"])
def test_the_sites_preload_serves_programs_however_they_are_bound(mpi: EmulatedLibrary, binding: str) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c", binding)], RANKS, **FORCED).check()
    assert run.stderr == ""
    for collective, calls in CALLS.items():
        assert run.report.calls(collective) == {FORCED[collective]: calls * RANKS}


def test_the_sites_preload_serves_plugins_that_bring_mpi(mpi: EmulatedLibrary) -> None:
    program, plugin = mpi.compile("late.c", "-ldl"), mpi.compile("late.c", "-DPLUGIN", "-shared", "-fPIC")
    natively = mpi.run([program, plugin], RANKS).check()
    run = run_on_site(mpi, [program, plugin], RANKS, exscan="doubling_123").check()
    assert sorted(run.stdout.splitlines()) == sorted(natively.stdout.splitlines())
    assert run.report.calls("exscan") == {"doubling_123": 3 * RANKS}


def test_prefix_sums_are_those_of_a_loop(mpi: EmulatedLibrary) -> None:
    test_prefix_sums.check(mpi, 3, "501", "brief")


def test_the_profiler_knows_who_waited(mpi: EmulatedLibrary, installed: Path, tmp_path: Path) -> None:
    """They sleep for known times, of tenths of seconds."""
    profiler = installed / "rondo" / "lib" / f"librondo_profile_{mpi.abi}.so"
    variables = {"LD_PRELOAD": str(profiler), "RONDO_PROFILE": str(tmp_path)}
    run = mpi.run([mpi.compile("profile_sleeps.c")], SLEEPERS, variables).check()
    profile = reading.read(tmp_path, [])
    assert profile.missing == []
    waits = [line.split() for line in run.stdout.splitlines()]
    assert len(waits) == 5 * SLEEPERS
    for function, rank, waited in waits:
        (share,) = [
            share
            for line in profile.lines
            if (line.function, line.calls) == (function, 2)
            for share in line.shares
            if share.rank == int(rank)
        ]
        assert share.waiting == pytest.approx(float(waited), abs=0.1), (function, rank)


# ------------------------------------------------------------------ the Python module


def test_python_finds_the_core(machine: Machine, installed: Path) -> None:
    """It was compiled with Python's headers of x86-64."""
    program = "from rondo import _core; print(len(_core.collectives()), _core.__file__)"
    python = machine.root / "usr" / "bin" / "python3"
    run = machine.run([python, "-c", program], {**os.environ, "PYTHONPATH": str(installed)}).check()
    count, file = run.stdout.split()
    assert int(count) > 10
    assert Path(file).is_relative_to(installed)
