# SPDX-License-Identifier: BSD-3-Clause
"""A profile on a terminal, for the hurried: where the time goes, what could be saved, and what to do."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rondo.profiling import advice, prediction, summary
from rondo.profiling.prediction import Estimate, Outlook, Prediction
from rondo.profiling.profile import FINALIZED, Profile
from rondo.reports import style
from rondo.selection import rules_file

MOST_LINES = 10
"""Of the most important calls."""
VISIBLE = 0.0005
"""Of the run: less is not a line of its own."""


@dataclass(frozen=True)
class Scale:
    """The unit and the decimals of a column of times."""

    size: float
    """Of the unit, in seconds."""
    unit: str
    decimals: int

    @classmethod
    def of(cls, largest: float) -> Scale:
        """For times of which this is the longest: it has four digits."""
        size, unit = style.unit_of(largest)
        return cls(size, unit, max(3 - math.floor(math.log10(largest / size)), 0) if largest > 0 else 0)

    def text(self, seconds: float) -> str:
        """Without the unit."""
        return f"{seconds / self.size:.{self.decimals}f}"


def show(profile: Profile, console: Console, found: Outlook | None = None) -> None:
    """Prints what is most important of a profile. `found` is what there is to gain, if that is known already."""
    if not profile.ranks:
        for line in profile.missing:
            console.print(Text(f"missing: {line}", style="yellow"))
        return
    if found is None:
        found = prediction.outlook(profile, prediction.circumstances(profile, os.environ))
    console.print(Text(title(profile), style="bold"), soft_wrap=True)
    console.print(_times(found))
    if profile.lines:
        console.print(_collectives(found))
        console.print(_calls(found))
    else:
        console.print("The program calls no collective.\n")
    console.print(Text(advice.sentence(found) + ".", style="bold"), soft_wrap=False)
    for line in advice.what_to_do(found):
        console.print(Text(f"* {line}"))
    for line in remarks(found):
        console.print(Text(line, style="dim"))
    for line in missing(profile):
        console.print(Text(f"missing: {line}", style="yellow"))


def title(profile: Profile) -> str:
    """Program, ranks, library."""
    nodes = style.counted(len(profile.hosts), "node")
    parts = [shlex.join(profile.command), f"{style.counted(len(profile.ranks), 'rank')} on {nodes}", profile.library]
    parts += [f"emulated cluster {profile.cluster}"] if profile.cluster else []
    return ", ".join(filter(None, parts))


def at_a_glance(found: Outlook) -> list[tuple[str, float]]:
    """Where the time of the mean rank goes: names and seconds."""
    times = found.times
    rows = [
        ("computing, outside of MPI", times.computing),
        ("other MPI: messages, files", times.other),
        ("collectives: waiting", times.waiting),
        ("collectives: moving data", times.moving),
    ]
    return rows + ([("collectives: not compared", times.unsplit)] if times.share(times.unsplit) > VISIBLE else [])


def _times(found: Outlook) -> Table:
    times = found.times
    scale = Scale.of(times.run)
    table = _table()
    table.add_column("mean of the ranks", no_wrap=True)
    table.add_column(scale.unit, justify="right", no_wrap=True)
    table.add_column("of the run", justify="right", no_wrap=True)
    for name, seconds in at_a_glance(found):
        table.add_row(name, scale.text(seconds), advice.percent(times.share(seconds)))
    table.add_section()
    table.add_row("the run, from MPI_Init to MPI_Finalize", scale.text(times.run), "")
    return table


def _collectives(found: Outlook) -> Table:
    """By function."""
    times, profile = found.times, found.profile
    groups = summary.grouped(profile, lambda line: line.function)
    largest = max((each.seconds for each in groups.values()), default=0.0)
    scale = Scale.of(largest)
    table = _table()
    table.add_column(f"collectives, {scale.unit}", no_wrap=True)
    for name in ("calls", "of the run", "waiting", "moving", "rondo run", "at best"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, group in groups.items():
        own = [each for each in found.predictions if each.line.function == name]
        table.add_row(
            name.removeprefix("MPI_"),
            str(group.calls),
            advice.percent(times.share(group.seconds)),
            scale.text(group.waiting),
            scale.text(group.moving),
            *map(scale.text, moving_with_rondo(found, own)),
        )
    return table


def moving_with_rondo(found: Outlook, own: Iterable[Prediction]) -> tuple[float, float]:
    """Seconds of the mean rank in which data would move: by the rules, and by the best algorithms."""
    by_rules = best = 0.0
    for each in own:
        moving = summary.total(found.profile, [each.line]).moving
        by_rules += moving * each.ratio(each.rules)
        best += moving * each.ratio(each.best)
    return by_rules, best


def _calls(found: Outlook) -> Table:
    """The most important lines, with their places in the program."""
    profile = found.profile
    ordered = sorted(found.predictions, key=lambda each: -seconds_of(profile, each))
    table = _table()
    table.add_column("called at", overflow="fold", min_width=14)
    table.add_column("collective", overflow="fold", min_width=9)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("calls", justify="right", no_wrap=True)
    table.add_column("moves", justify="right", no_wrap=True)
    table.add_column("rondo run", justify="right", no_wrap=True)
    table.add_column("best", justify="right", no_wrap=True)
    for each in ordered[:MOST_LINES]:
        table.add_row(
            Text(summary.site_text(profile.sites[each.line.site])),
            each.line.function.removeprefix("MPI_"),
            bytes_text(each.line.smallest, each.line.largest),
            str(each.line.calls),
            style.time_text(each.native),
            estimate_text(each.rules, each),
            estimate_text(each.best, each),
        )
    if len(ordered) > MOST_LINES:
        table.caption = f"and {len(ordered) - MOST_LINES} more; the page has them all"
        table.caption_justify = "left"
    return table


def seconds_of(profile: Profile, each: Prediction) -> float:
    """Of the mean rank in a line."""
    return summary.total(profile, [each.line]).seconds


def bytes_text(smallest: int, largest: int) -> str:
    """Of the vectors of a line: 64 KiB, or ≤ 64 KiB."""
    return style.bytes_text(largest) if smallest == largest else f"≤ {style.bytes_text(largest)}"


def estimate_text(estimate: Estimate | None, each: Prediction) -> str:
    """What a call would take; NOTHING where it stays as it is, a question mark where nobody knows."""
    if estimate is not None:
        return style.time_text(estimate.seconds.value)
    return style.NOTHING if each.judged else "?"


def remarks(found: Outlook) -> list[str]:
    """What to know of the figures."""
    where = found.circumstances
    name = "none" if where.rules is None else rules_file.shown(where.rules)
    lines = [
        "moves: of one call, from the moment when the last rank has come, on the slowest rank; rondo run, best: what "
        f"it would take; {style.NOTHING}: stays native; ?: not predicted"
    ]
    lines.append(f"rules of rondo run: {name if not where.is_tuned else f'{name} (tuned)'}")
    if any(not math.isnan(each.native) for each in found.predictions) and found.profile.clock_error > 0:
        lines.append(f"clocks of the ranks differ by at most {style.time_text(found.profile.clock_error)}")
    return lines


def missing(profile: Profile) -> list[str]:
    """What is not in the profile."""
    ends: dict[str, list[int]] = {}
    for number, rank in enumerate(profile.ranks):
        if rank.ended != FINALIZED:
            ends.setdefault(rank.ended, []).append(number)
    said = list(profile.missing)
    if not said:
        said += [f"the end of {advice.ranks_text(profile, ranks)}: {how}" for how, ranks in ends.items()]
    return said


def _table() -> Table:
    return Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
