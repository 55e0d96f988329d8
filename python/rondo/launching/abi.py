# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program uses: the wrong preload library would break its start.

There are three binary interfaces. MPICH's (libmpi.so.12, Debian: libmpich.so.12) is also that of Intel MPI, MVAPICH and
Cray MPICH; Open MPI has its own (libmpi.so.40); and there is the standard one of MPI 5 (libmpi_abi.so).
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.errors import Error
from rondo.launching import shell, wrappers
from rondo.launching.launcher import cannot_start, find_program, is_launcher
from rondo.launching.wrappers import Start

ABIS = ("mpich", "openmpi", "mpiabi")
AUTO = "auto"
NAME_IT = f"say which MPI that is, as in: rondo run --abi {ABIS[0]} -- ... (or {', '.join(ABIS[1:])})"
STARTERS = ("sbatch", "salloc", "qsub", "bsub", "make", "ninja", "ctest")
"""Programs that start others, on this node or elsewhere, and no ranks themselves."""
DEEPEST = 8  # wrappers in front of wrappers

LIBRARY = re.compile(r"\blibmpi(?:ch|_abi|_cray|_gnu\w*|_intel\w*|_nvidia\w*|_aocc\w*|_amd\w*)?\.so(?:\.(\d+))?")
PYTHON = re.compile(r"(python|pypy)[0-9.]*$")
PROBE_SECONDS = 120.0
# What stands before the paths; anything that the imports print comes earlier.
PROBE_MARK = "rondo-maps:"
PROBE = f"""
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
paths = sorted({{line.split(None, 5)[5].strip() for line in open('/proc/self/maps') if line.count('/')}})
print({PROBE_MARK!r} + '\\n'.join(paths))
"""


@dataclass(frozen=True)
class Mpi:
    """The MPI that a program uses."""

    abi: str
    library: str
    """File name of the library, for messages."""
    path: Path | None = None
    """Where the library lies, if it is on this machine."""
    takes_preload: str | None = None
    """What stands before the program and takes Rondo's LD_PRELOAD away from it, if anything does."""
    preloaded: str = dataclasses.field(default="", compare=False)
    """The program's LD_PRELOAD, with what stands before the program says of it."""
    guessed: bool = False
    """It is what mpi4py would load; whether the program imports that, nobody knows."""


class _NoMpiError(Error):
    """A program that uses no MPI."""


def of_program(words: Sequence[str], directory: str | None, environment: Mapping[str, str]) -> Mpi:
    """The MPI that a program with its arguments uses when it is started in `directory`.

    Wrappers (env, taskset, a shell with plain commands) are looked through. Error if there is no such program, if it
    uses no MPI, or if it starts another program that nobody can know.
    """
    try:
        return _of(Start(list(words), directory, dict(environment)), DEEPEST)
    except OSError as error:
        raise Error(f"cannot read {error.filename or words[0]}: {error.strerror}; {NAME_IT}") from None


def _of(start: Start, depth: int) -> Mpi:
    name = start.words[0]
    if Path(name).name in STARTERS:  # a binary, or a script of the site in front of it
        raise Error(
            f"{name} starts other programs: put `rondo run --` before the launcher (mpiexec, srun) that it starts"
        )
    program = find_program(name, start.directory, start.environment)
    if program is None:
        raise cannot_start(name, start.directory, start.environment)
    inner = wrappers.behind(start)
    if inner is not None and depth > 0:
        if is_launcher(inner.words[0]):
            before = shlex.join(start.words[: len(start.words) - len(inner.words)])
            raise Error(f"`{before}` stands before the launcher {inner.words[0]}; put it before rondo")
        return _of(inner, depth - 1)
    interpreter = interpreter_of(program, start.environment)
    if PYTHON.match(program.name) or (interpreter is not None and PYTHON.match(interpreter.name)):
        python = interpreter if interpreter is not None and not PYTHON.match(program.name) else program
        return _behind(start, of_python(python, start.environment))
    if program.name in shell.SHELLS:
        run = shell.text_of(start)
        if run is not None:
            return _of_shell(*run, start, depth)
    if interpreter is None:
        return _behind(start, of_binary(program, name, start.environment))
    if interpreter.name not in shell.SHELLS:
        raise Error(f"{name} is a script of {interpreter.name}, which Rondo does not read; {NAME_IT}")
    return _of_shell(program.read_text(errors="replace"), start.words[1:], start, depth)


def _behind(start: Start, mpi: Mpi) -> Mpi:
    """With what becomes of preloads on the way to the program."""
    preloaded = start.environment.get(wrappers.PRELOAD, "")
    return dataclasses.replace(mpi, takes_preload=start.takes_preload, preloaded=preloaded)


