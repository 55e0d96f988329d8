# SPDX-License-Identifier: BSD-3-Clause
"""Maps of a collective: the fastest algorithm for each number of processes and each length of the vector.

A map is a directory with a file of results for each number of processes (pN.json, as `rondo report` reads them), what
was asked for (map-plan.json), and what follows (map.json and figures). A map that was interrupted goes on where it was.
"""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rondo.bench import plans, results, statistics
from rondo.bench.plans import DIVIDED, TYPES, Plan
from rondo.bench.results import EQUAL, NATIVE, Configuration, Results
from rondo.bench.statistics import Verdict
from rondo.cluster import shapes
from rondo.errors import Error
from rondo.forms import BLOCKING

PLACEHOLDER = "{p}"
PLAN_FILE, MAP_FILE = "map-plan.json", "map.json"
FORMAT = 1


class Question(msgspec.Struct, frozen=True):
    """What has to be the same in all parts of a map. Times, repetitions and numbers of processes may change."""

    collective: str
    candidates: list[str]
    counts: list[int]
    """Elements of the whole vector."""
    type: str
    operator: str
    start: str
    cluster: str
    """With N in place of the number of nodes; empty under a launcher."""
    launcher: str
    """With {p} in place of the number of processes; empty on a cluster."""
    mpi: str
    form: str = BLOCKING


class Cell(msgspec.Struct, frozen=True):
    """One number of processes and one length."""

    processes: int
    count: int
    """Of the whole vector, as asked for."""
    bytes: int
    """Of the whole vector, as measured: parts are even, so they are rounded up."""
    seconds: dict[str, float]
    """Median of each candidate that can win, by its label, fastest first."""
    native_tied: bool
    """Whether the MPI library's own cannot be told apart from the fastest (`rondo report` says how it is judged)."""
    valid: dict[str, int]
    """Valid repetitions of each candidate that was measured, by its label."""
    verdict: str
    """A value of statistics.Verdict. "undecided": there are too few repetitions to name anybody."""

    @property
    def fastest(self) -> str:
        """Label of the candidate with the smallest median, which is proof of nothing where the cell is undecided."""
        return next(iter(self.seconds))

    @property
    def undecided(self) -> bool:
        """Are there too few repetitions to say who is the fastest?"""
        return self.verdict == Verdict.UNDECIDED.value

    @property
    def valid_text(self) -> str:
        """n=3, or n=1-3: valid repetitions of a candidate."""
        fewest, most = min(self.valid.values()), max(self.valid.values())
        return f"n={fewest}" if fewest == most else f"n={fewest}-{most}"

    @property
    def ratio(self) -> float:
        """The fastest one's time over the native one's; NaN without one."""
        return self.seconds[self.fastest] / self.seconds.get(NATIVE, math.nan)


class Map(msgspec.Struct, frozen=True):
    """Everything that the figures show."""

    question: Question
    library: str
    """Of MPI, as it calls itself."""
    ranks_per_node: int
    """0 if it differs."""
    cells: list[Cell]
    """By processes, then by count."""
    format: int = FORMAT

    @property
    def processes(self) -> list[int]:
        """The numbers of processes that there are."""
        return sorted({each.processes for each in self.cells})

    @property
    def counts(self) -> list[int]:
        """The lengths that there are, in elements."""
        return sorted({each.count for each in self.cells})

    @property
    def winners(self) -> list[str]:
        """Labels with the smallest median somewhere: the native one, then those that have it most often."""
        cells = [each.fastest for each in self.cells]
        return sorted(set(cells), key=lambda label: (label != NATIVE, -cells.count(label), label))

    def nominal_bytes(self, count: int) -> int:
        """Of a vector of so many elements."""
        return count * TYPES[self.question.type]


