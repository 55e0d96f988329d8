# SPDX-License-Identifier: BSD-3-Clause
"""Between what times a call can lie, on the figures of a machine: outside, these or the call were something else."""

from __future__ import annotations

from rondo import _core
from rondo.errors import Error
from rondo.machine import machine
from rondo.selection.call import Call


def most_seconds(call: Call, figures: machine.Machine) -> float:
    """What no library takes longer than: one rank gets the vector from each other and sends it to each, in turn."""
    message = figures.alpha + 2 * figures.overhead + call.elements * call.element_bytes * figures.beta
    return 2 * (call.processes - 1) * message


def least_seconds(call: Call, figures: machine.Machine) -> float:
    """What no algorithm can beat on these figures: a latency, and what has to leave or enter a node."""
    nodes, size = len(call.ranks_on), call.elements * call.element_bytes
    if call.processes == 1:
        return 0.0
    if nodes == 1:
        return figures.alpha_inside or 0.0
    fullest = max(call.ranks_on)
    elsewhere = 1 - fullest / call.processes
    volume = {
        "allgather": size * elsewhere,
        "allreduce": 2 * size * (1 - 1 / nodes),
        "alltoall": size * fullest * elsewhere,
        "bcast": size,
        "exscan": size,
        "gather": size * elsewhere,
        "gatherv": size * elsewhere,
        "reduce": size,
        "reduce_scatter": size * elsewhere,
        "scan": size,
        "scatter": size * elsewhere,
        "scatterv": size * elsewhere,
    }.get(call.collective, 0.0)
    return figures.alpha + figures.beta * volume / max(figures.lanes, 1)


def machine_figures(text: str) -> machine.Machine:
    """Of the text of a machine file; Error if it is malformed."""
    try:
        return machine.Machine(**_core.read_machine(text, "machine"))
    except ValueError as error:
        raise Error(f"the machine's figures in the profile: {error}") from None
