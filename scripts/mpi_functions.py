# SPDX-License-Identifier: BSD-3-Clause
"""The list of MPI functions, rondo/mpi_functions.txt, which says at its head what its columns mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

COLUMNS = ("function", "collective", "output", "large", "forms", "arguments")
OUTPUTS = ("everywhere", "after_rank_0", "at_the_root", "is_the_input", "-")
FORMS = ("blocking", "nonblocking", "persistent")
# In the order of the members of Words, in rondo/interposer/words.hpp.
ARGUMENTS = (
    "input",
    "input_count",
    "input_counts",
    "input_displacements",
    "input_type",
    "input_types",
    "part_count",
    "part_type",
    "buffer",
    "output",
    "count",
    "counts",
    "displacements",
    "datatype",
    "types",
    "op",
    "root",
    "comm",
)
# The arguments of a form besides, and the last members of Words.
ARGUMENTS_OF_FORMS = {"blocking": (), "nonblocking": ("request",), "persistent": ("info", "request")}
ARGUMENTS_OF_OTHERS = (
    "argument_count",
    "argument_vector",
    "required",
    "provided",
    "request",
    "requests",
    "statuses",
)


class ListError(Exception):
    """What is wrong with a line of the list."""


@dataclass(frozen=True)
class Function:
    """A line of the list."""

    name: str  # without MPI_
    collective: str | None
    output: str
    has_large_counts: bool
    forms: tuple[str, ...]
    by_hand: bool
    arguments: tuple[str, ...]

    @property
    def is_served(self) -> bool:
        """Rondo carries out its calls, or hands them on."""
        return bool(self.forms)

    @property
    def form(self) -> str:
        """The form, of a function in one form."""
        return self.forms[0]

    def in_form(self, form: str) -> Function:
        """What the function is called in one of its forms, and what arguments it has."""
        names = {"blocking": self.name, "nonblocking": f"I{self.name.lower()}", "persistent": f"{self.name}_init"}
        arguments = (*self.arguments, *ARGUMENTS_OF_FORMS[form])
        return replace(self, name=names[form], forms=(form,), arguments=arguments)

    @property
    def is_collective(self) -> bool:
        """It is called on a communicator."""
        return "comm" in self.arguments


def require(condition: bool, problem: str) -> None:
    """ListError if the condition does not hold."""
    if not condition:
        raise ListError(problem)


def parse(line: str) -> Function:
    """ListError says what is wrong with the line."""
    cells = line.split(maxsplit=len(COLUMNS) - 1)
    require(len(cells) == len(COLUMNS), f"{len(cells)} columns, where there are {len(COLUMNS)}: {', '.join(COLUMNS)}")
    name, collective, output, large, forms, words = cells
    by_hand, arguments = forms == "by_hand", tuple(words.split())
    function = Function(
        name=name,
        collective=None if collective == "-" else collective,
        output=output,
        has_large_counts=large == "yes",
        forms=() if by_hand or forms == "-" else tuple(forms.split(",")),
        by_hand=by_hand,
        arguments=arguments,
    )
    require(re.fullmatch("[A-Z][a-z_]*", name) is not None, f"'{name}' is no function's name without MPI_")
    require(output in OUTPUTS, f"output '{output}' is none of {', '.join(OUTPUTS)}")
    require(large in ("yes", "no"), f"large '{large}' is neither yes nor no")
    for form in function.forms:
        require(form in FORMS, f"form '{form}' is none of {', '.join(FORMS)}, by_hand, -")
    known = ARGUMENTS if function.is_served else ARGUMENTS + ARGUMENTS_OF_OTHERS
    for argument in arguments:
        require(argument in known, f"argument '{argument}' is none of {', '.join(known)}")
        require(arguments.count(argument) == 1, f"argument '{argument}' stands there twice")
    if function.is_served:
        require(function.collective is not None and output != "-", f"{name} has a form, but no collective or output")
        require(arguments[-1] == "comm", f"the last argument of {name} is not comm")
    return function


def read(path: Path) -> list[Function]:
    """All lines of the list. ListError names the file and the line."""
    return list(_functions(path))


def _functions(path: Path) -> Iterator[Function]:
    first_line: dict[str, int] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            function = parse(line)
            require(function.name not in first_line, f"{function.name} stands in line {first_line.get(function.name)}")
        except ListError as problem:
            raise ListError(f"{path}:{number}: {problem}") from None
        first_line[function.name] = number
        yield function


def served(functions: list[Function], forms: Sequence[str] = FORMS) -> list[Function]:
    """The functions that Rondo serves, each in one of these forms: those of the first form come first."""
    return [each.in_form(form) for form in forms for each in functions if form in each.forms]


def write(path: Path, text: str) -> None:
    """Writes a generated file. One that says the same already is left alone, so that nothing is compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
