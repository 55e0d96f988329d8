# SPDX-License-Identifier: BSD-3-Clause
"""The page of results of `rondo bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from rondo.bench.results import VALID
from rondo.reports import charts, document, tables, words
from rondo.reports.sections import Section, Source, styles
from rondo.reports.style import Style

METHOD = """
Each repetition counts with the time of its slowest rank. Intervals are 95% bootstrap intervals of the median. At each
length, every candidate is compared with the one with the smallest median (rank-sum test, Holm's correction); a
difference counts only if it is significant, above 5%, and above the usual skew of the start. Among candidates that
cannot be told apart, native wins. A candidate with a wrong result cannot win.
"""
SWITCHES = {
    "statistic": ("Line", {"median": "median", "minimum": "minimum", "mean": "mean", "p99": "99th percentile"}),
    "spread": ("Spread", {"band": "minimum to maximum", "points": "every repetition", "none": "none"}),
}


def text(sources: Sequence[Source], *, self_contained: bool = False) -> str:
    """The whole page."""
    everything = [each for source in sources for each in source.sections]
    looks = styles(everything)
    numbers = {id(each): number for number, each in enumerate(everything, start=1)}
    parts = [_head(sources, numbers)]
    for source in sources:
        parts += [f"<h2>{escape(source.title)}</h2>", _environment(source)]
        parts += [_section(each, numbers[id(each)], looks) for each in source.sections]
    return document.text("Rondo: measured collectives", parts, self_contained=self_contained)


def _head(sources: Sequence[Source], numbers: Mapping[int, int]) -> str:
    entries = "".join(
        f"<li>{escape(source.title)}: "
        + ", ".join(f'<a href="#section{numbers[id(each)]}">{escape(each.title)}</a>' for each in source.sections)
        + "</li>"
        for source in sources
    )
    return (
        f"<h1>Measured collectives</h1>\n{_state(sources)}\n<nav><ul>{entries}</ul></nav>\n"
        f"<p>{escape(' '.join(METHOD.split()))}</p>\n<div class=controls>{''.join(map(_switch, SWITCHES))}</div>\n"
        "<noscript><p class=caution>The figures need JavaScript; the tables hold the same numbers.</p></noscript>"
    )


def _state(sources: Sequence[Source]) -> str:
    wrong = [
        f"{source.title}, {each.collective}: {line}"
        for source in sources
        for each in source.sections
        for line in words.alarms(each)
    ]
    cautions = [f"{source.title}: {line}" for source in sources for line in words.cautions(source)]
    repetitions = [each for source in sources for one in source.results.configurations for each in one.repetitions]
    boxes = []
    if wrong:
        boxes.append(document.box("alarm", "Wrong results", wrong))
    if cautions:
        boxes.append(document.box("caution", "To be known before reading", cautions))
    invalid = sum(each.state != VALID for each in repetitions)
    counts = (
        f"{len(repetitions)} repetitions, {invalid} invalid, "
        f"{sum(each.wrong > 0 for each in repetitions)} with wrong results."
    )
    kind = "alarm" if wrong else "caution" if cautions else "fine"
    return "\n".join([f"<p class={kind}>{counts}</p>", *boxes])


def _switch(name: str) -> str:
    title, choices = SWITCHES[name]
    inputs = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if place == 0 else ""}> {label}</label>'
        for place, (value, label) in enumerate(choices.items())
    )
    return f"<fieldset><legend>{title}</legend>{inputs}</fieldset>"


def _environment(source: Source) -> str:
    return document.facts([("File", str(source.path)), *words.facts(source.results.environment)], code={"Command"})


def _section(section: Section, number: int, looks: Mapping[str, Style]) -> str:
    wrong = words.alarms(section)
    sentences = "".join(f"<li>{escape(each)}</li>" for each in words.description(section))
    figures = [
        document.figure(
            charts.times(section, looks), f"times{number}", f"{section.headline}: time over bytes", f"words{number}"
        ),
        document.figure(
            charts.ratios(section, looks),
            f"ratios{number}",
            f"{section.headline}: relative to native; below 1 is faster",
            f"words{number}",
        ),
    ]
    return (
        f'<section id="section{number}">\n<h3>{escape(section.title)}</h3>\n'
        + (document.box("alarm", "Wrong results", wrong) if wrong else "")
        + f'<ul id="words{number}">{sentences}</ul>\n<div class=figures>{"".join(filter(None, figures))}</div>\n'
        + tables.winners(section, looks)
        + f"<details><summary>All numbers</summary>{tables.numbers(section, looks)}</details>\n</section>"
    )
