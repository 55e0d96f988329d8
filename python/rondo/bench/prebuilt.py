# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark driver that came with the package, which saves its compilation where it fits the MPI library.

The program has room for two paths, as long as cmake/BenchDriver.cmake says: where the linker finds the MPI library, and
Rondo's library of prefix sums. A copy in the user's cache directory has them filled in, so it runs on other nodes, too.
"""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

from rondo.errors import Error
from rondo.launching import installation, mpi_library
from rondo.launching.mpi_library import MpiLibrary

ROOM_FOR_RUN_PATH = b"/of-the-mpi-library" * 27
ROOM_FOR_PREFIX_LIBRARY = b"/of-rondo-prefix" * 32
NAMES = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}
"""Of the MPI library that the driver of an ABI loads."""
NAMES_OF_DEBIAN = {"libmpi.so.12": "libmpich.so.12"}


def driver_for(library: MpiLibrary) -> Path | None:
    """The driver for this library; None if the package has none, or the library is not where the driver can find it."""
    interface = mpi_library.ABI_OF[library.name]
    program = installation.PROGRAMS / f"rondo-bench-{interface}"
    directory = _directory_of(library, NAMES[interface]) or _directory_with_link(library, NAMES[interface])
    if not program.is_file() or directory is None:
        return None
    prefix_library = installation.LIBRARIES / f"librondo-prefix-{interface}.so"
    content = program.read_bytes()
    for room, path in ((ROOM_FOR_RUN_PATH, directory), (ROOM_FOR_PREFIX_LIBRARY, prefix_library)):
        text = os.fsencode(path)
        if content.count(room) != 1 or len(text) > len(room):
            return None
        content = content.replace(room, text.ljust(len(room), b"\0"))
    return _kept(content, f"bench-{library.name}-{hashlib.sha256(content).hexdigest()[:16]}")


def _directory_of(library: MpiLibrary, name: str) -> Path | None:
    """Where the library's launcher has its libraries."""
    beside = library.prefix
    places = [beside / "lib", beside / "lib64", beside / f"lib/{platform.machine()}-linux-gnu", beside / "lib/release"]
    return next((place for place in places if (place / name).exists()), None)


def _directory_with_link(library: MpiLibrary, name: str) -> Path | None:
    """Where a link has the name that the driver asks for, if Debian calls the library otherwise."""
    name_there = NAMES_OF_DEBIAN.get(name)
    there = _directory_of(library, name_there) if name_there is not None else None
    if there is None or name_there is None:
        return None
    digest = hashlib.sha256(os.fsencode(there)).hexdigest()[:16]
    folder = mpi_library.cache_directory() / f"lib-{library.name}-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(there / name_there)
    except FileExistsError:
        pass  # another process was faster
    except OSError as error:
        raise Error(f"cannot link the MPI library for the benchmark driver: {error}") from None
    return folder


def _kept(content: bytes, name: str) -> Path:
    target = mpi_library.cache_directory() / name
    if target.exists():
        return target
    partial = target.with_name(f".{name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.chmod(0o755)
        partial.replace(target)
    except OSError as error:
        raise Error(f"cannot write the benchmark driver: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
    return target
