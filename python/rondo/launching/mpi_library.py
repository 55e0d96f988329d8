# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of this machine, and programs of Rondo's own that are compiled for one of them when needed."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rondo import saying
from rondo.errors import Error
from rondo.launching import abi, launcher

NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "impi": "Intel MPI"}
ABI_OF = {"mpich": "mpich", "openmpi": "openmpi", "impi": "mpich"}
LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.hydra")
FILE_NAMES = {"mpich": ("libmpi.so.12", "libmpich.so.12"), "openmpi": ("libmpi.so.40",)}
"""Of the library of an ABI: what everybody calls it, and Debian."""
NUMBER = re.compile(r"\d+(?:\.\d+)+\b")
COMPILE_SECONDS = 300.0
VERSION_SECONDS = 20.0
COMPILER_FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1")


@dataclass(frozen=True)
class MpiLibrary:
    """One installed MPI library."""

    name: str
    """A key of NAMES."""
    launcher: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """What its launcher, compiler and programs need, beyond what is there."""

    @property
    def prefix(self) -> Path:
        """The directory that holds its bin and lib."""
        return self.launcher.parent.parent

    @property
    def file(self) -> Path | None:
        """The library itself, if it is where its launcher says."""
        of_processor = f"lib/{platform.machine()}-linux-gnu"
        places = [self.prefix / each for each in ("lib", "lib64", of_processor, "lib/release")]
        files = [place / name for name in FILE_NAMES[ABI_OF[self.name]] for place in places]
        return next((each for each in files if each.exists()), None)

    @property
    def compiler(self) -> Path:
        """Its C++ compiler wrapper; Error if it came without."""
        # Debian has several libraries in one directory, where plain names may be of another than the launcher's.
        for suffix in (f".{self.name}", ""):
            for name in (f"mpicxx{suffix}", f"mpic++{suffix}", f"mpiCC{suffix}"):
                if (self.launcher.parent / name).exists():
                    return self.launcher.parent / name
        raise Error(
            f"there is no mpicxx beside {self.launcher}: install the development package of this {NAMES[self.name]}"
        )


def find(wanted: str, environment: Mapping[str, str]) -> MpiLibrary:
    """An MPI library by its name (mpich, openmpi, impi), its directory or its launcher.

    A name takes the one that this checkout of Rondo has set up (.toolchain/NAME), if there is one; else the first of
    that kind among mpiexec and mpirun on PATH and beside this Python, and mpiexec.NAME on PATH. It says on stderr which
    it took. Error if there is none.
    """
    if wanted in NAMES:
        path = _launcher_of(wanted, environment)
        if path is not None:
            saying.once(f"{_with_version(wanted, path, environment)}, {path}")
            return _described(wanted, path)
        raise Error(
            f"no {NAMES[wanted]} found: none of the launchers on PATH ({', '.join(LAUNCHERS)}) is of that kind. "
            f"Load its module, or name its directory: --mpi /opt/{wanted}"
        )
    if "/" not in wanted and shutil.which(wanted, path=environment.get("PATH")) is None:
        raise Error(
            f"unknown MPI library {wanted}; expected {', '.join(NAMES)}, or the path of a directory or launcher"
        )
    path = Path(shutil.which(wanted, path=environment.get("PATH")) or wanted).absolute()
    if path.is_dir():
        path = next((path / "bin" / name for name in LAUNCHERS if (path / "bin" / name).exists()), path / "bin/mpiexec")
    if not path.exists():
        raise Error(f"no MPI library at {wanted}: there is no {path}")
    name = _name_of(path, environment)
    if name is None:
        raise Error(f"{path} is no launcher of {', '.join(NAMES.values())}")
    return _described(name, path)


