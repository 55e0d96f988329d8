# SPDX-License-Identifier: BSD-3-Clause
"""Generates what the profiler's library wraps: the functions of MPI that the <mpi.h> of an ABI declares.

Collectives come with their arguments, by the list of MPI functions; all others with the number of their arguments
alone, since an argument is a machine word whatever its type. Written are C++ that reads as if written by hand, with a
function for each exported symbol, and the linker's version script.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from generate_entries import words_of, wrapped
from mpi_functions import ARGUMENTS, Function, ListError, read, write

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
# In the order of the members of Words, in rondo/profiler/entry.hpp.
WORDS = (*ARGUMENTS, "request")
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
    "Request_free": "Frees",
    "Request_get_status": "Asks",
    "Test": "CompletesOne",
    "Testall": "CompletesAll",
    "Testany": "CompletesSome",
    "Testsome": "CompletesSome",
    "Wait": "CompletesOne",
    "Waitall": "CompletesAll",
    "Waitany": "CompletesSome",
    "Waitsome": "CompletesSome",
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
    """What else there is to do in a function that is timed (rondo/profiler/roles.hpp)."""
    if name in MAKING:
        return "MakesLast" if MAKING[name] == 1 else "MakesLastButOne"
    if name in ENDING:
        return "Ends"
    if name in RENAMING:
        return "Renames"
    if name in CHANGING:
        return "Changes"
    if name in COMPLETING:
        return COMPLETING[name]
    if SENDING.match(name):
        return "SendsMany" if name.endswith("_c") else "Sends"
    return "Nothing"


@dataclass(frozen=True)
class Form:
    """A form of a collective that <mpi.h> declares."""

    name: str
    function: Function
    blocks: bool
    is_large: bool

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.function.arguments if self.blocks else (*self.function.arguments, "request")


def forms(functions: dict[str, int], collectives: list[Function]) -> list[Form]:
    """What the header declares of the collectives: with and without large counts, blocking and nonblocking."""
    known = []
    for each in collectives:
        for large in ("", "_c"):
            nonblocking = f"I{each.name[0].lower()}{each.name[1:]}"
            known += [
                Form(each.name + large, each, True, bool(large)),
                Form(nonblocking + large, each, False, bool(large)),
            ]
    return [each for each in known if each.name in functions]


# ------------------------------------------------------------------------------------------------- the functions


def lengths(function: Function) -> str:
    """What a function's arguments say of lengths, in C++."""
    each_has_a_type = "types" in function.arguments
    of = next((each for each in ("counts", "count") if each in function.arguments and not each_has_a_type), "nothing")
    of_a_part_elsewhere = ", true" if "part_count" in function.arguments else ""
    return f"Lengths{{Lengths::Of::{of}{of_a_part_elsewhere}}}"


def letters(count: int) -> list[str]:
    """Names of arguments that nobody looks at by name."""
    return [chr(ord("a") + number) for number in range(count)]


def entry(symbol: str, arguments: Sequence[str], call: str, first: Sequence[str] = ()) -> Iterator[str]:
    """An exported symbol: what it calls, with what besides its arguments."""
    parameters = [f"Word {each}" for each in arguments]
    yield from wrapped(f'extern "C" [[gnu::visibility("default")]] int {symbol}(', parameters or [""], ") {")
    yield f'    static constinit Behind behind{{"{symbol}"}};'
    yield from wrapped(f"    return {call}(", ["behind", *first, "__builtin_return_address(0)", *arguments], ");")
    yield "}"


def signature(form: Form, numbers: dict[str, int]) -> Iterator[str]:
    """What the symbols of a form of a collective have in common."""
    yield f"struct {form.name} {{"
    yield f"    using Integer = {'std::int64_t' if form.is_large else 'int'};"
    yield f"    static constexpr std::uint32_t number = {numbers[form.name]}, base = {numbers[form.function.name]};"
    yield f"    static constexpr bool blocks = {str(form.blocks).lower()};"
    yield f"    static constexpr bool has_root = {str('root' in form.arguments).lower()};"
    yield f"    static constexpr auto lengths = {lengths(form.function)};"
    yield from words_of(form.arguments, WORDS)
    yield "};"


