# SPDX-License-Identifier: BSD-3-Clause
"""What Rondo needs of a machine, looked at one thing after the other: `rondo doctor`."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import rondo
from rondo import _core
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.launching import installation, instructed, launcher, mpi_library, preload, run_report
from rondo.machine import machine
from rondo.selection import learned
from rondo.tune import tuned_files

SECONDS_TO_START = 30.0
BUSY = 0.5
"""Processes that want to run, for each processor, from which on a machine is busy."""
CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
SLOW_CLOCK = 500.0
"""Nanoseconds; Python alone takes some 50 of them."""
BATCHES, READINGS = 20, 200
SHARED = "/dev/shm"
LEAST_SHARED = 256 << 20
"""Bytes; containers have 64 MiB."""
SMALLEST_CLUSTER = "2x1:1ms:1Gbit"


PROGRAM = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
everything = ctypes.CDLL(None)  # what was preloaded comes first, as in any program
everything.MPI_Init(None, None)
everything.MPI_Finalize()
"""
"""An MPI program that needs no compiler. The argument is the file of the library."""


class State(Enum):
    """How something is."""

    GOOD = "good"
    WORTH_KNOWING = "worth knowing"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    about: str
    state: State
    says: str
    advice: str = ""
    """What to do; nothing if there is nothing to be done."""


def findings(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Finding]:
    """One after the other, as they are found. `words`: a launcher with its options; none: the first on PATH."""
    yield from _installation(environment)
    yield from _mpi(words, environment)
    yield _processors()
    yield _clock()
    yield from _memory()
    yield _shared_directory()
    yield _emulated_cluster()
    yield from _kept(environment)
    yield from _variables(environment)


def _installation(environment: Mapping[str, str]) -> Iterator[Finding]:
    abis = installation.installed_abis()
    glibc = " ".join(platform.libc_ver()).strip()
    says = f"{rondo.__version__} in {installation.PACKAGE}, for the MPI ABIs {', '.join(abis)}; this machine: {glibc}"
    yield Finding("Rondo", State.GOOD if abis else State.WRONG, says, "" if abis else "build it: make install")
    for abi in abis:
        with contextlib.suppress(Error):
            complaint = _complaint_of_loader(installation.preload_library(abi), environment)
            if complaint:
                advice = "this machine's C library is older than the one that Rondo was built with: build Rondo here"
                yield Finding("Rondo", State.WRONG, f"its library for {abi} cannot be loaded: {complaint}", advice)


def _complaint_of_loader(library: Path, environment: Mapping[str, str]) -> str:
    program = shutil.which("true") or "/bin/true"
    result = subprocess.run(
        [program], env={**environment, preload.PRELOAD: str(library)}, capture_output=True, text=True, check=False
    )
    return result.stderr.strip().partition("\n")[0]


def _mpi(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Finding]:
    on_path = [name for name in ("mpiexec", "mpirun", "srun") if shutil.which(name, path=environment.get("PATH"))]
    if not words and not on_path:
        advice = "load the module of your MPI, or name its launcher: rondo doctor -- /opt/mpich/bin/mpiexec"
        yield Finding("MPI", State.WRONG, "no mpiexec, mpirun or srun on PATH", advice)
        return
    command = list(words) or on_path[:1]
    try:
        kind = launcher.kind_of(command[0], environment)
        if kind is launcher.Kind.NONE:
            raise Error(f"{command[0]} is no launcher of MPI programs")
        path = shutil.which(command[0], path=environment.get("PATH")) or command[0]
        version = launcher.version_text(path, environment).strip()
    except Error as error:
        yield Finding("MPI", State.WRONG, str(error))
        return
    if kind is launcher.Kind.SRUN:
        yield Finding("MPI", State.GOOD, f"Slurm's launcher {path}: the MPI is that of the program")
        yield _start_of_two(command, environment)
        return
    yield _library_of(path, version, environment)
    yield from _compiler(path, environment)
    start = _start_of_two(command, environment)
    yield start
    if start.state is State.GOOD:
        yield from _ranks_under_rondo(command, path, environment)


def _library_of(path: str, version: str, environment: Mapping[str, str]) -> Finding:
    try:
        library = mpi_library.find(path, environment)
        installation.preload_library(mpi_library.ABI_OF[library.name])
    except Error as error:
        return Finding("MPI", State.WRONG, str(error))
    number = mpi_library.NUMBER.search(version)
    name = mpi_library.NAMES[library.name] + (f" {number.group()}" if number else "")
    return Finding("MPI", State.GOOD, f"{name}, {path}")


