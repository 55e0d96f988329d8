# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run for people: a table, or lines where it is too narrow for one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rondo.bench import plans
from rondo.launching.rank_report import Traffic, Trial
from rondo.launching.run_report import Entry, Figures, Report, warnings
from rondo.reports.style import bytes_text, counted
from rondo.selection import learned_rules

COMPARED = "The guard compared a few calls of each kind"
SHARED = "through memory that ranks share"
CHOSEN = "chosen"  # the reason why rules, or the user, left a call to the library
WIDE = 1000  # columns; for measuring


def show(report: Report, console: Console) -> None:
    """Prints what ran, and what is missing from it; 80 columns are enough for most tables."""
    if report.entries:
        console.print(f"Rondo: {report.library}, {counted(report.size, 'rank')}", style="bold", soft_wrap=True)
        if _least_width(report, console) <= console.width:
            console.print(_table(report))
        else:
            _show_lines(report, console)
        console.print("calls, bytes and seconds: of the rank with the most", style="dim", soft_wrap=True)
        if report.shared_memory is not None:
            console.print(f"{SHARED}: {traffic_text(report.shared_memory)}", style="dim", soft_wrap=True)
    if report.trials:
        _show_trials(report.trials, console)
    for line in warnings(report):
        console.print(Text(f"rondo: {line}"), style="yellow", soft_wrap=True)


def traffic_text(sent: Traffic) -> str:
    """How much it was."""
    return f"{counted(sent.messages, 'message')}, {bytes_text(sent.bytes)}, of all ranks"


def _least_width(report: Report, console: Console) -> int:
    """Of a table that cuts no word."""
    longest = max(len(word) for entry in report.entries for word in chosen(entry, report.trials).plain.split())
    options = console.options.update(width=WIDE)
    return Measurement.get(console, options, _table(report, longest)).maximum


def _table(report: Report, most_of_algorithm: int | None = None) -> Table:
    """A row for each class of size."""
    all_ranks = all(each.ranks == report.size for entry in report.entries for each in entry.classes)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("collective", no_wrap=True)
    table.add_column("algorithm", overflow="fold", max_width=most_of_algorithm)
    for heading in ("calls", *([] if all_ranks else ["ranks"]), "bytes a call", "bytes", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for entry in report.entries:
        names: tuple[str, str | Text] = (entry.function, chosen(entry, report.trials))
        for each in entry.classes:
            table.add_row(
                *names,
                str(each.calls),
                *([] if all_ranks else [str(each.ranks)]),
                range_text(each),
                bytes_text(each.bytes),
                f"{each.seconds:.3g}",
            )
            names = ("", "")
    return table


def _show_lines(report: Report, console: Console) -> None:
    for entry in report.entries:
        console.print(Text.assemble(f"{entry.function}: ", chosen(entry, report.trials)), soft_wrap=True)
        for each in entry.classes:
            console.print(
                f"  {counted(each.calls, 'call')} on {counted(each.ranks, 'rank')}, {range_text(each)} bytes a call, "
                f"{bytes_text(each.bytes)}, {each.seconds:.3g} s",
                soft_wrap=True,
            )


def _show_trials(trials: Sequence[Trial], console: Console) -> None:
    """What the guard found out: a line each, Rondo's time relative to the library's."""
    console.print(f"{COMPARED}:", soft_wrap=True)
    for each in trials:
        console.print(Text(f"  {trial_text(each)}", style="dim"), soft_wrap=True)


def trial_text(trial: Trial) -> str:
    """What the guard found out, and what follows."""
    ratio = _ratio(trial)
    rounds = " (rounding)" if trial.rounding else ""
    length = "" if trial.collective in plans.OF_LOCAL_LENGTHS else f" of about {bytes_text(trial.bytes)}"
    where = f"{trial.collective}{rounds}{length} on {counted(trial.processes, 'rank')}"
    calls = f" (n {trial.calls}{', in a row' if trial.in_row else ''})" if trial.calls and math.isfinite(ratio) else ""
    kept = "kept" if ratio < 1 else "taken back"
    if trial.day:
        source = f"as found out on {trial.day}"
    elif trial.effective or ratio < 1:
        source = "from then on"
    else:
        source = "from the next run on: the last bits of its results may change"
    return f"{where}: {learned_rules.took_text(trial.choice, ratio)}{calls}: {kept}, {source}"


def chosen(entry: Entry, trials: Sequence[Trial]) -> Text:
    """What carried calls out, and why: by a rule or by learning, and by trials that it has won."""
    text = Text(entry.algorithm, style="" if entry.algorithm == "native" else "green")
    why = [f"learning: {entry.learned}"] if entry.learned else [f"line {entry.line}"] if entry.line else []
    why += [entry.reason] if entry.reason and not (entry.reason == CHOSEN and why) else []
    held = [each for each in trials if _is_about(each, entry)]
    why += [_won(held)] if any(_ratio(each) < 1 for each in held) else []
    if why:
        text.append(f" ({': '.join(why)})", style="dim")
    return text


def _is_about(trial: Trial, entry: Entry) -> bool:
    if (trial.collective, trial.choice.partition(":")[0]) != (entry.collective, entry.algorithm):
        return False
    if trial.collective in plans.OF_LOCAL_LENGTHS:
        return True
    length = _length_class(trial.bytes)
    return any(_length_class(e.smallest) <= length <= _length_class(e.largest) for e in entry.classes)


def _length_class(length: int) -> int:
    """Of such calls one trial says the same: those of up to 63 bytes, and those of a power of two."""
    return max(length, 63).bit_length()


def _won(held: Sequence[Trial]) -> str:
    """Of trials, some of which are won: how many, and by how much."""
    won = sorted((each for each in held if _ratio(each) < 1), key=_ratio)
    how_many = "a trial" if len(held) == 1 else counted(len(won), "trial")
    of_all = f" of {len(held)}" if len(won) < len(held) else ""
    ratios = _span([learned_rules.ratio_text(_ratio(each)) for each in won])
    calls = [str(each) for each in sorted(each.calls for each in won) if each]
    return f"won {how_many}{of_all}, {ratios}" + (f", n {_span(calls)}" if calls else "")


def _span(figures: Sequence[str]) -> str:
    """Of figures in their order."""
    least, most = figures[0], figures[-1]
    return least if least == most else f"{least}..{most}"


def _ratio(trial: Trial) -> float:
    """Of Rondo's time to the library's; infinite if they could not be compared."""
    if trial.rondo <= 0 and trial.library <= 0:
        return math.inf
    return trial.rondo / trial.library if trial.library > 0 else 1.0


def range_text(each: Figures) -> str:
    """Bytes of the shortest and the longest call."""
    return str(each.smallest) if each.smallest == each.largest else f"{each.smallest}..{each.largest}"
