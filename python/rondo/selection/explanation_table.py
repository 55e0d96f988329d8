# SPDX-License-Identifier: BSD-3-Clause
"""An explanation for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rondo import screens
from rondo.bench.results import NATIVE
from rondo.reports.style import bytes_text, time_text
from rondo.selection import learned_rules, rules_file
from rondo.selection.candidates import Candidate
from rondo.selection.explanation import Explanation

if TYPE_CHECKING:
    from rondo.tune.rules_text import Measured

CHOSEN = "→"
MEANING = {  # how a time was found, where not all ranks were run
    "one node": "one node was run, which stands for all: the schedule is the same from each",
    "equal parts": "the same, as if all parts were as long as the longest",
    "few segments": "the first segments were run; ± hints at how far the time may be off",
}
SMALLEST_CHANGE = 1e-6


def show(
    found: Explanation,
    console: Console,
    *,
    title: str,
    collective: str,
    assumed: Sequence[str],
    rules: Path | None,
    measured: Measured | None,
) -> None:
    """Prints what becomes of a call, why, and what else there is. `measured`: of such calls, by `rondo tune`."""
    console.print(Text(title, style="bold"), soft_wrap=True)
    for each in assumed:
        console.print(Text(f"  assumed: {each}", style="dim"), soft_wrap=True)
    console.print()
    console.print(_outcome(found), soft_wrap=True)
    if found.decided_by is not None:
        console.print(Text(f"  {found.decided_by.text}", style="dim"), soft_wrap=True)
    if measured is not None:
        length = f" of {bytes_text(measured.bytes)}" if measured.bytes else ""
        took = (
            f"  rondo tune measured {measured.choice or found.choice} with calls{length}: {measured.ratio:.2f} of the "
            f"library's time (n {measured.count})"
        )
        console.print(Text(took, style="dim"), soft_wrap=True)
    if found.trial is not None:
        trial = found.trial
        took = f"  {learned_rules.took_text(found.choice, trial.ratio)} on {trial.day} (rondo learned show)"
        console.print(Text(took, style="dim"), soft_wrap=True)
    if found.passed_over:
        matched = found.decided_by is not None and found.decided_by.line > 0
        which = "before that" if matched else f"of {collective}"
        console.print(f"\n{rules_file.shown(rules)}: the rules {which} do not match", soft_wrap=True)
        screens.show(_passed_over(found), console)
    if not found.candidates:
        return
    show_candidates(found.candidates, console)


def show_candidates(candidates: Sequence[Candidate], console: Console) -> None:
    """Prints what each would take, and what the words mean."""
    screens.show(_candidates(candidates), console)
    for line in _notes(candidates):
        console.print(Text(line, style="dim"), soft_wrap=True)


def _notes(candidates: Sequence[Candidate]) -> list[str]:
    """What the table's words mean."""
    notes = [seconds_note(candidates)]
    if any(each.untimed is not None and each.untimed.startswith("more than") for each in candidates):
        notes[0] += "; --messages lets more be run"
    means = {each.means for each in candidates}
    notes += [f"{each}: {words}" for each, words in MEANING.items() if each in means]
    return notes


def seconds_note(candidates: Iterable[Candidate]) -> str:
    """What the times of these are."""
    is_known = any(each.like is not None for each in candidates)
    native = "native by what the library is known to do" if is_known else "what native takes is not known"
    return f"seconds: predicted, in virtual time; {native}"


def _outcome(found: Explanation) -> Text:
    served = found.runs != NATIVE
    who = (found.runs, "bold green") if served else ("the MPI library's own (native)", "bold")
    return Text.assemble("It is carried out by ", who, f": {found.reason}.")


def _passed_over(found: Explanation) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("line", justify="right", no_wrap=True)
    for heading in ("would choose", "but asks for", "the call has"):
        table.add_column(heading, overflow="fold")
    for each in found.passed_over:
        table.add_row(str(each.line), each.choice, each.condition, each.value)
    return table


def _candidates(candidates: Sequence[Candidate]) -> Table:
    fastest = next((each.seconds for each in candidates if each.seconds), None)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("", no_wrap=True)
    table.add_column("algorithm", overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("", overflow="fold", style="dim")
    for each in candidates:
        takes = time_text(each.seconds) if each.seconds is not None else ""
        ratio = f"{each.seconds / fastest:.2f}" if each.seconds is not None and fastest else ""
        remark = f"refuses: {each.refusal}" if each.refusal is not None else each.untimed or each.like or _means(each)
        style = "green" if each.chosen and each.refusal is None else ""
        table.add_row(CHOSEN if each.chosen else "", Text(each.choice, style=style), takes, ratio, remark)
    return table


def _means(candidate: Candidate) -> str:
    """How a time was found, if not by running all ranks."""
    words = candidate.means if candidate.means in MEANING else ""
    return f"{words} ±{candidate.change:.1%}" if candidate.change > SMALLEST_CHANGE else words or ""
