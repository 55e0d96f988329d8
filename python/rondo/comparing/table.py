# SPDX-License-Identifier: BSD-3-Clause
"""A comparison on a terminal: a table of times and verdicts, one of collectives, and what to know of them."""

from __future__ import annotations

import math
import statistics as plain_statistics
from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rondo import screens
from rondo.bench import statistics
from rondo.bench.results import NATIVE
from rondo.bench.statistics import LEAST_FOR_INTERVAL, Change
from rondo.comparing import results
from rondo.comparing.outputs import STANDARD_OUTPUT
from rondo.comparing.results import COLLECTIVES, WALL, Difference, Results, Runs, Verdict
from rondo.launching.rank_report import BY_GUARD, BY_RULES
from rondo.reports import style

COLOURS = {Change.FASTER: "green", Change.SLOWER: "red", Change.NONE: "", Change.UNDECIDED: "yellow"}


def show(found: Results, console: Console) -> None:
    """Prints all that the comparison says."""
    console.print(title(found), style="bold", soft_wrap=True)
    screens.show(_times(found), console)
    if any(each.counted for each in found.rivals):
        screens.show(_collectives(found), console)
    for line in remarks(found):
        console.print(Text(line), style="dim", soft_wrap=True)
    for text in verdict_on_outputs(found):
        console.print(Text(text), style="bold red" if found.differences else "green", soft_wrap=True)


def title(found: Results) -> str:
    """How many runs of what."""
    numbers = sorted({len(each.seconds) for each in found.rivals})
    parts = [f"{' or '.join(map(str, numbers))} run{'' if numbers == [1] else 's'} of each, in turn"]
    parts += [found.library] if found.library else []
    parts += [style.counted(found.ranks, "rank")] if found.ranks else []
    parts += [f"emulated cluster {found.cluster}"] if found.cluster else []
    return ", ".join(parts)


def _times(found: Results) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("", no_wrap=True)
    table.add_column("median", no_wrap=True)
    table.add_column("shortest, longest", no_wrap=True)
    table.add_column(f"beside {found.rivals[0].name}")
    verdicts = {(each.figure, each.rival): each for each in found.verdicts}
    for figure in (WALL, COLLECTIVES):
        summaries = {each.name: statistics.summary(each.of(figure)) for each in found.rivals}
        known = [each.median for each in summaries.values() if each.count]
        if not known:
            continue
        size, unit = style.unit_of(max(known))
        table.add_row(Text(f"{figure}, {unit}", style="bold"))
        for name, summary in summaries.items():
            verdict = verdicts.get((figure, name))
            span = f"{_in(size, summary.minimum)}, {_in(size, summary.maximum)}" if summary.count else ""
            interval = f" [{_in(size, summary.low)}, {_in(size, summary.high)}]" if math.isfinite(summary.low) else ""
            median = f"{_in(size, summary.median)}{interval}"
            table.add_row(f"  {name}", median, span, verdict_on(verdict, len(found.rivals)))
    return table


def _in(size: float, seconds: float) -> str:
    """A time in a unit of so many seconds."""
    return style.digits(seconds / size)


def verdict_on(verdict: Verdict | None, rivals: int) -> Text:
    """A verdict in words, with the interval of how many times as fast or as long."""
    if verdict is None:
        return Text()
    said = Text(results.text(verdict, rivals), style=COLOURS[verdict.change])
    if math.isfinite(verdict.low) and verdict.change is not Change.UNDECIDED:
        low, high = verdict.low, verdict.high
        if verdict.change is not Change.SLOWER:  # that many times as fast
            low, high = 1 / high, 1 / low if low > 0 else math.inf
        interval = f"{style.digits(low)}, {style.digits(high)}"
        said.append(f" [{interval}]" if verdict.change is not Change.NONE else f" [{interval} times as fast]", "dim")
    return said


def _collectives(found: Results) -> Table:
    """Medians of each collective, and what carried it out."""
    medians = {name: [median_in(each, name) for each in found.rivals] for name in collectives_of(found)}
    known = [each for row in medians.values() for each in row if not math.isnan(each)]
    size, unit = style.unit_of(max(known, default=0.0))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(f"in collectives, {unit}", no_wrap=True)
    for each in found.rivals:
        table.add_column(each.name, justify="right", no_wrap=True)
    serving = [each for each in found.rivals if any(served(each, name) for name in medians)]
    for each in serving:
        table.add_column(f"calls that {'Rondo' if len(serving) == 1 else each.name} served")
    for name, row in medians.items():
        table.add_row(f"  {name}", *(_in(size, each) for each in row), *(served(each, name) for each in serving))
    return table


def collectives_of(found: Results) -> list[str]:
    """All that were counted."""
    return sorted({name for each in found.rivals for one in each.counted for name in one.of_each})


def median_in(rival: Runs, collective: str) -> float:
    """Seconds of the counted runs in a collective."""
    times = [each.of_each.get(collective, 0.0) for each in rival.counted]
    return plain_statistics.median(times) if times else float("nan")