def question(plan: Plan, *, cluster: str | None, launcher: Sequence[str], mpi: str | None) -> Question:
    """What the parts of a map have in common. Error for what a map cannot have."""
    if plan.collective in plans.PATTERNS:
        raise Error(f"--map compares algorithms, and {plan.collective} has none; expected a collective")
    if plan.collective in plans.WITHOUT_DATA:
        raise Error(f"--map compares lengths, and {plan.collective} has none; expected another collective")
    if plan.parts != EQUAL:
        raise Error(f"--map compares lengths of the whole vector, in equal parts; leave out --parts {plan.parts}")
    if len(plan.forms) != 1:
        raise Error("--map takes one form; expected --form blocking, nonblocking or persistent")
    if plan.pieces:
        raise Error("--map compares calls alone; leave out --overlap")
    if len(plan.starts) != 1:
        raise Error("--map takes one way to start; expected --start clock or --start barrier")
    if cluster is not None and ":" not in cluster:
        raise Error(
            f"--map starts an emulated cluster for each number of processes; expected --cluster "
            f"NODESxRANKS:LATENCY:RATE, not the name of one ({cluster})"
        )
    if cluster is None and launcher and not any(PLACEHOLDER in word for word in launcher):
        raise Error(
            f"--map needs to know where the number of processes goes; write {PLACEHOLDER} in its place, as in: "
            f"-- mpiexec -n {PLACEHOLDER}"
        )
    return Question(
        plan.collective,
        list(plan.candidates),
        list(plan.counts),
        plan.type,
        plan.operator,
        plan.starts[0],
        f"Nx{str(shapes.parse(cluster)).partition('x')[2]}" if cluster is not None else "",
        shlex.join(launcher),
        mpi or "",
        plan.forms[0],
    )


def processes_for(text: str | None, cluster: str | None) -> tuple[int, ...]:
    """Numbers of processes from what users write; on a cluster by default as many as fill 1, 2, ... nodes.

    Error if the cluster cannot hold one of them with all its nodes full.
    """
    if cluster is None:
        if text is None:
            raise Error("--map: how many processes? Expected --processes, as in --processes 2..16 or 2,4,8")
        return plans.processes_of(text)
    shape = shapes.parse(cluster)
    possible = [each for each in range(shape.per_node, shape.ranks + 1, shape.per_node) if each >= 2]
    wanted = plans.processes_of(text) if text is not None else tuple(possible)
    for each in wanted:
        if each not in possible:
            raise Error(
                f"--processes: {each} do not fill whole nodes of {cluster}; expected multiples of {shape.per_node} "
                f"up to {shape.ranks}"
            )
    return wanted


def place_for(processes: int, launcher: Sequence[str], cluster: str | None) -> tuple[tuple[str, ...], str | None]:
    """Launcher and cluster for so many processes."""
    if cluster is None:
        return tuple(word.replace(PLACEHOLDER, str(processes)) for word in launcher), None
    shape = shapes.parse(cluster)
    return (), str(shape.of_ranks(processes))


def plan_for(plan: Plan, processes: int) -> Plan:
    """The same, with the counts of calls on so many processes."""
    return dataclasses.replace(
        plan, counts=tuple(sorted({call_count(plan.collective, each, processes) for each in plan.counts}))
    )