def _of_shell(text: str, arguments: list[str], start: Start, depth: int) -> Mpi:
    """The one MPI that the programs use which a shell starts; those without MPI do not count."""
    name = start.words[0]
    found: dict[str, Mpi] = {}
    tried: list[str] = []
    try:
        for inner in shell.programs(text, arguments, start):
            tried.append(inner.words[0])
            if depth == 0:
                raise shell.UnreadableError("it starts itself")
            with contextlib.suppress(_NoMpiError):
                mpi = _of(inner, depth - 1)
                if mpi.abi not in found or found[mpi.abi].guessed:
                    found[mpi.abi] = mpi
    except shell.UnreadableError as problem:
        raise Error(f"Rondo cannot tell which program {name} starts: {problem}; {NAME_IT}") from None
    if len(found) > 1:
        both = " and ".join(sorted(mpi.library for mpi in found.values()))
        raise Error(f"{name} starts programs of different MPIs ({both}); {NAME_IT}")
    if not found:
        what = f"none of {', '.join(tried)} uses MPI" if tried else "Rondo sees no program in it"
        raise Error(f"{name} starts no MPI program: {what}; {NAME_IT}")
    return next(iter(found.values()))


def interpreter_of(program: Path, environment: Mapping[str, str]) -> Path | None:
    """The interpreter that a script names in its first line; None for a binary."""
    with program.open("rb") as file:
        first_line = file.readline(512)
    if first_line.startswith(b"\x7fELF"):
        return None
    if not first_line.startswith(b"#!"):
        return Path("sh")  # what a launcher makes of a script without a first line, if it starts it at all
    words = shlex.split(first_line[2:].decode(errors="replace"))
    if words and Path(words[0]).name == "env":
        # #!/usr/bin/env -S VARIABLE=value python3 -u
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words:
        return Path("sh")
    return Path(shutil.which(words[0], path=environment.get("PATH")) or words[0])


def of_binary(program: Path, name: str, environment: Mapping[str, str]) -> Mpi:
    """The MPI that a compiled program links with, also by way of other libraries."""
    try:
        result = subprocess.run(
            ["ldd", str(program.absolute())], env=dict(environment), capture_output=True, check=False
        )
    except OSError as error:
        raise Error(f"cannot ask ldd for the libraries of {name}: {error}; {NAME_IT}") from None
    # "libmpi.so.12 => /usr/lib/libmpi.so.12 (0x...)", or "=> not found"
    lines = [line.split() for line in result.stdout.decode(errors="replace").splitlines() if line.strip()]
    wanted = [line[2] if line[1:2] == ["=>"] and line[2].startswith("/") else line[0] for line in lines]
    missing = f"{name} does not use MPI (no libmpi among its libraries); if it starts or loads what does, {NAME_IT}"
    return _only_one(wanted, name, missing)


def of_python(interpreter: Path, environment: Mapping[str, str]) -> Mpi:
    """The MPI that mpi4py loads in this interpreter and environment."""
    try:
        result = subprocess.run(
            [str(interpreter), "-c", PROBE],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Error(f"cannot ask {interpreter} which MPI mpi4py loads: {error}; {NAME_IT}") from None
    if result.returncode != 0:
        lines = result.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit code {result.returncode}"
        raise Error(f"{interpreter} cannot load mpi4py ({reason}); if the program uses MPI in another way, {NAME_IT}")
    paths = result.stdout.decode(errors="replace").partition(PROBE_MARK)[2].splitlines()
    missing = f"mpi4py of {interpreter} loads no MPI library that Rondo knows; {NAME_IT}"
    return dataclasses.replace(_only_one(paths, str(interpreter), missing), guessed=True)


def named(wanted: str) -> str | None:
    """The ABI that --abi names; None if it leaves that to Rondo."""
    return None if wanted == AUTO else wanted


def abi_of_library(file_name: str) -> str | None:
    """The ABI of an MPI library by its file name, "" if it is one that Rondo does not know; None if it is no MPI."""
    match = LIBRARY.match(file_name)
    if match is None:
        return None
    if file_name.startswith("libmpi_abi."):
        return "mpiabi"
    major = match.group(1)
    if major == "12":
        return "mpich"
    return "openmpi" if major == "40" and file_name.startswith("libmpi.") else ""


def _only_one(libraries: Sequence[str], name: str, missing: str) -> Mpi:
    found: dict[str, Path] = {}
    for library in libraries:
        abi = abi_of_library(Path(library).name)
        if abi is not None:
            found.setdefault(abi, Path(library))
    known = {abi: library for abi, library in found.items() if abi}
    if len(known) > 1:
        both = " and ".join(sorted(library.name for library in known.values()))
        raise Error(f"{name} uses two MPI libraries, {both}; {NAME_IT}")
    if known:
        abi, library = known.popitem()
        return Mpi(abi, library.name, library if library.is_absolute() else None)
    if found:
        raise Error(f"{name} uses an MPI library whose binary interface Rondo does not know: {found[''].name}")
    raise _NoMpiError(missing)