def of_compiler(path: str, environment: Mapping[str, str]) -> str | None:
    """The library, a key of NAMES, that a compiler wrapper makes programs for; None if it does not say."""
    for option in ("--showme:version", "-v"):  # Open MPI's; that of MPICH and of Intel MPI
        try:
            result = subprocess.run(
                [path, option], env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=VERSION_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
        first = (result.stdout + result.stderr).partition("\n")[0]
        for name, sign in (("openmpi", "Open MPI"), ("mpich", "MPICH"), ("impi", "Intel(R) MPI")):
            if sign in first:
                return name
    return None


def version_here(name: str, environment: Mapping[str, str]) -> str | None:
    """The version ("5.0.2") of the library that `find` takes for a name; None if there is none, or it does not say."""
    path = _launcher_of(name, environment)
    return _version_of(path, environment) if path is not None else None


def of_program(
    words: Sequence[str], wanted: str | None, environment: Mapping[str, str], named_abi: str | None = None
) -> MpiLibrary:
    """The MPI library to start a program with: the one that is wanted, if any, else one that the program uses.

    The program's ABI is the one that is named, else seen. Error if the library that is wanted is of another: every rank
    would run alone.
    """
    if wanted is not None:
        library = find(wanted, environment)
        advice = "leave --mpi out, or name that MPI"
        if named_abi is not None:
            program_abi, said = named_abi, f"--abi names {named_abi}"
        else:
            try:
                mpi = abi.of_program(words, None, {**environment, **library.environment})
            except Error:  # one without MPI runs with any, and of some nobody knows
                return library
            program_abi, said = mpi.abi, f"{words[0]} uses another MPI ({mpi.library})"
            if mpi.guessed:
                said = f"mpi4py of {words[0]} loads another MPI ({mpi.library})"
                advice += f", or say that the program uses this one: --abi {ABI_OF[library.name]}"
        if program_abi in ABI_OF.values() and program_abi != ABI_OF[library.name]:
            raise Error(f"--mpi {wanted} is {NAMES[library.name]}, but {said}: every rank would run alone; {advice}")
        return library
    name = named_abi or abi.of_program(words, None, environment).abi
    if name == "mpiabi":
        raise Error(
            f"{words[0]} uses the standard binary interface of MPI 5, which several libraries have: name one with --mpi"
        )
    return find(name, environment)


def compile_program(
    library: MpiLibrary,
    name: str,
    sources: Sequence[Path],
    headers: Sequence[Path],
    flags: Sequence[str] = (),
    *,
    before: Callable[[], None] = lambda: None,
) -> Path:
    """An executable of C++ sources for an MPI library, compiled once and kept in the user's cache directory.

    All sources are one translation unit: most of the time goes into the headers that they have in common. `before` is
    called if it has to be compiled, which takes a while.
    """
    words = [str(library.compiler), *COMPILER_FLAGS, "-x", "c++", "-", "-x", "none", *flags]
    unit = "".join(f'#include "{path}"\n' for path in sources)
    content = b"\0".join(path.read_bytes() for path in [*sources, *headers])
    stamp = f"{words} {library.compiler.resolve().stat().st_mtime_ns}".encode()
    target = cache_directory() / f"{name}-{library.name}-{hashlib.sha256(content + stamp).hexdigest()[:16]}"
    if target.exists():
        return target
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    before()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        result = subprocess.run(
            [*words, "-o", str(partial)],
            input=unit,
            env={**os.environ, **library.environment},
            capture_output=True,
            text=True,
            timeout=COMPILE_SECONDS,
            check=False,
        )
        if result.returncode != 0:
            raise Error(f"cannot compile {name} with {library.compiler}:\n{result.stderr.strip()[-3000:]}")
        partial.replace(target)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Error(f"cannot compile {name} with {library.compiler}: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
    return target


def cache_directory() -> Path:
    """Where compiled programs are kept: $XDG_CACHE_HOME/rondo, by default ~/.cache/rondo."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rondo"


def _launcher_of(name: str, environment: Mapping[str, str]) -> Path | None:
    for path in _launchers(name, environment):
        if path.exists() and _name_of(path, environment) == name:
            return path
    return None


def _version_of(path: Path, environment: Mapping[str, str]) -> str | None:
    version = NUMBER.search(launcher.version_text(str(path), environment))
    return version[0] if version else None


def _with_version(name: str, path: Path, environment: Mapping[str, str]) -> str:
    version = _version_of(path, environment)
    return f"{NAMES[name]} {version}" if version else NAMES[name]


def _launchers(name: str, environment: Mapping[str, str]) -> Iterator[Path]:
    # Run from within a checkout, or by the Python of its .venv.
    for directory in (Path.cwd(), *Path.cwd().parents, Path(sys.prefix).parent):
        yield directory / ".toolchain" / name / "bin" / LAUNCHERS[0]
    directories = [Path(each) for each in environment.get("PATH", "").split(os.pathsep) if each]
    directories.append(Path(sys.executable).parent)
    for directory in directories:
        for launcher_name in LAUNCHERS:
            yield directory / launcher_name
    # Debian's, where the one that is mpiexec on PATH is of another kind.
    for directory in directories:
        yield directory / f"mpiexec.{name}"


def _name_of(path: Path, environment: Mapping[str, str]) -> str | None:
    kind = launcher.kind_of(str(path), environment)
    if kind is launcher.Kind.HYDRA:
        return "impi" if "Intel(R) MPI Library" in launcher.version_text(str(path), environment) else "mpich"
    return "openmpi" if kind is launcher.Kind.OPENMPI else None


def _described(name: str, path: Path) -> MpiLibrary:
    prefix = path.parent.parent
    environment: dict[str, str] = {}
    if name == "impi" and "I_MPI_ROOT" not in os.environ:
        environment = {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": _with(prefix / "lib")}
    if name == "openmpi" and prefix != Path("/usr"):
        environment = {f"{part}_PREFIX": str(prefix) for part in ("OPAL", "PRTE", "PMIX")}
    return MpiLibrary(name, path, environment)


def _with(directory: Path) -> str:
    return os.pathsep.join([str(directory), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