def call_count(collective: str, count: int, processes: int) -> int:
    """What a call for a whole vector of `count` elements, or a few more, is told."""
    return -(-count // processes) if collective in DIVIDED else count


def open_directory(directory: Path, asked: Question) -> None:
    """Makes the directory of a map, or goes on with one. Error if another question was asked there."""
    path = directory / PLAN_FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(msgspec.json.format(msgspec.json.encode(asked)) + b"\n")
            return
        before = msgspec.json.decode(path.read_bytes(), type=Question)
    except OSError as error:
        raise Error(f"cannot use {directory} for a map: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise Error(f"{path} is not what rondo bench --map writes: {error}") from None
    for name in Question.__struct_fields__:
        old, new = getattr(before, name), getattr(asked, name)
        if old != new:
            raise Error(
                f"{directory} holds a map with {name} {_shown(old)}, not {_shown(new)}; name another directory with "
                f"--output, or remove it"
            )


def results_file(directory: Path, processes: int) -> Path:
    """Where the results for so many processes are kept."""
    return directory / f"p{processes}.json"


def read(directory: Path, asked: Question) -> Map | None:
    """The map of all that has been measured; None if nothing has."""
    found = {}
    for path in directory.glob("p*.json"):
        measured = results.read(path)
        found[measured.environment.ranks] = measured
    return draw_up(asked, found) if found else None


def draw_up(asked: Question, measured: Mapping[int, Results]) -> Map:
    """The map that follows from results, by number of processes."""
    cells = [each for processes in sorted(measured) for each in _cells(asked, processes, measured[processes])]
    environments = [each.environment for each in measured.values()]
    per_node = {each for environment in environments for each in environment.ranks_per_node}
    return Map(asked, environments[0].library, per_node.pop() if len(per_node) == 1 else 0, cells)


def opened(path: Path) -> Map:
    """What `write` wrote; Error if it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Map)
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise Error(f"{path} is not what rondo bench --map writes: {error}") from None


def write(found: Map, directory: Path) -> Path:
    """Writes the map's cells for programs."""
    path = directory / MAP_FILE
    rows = [
        {**msgspec.structs.asdict(each), "fastest": each.fastest, "ratio": _or_none(each.ratio)} for each in found.cells
    ]
    document: dict[str, Any] = {**msgspec.structs.asdict(found), "question": msgspec.structs.asdict(found.question)}
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode({**document, "cells": rows})) + b"\n")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
    return path


def table(found: Map) -> tuple[Any, list[str]]:
    """A rich Table, processes downwards and bytes across, and lines that say what its letters mean."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from rondo.reports import style  # noqa: PLC0415

    winners = [each.fastest for each in found.cells if not each.undecided]
    letters = {label: _letter(place) for place, label in enumerate(each for each in found.winners if each in winners)}
    cells = {(each.processes, each.count): each for each in found.cells}
    shown = Table(box=box.SIMPLE_HEAD)
    shown.add_column("p", justify="right")
    for count in found.counts:
        shown.add_column(style.bytes_text(found.nominal_bytes(count)), justify="right")
    for processes in found.processes:
        row = [cells.get((processes, count)) for count in found.counts]
        shown.add_row(str(processes), *(_cell_text(each, letters) if each is not None else "" for each in row))
    lines = [f"{letter}  {label}: fastest in {winners.count(label)}" for label, letter in letters.items()]
    undecided = sum(each.undecided for each in found.cells)
    if undecided:
        lines.append(f"?  undecided, with so few valid repetitions of each (n) that none can be named: {undecided}")
    return shown, lines


def bandwidth_count(found: Map, wanted_bytes: int) -> int:
    """The measured length, in elements, next to a number of bytes."""
    return min(found.counts, key=lambda each: abs(math.log(found.nominal_bytes(each) / wanted_bytes)))


def _cells(asked: Question, processes: int, measured: Results) -> Iterable[Cell]:
    by_count: dict[int, list[Configuration]] = {}
    for each in measured.configurations:
        by_count.setdefault(each.count, []).append(each)
    for count in asked.counts:
        group = by_count.get(call_count(asked.collective, count, processes), [])
        compared = statistics.compare(group, measured.environment.clock_error)
        if compared.fastest is None:
            continue
        seconds = {each.configuration.label: each.summary.median for each in compared.standings if each.takes_part}
        tied = any(each.configuration.algorithm == NATIVE for each in compared.best)
        valid = {each.configuration.label: each.summary.count for each in compared.standings}
        yield Cell(processes, count, group[0].bytes, seconds, tied, valid, compared.verdict.value)


def _cell_text(cell: Cell, letters: Mapping[str, str]) -> str:
    if cell.undecided:
        return f"? {cell.valid_text}"
    ratio = "" if math.isnan(cell.ratio) or cell.fastest == NATIVE else f" {cell.ratio:.2f}"
    return f"{letters[cell.fastest]}{ratio}{'~' if cell.native_tied and cell.fastest != NATIVE else ''}"


def _letter(place: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    return (_letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value) or "(none)"
