# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of a rules file without a program: what is wrong with it, and what it chooses where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rondo import _core
from rondo.bench.results import NATIVE


@dataclass(frozen=True)
class Remark:
    """What there is to say of a line."""

    line: int
    kind: str
    """malformed, unreachable, refuses always, refuses, or overlaps."""
    text: str
    lines: tuple[int, ...] = ()
    """Of other rules that it is about."""

    @property
    def is_finding(self) -> bool:
        """Whether the line does not do what whoever wrote it must have meant."""
        return self.kind in ("malformed", "unreachable", "refuses always")


@dataclass(frozen=True)
class Region:
    """Lengths for which the choice is the same."""

    lowest: int
    """Bytes, as is `highest`; None: without end."""
    highest: int | None
    text: str
    """Of the upper end: "<= 64Ki"."""
    choice: str
    """"native" also where no rule matches."""
    lines: tuple[int, ...]
    """Of the rules that decide."""


@dataclass(frozen=True)
class Row:
    """What is chosen on some numbers of ranks."""

    fewest: int
    most: int | None
    """None: without end."""
    regions: tuple[Region, ...]
    """By length, without a gap."""


def remarks(text: str, name: str) -> list[Remark]:
    """What there is to say of the text of a rules file, by line."""
    found = _core.inspect_rules(text)
    result = [Remark(line, "malformed", what) for line, what in found["wrong"]]
    for line, above in found["unreachable"]:
        result.append(Remark(line, "unreachable", never_decides(name, above), tuple(above)))
    decided_elsewhere = {line for line, _ in found["unreachable"]}
    for each in found["refusing"]:
        if each["line"] in decided_elsewhere:
            continue
        needs = " and ".join(each["needs"])
        if each["always"]:
            what = f"never serves a call: {each['choice']} needs {needs}, which no call that was tried has"
            result.append(Remark(each["line"], "refuses always", what))
        else:
            what = f"leaves some of its calls to the library: {each['algorithm']} needs {needs}"
            result.append(Remark(each["line"], "refuses", what))
    for line, above in found["overlaps"]:
        what = f"{lines_text(above)} {'matches' if len(above) == 1 else 'match'} some of its calls"
        result.append(Remark(line, "overlaps", what, tuple(above)))
    return sorted(result, key=lambda each: each.line)


def lines_text(lines: Sequence[int]) -> str:
    """Where rules are, those that follow one another together: "lines 3, 5-8"."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    texts = [str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}" for each in runs]
    return f"{'line' if len(lines) == 1 else 'lines'} {', '.join(texts)}"


def never_decides(name: str, above: Sequence[int]) -> str:
    """Of a rule all whose calls go to rules above it."""
    covering = " and ".join(f"{name}:{each}" for each in above)
    verb = "matches all its calls" if len(above) == 1 else "together match all its calls"
    return f"this rule never decides: {covering} {verb}"


def regions(
    text: str, collective: str, ranks_per_node: int, version: str, *, shared_memory: bool, oversubscribed: bool
) -> tuple[Row, ...]:
    """What the text of a rules file chooses for calls of a collective, whose operator commutes."""
    rows = _core.rule_regions(
        text,
        collective,
        ranks_per_node=ranks_per_node,
        version=version,
        shared_memory=shared_memory,
        oversubscribed=oversubscribed,
    )
    return tuple(
        Row(
            row["fewest"],
            row["most"],
            tuple(Region(**{**each, "lines": tuple(each["lines"])}) for each in row["regions"]),
        )
        for row in rows
    )


def asks_for_domains(text: str) -> bool:
    """Whether some rule holds only on domains of a node, or only without them."""
    return any("domains" in line.partition("#")[0].partition("->")[0] for line in text.splitlines())


def is_all_native(rows: Sequence[Row]) -> bool:
    """Whether the library gets every call."""
    return all(each.choice == NATIVE for row in rows for each in row.regions)