def served(rival: Runs, collective: str) -> str:
    """20 of 40 by two_op_doubling; empty if there are none."""
    if not rival.counted:
        return ""
    calls = rival.counted[-1].calls.get(collective, {})
    by = {name: number for name, number in calls.items() if name != NATIVE}
    if not by:
        return ""
    return f"{sum(by.values())} of {sum(calls.values())} by {', '.join(by)}"


def remarks(found: Results) -> Iterator[str]:
    """What to know of the figures."""
    fewest = min(len(each.seconds) for each in found.rivals)
    interval = "in brackets: 95% interval"
    if fewest < LEAST_FOR_INTERVAL:
        interval += f" (of fewer than {LEAST_FOR_INTERVAL} runs, less than 95%)"
    if any(each.counted for each in found.rivals):
        yield f"{interval}; in collectives: mean of the ranks, with the wait for other ranks"
    else:
        yield interval
    first = found.rivals[0]
    if first.counted and first.seconds:
        share = plain_statistics.median(first.of(COLLECTIVES)) / plain_statistics.median(first.seconds)
        percent = f"{share:.0%}" if share >= 0.005 else "less than 1%"
        yield f"{first.name}: {percent} of the wall time is in collectives"
    for each in found.rivals:
        if each.counted and each.is_under_rondo:
            yield from (f"{each.name}: {line}" for line in calls_left(each))


def calls_left(rival: Runs) -> Iterator[str]:
    """Who left calls to the library, and why: all of them, or most of a collective that the guard left."""
    last = rival.counted[-1]
    calls = {name: sum(by.values()) for name, by in last.calls.items()}
    if calls and not any(served(rival, name) for name in calls):
        reasons: dict[str, int] = {}
        for by_reason in last.left.values():
            for reason, number in by_reason.items():
                reasons[reason] = reasons.get(reason, 0) + number
        why = f": {', '.join(_left_by(reasons))}" if reasons else ""
        yield f"Rondo left every call to the library{why}; rondo run --report says more"
        return
    for name, by_reason in last.left.items():
        by_guard = {reason: number for reason, number in by_reason.items() if reason in BY_GUARD}
        if 2 * sum(by_guard.values()) > calls[name]:
            yield f"{name}, {style.counted(calls[name], 'call')}: left to the library: {', '.join(_left_by(by_guard))}"


def _left_by(reasons: Mapping[str, int]) -> Iterator[str]:
    """How many calls were left by whom, with the reasons: 40 by the guard (Rondo's choice is no faster here)."""
    known = {"the guard": BY_GUARD, "the rules": BY_RULES}
    for who, theirs in known.items():
        found = {reason: number for reason, number in reasons.items() if reason in theirs}
        if found:
            yield f"{sum(found.values())} by {who} ({'; '.join(found)})"
    for reason, number in reasons.items():
        if not any(reason in theirs for theirs in known.values()):
            yield f"{number} for another reason ({reason})"


def verdict_on_outputs(found: Results) -> Iterator[str]:
    """Whether all runs have written the same, and where not."""
    unsteady = [each.file for each in found.differences if each.rival == each.reference]
    for each in found.differences:
        # Nothing can be said of others then.
        if each.rival == each.reference or each.file not in unsteady:
            yield difference_text(each)
    if found.compared > 1 and not found.differences:
        what = ", ".join(map(_file, found.same))
        yield f"the same in all {found.compared} runs: {what}"


def difference_text(difference: Difference) -> str:
    """Where two outputs differ, and where both are."""
    who = (
        f"{difference.rival} has written another than {difference.reference}"
        if difference.rival != difference.reference
        else f"{difference.rival} itself does not write the same in every run"
    )
    kept = " and ".join(difference.kept)
    return f"{_file(difference.file)}: {who}: line {difference.line} (byte {difference.byte}); kept: {kept}"


def cautions(found: Results) -> Iterator[str]:
    """What casts doubt on the figures."""
    for each in found.rivals:
        failed = [code for code in each.exit_codes if code]
        if failed:
            yield f"{each.name}: {len(failed)} of {len(each.exit_codes)} runs failed, and count; exit code {failed[0]}"
        outliers = each.outliers()
        if outliers:
            shown = ", ".join(map(style.time_text, outliers))
            middle = style.time_text(plain_statistics.median(each.seconds))
            hint = (
                "the first run: more --warmup may help"
                if outliers == each.seconds[:1]
                else "is the machine busy with something else?"
            )
            yield f"of {each.name}: {style.counted(len(outliers), 'outlier')} ({shown}; median {middle}); {hint}"
        yield from (f"{each.name}: {line}" for line in each.cautions)
        yield from (f"in {style.counted(runs, 'run')} of {each.name}: {line}" for line, runs in each.said.items())


def _file(name: str) -> str:
    return "standard output" if name == STANDARD_OUTPUT else name


def medians_so_far(rivals: Sequence[Runs]) -> str:
    """Of wall times, for progress: native 3.2 s, rondo 2.1 s."""
    return ", ".join(
        f"{each.name} {style.time_text(plain_statistics.median(each.seconds))}" for each in rivals if each.seconds
    )
