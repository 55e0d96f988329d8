# SPDX-License-Identifier: BSD-3-Clause
"""Lists what the profiler's library wraps: the functions of MPI that the <mpi.h> of an ABI declares.

Collectives come with the shape of their arguments, by the tables in C++; all others with the number of their arguments
alone, since an argument is a machine word whatever its type. Written are lines for the preprocessor, and the linker's
version script.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROTOTYPE = re.compile(r"(?<![\w*])int\s+MPI_([A-Z]\w*)\s*\(([^()]*)\)")
TABLE_LINE = re.compile(r"FUNCTION\((\w+), \w+, ([A-Z_]+), \w+\)")
# What takes no time worth mention, or may be called when there is no MPI, or is how a program tells libraries apart.
NOT_TIMED = re.compile(
    r"T_|Abi_|Status_|Pcontrol$|\w+_(f2c|c2f|f2f08|f082f|f082c|c2f08|fromint|toint)$|Get_(library_)?version$"
    r"|Initialized$|Finalized$|Query_thread$|Is_thread_main$|Aint_|DUP_FN|\w+_FN(_\w+)?$"
)
# What compilers and libraries make of the name of a function in Fortran: mpif.h and `use mpi`; mpi_f08 of Open MPI and
# of MPICH's family, and there with large counts.
FORTRAN_ENDINGS = ("_", "_f08_", "_f08ts_", "_f08ts_large_", "_c_f08ts_")
OWN_CODE = {"Init", "Init_thread", "Finalize", "Abort"}
SENDING = re.compile(r"I?[bsr]?send(_c)?$|(I?sendrecv|I?sendrecv_replace|R?put|R?accumulate)(_c)?$", re.IGNORECASE)
# Makers of communicators: which argument, from the end, is the new one.
MAKING = {
    "Cart_create": 1,
    "Cart_sub": 1,
    "Comm_create": 1,
    "Comm_create_from_group": 1,
    "Comm_create_group": 1,
    "Comm_dup": 1,
    "Comm_dup_with_info": 1,
    "Comm_idup": 2,
    "Comm_idup_with_info": 2,
    "Comm_split": 1,
    "Comm_split_type": 1,
    "Dist_graph_create": 1,
    "Dist_graph_create_adjacent": 1,
    "Graph_create": 1,
    "Intercomm_create": 1,
    "Intercomm_create_from_groups": 1,
    "Intercomm_merge": 1,
}
ENDING = {"Comm_free", "Comm_disconnect"}
RENAMING = {"Comm_set_name"}
CHANGING = {"Op_free", "Type_free"}
# What is done about requests: one, or so many as the first argument says.
COMPLETING = {
    "Request_free": "frees",
    "Request_get_status": "asks",
    "Test": "completes_one",
    "Testall": "completes_all",
    "Testany": "completes_some",
    "Testsome": "completes_some",
    "Wait": "completes_one",
    "Waitall": "completes_all",
    "Waitany": "completes_some",
    "Waitsome": "completes_some",
}


@dataclass(frozen=True)
class Collective:
    """As a table in C++ has it."""

    function: str
    shape: str


def tables(paths: list[Path]) -> Iterator[Collective]:
    """The collectives of the tables."""
    for path in paths:
        for match in TABLE_LINE.finditer(path.read_text()):
            yield Collective(*match.groups())


def declared(compiler: str, directory: Path) -> dict[str, int]:
    """The functions that <mpi.h> declares, without MPI_, and how many arguments each has."""
    command = [
        compiler,
        "-x",
        "c++",
        "-E",
        "-P",
        "-DOMPI_SKIP_MPICXX=1",
        "-DMPICH_SKIP_MPICXX=1",
        f"-I{directory}",
        "-",
    ]
    text = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=True).stdout
    found = {}
    for name, arguments in PROTOTYPE.findall(re.sub(r"\s+", " ", text)):
        found[name] = 0 if arguments.strip() in ("", "void") else arguments.count(",") + 1
    return found


def role(name: str) -> str:
    """What else there is to do in a function that is timed."""
    if name in MAKING:
        return f"makes_{'last' if MAKING[name] == 1 else 'last_but_one'}"
    if name in ENDING:
        return "ends"
    if name in RENAMING:
        return "renames"
    if name in CHANGING:
        return "changes"
    if name in COMPLETING:
        return COMPLETING[name]
    if SENDING.match(name):
        return "sends_many" if name.endswith("_c") else "sends"
    return "nothing"


def lines(functions: dict[str, int], collectives: list[Collective]) -> Iterator[str]:
    """A line for each function: of collectives RONDO_COLLECTIVE, and RONDO_FORTRAN; of others RONDO_TIMED."""
    left = {name: arguments for name, arguments in functions.items() if not NOT_TIMED.match(name)}
    for each in collectives:
        for large in ("", "_c"):
            integer = "std::int64_t" if large else "int"
            nonblocking = f"I{each.function[0].lower()}{each.function[1:]}"
            for name, kind in ((each.function, "blocking"), (nonblocking, "nonblocking")):
                arguments = left.pop(name + large, None)
                if arguments is not None:
                    yield f"RONDO_COLLECTIVE({name}{large}, {each.function}, {each.shape}, {integer}, {kind})"
                if arguments is not None and not large:
                    for ending in FORTRAN_ENDINGS:
                        yield f"RONDO_FORTRAN(mpi_{name.lower()}{ending}, {arguments + 1})"
    for name, arguments in sorted(left.items()):
        if name not in OWN_CODE:
            yield f"RONDO_TIMED({name}, {arguments}, {role(name)})"


def exports(text: str) -> str:
    """The version script that shows these functions, those of C by both names."""
    names = [*sorted(OWN_CODE), *re.findall(r"^RONDO_(?:COLLECTIVE|TIMED)\((\w+)", text, re.MULTILINE)]
    symbols = [prefix + name for name in names for prefix in ("MPI_", "PMPI_")]
    symbols += re.findall(r"^RONDO_FORTRAN\((\w+)", text, re.MULTILINE)
    shown = "".join(f"        {symbol};\n" for symbol in symbols)
    return f"{{\n    global:\n{shown}    local:\n        *;\n}};\n"


def write(path: Path, text: str) -> None:
    """Leaves a file alone that says the same already."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", type=Path, required=True, help="directory with mpi.h")
    parser.add_argument("--table", type=Path, action="append", required=True, help="collectives, in C++")
    parser.add_argument("--output", type=Path, required=True, help="lines for the preprocessor")
    parser.add_argument("--exports", type=Path, required=True, help="version script for the linker")
    arguments = parser.parse_args()
    functions = declared(arguments.compiler, arguments.include)
    if "Send" not in functions:
        print(f"{arguments.include}/mpi.h declares no MPI_Send that this script can read", file=sys.stderr)
        return 1
    text = "\n".join(lines(functions, list(tables(arguments.table)))) + "\n"
    write(arguments.output, text)
    write(arguments.exports, exports(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
