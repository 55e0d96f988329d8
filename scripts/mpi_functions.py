# SPDX-License-Identifier: BSD-3-Clause
"""The list of MPI functions, rondo/mpi_functions.txt, which says at its head what its columns mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

COLUMNS = ("function", "collective", "output", "large", "forms", "arguments")
OUTPUTS = ("everywhere", "after_rank_0", "at_the_root", "is_the_input", "-")
COLUMNS_OF_FORMS = ("form", "word", "name", "besides", "calls", "libraries")
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
# A form may have these arguments after those of the blocking form. They are the last members of Words.
ARGUMENTS_BESIDES = ("info", "request")
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
class Form:
    """A line about a form."""

    word: str
    pattern: str
    arguments: tuple[str, ...]  # besides those of the blocking form
    is_repeated: bool
    is_everywhere: bool  # in each MPI library

    def name_of(self, name: str) -> str:
        """What the function with this blocking form is called."""
        return self.pattern.format(name=name, lower=name.lower())


@dataclass(frozen=True)
class Function:
    """A line about a function."""

    name: str  # without MPI_
    collective: str | None
    output: str
    has_large_counts: bool
    forms: tuple[Form, ...]
    by_hand: bool
    arguments: tuple[str, ...]

    @property
    def is_served(self) -> bool:
        """Rondo carries out its calls, or hands them on."""
        return bool(self.forms)

    @property
    def form(self) -> Form:
        """The form, of a function in one form."""
        return self.forms[0]

    def in_form(self, form: Form) -> Function:
        """What the function is called in one of its forms, and what arguments it has."""
        return replace(self, name=form.name_of(self.name), forms=(form,), arguments=(*self.arguments, *form.arguments))

    @property
    def is_collective(self) -> bool:
        """It is called on a communicator."""
        return "comm" in self.arguments


def require(condition: bool, problem: str) -> None:
    """ListError if the condition does not hold."""
    if not condition:
        raise ListError(problem)


def cells_of(line: str, columns: Sequence[str]) -> list[str]:
    """The cells of a line; the last one may have blanks. ListError if there are fewer than columns."""
    cells = line.split(maxsplit=len(columns) - 1)
    require(len(cells) == len(columns), f"{len(cells)} columns, where there are {len(columns)}: {', '.join(columns)}")
    return cells


def parse_form(line: str) -> Form:
    """ListError says what is wrong with the line."""
    _, word, name, besides, calls, libraries = cells_of(line, COLUMNS_OF_FORMS)
    require(re.fullmatch("[a-z]+", word) is not None, f"'{word}' is no word for a form")
    require(calls in ("repeated", "once"), f"calls '{calls}' is neither repeated nor once")
    require(libraries in ("all", "some"), f"libraries '{libraries}' is neither all nor some")
    arguments = () if besides == "-" else tuple(besides.split(","))
    for argument in arguments:
        known = ", ".join(ARGUMENTS_BESIDES)
        require(argument in ARGUMENTS_BESIDES, f"argument '{argument}' of a form is none of {known}")
    form = Form(word, name, arguments, calls == "repeated", libraries == "all")
    try:
        named = form.name_of("Bcast").isidentifier()
    except (KeyError, IndexError, AttributeError, ValueError):
        named = False
    require(named, f"'{name}' makes no name of a function of {{name}} or {{lower}}")
    return form


def parse(line: str, known_forms: Sequence[Form]) -> Function:
    """ListError says what is wrong with the line."""
    name, collective, output, large, forms, words = cells_of(line, COLUMNS)
    by_hand, arguments = forms == "by_hand", tuple(words.split())
    by_word = {each.word: each for each in known_forms}
    named = () if by_hand or forms == "-" else forms.split(",")
    for form in named:
        require(form in by_word, f"form '{form}' is none of {', '.join(by_word)}, by_hand, -")
    function = Function(
        name=name,
        collective=None if collective == "-" else collective,
        output=output,
        has_large_counts=large == "yes",
        forms=tuple(by_word[form] for form in named),
        by_hand=by_hand,
        arguments=arguments,
    )
    require(re.fullmatch("[A-Z][a-z_]*", name) is not None, f"'{name}' is no function's name without MPI_")
    require(output in OUTPUTS, f"output '{output}' is none of {', '.join(OUTPUTS)}")
    require(large in ("yes", "no"), f"large '{large}' is neither yes nor no")
    known = ARGUMENTS if function.is_served else ARGUMENTS + ARGUMENTS_OF_OTHERS
    for argument in arguments:
        require(argument in known, f"argument '{argument}' is none of {', '.join(known)}")
        require(arguments.count(argument) == 1, f"argument '{argument}' stands there twice")
    if function.is_served:
        require(function.collective is not None and output != "-", f"{name} has a form, but no collective or output")
        require(arguments[-1] == "comm", f"the last argument of {name} is not comm")
    return function


@dataclass(frozen=True)
class MpiFunctions:
    """The list."""

    forms: list[Form]
    functions: list[Function]

    def served(self, forms: Sequence[Form]) -> list[Function]:
        """The functions that Rondo serves, each in one of these forms: those of the first form come first."""
        return [each.in_form(form) for form in forms for each in self.functions if form in each.forms]

    def exported(self) -> Iterator[tuple[str, Function]]:
        """All symbols of what Rondo wraps, with what the function takes."""
        for each in (*self.served(self.forms), *(each for each in self.functions if each.by_hand)):
            for suffix in ("", "_c") if each.has_large_counts else ("",):
                for prefix in ("MPI_", "PMPI_"):
                    yield f"{prefix}{each.name}{suffix}", replace(each, name=f"{each.name}{suffix}")


def read(path: Path) -> MpiFunctions:
    """The whole list. ListError names the file and the line."""
    forms: dict[str, Form] = {}
    functions: dict[str, Function] = {}
    first_line: dict[str, int] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            is_form = line.startswith("form ")
            each = parse_form(line) if is_form else parse(line, list(forms.values()))
            name = each.word if isinstance(each, Form) else each.name
            require(name not in first_line, f"{name} stands in line {first_line.get(name)}")
        except ListError as problem:
            raise ListError(f"{path}:{number}: {problem}") from None
        first_line[name] = number
        if isinstance(each, Form):
            forms[name] = each
        else:
            functions[name] = each
    return MpiFunctions(list(forms.values()), list(functions.values()))


def write(path: Path, text: str) -> None:
    """Writes a generated file. One that says the same already is left alone, so that nothing is compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
