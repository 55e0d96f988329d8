# SPDX-License-Identifier: BSD-3-Clause
"""What tables of docs/benchmarks are made of: results, cells and their text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from measurements import results_in, texts
from rondo.bench.pages import Run
from rondo.bench.plans import TYPES
from rondo.bench.results import NATIVE, Configuration, Results
from rondo.bench.statistics import SIGNIFICANCE, least_p_value
from rondo.reports import style


def results_of(run: Run) -> Results:
    """What was measured."""
    return results_in(run.file)


def is_measured(run: Run) -> bool:
    """Pages may ask for what nobody has measured yet."""
    return run.file in texts()


def minimum(configuration: Configuration) -> float:
    """Milliseconds; the papers report minima as well."""
    return 1e3 * min(configuration.seconds(), default=math.nan)


def number(value: float, digits: int) -> str:
    """A dash if no repetition was valid."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def by_label(results: Results, count: int) -> dict[str, Configuration]:
    """The configurations with this count, of the first form, that started by the clock, or as all did."""
    wanted = count, results.configurations[0].start, results.configurations[0].form
    return {each.label: each for each in results.configurations if (each.count, each.start, each.form) == wanted}


def ratio(found: Mapping[str, Configuration], label: str) -> str:
    """A candidate's time relative to native's; nothing if it was not measured.

    In brackets if there are so few valid repetitions that they could not decide between the two.
    """
    if label not in found:
        return ""
    pair = (found[label], found[NATIVE])
    text = number(minimum(pair[0]) / minimum(pair[1]), 2)
    decidable = label == NATIVE or least_p_value(*(len(each.seconds()) for each in pair)) < SIGNIFICANCE
    return text if decidable or text == "-" else f"({text})"


def valid(*configurations: Configuration) -> str:
    """How many valid repetitions there are of each."""
    return ", ".join(str(len(each.seconds())) for each in configurations)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table; the first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(rows[0]) - 1), *lines[1:]])


def quoted(labels: Sequence[str]) -> list[str]:
    """As code; where there are several with another number of ports, with that number alone."""
    algorithms = [each.partition(":ports=") for each in labels]
    return [
        f"`{name}` {settings.partition(',')[0]}" if mark and sum(other[0] == name for other in algorithms) > 1
        else f"`{label}`"
        for label, (name, mark, settings) in zip(labels, algorithms, strict=True)
    ]  # fmt: skip


def vector_text(run: Run, count: int) -> str:
    """Bytes of a whole vector of so many elements."""
    return style.bytes_text(TYPES[run.experiment.type] * count)


def family(candidate: str) -> str:
    """An algorithm without its number of ports."""
    return candidate.partition(":")[0]


def labels(run: Run) -> list[str]:
    """All candidates, as results call them."""
    return [NATIVE, *run.algorithms]


def parted(label: str) -> tuple[str, set[str]]:
    """The algorithm and its settings."""
    name, _, settings = label.partition(":")
    return name, set(filter(None, settings.split(",")))
