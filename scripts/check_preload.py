# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a preload library is self-contained.

A preload library enters programs that carry other MPI builds and other C++ runtimes. It must therefore need nothing
but the C library and the unwinder, which are shared by all, leave no MPI symbol undefined, and export exactly what the
linker's version script names; of the forms with large counts (_c) none or all, as the ABI has them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ALLOWED_LIBRARIES = re.compile(r"^(libc|libm|libgcc_s|libdl|libpthread|librt|ld-linux[-\w]*)\.so\.\d+$")
MPI_SYMBOL = re.compile(r"^_*p?(mpix?|ompi|mpir|opal|pmpix?)_", re.IGNORECASE)


def exported_names(text: str) -> list[str]:
    """The global symbols of a linker version script."""
    text = re.sub(r"/\*.*?\*/|#[^\n]*", "", text, flags=re.DOTALL)
    names = []
    for section in re.findall(r"global\s*:(.*?)(?=local\s*:|\})", text, flags=re.DOTALL):
        names += [name.strip().strip('"') for name in section.split(";") if name.strip()]
    return names


def readelf(*arguments: str) -> list[str]:
    result = subprocess.run(["readelf", "--wide", *arguments], check=True, capture_output=True, text=True)
    return result.stdout.splitlines()


def needed_libraries(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", "\n".join(readelf("--dynamic", str(library))))


def dynamic_symbols(library: Path) -> tuple[set[str], set[str]]:
    """Names of the (defined, undefined) dynamic symbols, without version suffix."""
    defined: set[str] = set()
    undefined: set[str] = set()
    for line in readelf("--dyn-syms", str(library)):
        fields = line.replace("<OS specific>: 10", "IFUNC").split()  # where the file does not say that it is GNU's
        # Num: Value Size Type Bind Vis Ndx Name
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[4] == "LOCAL" or fields[6] == "ABS":
            continue  # absolute ones are names of versions
        (undefined if fields[6] == "UND" else defined).add(fields[7].split("@")[0])
    return defined, undefined


def problems(library: Path, exports: Path) -> list[str]:
    names = exported_names(exports.read_text())
    defined, undefined = dynamic_symbols(library)
    found = [f"needs {name}" for name in needed_libraries(library) if not ALLOWED_LIBRARIES.match(name)]
    found += [f"leaves {name} undefined" for name in sorted(undefined) if MPI_SYMBOL.match(name)]
    found += [f"exports {name}, which {exports.name} does not name" for name in sorted(defined) if name not in names]
    # Not every ABI has large counts, and persistent collectives.
    newer = [ending for ending in ("_c", "_init") if not any(name.endswith(ending) for name in defined)]
    wanted = [name for name in names if not name.endswith(tuple(newer))]
    found += [f"lacks {name}" for name in wanted if name not in defined]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--exports", type=Path, required=True, help="linker version script")
    arguments = parser.parse_args()
    found = problems(arguments.library, arguments.exports)
    for problem in found:
        print(f"{arguments.library.name} {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
