# SPDX-License-Identifier: BSD-3-Clause
"""Every repetition as a row of a CSV file, for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from rondo.bench.results import Configuration, Repetition
from rondo.reports.sections import Source

ENVIRONMENT = ("date", "library", "ranks", "nodes")
CONFIGURATION = (
    *("collective", "algorithm", "parameters", "start", "type", "operator", "parts"),
    *("form", "pieces", "count", "bytes"),
)


def text(sources: Iterable[Source]) -> str:
    """A heading and a row for each repetition, in the order in which they were made; times in seconds."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["file", *ENVIRONMENT, *CONFIGURATION, "repetition", *Repetition.__struct_fields__])
    for source in sources:
        for configuration in source.results.configurations:
            writer.writerows(_rows(source, configuration))
    return target.getvalue()


def _rows(source: Source, configuration: Configuration) -> Iterable[list[object]]:
    environment = source.results.environment
    shared = [str(source.path), *(getattr(environment, name) for name in ENVIRONMENT)]
    shared += [getattr(configuration, name) for name in CONFIGURATION]
    for number, repetition in enumerate(configuration.repetitions):
        yield [*shared, number, *(getattr(repetition, name) for name in Repetition.__struct_fields__)]
