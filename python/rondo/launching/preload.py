# SPDX-License-Identifier: BSD-3-Clause
"""Puts Rondo into a launcher's command line: the programs get its environment, the launcher does not."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rondo.errors import Error
from rondo.launching.launcher import CommandLine, Kind, Segment
from rondo.launching.wrappers import PRELOAD

SITE_LIBRARY = "librondo.so"
LAST = (Kind.FLUX, Kind.MPIRUN_RSH)
"""Launchers to which variables are told right before the program."""


@dataclass(frozen=True)
class Command:
    """What to run: the words, and what differs from the environment that Rondo itself was given."""

    words: list[str]
    environment: dict[str, str]


def _entries(value: str | None) -> list[str]:
    return [entry for entry in re.split(r"[: ]+", value or "") if entry]


def with_library_first(library: Path, existing: str | None) -> str:
    """The value of LD_PRELOAD with the library before what was there; entries are kept in order.

    The library of the site, which does the same for all programs, is left out.
    """
    others = (entry for entry in _entries(existing) if entry != str(library) and Path(entry).name != SITE_LIBRARY)
    return os.pathsep.join([str(library), *others])


def refuse_rondo(*values: str | None) -> None:
    """Error if a value of LD_PRELOAD has Rondo, or its profiler, in what is measured as the MPI library's own."""
    for entry in itertools.chain.from_iterable(map(_entries, values)):
        if Path(entry).name.startswith("librondo_"):
            raise Error(
                f"LD_PRELOAD names a library of Rondo ({entry}), which native calls would have, too: take it out"
            )


def refuse_rondo_in(line: CommandLine, environment: Mapping[str, str]) -> None:
    """The same for all programs of a command line: what they inherit, and what the launcher is told to give them."""
    passed = [variable.value for variable in line.passed if variable.name == PRELOAD]
    refuse_rondo(environment.get(PRELOAD), *passed)


def inject(line: CommandLine, library: Path, variables: Mapping[str, str], environment: Mapping[str, str]) -> Command:
    """The command that starts the same programs with `library` preloaded and `variables` set."""
    words = list(line.words)
    preload = with_library_first(library, environment.get(PRELOAD))
    if line.kind in (Kind.NONE, Kind.IBRUN):
        return Command(words, {PRELOAD: preload, **variables})
    if line.kind is Kind.SRUN:
        return Command(_export(line, library, preload, variables, environment), dict(variables))

    # Where the user has a preload passed on, ours goes before it, in its place.
    theirs = [variable for variable in line.passed if variable.name == PRELOAD]
    for variable in theirs:
        words[variable.position] = variable.prefix + with_library_first(library, variable.value)

    if line.kind in (Kind.HYDRA, Kind.APRUN):
        everywhere = any(variable.everywhere or line.kind is Kind.APRUN for variable in theirs)
        added = [] if everywhere else _assignment(line.kind, PRELOAD, preload)
        for name, value in variables.items():
            added += _assignment(line.kind, name, value)
        return Command([words[0], *added, *words[1:]], {})

    # Open MPI 4 gives -x to one program of several only.
    for index, segment in reversed(list(enumerate(line.segments))):
        own = [variable for variable in theirs if variable.segment == index]
        added = [] if own else _assignment(line.kind, PRELOAD, preload)
        if line.kind is Kind.FLUX and own:  # a rule may take all away that rules before it have set
            added = _assignment(line.kind, PRELOAD, with_library_first(library, own[-1].value))
        for name, value in variables.items():
            added += _assignment(line.kind, name, value)
        place = _before_program(words, segment) if line.kind in LAST else segment.start
        words[place:place] = added
    return Command(words, {})


def _before_program(words: list[str], segment: Segment) -> int:
    """Where the last option of a program ends."""
    place = len(words) if segment.program is None else segment.program
    return place - 1 if place > segment.start and words[place - 1] == "--" else place


def _assignment(kind: Kind, name: str, value: str) -> list[str]:
    """The words by which a launcher is told a variable for its programs."""
    if kind is Kind.HYDRA:
        return ["-genv", name, value]
    if kind is Kind.MPIRUN_RSH:
        return [f"{name}={value}"]
    if kind is Kind.FLUX:  # which replaces $NAME
        return [f"--env={name}={value.replace('$', '$$')}"]
    return [{Kind.OPENMPI: "-x", Kind.JSRUN: "-E", Kind.APRUN: "-e"}[kind], f"{name}={value}"]


def _export(
    line: CommandLine, library: Path, preload: str, variables: Mapping[str, str], environment: Mapping[str, str]
) -> list[str]:
    """The words for srun. Values may contain commas, which --export takes apart: it gets the names only."""
    words = list(line.words)
    added = [f"{PRELOAD}={preload}"]
    places = [index for segment in line.segments for index in _export_options(words, segment.start, segment.program)]
    if not places:
        base = environment.get("SLURM_EXPORT_ENV", "ALL")
        return [words[0], "--export=" + _exported(base, added, variables), *words[1:]]
    for index in places:
        if words[index] == "--export":
            words[index + 1] = _exported_after(words[index + 1], library, preload, variables)
        else:
            words[index] = "--export=" + _exported_after(words[index].partition("=")[2], library, preload, variables)
    return words


def _export_options(words: list[str], start: int, end: int | None) -> list[int]:
    inside = range(start, len(words) if end is None else end)
    return [index for index in inside if words[index] == "--export" or words[index].startswith("--export=")]


def _exported_after(base: str, library: Path, preload: str, variables: Mapping[str, str]) -> str:
    """The list with ours added; a preload that is named in it is kept, behind ours."""
    entries = base.split(",")
    for index, entry in enumerate(entries):
        name, assigned, value = entry.partition("=")
        if name == PRELOAD:
            entries[index] = f"{PRELOAD}={with_library_first(library, value) if assigned else preload}"
            return _exported(",".join(entries), [], variables)
    return _exported(base, [f"{PRELOAD}={preload}"], variables)


def _exported(base: str, added: list[str], variables: Mapping[str, str]) -> str:
    everything = "ALL" in base.split(",")
    kept = [] if base in ("NONE", "NIL", "") else [base]
    return ",".join([*kept, *added, *([] if everything else variables)])
