# SPDX-License-Identifier: BSD-3-Clause
"""What verdicts of earlier runs come to: who is the fastest for which calls, in words and as rules."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rondo import _core
from rondo.bench.results import NATIVE
from rondo.selection.learned import Verdict

NOT_COMPARED = "could not be compared"


def rules(verdicts: Sequence[Verdict], library: str | None = None) -> list[str]:
    """Lines of a rules file that say the same, to stand above others. Of several choices, the fastest.

    `library`: the only one that they are for.
    """
    return [_rule(condition, known, library) for condition, known in kinds(verdicts).items()]


def kinds(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Those about the same calls, by which calls these are, as rules say it. Rules cannot tell sums from others.

    Those on domains come first: the conditions of the others hold there, too.
    """
    found: dict[str, list[Verdict]] = {}
    for each in sorted(verdicts, key=lambda verdict: verdict.domains == 1):
        found.setdefault(_condition(each), []).append(each)
    return found


def ratios(known: Sequence[Verdict]) -> dict[str, float]:
    """By choice, its time to the library's. `known`: verdicts about the same calls; their geometric mean counts.

    Infinite for a choice that could not be compared.
    """
    found: dict[str, list[float]] = {}
    for each in known:
        found.setdefault(each.choice, []).extend([math.log(each.ratio)] if each.compared else [])
    return {choice: math.exp(sum(each) / len(each)) if each else math.inf for choice, each in found.items()}


def best(known: Sequence[Verdict]) -> str:
    """Who is the fastest for these calls: a choice, or the library ("native")."""
    found = ratios(known)
    choice = min(found, key=found.__getitem__)
    return choice if found[choice] < 1 else NATIVE


def _condition(verdict: Verdict) -> str:
    """Which calls a verdict is about, as rules say it."""
    conditions = [] if verdict.is_of_any_length else [f"bytes in {verdict.lowest}..{verdict.highest}"]
    conditions.append(f"processes = {verdict.processes}")
    if verdict.nodes > 0:
        conditions.append(f"nodes = {verdict.nodes}")
        if verdict.fewest_on_node == verdict.most_on_node:
            conditions.append(f"ranks_per_node = {verdict.most_on_node}")
        if verdict.domains > 1:
            conditions.append(f"domains = {verdict.domains}")
        if verdict.most_on_node > 1:
            conditions.append(f"shared_memory = {'yes' if verdict.shared_memory else 'no'}")
    if any(each["name"] == verdict.collective and each["has_operation"] for each in _core.collectives()):
        conditions.append(f"commutative = {'yes' if verdict.commutative else 'no'}")
    return f"{verdict.collective} {', '.join(conditions)}"


def _rule(condition: str, known: Sequence[Verdict], library: str | None) -> str:
    took = ", ".join(took_text(choice, ratio) for choice, ratio in ratios(known).items())
    where = f", library = {library}" if library is not None else ""
    return f"{condition}{where} -> {best(known)}  # {took} on {max(each.day for each in known)}"


def took_text(choice: str, ratio: float | None) -> str:
    """What a choice took, for people."""
    if ratio is None or math.isinf(ratio):
        return f"{choice} {NOT_COMPARED}"
    return f"{choice} took {ratio_text(ratio)} of the library's time"


def ratio_text(ratio: float) -> str:
    """With two digits at least: 14.44, 0.43, 0.0037."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"