def entries(collectives: list[Form], timed: dict[str, int]) -> Iterator[str]:
    """The whole file."""
    names = [each.name for each in collectives] + list(timed)
    numbers = {name: number for number, name in enumerate(names)}
    yield "// SPDX-License-Identifier: BSD-3-Clause"
    yield "// Generated by scripts/profiled_functions.py from <mpi.h> and rondo/mpi_functions.txt: do not edit."
    yield "// The symbols that programs find before those of the MPI library. What they do is in entry.hpp."
    yield from ('#include "rondo/profiler/entry.hpp"', "", "#include <iterator>", "", "namespace rondo::profiler {")
    yield from ("namespace {", "", "constexpr const char* names[] = {")
    yield from (f'    "MPI_{name}",' for name in names)
    yield from ("};", "static_assert(std::size(names) <= std::tuple_size_v<decltype(Image::functions)>);")
    for form in collectives:
        yield from ("", *signature(form, numbers))
    yield from ("", "}  // namespace", "")
    yield "const char* name_of(std::uint32_t function) { return names[function]; }"
    yield "std::uint32_t functions() { return std::size(names); }"
    for form in collectives:
        for prefix in ("MPI_", "PMPI_"):
            yield from ("", *entry(prefix + form.name, form.arguments, f"Collective<{form.name}>::enter"))
    for name, count in timed.items():
        for prefix in ("MPI_", "PMPI_"):
            what = f"timed<role::{role(name)}>"
            yield from ("", *entry(prefix + name, letters(count), what, [str(numbers[name])]))
    for form in collectives:
        for symbol in fortran_symbols(form):
            yield from ("", *entry(symbol, letters(len(form.arguments) + 1), "called_by_fortran"))
    yield from ("", "}  // namespace rondo::profiler")


def fortran_symbols(form: Form) -> Iterator[str]:
    """By what names Fortran may call it; those for large counts come with the form without."""
    return (f"mpi_{form.name.lower()}{ending}" for ending in FORTRAN_ENDINGS if not form.is_large)


def exports(collectives: list[Form], timed: dict[str, int]) -> str:
    """The version script that shows these functions, those of C by both names."""
    names = [*sorted(OWN_CODE), *(each.name for each in collectives), *timed]
    symbols = [prefix + name for name in names for prefix in ("MPI_", "PMPI_")]
    symbols += [symbol for form in collectives for symbol in fortran_symbols(form)]
    shown = "".join(f"        {symbol};\n" for symbol in symbols)
    return f"{{\n    global:\n{shown}    local:\n        *;\n}};\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", type=Path, required=True, help="directory with mpi.h")
    parser.add_argument("--list", type=Path, required=True, help="rondo/mpi_functions.txt")
    parser.add_argument("--output", type=Path, required=True, help="the C++ file")
    parser.add_argument("--exports", type=Path, required=True, help="version script for the linker")
    arguments = parser.parse_args()
    functions = declared(arguments.compiler, arguments.include)
    if "Send" not in functions:
        print(f"{arguments.include}/mpi.h declares no MPI_Send that this script can read", file=sys.stderr)
        return 1
    try:
        collectives = [each for each in read(arguments.list).functions if each.is_collective]
    except ListError as problem:
        print(f"profiled_functions: {problem}", file=sys.stderr)
        return 1
    known = forms(functions, collectives)
    others = functions.keys() - {each.name for each in known} - OWN_CODE
    timed = {name: functions[name] for name in sorted(others) if not NOT_TIMED.match(name)}
    write(arguments.output, "\n".join(entries(known, timed)) + "\n")
    write(arguments.exports, exports(known, timed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
