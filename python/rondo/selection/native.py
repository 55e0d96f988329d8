# SPDX-License-Identifier: BSD-3-Clause
"""What an MPI library's own collective would take: its rules say what it does, and measurements how far off that is."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rondo import _core
from rondo.bench import results
from rondo.bench.plans import TYPES
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.forms import BLOCKING
from rondo.launching import installation
from rondo.selection import rules_file
from rondo.selection.call import Call
from rondo.selection.candidates import Candidate, in_order, with_eager
from rondo.selection.explanation import Explanation


@dataclass(frozen=True)
class Measured:
    """Calls of a collective whose native time is known."""

    bytes: int
    processes: int
    nodes: int
    ratio: float
    """Of the measured time to the predicted one."""


def rules_of(library: str) -> Path | None:
    """The file of what a library (what MPI_Get_library_version says) does itself; None if nobody knows."""
    name = _core.library(library)["native_rules"]
    return installation.NATIVE_RULES / f"{name}.rules" if name else None


def required_rules_of(library: str) -> Path:
    """The same; Error if nobody knows."""
    found = rules_of(library)
    if found is None:
        raise Error(f"nobody knows what the collectives of {library} do; expected MPICH 4 or 5, or Open MPI 4 or 5")
    return found


def candidate(
    call: Call, rules: Path, machine_text: str, *, most_messages: int, measured: Sequence[Measured] = ()
) -> Candidate:
    """The library's own collective as a candidate. Error for a call that makes no sense."""
    found, like = _found(call, rules, machine_text)
    if like is None:
        return _unknown("no algorithm of Rondo's is near to what the library does")
    by = f"{like['choice']} ({rules.name}:{found['line']})"
    if like["refusal"] is not None:
        return _unknown(f"{by}: {like['refusal']}")
    try:
        predicted = _core.predict(
            call.collective, like["closed"], call.processes, call.elements,
            with_eager(machine_text, found["eager"]), element_bytes=call.element_bytes, root=call.root,
            nodes=call.nodes, most_messages=most_messages, step_by_step=True, network=call.network,
            placement=call.placement,
        )  # fmt: skip
    except ValueError as error:
        return _unknown(f"{by}: {error}")
    factor = correction(measured, found["bytes"], call.processes, len(call.ranks_on_nodes))
    return Candidate(
        algorithm=NATIVE,
        asked=NATIVE,
        choice=NATIVE,
        chosen=False,
        seconds=factor * predicted["seconds"],
        refusal=None,
        untimed=None,
        means=predicted["means"],
        change=predicted["change"],
        like=f"as {by}" + (f", {factor:.2f} times, as measured" if measured else ""),
    )


def added(found: Explanation, call: Call, machine_text: str, *, most_messages: int) -> Explanation:
    """The explanation with the library's own collective among the candidates, where there are some and it is known."""
    rules = rules_of(call.library)
    if rules is None or not found.candidates:
        return found
    own = candidate(call, rules, machine_text, most_messages=most_messages)
    return dataclasses.replace(found, candidates=in_order([*found.candidates, own]))


def _found(call: Call, rules: Path, machine_text: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What the rules say of a call, and the algorithm; None if they name none."""
    try:
        found = _core.explain(
            rules_file.read(rules), rules.name, call.collective, call.processes, call.elements, machine_text,
            element_bytes=call.element_bytes, root=call.root, commutative=call.commutative, nodes=call.nodes,
            version=call.library, shared_memory=call.shared_memory,
        )  # fmt: skip
    except ValueError as error:
        raise Error(str(error)) from None
    return found, next((each for each in found["candidates"] if each["chosen"]), None)


def _unknown(why: str) -> Candidate:
    return Candidate(NATIVE, NATIVE, NATIVE, chosen=False, seconds=None, refusal=None, untimed=why)


def correction(measured: Sequence[Measured], length: int, processes: int, nodes: int) -> float:
    """By what a predicted time is to be multiplied; 1 if nothing was measured."""
    classes = [(each.bytes, each.processes, each.nodes, each.ratio) for each in measured]
    factor: float = _core.native_correction(classes, length, processes, nodes)
    return factor


def measured_in(path: Path, call: Call, rules: Path, machine_text: str, *, most_messages: int) -> list[Measured]:
    """What a file of `rondo bench` says of the library's own calls of this collective, against the machine file.

    Error if it can say nothing: it is of another library, or has no such calls.
    """
    measurement = results.read(path)
    environment = measurement.environment
    if rules_of(environment.library) != rules:
        raise Error(f"{path} was measured with {environment.library}, not with {call.library}")
    found = []
    for each in measurement.configurations:
        if (each.collective, each.algorithm, each.form) != (call.collective, NATIVE, BLOCKING) or not each.seconds():
            continue
        size = TYPES[each.type]
        like = Call(
            call.collective, tuple(environment.ranks_per_node), each.bytes // size, size, call.commutative, 0,
            environment.library, environment.shared_memory,
        )  # fmt: skip
        predicted = candidate(like, rules, machine_text, most_messages=most_messages).seconds
        if predicted:
            ratio = statistics.median(each.seconds()) / predicted
            found.append(Measured(each.bytes, environment.ranks, environment.nodes, ratio))
    if not found:
        raise Error(f"{path} has no native {call.collective} that can be predicted; rondo bench measures it")
    return found
