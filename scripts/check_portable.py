# SPDX-License-Identifier: BSD-3-Clause
"""Checks that binaries run on every Linux with glibc 2.28 or newer.

None may ask for a newer glibc, for libstdc++ or for any other library that is not part of glibc, except libgcc_s and
the MPI library of the benchmark driver. What a file leaves to others without a version must be of Python or of MPI.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from check_preload import needed_libraries, readelf
from zig_tools import GLIBC, MPI_LIBRARIES

MAGIC = b"\x7fELF"
LIBRARY = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux[-\w]*)\.so\.\d+$")
VERSION = re.compile(r"Name: ([A-Z]+)_(\S+)")
LEFT_TO = {"_core": re.compile(r"_?Py"), "rondo-bench": re.compile(r"MPI_|ompi_")}
"""How a file's name begins -> the symbols without a version that it may leave undefined."""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def asked_for(file: Path) -> set[tuple[str, str]]:
    """The versions that a file asks of libraries, such as ("GLIBC", "2.17")."""
    text = "\n".join(readelf("--version-info", str(file)))
    _, _, needs = text.partition("Version needs section")
    return set(VERSION.findall(needs))


def problems_of(file: Path) -> Iterator[str]:
    for name, version in sorted(asked_for(file)):
        if name not in ("GLIBC", "GCC") or (name == "GLIBC" and numbers(version) > numbers(GLIBC)):
            yield f"asks for {name}_{version}"
    for library in needed_libraries(file):
        is_mpi = file.name.startswith("rondo-bench") and library in MPI_LIBRARIES.values()
        if not LIBRARY.match(library) and not is_mpi:
            yield f"needs {library}"
    allowed = next((pattern for name, pattern in LEFT_TO.items() if file.name.startswith(name)), None)
    for name in unversioned(file):
        if allowed is None or not allowed.match(name):
            yield f"leaves {name} undefined"


def unversioned(file: Path) -> Iterator[str]:
    """The symbols that a file needs from others, whatever their version."""
    for line in readelf("--dyn-syms", str(file)):
        fields = line.split()
        # Num: Value Size Type Bind Vis Ndx Name; a weak symbol may be missing.
        if len(fields) == 8 and fields[4] == "GLOBAL" and fields[6] == "UND" and "@" not in fields[7]:
            yield fields[7]


def problems(folder: Path) -> list[str]:
    """What is wrong with the programs and libraries below a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.read_bytes()[:4] == MAGIC]
    found = [f"{file.relative_to(folder)} {problem}" for file in files for problem in problems_of(file)]
    return found if files else [f"there are no programs or libraries in {folder}"]


def main() -> int:
    found = [problem for folder in sys.argv[1:] for problem in problems(Path(folder))]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
