# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that could serve a call, with the time that is predicted for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from rondo import _core
from rondo.selection.call import Call

MOST_MESSAGES = 1 << 24
"""Messages of a candidate that are run: at most a gigabyte and some ten seconds."""
MOST_OF_EACH_KIND = 1 << 20
"""Messages where all calls of a program are predicted: there are many, and somebody is waiting."""
MOST_AT_ONCE = 4
"""Candidates that are timed, each by a processor of its own."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm that could serve the call."""

    algorithm: str
    asked: str
    """As a rule says it, with settings that may be open."""
    choice: str
    """With all its settings, as the call would have them."""
    chosen: bool
    seconds: float | None
    """Predicted; None: it refuses the call, or cannot be timed."""
    refusal: str | None
    untimed: str | None
    """Why there is no time."""
    means: str | None = None
    """How the time was found, as rondo._core.predict says."""
    change: float = 0.0
    """How far the time of a pipeline of which only some segments were run may be off, as rondo._core.predict says."""
    like: str | None = None
    """For the library's own: the algorithm by which it is predicted, and the rule that says so."""


def with_eager(text: str, eager: int) -> str:
    """The text of a machine file with the limit of the library, where it says nothing of its own."""
    says = _core.read_machine(text, "machine")["eager"] is not None
    return text if says else f"{text.rstrip()}\neager = {eager}\n"


def timed(
    call: Call,
    candidates: list[dict[str, Any]],
    machine_text: str,
    *,
    most_messages: int,
    look: Callable[[str, int, int], None],
) -> tuple[Candidate, ...]:
    """What rondo._core says of algorithms, with predicted times; several at once.

    More than `most_messages` are not run. `look`: as for explanation.explain.
    """

    def time_of(each: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
        """The prediction, or why there is none."""
        if each["refusal"] is not None:
            return {}, None
        try:
            found = _core.predict(
                call.collective, each["closed"], call.processes, call.elements, machine_text,
                element_bytes=call.element_bytes, root=call.root, nodes=call.nodes, most_messages=most_messages,
                network=call.network, placement=call.placement,
            )  # fmt: skip
        except ValueError as error:
            return {}, str(error)
        return found, None

    candidates_timed = []
    # The core holds nobody up while it computes.
    pool = ThreadPoolExecutor(max_workers=min(MOST_AT_ONCE, len(os.sched_getaffinity(0))))
    try:
        candidates = sorted(candidates, key=lambda each: not each["chosen"])
        times = [pool.submit(time_of, each) for each in candidates]
        for number, (each, found) in enumerate(zip(candidates, times, strict=True), 1):
            look(each["choice"], number, len(candidates))
            closed = each["closed"] or each["choice"]
            prediction, untimed = found.result()
            candidates_timed.append(
                Candidate(
                    each["algorithm"],
                    each["choice"],
                    closed,
                    each["chosen"],
                    prediction.get("seconds"),
                    each["refusal"],
                    untimed,
                    prediction.get("means"),
                    prediction.get("change", 0.0),
                )
            )
    finally:
        pool.shutdown(cancel_futures=True)
    return in_order(candidates_timed)


def in_order(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Fastest first, then those without a time, then those that refuse."""
    return tuple(
        sorted(candidates, key=lambda each: (each.seconds is None, each.seconds or 0, each.refusal is not None))
    )
