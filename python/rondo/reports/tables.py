# SPDX-License-Identifier: BSD-3-Clause
"""The page's tables."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from rondo.bench import verdicts
from rondo.bench.statistics import Comparison, Standing, Verdict
from rondo.reports import document, style, words
from rondo.reports.sections import Section
from rondo.reports.style import Style


def winners(section: Section, looks: Mapping[str, Style]) -> str:
    """Who wins at each length, and what there is to say against it."""
    rows = [_winner_row(each, looks) for each in section.comparisons]
    return document.table(
        "The justified winner at each length",
        ["Bytes", "Count", "Native", "Smallest median", "n", "Of native's", "Invalid", "Wrong", "Winner"],
        {"Smallest median", "Winner"},
        rows,
        alarming="Wrong",
    )


def _winner_row(comparison: Comparison, looks: Mapping[str, Style]) -> list[str]:
    fastest, native = comparison.fastest, comparison.native
    all_of = [each.configuration for each in comparison.standings]
    return [
        style.bytes_text(all_of[0].bytes),
        str(all_of[0].count),
        style.time_text(native.summary.median) if native else style.NOTHING,
        f"{_name(fastest, looks)} {words.median_text(fastest.summary)}" if fastest else style.NOTHING,
        _valid(comparison),
        words.ratio_text(fastest.ratio) if fastest else style.NOTHING,
        str(sum(each.invalid() for each in all_of)),
        str(sum(each.wrong() for each in all_of)),
        _verdict(comparison, looks),
    ]


def _valid(comparison: Comparison) -> str:
    """Valid repetitions of a candidate: from the fewest to the most."""
    counts = sorted({each.summary.count for each in comparison.standings})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _verdict(comparison: Comparison, looks: Mapping[str, Style]) -> str:
    """Who wins, or why nobody does."""
    winner, best = comparison.winner, comparison.best
    if comparison.verdict is Verdict.TIED:
        return f"none: {', '.join(_name(each, looks) for each in best)} cannot be told apart"
    if winner is None:
        return escape(verdicts.text(comparison))
    others = [_name(each, looks) for each in best if each is not winner]
    return _name(winner, looks) + (f" (not slower than {', '.join(others)})" if others else "")


def numbers(section: Section, looks: Mapping[str, Style]) -> str:
    """All that was computed, a row for each candidate at each length."""
    overlaps = any(each.pieces for each in section.configurations)
    rows = [_number_row(each, looks, overlaps) for comparison in section.comparisons for each in comparison.standings]
    headings = ["Bytes", "Candidate", "Minimum", "Median", "Mean", "p99", "Maximum", "Of native's", "p, Holm"]
    headings += ["Together", "Overlap"] if overlaps else []
    meanings = "; together: with computing meanwhile; overlap: the share of the shorter of the two that costs no time"
    return document.table(
        f"By rising medians; p: that it is no slower than the fastest{meanings if overlaps else ''}",
        [*headings, "Valid", "Invalid", "Wrong"],
        {"Candidate"},
        rows,
        alarming="Wrong",
    )


def _number_row(standing: Standing, looks: Mapping[str, Style], overlaps: bool) -> list[str]:
    summary, configuration = standing.summary, standing.configuration
    overlap = configuration.overlap()
    beside = [style.time_text(overlap.together), f"{100 * overlap.share:.0f}%"] if overlap else [style.NOTHING] * 2
    return [
        style.bytes_text(configuration.bytes),
        _name(standing, looks),
        style.time_text(summary.minimum),
        words.median_text(summary),
        style.time_text(summary.mean),
        style.time_text(summary.p99),
        style.time_text(summary.maximum),
        words.ratio_text(standing.ratio),
        "&lt; 0.0001" if standing.p_value < 0.0001 else style.digits(standing.p_value, 2),
        *(beside if overlaps else []),
        str(summary.count),
        str(configuration.invalid()),
        str(configuration.wrong()),
    ]


def _name(standing: Standing, looks: Mapping[str, Style]) -> str:
    colour = looks[standing.configuration.algorithm].colour
    swatch = f'<span class=swatch style="background:{colour}"></span>'
    return f"<span class=name>{swatch}{escape(standing.configuration.label)}</span>"
