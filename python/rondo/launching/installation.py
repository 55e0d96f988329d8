# SPDX-License-Identifier: BSD-3-Clause
"""Where the files that are installed with the package lie."""

from __future__ import annotations

from pathlib import Path

from rondo.errors import Error

try:
    from rondo._folders import FOLDERS
except ImportError:
    FOLDERS = {}
"""Where a prefix has folders of the package (cmake/Prefix.cmake); a Python package has them all in itself."""

PACKAGE = Path(__file__).resolve().parents[1]


def _folder(name: str) -> Path:
    return (PACKAGE / FOLDERS.get(name, name)).resolve()


LIBRARIES = _folder("lib")
PROGRAMS = _folder("bin")
BENCH_SOURCES = _folder("driver")
DEFAULT_RULES = _folder("tuning") / "default.rules"
NATIVE_RULES = _folder("tuning") / "native"
"""What MPI libraries' own collectives do."""
MACHINES = _folder("tuning") / "machines"
"""Machine files with published figures."""


def installed_abis() -> list[str]:
    """The MPI ABIs that this installation has a preload library for."""
    return _abis("librondo_")


def preload_library(abi: str) -> Path:
    """Absolute path of the library that is preloaded into programs of this ABI; Error if it is not installed."""
    return _preloadable(_library("librondo_", "has no library", abi))


def profile_library(abi: str) -> Path:
    """Absolute path of the profiler for programs of this ABI; Error if it is not installed."""
    return _preloadable(_library("librondo_profile_", "has no profiler", abi))


def prefix_library(abi: str) -> Path:
    """Absolute path of the library that computes prefix sums for programs of this ABI; Error if it is not installed."""
    return _library("librondo-prefix-", "computes no prefix sums", abi)


def _abis(beginning: str) -> list[str]:
    names = (path.name.removeprefix(beginning).removesuffix(".so") for path in LIBRARIES.glob(f"{beginning}*.so"))
    return sorted(name for name in names if "_" not in name)


def _library(beginning: str, what: str, abi: str) -> Path:
    library = LIBRARIES / f"{beginning}{abi}.so"
    if not library.is_file():
        raise Error(
            f"this installation of Rondo {what} for the {abi} ABI (only for: {', '.join(_abis(beginning)) or 'none'}); "
            f"build it again with that MPI's headers, in a checkout by make install"
        )
    return library


def _preloadable(library: Path) -> Path:
    if any(character in str(library) for character in " :\t"):
        raise Error(f"{library} cannot be preloaded: LD_PRELOAD takes no blanks and colons; install Rondo elsewhere")
    return library


def testbed_program() -> Path:
    """Absolute path of the emulated cluster's engine; Error if it is not installed."""
    program = PROGRAMS / "rondo-testbed"
    if not program.is_file():
        raise Error(
            "this installation of Rondo has no emulated cluster (it needs Linux); build it again with "
            "-DRONDO_BUILD_TESTBED=ON"
        )
    return program


def patience_library() -> Path:
    """Absolute path of the library that keeps ranks of an emulated cluster from polling; Error if not installed."""
    library = LIBRARIES / "libpatience.so"
    if not library.is_file():
        raise Error(f"this installation of Rondo is incomplete: there is no {library}")
    return library