def _compiler(launcher_path: str, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether what the mpicc on PATH makes belongs to the launcher; nothing if there is none, or nobody knows."""
    compiler = shutil.which("mpicc", path=environment.get("PATH"))
    made_for = mpi_library.of_compiler(compiler, environment) if compiler is not None else None
    if made_for is None:
        return
    with contextlib.suppress(Error):
        started = mpi_library.find(launcher_path, environment).name
        names = mpi_library.NAMES[made_for], mpi_library.NAMES[started]
        if mpi_library.ABI_OF[made_for] == mpi_library.ABI_OF[started]:
            yield Finding("compiler", State.GOOD, f"{compiler} makes programs for {names[0]}")
            return
        says = f"{compiler} makes programs for {names[0]}, and {launcher_path} starts those for {names[1]}"
        advice = "every rank of such a program would run alone: put the launcher and the compiler of one MPI on PATH"
        yield Finding("compiler", State.WORTH_KNOWING, says, advice)


def _with_ranks(command: Sequence[str]) -> list[str]:
    """A launcher with its options; it starts two ranks unless it says how many."""
    return [*command, *([] if "-n" in command or "-np" in command else ["-n", "2"])]


def _bounded(words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=SECONDS_TO_START, check=False,
    )  # fmt: skip


def _start_of_two(command: Sequence[str], environment: Mapping[str, str]) -> Finding:
    started = [*_with_ranks(command), shutil.which("true") or "true"]
    shown = " ".join(started)
    try:
        result = _bounded(started, environment)
    except subprocess.TimeoutExpired:
        return Finding("launcher", State.WRONG, f"`{shown}` has not ended after {SECONDS_TO_START:.0f} s")
    except OSError as error:
        return Finding("launcher", State.WRONG, f"`{shown}` cannot be started: {error.strerror}")
    if result.returncode == 0:
        return Finding("launcher", State.GOOD, f"`{shown}` starts and ends")
    said = next((line.strip(" -*") for line in result.stderr.splitlines() if line.strip(" -*")), "nothing")
    return Finding("launcher", State.WRONG, f"`{shown}` ends with {result.returncode}: {said}", _advice(result.stderr))


def _ranks_under_rondo(command: Sequence[str], path: str, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether a program's ranks find each other, and Rondo; nothing if nobody knows where the library is."""
    with contextlib.suppress(Error):
        library = mpi_library.find(path, environment)
        if library.file is None:
            return
        with tempfile.TemporaryDirectory(prefix="rondo-doctor-") as folder:
            report = Path(folder) / "report.json"
            options = ["--abi", mpi_library.ABI_OF[library.name], "--rules", "none", "--learned", "none"]
            rondo_run = [sys.executable, "-m", "rondo", "run", *options, "--report", str(report), "--"]
            program = [sys.executable, "-c", PROGRAM, str(library.file)]
            try:
                result = _bounded([*rondo_run, *_with_ranks(command), *program], environment)
            except subprocess.TimeoutExpired:
                says = f"a program of two ranks under `rondo run` has not ended after {SECONDS_TO_START:.0f} s"
                yield Finding("program", State.WRONG, says, "`rondo run -- LAUNCHER ./app` will not end, either")
                return
            yield _of_report(report, result)


def _of_report(file: Path, result: subprocess.CompletedProcess[str]) -> Finding:
    try:
        report = run_report.opened(file)
    except Error:
        said = next((line for line in result.stderr.splitlines() if line), "nothing")
        return Finding("program", State.WRONG, f"a program under `rondo run` ends with {result.returncode}: {said}")
    if report.ranks and report.size == 1:
        advice = "the launcher is that of another MPI library than this one, or lacks an option, as --mpi=pmi2 of srun"
        return Finding("program", State.WRONG, f"{len(report.ranks)} ranks, and each was alone in its world", advice)
    if report.missing or report.cut_short or result.returncode != 0:
        says = f"{len(report.ranks)} of {report.size} ranks have had Rondo; it ended with {result.returncode}"
        return Finding("program", State.WRONG, says, "`rondo run --report` says of your own program who is missing")
    says = f"{report.size} ranks of {report.library} find each other, and all have Rondo"
    return Finding("program", State.GOOD, says)


def _advice(said: str) -> str:
    if "slots" in said:
        return "there are more ranks than processors: --oversubscribe (Open MPI 4), --map-by :OVERSUBSCRIBE (5)"
    if "root" in said:
        return "Open MPI refuses to run as root: --allow-run-as-root, or another user"
    return "the launcher itself has to work before Rondo can: ask whoever installed it"


def _processors() -> Finding:
    processors = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    says = f"{processors} for this process; load {load:.1f}"
    if load > BUSY * processors:
        advice = "what `rondo bench` and `rondo tune` measure now says little, and the guard needs more calls"
        return Finding("processors", State.WORTH_KNOWING, f"{says}: the machine is busy", advice)
    return Finding("processors", State.GOOD, says)


def _clock() -> Finding:
    """Whether it can be read quickly: the guard and `rondo profile` read it twice for each call."""
    batches = []
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(READINGS):
            time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        batches.append((time.perf_counter_ns() - begin) / READINGS)
    taken = min(batches)
    source = ""
    with contextlib.suppress(OSError):
        source = f" ({CLOCK.read_text(encoding='utf-8').strip()})"
    says = f"read in {taken:.0f} ns at most{source}"
    if taken <= SLOW_CLOCK:
        return Finding("clock", State.GOOD, says)
    advice = (
        "short calls seem longer than they are; as root, the boot option clocksource=tsc, if the processor allows it"
    )
    return Finding("clock", State.WORTH_KNOWING, f"{says}: slow", advice)


def _shared_directory() -> Finding:
    """/dev/shm, in which MPI libraries, not Rondo, put what ranks share."""
    try:
        found = os.statvfs(SHARED)
    except OSError as error:
        advice = "the MPI library may not start, or send through the network: mount a tmpfs there"
        return Finding("shared memory", State.WORTH_KNOWING, f"{SHARED}: {error.strerror}", advice)
    free = found.f_bavail * found.f_frsize
    says = f"{free >> 20} MiB free in {SHARED}, which MPI libraries use"
    if free >= LEAST_SHARED:
        return Finding("shared memory", State.GOOD, says)
    advice = (
        "programs of many ranks may end with a bus error; in a container: --shm-size=1g; else remove what is left there"
    )
    return Finding("shared memory", State.WORTH_KNOWING, says, advice)


def _memory() -> Iterator[Finding]:
    processors = len(os.sched_getaffinity(0))
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        advice = "ranks of a node share no memory under it, and send messages: ulimit -v unlimited"
        yield Finding("memory", State.WORTH_KNOWING, f"there is a limit on addresses ({limit >> 20} MiB)", advice)
    elif processors == 1:
        advice = "ranks share memory by themselves where each has a processor of its own; a single one has no neighbour"
        yield Finding("memory", State.WORTH_KNOWING, "one processor", advice)
    else:
        says = f"up to {min(processors, _core.MOST_SHARING_RANKS)} ranks of this node share memory by themselves"
        yield Finding("memory", State.GOOD, says)
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    with contextlib.suppress(OSError, ValueError):
        if int(scope.read_text(encoding="utf-8")) > 1:
            advice = "long messages inside a node are copied twice: sysctl kernel.yama.ptrace_scope=1"
            says = "processes may not read each other's memory"
            yield Finding("memory", State.WORTH_KNOWING, says, advice)


def _emulated_cluster() -> Finding:
    try:
        with cluster.opened(SMALLEST_CLUSTER):
            return Finding("emulated cluster", State.GOOD, "nodes in namespaces of this machine can be made")
    except Error as error:
        return Finding("emulated cluster", State.WORTH_KNOWING, str(error), "only `--cluster` needs it")


def _kept(environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        figures = machine.find(None, environment)
    except Error as error:
        yield Finding("machine file", State.WRONG, str(error))
    else:
        known_in = learned.directory(environment.get(learned.VARIABLE), environment)
        measured = sorted(known_in.glob(f"*{learned.MACHINE_SUFFIX}")) if known_in is not None else []
        if figures is None and measured:
            says = f"{', '.join(map(str, measured))}: measured by the first program on several nodes"
            yield Finding("machine file", State.GOOD, says)
        elif figures is None:
            advice = "segments of pipelines are those of a usual network: rondo calibrate -- mpiexec -n 8"
            yield Finding("machine file", State.WORTH_KNOWING, "none: the network was never measured", advice)
        else:
            yield Finding("machine file", State.GOOD, str(figures))
    tuned = [path for path, _ in tuned_files.files(environment)]
    says = ", ".join(map(str, tuned)) or "none: programs run under the default rules"
    yield Finding("tuned rules", State.GOOD, says)
    directory = learned.default_directory(environment)
    there = next((each for each in (directory, *directory.parents) if each.exists()), directory)
    if os.access(there, os.W_OK | os.X_OK):
        files = len(list(directory.glob(f"*{learned.SUFFIX}")))
        yield Finding("what was learned", State.GOOD, f"{directory}: {files} file{'' if files == 1 else 's'}")
    else:
        advice = "each run finds out anew what pays: --learned DIRECTORY names another place"
        yield Finding("what was learned", State.WRONG, f"nobody may write into {there}", advice)


def _variables(environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        preload.refuse_rondo(environment.get(preload.PRELOAD))
    except Error as error:
        yield Finding("environment", State.WORTH_KNOWING, str(error))
    switch = instructed.switched_off(environment)
    if switch is not None:
        advice = "take it out of the environment"
        yield Finding("environment", State.WRONG, f"{switch} is set: Rondo does nothing at all", advice)
    ours = sorted(name for name in environment if name.startswith("RONDO_"))
    if ours:
        says = " ".join(f"{name}={environment[name]}" for name in ours)
        yield Finding("environment", State.WORTH_KNOWING, says, "every `rondo run` here heeds these variables")
