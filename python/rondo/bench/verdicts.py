# SPDX-License-Identifier: BSD-3-Clause
"""Who wins, in words: what statistics.Comparison.verdict says, the same on terminals, pages and in figures."""

from __future__ import annotations

from rondo.bench.statistics import Comparison, Verdict


def text(comparison: Comparison) -> str:
    """The winner's name, or why there is none."""
    best = [each.configuration.label for each in comparison.best]
    match comparison.verdict:
        case Verdict.WON:
            assert comparison.winner is not None
            return comparison.winner.configuration.label
        case Verdict.TIED:
            return f"none: {', '.join(best)} cannot be told apart"
        case Verdict.UNDECIDED:
            return undecided(comparison)
        case Verdict.ALONE:
            return f"{best[0]} (there is no other)"
        case Verdict.NOTHING:
            return "nothing valid"


def undecided(comparison: Comparison) -> str:
    """That it takes more repetitions, and how many there are."""
    return f"undecided: {repetitions(comparison)}, and it takes {comparison.needed} of each"


def repetitions(comparison: Comparison) -> str:
    """How many valid repetitions there are of each candidate: n = 1 (native, ring), 3 (two_tree)."""
    labels: dict[int, list[str]] = {}
    for each in comparison.standings:
        labels.setdefault(each.summary.count, []).append(each.configuration.label)
    if len(labels) == 1:
        return f"n = {next(iter(labels))} each"
    return "n = " + ", ".join(f"{number} ({', '.join(labels[number])})" for number in sorted(labels))
