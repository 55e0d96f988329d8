# SPDX-License-Identifier: BSD-3-Clause
"""Lists what the profiler's library wraps: the functions of MPI that the <mpi.h> of an ABI declares.

Collectives come with their arguments, by the list of MPI functions; all others with the number of their arguments
alone, since an argument is a machine word whatever its type. Written are lines for the preprocessor, a header about
the arguments of collectives, and the linker's version script.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mpi_functions import Function, ListError, read, write

PROTOTYPE = re.compile(r"(?<![\w*])int\s+MPI_([A-Z]\w*)\s*\(([^()]*)\)")
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


def preprocessed(compiler: str, directory: Path) -> str:
    """What a compiler makes of the <mpi.h> of a directory, with a single blank for every gap."""
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
    return re.sub(r"\s+", " ", text)


def declared(compiler: str, directory: Path) -> dict[str, int]:
    """The functions that <mpi.h> declares, without MPI_, and how many arguments each has."""
    found = {}
    for name, arguments in PROTOTYPE.findall(preprocessed(compiler, directory)):
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


def lines(functions: dict[str, int], collectives: list[Function]) -> Iterator[str]:
    """A line for each function: of collectives RONDO_COLLECTIVE, and RONDO_FORTRAN; of others RONDO_TIMED."""
    left = {name: arguments for name, arguments in functions.items() if not NOT_TIMED.match(name)}
    for each in collectives:
        for large in ("", "_c"):
            integer = "std::int64_t" if large else "int"
            nonblocking = f"I{each.name[0].lower()}{each.name[1:]}"
            for name, kind in ((each.name, "blocking"), (nonblocking, "nonblocking")):
                arguments = left.pop(name + large, None)
                if arguments is not None:
                    yield f"RONDO_COLLECTIVE({name}{large}, {each.name}, {integer}, {kind})"
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


def lengths(function: Function) -> str:
    """What a function's arguments say of lengths, in C++."""
    each_has_a_type = "types" in function.arguments
    of = next((each for each in ("counts", "count") if each in function.arguments and not each_has_a_type), "nothing")
    of_a_part_elsewhere = ", true" if "part_count" in function.arguments else ""
    return f"Lengths{{Lengths::Of::{of}{of_a_part_elsewhere}}}"


def argument_lists(collectives: list[Function]) -> Iterator[str]:
    """A header that says of each collective what its arguments are, what they say of lengths, and if it has a root."""
    yield "// SPDX-License-Identifier: BSD-3-Clause"
    yield "// Generated by scripts/profiled_functions.py from rondo/mpi_functions.txt: do not edit."
    yield from ("#pragma once", "", '#include "rondo/profiler/recorder.hpp"', "")
    for each in collectives:
        listed = ", ".join(f"EACH({argument})" for argument in each.arguments)
        yield f"#define RONDO_ARGUMENTS_OF_{each.name}(EACH) {listed}"
    yield from ("", "namespace rondo::profiler {", "")
    for each in collectives:
        yield f"inline constexpr Lengths lengths_of_{each.name} = {lengths(each)};"
    yield ""
    for each in collectives:
        yield f"inline constexpr bool has_root_{each.name} = {'true' if 'root' in each.arguments else 'false'};"
    yield from ("", "}  // namespace rondo::profiler")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", type=Path, required=True, help="directory with mpi.h")
    parser.add_argument("--list", type=Path, required=True, help="rondo/mpi_functions.txt")
    parser.add_argument("--output", type=Path, required=True, help="directory of profiled_functions.inc and its header")
    parser.add_argument("--exports", type=Path, required=True, help="version script for the linker")
    arguments = parser.parse_args()
    functions = declared(arguments.compiler, arguments.include)
    if "Send" not in functions:
        print(f"{arguments.include}/mpi.h declares no MPI_Send that this script can read", file=sys.stderr)
        return 1
    try:
        collectives = [each for each in read(arguments.list) if each.is_collective]
    except ListError as problem:
        print(f"profiled_functions: {problem}", file=sys.stderr)
        return 1
    text = "\n".join(lines(functions, collectives)) + "\n"
    write(arguments.output / "profiled_functions.inc", text)
    write(arguments.output / "argument_lists.hpp", "\n".join(argument_lists(collectives)) + "\n")
    write(arguments.exports, exports(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
