# SPDX-License-Identifier: BSD-3-Clause
"""Predicted times on an emulated cluster, all of whose ranks share the processors of one machine."""

from __future__ import annotations

import dataclasses

from rondo import _core
from rondo.cluster import cluster
from rondo.machine import machine
from rondo.selection.call import Call
from rondo.selection.candidates import Candidate
from rondo.selection.explanation import Explanation

SHORT = 4 << 10
"""Up to so many bytes, it is the number of messages that counts."""


def retimed(found: Explanation, call: Call, figures: machine.Machine, most_messages: int) -> Explanation:
    """The same with other times of short calls; what takes more than so many messages is not timed.

    The figures of a cluster say what a message takes if all ranks send at once. Where few of a node's ranks send to
    others, as its leader alone, these have the processors for themselves.
    """
    if found.bytes > SHORT or figures.overhead <= cluster.SECONDS_PER_MESSAGE:
        return found

    def timed(each: Candidate) -> Candidate:
        if each.seconds is None or each.means != "whole":  # who sends how much is seen in a run of all ranks
            return each
        overhead = max(
            figures.overhead * _share_of_senders(each.choice, call, most_messages), cluster.SECONDS_PER_MESSAGE
        )
        text = dataclasses.replace(figures, overhead=overhead).text()
        (seconds,) = _core.times(
            call.collective, each.choice, call.processes, call.elements, [text], element_bytes=call.element_bytes,
            root=call.root, nodes=call.nodes, fluid=True, most_messages=most_messages,
        )  # fmt: skip
        return dataclasses.replace(each, seconds=seconds)

    return dataclasses.replace(found, candidates=tuple(map(timed, found.candidates)))


def _share_of_senders(choice: str, call: Call, most_messages: int) -> float:
    """Of all ranks, those that send messages to other nodes: as many as if each of them sent as many as the busiest."""
    node = [number for number, ranks in enumerate(call.ranks_on) for _ in range(ranks)]
    sent = [0] * call.processes
    run = _core.trace(
        call.collective, choice, call.processes, call.elements, element_bytes=call.element_bytes, root=call.root,
        commutative=call.commutative, nodes=call.nodes, most_messages=most_messages,
    )  # fmt: skip
    for message in run["messages"]:
        sent[message["from"]] += node[message["from"]] != node[message["to"]]
    return sum(sent) / (len(sent) * max(sent)) if any(sent) else 0.0
