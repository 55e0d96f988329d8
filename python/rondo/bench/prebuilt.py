# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark driver that came with the package, which saves its compilation where it fits the MPI library.

The program has room for two paths, as long as cmake/BenchDriver.cmake says: where the linker finds the MPI library, and
Rondo's library of prefix sums. A copy in the user's cache directory has them filled in, so it runs on other nodes, too.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from rondo.errors import Error
from rondo.launching import installation, mpi_library
from rondo.launching.mpi_library import MpiLibrary

ROOM_FOR_RUN_PATH = b"/of-the-mpi-library" * 27
ROOM_FOR_PREFIX_LIBRARY = b"/of-rondo-prefix" * 32


def driver_for(library: MpiLibrary) -> Path | None:
    """The driver for this library; None if the package has none, or the library is not where the driver can find it."""
    interface = mpi_library.ABI_OF[library.name]
    program = installation.PROGRAMS / f"rondo-bench-{interface}"
    if not program.is_file() or library.file is None:
        return None
    name = mpi_library.FILE_NAMES[interface][0]  # which the driver asks for
    directory = library.file.parent if library.file.name == name else _directory_with_link(library, library.file, name)
    prefix_library = installation.LIBRARIES / f"librondo-prefix-{interface}.so"
    content = program.read_bytes()
    for room, path in ((ROOM_FOR_RUN_PATH, directory), (ROOM_FOR_PREFIX_LIBRARY, prefix_library)):
        text = os.fsencode(path)
        if content.count(room) != 1 or len(text) > len(room):
            return None
        content = content.replace(room, text.ljust(len(room), b"\0"))
    return _kept(content, f"bench-{library.name}-{hashlib.sha256(content).hexdigest()[:16]}")


def _directory_with_link(library: MpiLibrary, file: Path, name: str) -> Path:
    """Where a link to a file of another name has this one."""
    digest = hashlib.sha256(os.fsencode(file.parent)).hexdigest()[:16]
    folder = mpi_library.cache_directory() / f"lib-{library.name}-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(file)
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
