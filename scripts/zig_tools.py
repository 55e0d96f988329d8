# SPDX-License-Identifier: BSD-3-Clause
"""The compilers of PyPI's ziglang as programs that CMake can call, and stand-ins for libraries to link with."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

from profiled_functions import preprocessed

ROOT = Path(__file__).resolve().parent.parent
GLIBC = "2.28"  # RHEL 8's
COMPILERS = ("cc", "c++")
SHARED = ("-shared", "-nostdlib", "-fPIC", "-s")
MPI_LIBRARIES = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}
"""What programs of an ABI need, for those that `rondo bench` starts."""
OBJECT = re.compile(r"\bextern\s+struct\s+\w+\s+(\w+)\s*;")
FUNCTION = re.compile(r"\b(MPI_\w+)\s*\(")


def zig() -> Path:
    """The program of the package ziglang, which is installed beside this Python."""
    found = importlib.util.find_spec("ziglang")
    assert found is not None and found.origin is not None, "ziglang is not installed"
    return Path(found.origin).parent / "zig"


def write_tools(folder: Path, processor: str) -> None:
    """Fills the folder that cmake/Zig.cmake asks for."""
    folder.mkdir(parents=True, exist_ok=True)
    target = f"-target {processor}-linux-gnu.{GLIBC}"
    for name in (*COMPILERS, "ar", "ranlib"):
        script = f'#!/bin/sh\nexec "{zig()}" {name} {target if name in COMPILERS else ""} "$@"\n'
        write_if_changed(folder / name, script)
        (folder / name).chmod(0o755)
    sources = ROOT / "cmake" / "zig"
    link(folder, "libgcc_s.so.1", sources / "unwinder.c", f"-Wl,--version-script={sources / 'unwinder.map'}")


def write_mpi_stand_in(folder: Path, abi: str, headers: Path) -> None:
    """A library with the names that an ABI's mpi.h declares, for the linker of the benchmark driver."""
    text = preprocessed(str(folder / "c++"), headers)
    names = {"char {}[8];": OBJECT.findall(text), "void {}(void) {{}}": FUNCTION.findall(text)}
    lines = sorted({form.format(name) for form, found in names.items() for name in found})
    source = folder / f"{abi}.c"
    (folder / abi).mkdir(exist_ok=True)
    write_if_changed(source, "\n".join(lines) + "\n")
    link(folder, f"{abi}/{MPI_LIBRARIES[abi]}", source)


def link(folder: Path, name: str, source: Path, *options: str) -> None:
    library = folder / name
    command = [folder / "cc", *SHARED, f"-Wl,-soname,{library.name}", *options, source, "-o", library]
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([str(word) for word in command], check=True)


def write_if_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
