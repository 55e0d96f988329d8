# SPDX-License-Identifier: BSD-3-Clause
"""Results, cut into what belongs into one figure: one collective, measured in one way in one environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rondo.bench import statistics
from rondo.bench.results import NATIVE, Configuration, Environment, Results, parts_text
from rondo.bench.statistics import Comparison, Standing
from rondo.forms import functions_of, name_of
from rondo.reports import style


@dataclass(frozen=True)
class Source:
    """A file of results. Each is an environment of its own, so that equal configurations of two files stay apart."""

    path: Path
    results: Results

    @property
    def title(self) -> str:
        """Library and ranks, and whether the network was a real one."""
        environment = self.results.environment
        network = ", emulated network" if environment.emulation is not None else ""
        return f"{library_text(environment)}, {ranks_text(environment)}{network}"

    @cached_property
    def sections(self) -> list[Section]:
        """In the order in which the file names them."""
        found: dict[tuple[str, ...], list[Comparison]] = {}
        for group in statistics.groups(self.results.configurations):
            first = group[0]
            key = (first.collective, first.form, first.start, first.type, first.operator, first.parts)
            compared = statistics.compare(group, self.results.environment.clock_error)
            found.setdefault(key, []).append(compared)
        return [Section(self, *key, tuple(sorted(each, key=_length))) for key, each in found.items()]


@dataclass(frozen=True)
class Series:
    """One candidate over all lengths."""

    algorithm: str
    label: str
    variant: int
    """Number among those of the same algorithm with other parameters."""
    standings: tuple[Standing, ...]
    """By rising bytes; lengths at which it was not measured are left out."""

    @property
    def measured(self) -> tuple[Standing, ...]:
        """What a logarithmic figure can show: at least one byte, at least one valid repetition."""
        return tuple(each for each in self.standings if each.configuration.bytes > 0 and each.summary.count > 0)


@dataclass(frozen=True)
class Section:
    """What is shown in one figure."""

    source: Source
    collective: str
    form: str
    start: str
    type: str
    operator: str
    parts: str
    comparisons: tuple[Comparison, ...]
    """One per length, by rising bytes."""

    @property
    def title(self) -> str:
        """Of the section, within its source."""
        elements = " ".join(filter(None, [self.type, self.operator]))
        name = name_of(self.collective, self.form)
        return ", ".join(filter(None, [name, elements, parts_text(self.parts), f"{self.start} start"]))

    @property
    def headline(self) -> str:
        """Of its figures, which may stand alone: collective, MPI library, number of ranks."""
        environment = self.source.results.environment
        return f"{functions_of(self.collective, self.form)[0]}, {library_text(environment)}, p = {environment.ranks}"

    @cached_property
    def configurations(self) -> list[Configuration]:
        """All that it is about."""
        return [each.configuration for comparison in self.comparisons for each in comparison.standings]

    @cached_property
    def series(self) -> list[Series]:
        """The native one, then the others in the order of the file."""
        standings: dict[str, list[Standing]] = {}
        for comparison in self.comparisons:
            for each in comparison.standings:
                standings.setdefault(each.configuration.label, []).append(each)
        found: list[Series] = []
        order = {each.label: place for place, each in enumerate(reversed(self.source.results.configurations))}
        for label in sorted(standings, key=lambda each: (each != NATIVE, -order[each])):
            algorithm = standings[label][0].configuration.algorithm
            variant = sum(each.algorithm == algorithm for each in found)
            found.append(Series(algorithm, label, variant, tuple(standings[label])))
        return found


def styles(all_sections: Iterable[Section]) -> dict[str, style.Style]:
    """A style for each algorithm: one for the whole report, and distinct within each section."""
    return style.assign([{each.algorithm for each in section.series} for section in all_sections])


def figure_names(all_sections: Sequence[Section]) -> list[str]:
    """Names for files, one per section: the collective, and of the rest only what tells it from the others."""
    several_files = len({each.source.path for each in all_sections}) > 1
    names: list[str] = []
    for each in all_sections:
        alike = [other for other in all_sections if other.collective == each.collective and other.source is each.source]
        parts = [each.source.path.stem] if several_files else []
        parts.append(each.collective)
        parts += [
            getattr(each, field)
            for field in ("form", "type", "operator", "parts", "start")
            if len({getattr(other, field) for other in alike}) > 1
        ]
        name = re.sub(r"[^\w.]+", "-", "-".join(filter(None, parts)))
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def library_text(environment: Environment) -> str:
    """The MPI library as people call it: "MPICH Version:      5.0.2" is MPICH 5.0.2."""
    text = " ".join(environment.library.split())
    text = re.sub(r",? (package:|for Linux).*", "", text)
    return re.sub(r"\(R\)| Library| Version:|(?<= )v(?=\d)", "", text)


def ranks_text(environment: Environment) -> str:
    """How many ranks where: 36 nodes of 1 rank."""
    per_node = sorted(set(environment.ranks_per_node))
    if len(per_node) != 1:
        return f"{style.counted(environment.nodes, 'node')} of {per_node[0]} to {per_node[-1]} ranks"
    return f"{style.counted(environment.nodes, 'node')} of {style.counted(per_node[0], 'rank')}"


def _length(comparison: Comparison) -> tuple[int, int]:
    configuration = comparison.standings[0].configuration
    return configuration.bytes, configuration.count
