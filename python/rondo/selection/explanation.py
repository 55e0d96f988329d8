# SPDX-License-Identifier: BSD-3-Clause
"""What Rondo does with one call, and why: the words of rondo._core, put together for people and programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rondo import _core
from rondo.bench.results import BY_THE_MODEL, NATIVE
from rondo.errors import Error
from rondo.machine import machine
from rondo.selection import choices, rules_file
from rondo.selection.call import Call
from rondo.selection.candidates import MOST_MESSAGES, Candidate, timed, with_eager
from rondo.selection.learned import Verdict

MOST_OF_AN_INT = (1 << 31) - 1
WITHOUT_LARGE_COUNTS = re.compile(r"Open MPI v[1-5]\.|MPICH Version [1-3]\.")
"""Libraries that have no functions with large counts, as MPI 4 defines them."""


@dataclass(frozen=True)
class Decider:
    """What had the last word about a call."""

    place: str
    """FILE:LINE, or the environment variable."""
    line: int
    """0: the variable."""
    text: str
    """As it stands there."""


@dataclass(frozen=True)
class PassedOver:
    """A rule that does not match the call."""

    line: int
    rule: str
    """As it stands in the file."""
    choice: str
    condition: str
    """The first that the call does not meet."""
    value: str
    """What the call has instead."""


@dataclass(frozen=True)
class Trial:
    """What an earlier run has found out about such calls and this choice."""

    ratio: float | None
    """The choice's time as a part of the library's; None: they could not be compared."""
    lost: bool
    day: str


@dataclass(frozen=True)
class Explanation:
    """What becomes of a call."""

    bytes: int
    """Bytes of the vector, as rules see it."""
    eager: int
    """The limit that was taken."""
    knows_nodes: bool
    """Whether ranks find out where they are, under these rules."""
    passed_over: tuple[PassedOver, ...]
    decided_by: Decider | None
    choice: str | None
    """What the rule or the variable says; None: nothing speaks of the call."""
    proposal: str | None
    """What the model proposes, where it is asked and proposes something."""
    runs: str
    """The algorithm with all its settings, or "native"."""
    reason: str
    candidates: tuple[Candidate, ...]
    """Fastest first, then those without a time."""
    trial: Trial | None = None
    """What earlier runs know of what was chosen."""


def explain(
    call: Call,
    rules: Path | None,
    figures: Path | None,
    environment: Mapping[str, str],
    verdicts: Sequence[Verdict] = (),
    *,
    most_messages: int = MOST_MESSAGES,
    look: Callable[[str, int, int], None] = lambda _choice, _number, _all: None,
) -> Explanation:
    """What becomes of a call under a file of rules (None: none) on a machine (None: the standard one).

    `verdicts`: of earlier runs on this machine with this library. Candidates of which more messages would have to be
    run have no time. `look` is called before the time of each candidate is
    waited for, with its choice, its number (from 1) and how many there are. Error for what is malformed, and for a
    call that makes no sense.
    """
    text = rules_file.read(rules) if rules is not None else ""
    machine_text = figures.read_text(encoding="utf-8") if figures is not None else machine.standard().text()
    return by_texts(
        call, text, rules, machine_text, environment, verdicts=verdicts, most_messages=most_messages, look=look
    )


def by_texts(
    call: Call,
    text: str,
    rules: Path | None,
    machine_text: str,
    environment: Mapping[str, str],
    *,
    verdicts: Sequence[Verdict] = (),
    most_messages: int = MOST_MESSAGES,
    algorithm: str | None = None,
    look: Callable[[str, int, int], None] = lambda _choice, _number, _all: None,
) -> Explanation:
    """As `explain`, with rules and a machine file that are known as texts; the path only names the rules.

    What sends more messages, and cannot be predicted from fewer, has no time. `algorithm`: the only candidate.
    """
    variable = choices.variable_of(call.collective)
    forced = environment.get(variable, "")
    if forced:
        choices.checked(call.collective, forced, f"{variable}={forced}")
    try:
        found = _core.explain(
            text, str(rules), call.collective, call.processes, call.elements, machine_text,
            element_bytes=call.element_bytes, root=call.root, commutative=call.commutative, nodes=call.nodes,
            version=call.library, shared_memory=call.shared_memory, choice=forced,
            oversubscribed=call.oversubscribed,
        )  # fmt: skip
    except ValueError as error:
        raise Error(str(error)) from None
    lines = [" ".join(each.split()) for each in text.split("\n")]
    is_left = _why_left(call) is not None  # whatever the rules say
    passed_over = tuple(
        PassedOver(rule=lines[each["line"] - 1], **each) for each in found["passed_over"] if not is_left
    )
    decider = None
    if forced:
        decider = Decider(variable, 0, forced)
    elif found["line"] and not is_left:
        decider = Decider(f"{rules_file.shown(rules)}:{found['line']}", found["line"], lines[found["line"] - 1])
    runs, reason = _outcome(call, found, decider)
    trial = None
    if runs != NATIVE and not forced:  # what the user has named is not doubted
        trial = _trial(call, found, verdicts)
    if trial is not None and trial.lost:
        found_out = "has found it no faster here" if trial.ratio is not None else "could not compare it"
        runs, reason = NATIVE, f"{reason}, but an earlier run {found_out}"
    return Explanation(
        bytes=found["bytes"],
        eager=found["eager"],
        knows_nodes=found["knows_nodes"],
        passed_over=passed_over,
        decided_by=decider,
        choice=found["choice"] or None,
        proposal=found["proposal"],
        runs=runs,
        reason=reason,
        candidates=timed(
            call,
            [each for each in found["candidates"] if not is_left and algorithm in (None, each["algorithm"])],
            with_eager(machine_text, found["eager"]),
            most_messages=most_messages,
            look=look,
        ),
        trial=trial,
    )


def _why_left(call: Call) -> str | None:
    """Why Rondo leaves such calls to the library whatever the rules say; None if it does not."""
    if call.processes == 1:
        return "there is one process: Rondo leaves all its calls to the library"
    traits = next(each for each in _core.collectives() if each["name"] == call.collective)
    if traits["local_lengths"]:
        return None
    if call.elements == 0:
        return "there are no elements: Rondo leaves all such calls to the library"
    reduces = traits["has_operation"]
    size, what = (call.elements, "elements") if reduces else (call.elements * call.element_bytes, "bytes")
    if size > MOST_OF_AN_INT and WITHOUT_LARGE_COUNTS.match(call.library):
        return f"{call.library} has no messages of more than 2^31-1 {what}: Rondo leaves such calls to it"
    return None


def _outcome(call: Call, found: Mapping[str, Any], decider: Decider | None) -> tuple[str, str]:
    """What the rules make of it, and why."""
    left = _why_left(call)
    if left is not None:
        return NATIVE, left
    if decider is None:
        return NATIVE, "no rule matches the call"
    if found["choice"] == NATIVE:
        return NATIVE, f"{decider.place} says so"
    says = "chooses"
    if found["choice"] == BY_THE_MODEL:
        says = "leaves it to the model, which proposes"
        if found["proposal"] is None:
            return NATIVE, f"{decider.place} leaves it to the model, which proposes no algorithm"
    chosen = next(each for each in found["candidates"] if each["chosen"])
    if chosen["refusal"] is not None:
        return NATIVE, (
            f"{decider.place} {says} {chosen['choice']}, which needs {chosen['needs']}: {chosen['refusal']}. "
            "Then Rondo tries no other algorithm"
        )
    if chosen["closed"] != chosen["choice"]:
        return chosen["closed"], f"{decider.place} {says} {chosen['choice']}; the rest is chosen for call and machine"
    return chosen["closed"], f"{decider.place} {says} it"


def _trial(call: Call, found: Mapping[str, Any], verdicts: Sequence[Verdict]) -> Trial | None:
    """What was found out about such calls and what was chosen for them."""
    domains = len(call.ranks_on) if call.are_domains else 1
    placed = (len(call.ranks_on_nodes), min(call.ranks_on_nodes), max(call.ranks_on_nodes), True, domains)
    for each in verdicts:
        shape = (each.nodes, each.fewest_on_node, each.most_on_node, each.in_rank_order, each.domains)
        if (
            (each.collective, each.processes, each.commutative) == (call.collective, call.processes, call.commutative)
            and each.choice == (found["proposal"] or found["choice"])
            and each.lowest <= found["bytes"] <= each.highest
            and call.rounds in (None, each.rounding)
            and not each.empty_parts
            and each.shared_memory == call.shared_memory
            and (each.nodes == 0 or shape == placed)
        ):
            return Trial(each.ratio if each.compared else None, each.lost, each.day)
    return None
