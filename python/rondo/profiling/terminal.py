# SPDX-License-Identifier: BSD-3-Clause
"""A profile on a terminal, for the hurried: where the time goes, what could be saved, and what to do."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rondo import screens
from rondo.profiling import advice, prediction, savings, summary
from rondo.profiling.profile import FINALIZED, Profile
from rondo.profiling.savings import Estimate, Outlook, Prediction
from rondo.reports import style
from rondo.selection import rules_file

MOST_LINES = 10
"""Of the most important calls."""
COMPUTING, OTHER, WAITING, MOVING, COMPLETING, UNSPLIT = PARTS = (
    "computing, outside of MPI",
    "other MPI: messages, files",
    "collectives: waiting",
    "collectives: moving data",
    "collectives: in MPI_Wait",
    "collectives: not compared",
)
"""Of a run, as people read them."""
UNKNOWN = "?"


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

    def text(self, seconds: float | None) -> str:
        """Without the unit; NOTHING for what nobody knows."""
        return f"{seconds / self.size:.{self.decimals}f}" if seconds is not None else style.NOTHING


def show(profile: Profile, console: Console, found: Outlook | None = None) -> None:
    """Prints what is most important of a profile. `found` is what there is to gain, if that is known already."""
    if not profile.ranks:
        for line in profile.missing:
            console.print(Text(f"missing: {line}", style="yellow"))
        return
    if found is None:
        found = prediction.outlook(profile, prediction.circumstances(profile, os.environ))
    console.print(Text(title(profile), style="bold"), soft_wrap=True)
    screens.show(_times(found), console)
    if profile.lines:
        screens.show(_collectives(found), console)
        screens.show(_calls(found), console)
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


def at_a_glance(found: Outlook) -> list[tuple[str, float | None]]:
    """Where the time of the mean rank goes: names and seconds, None for what nobody knows."""
    times, whole = found.times, summary.total(found.profile, found.profile.lines)
    nothing = None if whole.lines else 0.0
    rows = [
        (COMPUTING, times.computing),
        (OTHER, times.other),
        (WAITING, whole.waiting if whole.waiting is not None else nothing),
        (MOVING, whole.moving if whole.moving is not None else nothing),
    ]
    more = ((COMPLETING, times.completing), (UNSPLIT, times.unsplit))
    return rows + [each for each in more if times.share(each[1]) > savings.VISIBLE]


def _times(found: Outlook) -> Table:
    times = found.times
    scale = Scale.of(times.run)
    table = _table()
    table.add_column("mean of the ranks", no_wrap=True)
    table.add_column(scale.unit, justify="right", no_wrap=True)
    table.add_column("of the run", justify="right", no_wrap=True)
    for name, seconds in at_a_glance(found):
        share = advice.percent(times.share(seconds)) if seconds is not None else style.NOTHING
        table.add_row(name, scale.text(seconds), share)
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
    in_wait = ["Wait"] if any(each.completing > 0 for each in groups.values()) else []
    for name in ("calls", "of run" if in_wait else "of the run", *in_wait, "waiting", "moving", "rondo run", "at best"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, group in groups.items():
        own = [each for each in found.predictions if each.line.function == name]
        table.add_row(
            name.removeprefix("MPI_"),
            str(group.calls),
            advice.percent(times.share(group.seconds)),
            *(scale.text(group.completing) for _ in in_wait),
            scale.text(group.waiting),
            scale.text(group.moving),
            *(each.text(scale.text) for each in moving_with_rondo(found, own)),
        )
    return table


@dataclass(frozen=True)
class Moving:
    """Seconds of the mean rank in which data would move with Rondo."""

    known: float | None
    """In calls of which that is known; None: there are none."""
    open: float
    """In which data move now, in calls of which it is not."""
    is_open: bool
    """There are such calls, and they are worth a word."""

    def text(self, text_of: Callable[[float], str]) -> str:
        """A question mark stands for what nobody knows."""
        if self.known is None:
            return UNKNOWN if self.is_open else style.NOTHING
        return f"{text_of(self.known)} + {UNKNOWN}" if self.is_open else text_of(self.known)


def moving_with_rondo(found: Outlook, own: Sequence[Prediction]) -> tuple[Moving, Moving]:
    """By the rules, and by the best algorithms."""
    moving = [summary.total(found.profile, [each.line]).moving for each in own]

    def with_choice(estimates: list[Estimate | None], judged: list[bool]) -> Moving:
        known = [
            seconds * each.ratio(estimate)
            for each, seconds, estimate, is_known in zip(own, moving, estimates, judged, strict=True)
            if is_known and seconds is not None
        ]
        open_ones = [each for each, is_known in zip(own, judged, strict=True) if not is_known]
        return Moving(
            known=sum(known) if known else None,
            open=sum(seconds or 0.0 for seconds, is_known in zip(moving, judged, strict=True) if not is_known),
            is_open=found.times.share(sum(map(found.in_question, open_ones))) >= savings.VISIBLE
            or (bool(open_ones) and not known),
        )

    return (
        with_choice([each.rules for each in own], [each.rules_judged for each in own]),
        with_choice([each.best for each in own], [each.judged for each in own]),
    )


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
            estimate_text(each.rules, each.rules_judged),
            estimate_text(each.best, each.judged),
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


def estimate_text(estimate: Estimate | None, is_known: bool) -> str:
    """What a call would take; NOTHING where it stays as it is, a question mark where nobody knows."""
    if estimate is not None:
        return style.time_text(estimate.seconds.value)
    return style.NOTHING if is_known else UNKNOWN


def remarks(found: Outlook) -> list[str]:
    """What to know of the figures."""
    where = found.circumstances
    name = "none" if where.rules is None else rules_file.shown(where.rules)
    lines = [
        "moves: of one call, from the moment when the last rank has come, on the slowest rank; rondo run, best: what "
        f"it would take; {style.NOTHING}: stays native; {UNKNOWN}: not predicted"
    ]
    if found.times.completing > 0:
        lines.append(
            "Wait: in MPI_Wait and its like, for calls that do not block; what they wait and move is not known"
        )
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
