# SPDX-License-Identifier: BSD-3-Clause
"""rondo.distribution: how many elements of an array each rank should have."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rondo import _core
from rondo.distributions.prefix_sum import CHAIN, FEW, PrefixSum
from rondo.errors import Error
from rondo.machine import machine as machines
from rondo.machine import placement
from rondo.machine.machine import Machine

EVEN, LADDER, TENT, BEST = "even", "ladder", "tent", "best"
MOST_RANKS = 1 << 14
MOST_ELEMENTS = (1 << 63) - 1
KINDS = (EVEN, LADDER, TENT, BEST)
EXPECTED = f"expected {EVEN}, {LADDER}, {LADDER}:step=25Ki, {TENT} or {BEST}"


@dataclass(frozen=True)
class Distribution:
    """Of an array over ranks: rank r has `counts[r]` elements, from `offsets[r]` on."""

    counts: tuple[int, ...]
    how: str
    """even, ladder, tent or best."""
    algorithm: str
    """The exclusive scan that it is for."""
    seconds: float
    """Of the prefix sum, in virtual time, with that scan."""

    @property
    def offsets(self) -> tuple[int, ...]:
        """The first element of each rank, in the whole array."""
        return tuple(itertools.accumulate(self.counts[:-1], initial=0))


def distribution(
    n: int,
    comm: Any,
    how: str = BEST,
    *,
    algorithm: str = BEST,
    element_bytes: int = 8,
    machine: str | os.PathLike[str] | None = None,
    nodes: str = "",
    first_pass: float | None = None,
    second_pass: float | None = None,
) -> Distribution:
    """How an array of `n` elements should lie on the ranks so that its prefix sum ends earliest.

    `comm` is a number of ranks, or a communicator of mpi4py: then all its ranks must call this, and all get what rank 0
    finds. `how` is `even`, `ladder`, `ladder:step=25000`, `tent` or `best`; `algorithm` an exclusive scan (`rondo list
    exscan`, or `chain`), or `best`: the one with which the prefix sum ends earliest. The figures are those of the
    machine file (`rondo calibrate`): the one named, the user's own, or the standard ones. Seconds per element of the
    two passes can be given instead. `nodes` says where the ranks are, as in 4x8.

    Raises rondo.errors.Error for arguments of rank 0 that make no sense, on every rank.
    """
    if hasattr(comm, "Get_size"):
        return _agreed(comm, lambda size: distribution(
            n, size, how, algorithm=algorithm, element_bytes=element_bytes, machine=machine, nodes=nodes,
            first_pass=first_pass, second_pass=second_pass,
        ))  # fmt: skip
    subject = prefix_sum(
        _whole(comm, "comm", "a number of ranks or a communicator of mpi4py", 1, MOST_RANKS),
        figures(machine, os.environ),
        element_bytes=_whole(element_bytes, "element_bytes", "bytes of an element", 1),
        nodes=nodes,
        first_pass=first_pass,
        second_pass=second_pass,
    )
    return of(subject, _whole(n, "n", "the elements of the array", 0, MOST_ELEMENTS), how, algorithm)


def prefix_sum(
    ranks: int,
    figures: Machine,
    *,
    element_bytes: int = 8,
    nodes: str = "",
    first_pass: float | None = None,
    second_pass: float | None = None,
) -> PrefixSum:
    """What is computed; passes that are not given are those of the machine. Error for what makes no sense."""
    if not isinstance(nodes, str):
        raise Error(f"nodes={nodes!r}: expected where the ranks are, as '4x8'")
    if nodes and (held := sum(placement.ranks_on(nodes))) != ranks:
        raise Error(f"nodes {nodes} have {held} ranks, not {ranks}; leave them out, or give as many ranks")
    standard = machines.standard()
    passes = [
        given if given is not None else element_bytes * (calibrated if calibrated is not None else usual)
        for given, calibrated, usual in (
            (first_pass, figures.first_pass, standard.first_pass),
            (second_pass, figures.second_pass, standard.second_pass),
        )
    ]
    are_numbers = all(isinstance(each, (int, float)) and math.isfinite(each) and each >= 0 for each in passes)
    if not are_numbers or sum(passes) == 0:
        raise Error(f"passes of {passes[0]} and {passes[1]} seconds an element: expected none below 0, and one above")
    return PrefixSum(ranks, figures, *passes, element_bytes=element_bytes, nodes=nodes)


def figures(named: str | os.PathLike[str] | None, environment: Any) -> Machine:
    """Of the machine file that is named, else of the user's own, else the standard ones; Error if it is malformed."""
    named = os.fspath(named) if named is not None else environment.get(machines.VARIABLE)
    path = machines.find(named, environment)
    return machines.read(Path(path)) if path is not None else machines.standard()


def of(subject: PrefixSum, elements: int, how: str, algorithm: str) -> Distribution:
    """The distribution of so many elements for an algorithm, or for the one that ends earliest with it."""
    parts(how)  # refuses what is wrong
    if not isinstance(algorithm, str):
        raise Error(f"algorithm={algorithm!r}: expected an exclusive scan (`rondo list exscan`), {CHAIN} or {BEST}")
    if algorithm != BEST:
        return _of_algorithm(subject, elements, how, algorithm)
    names = subject.algorithms(elements)[:FEW]
    if not names:
        raise Error(f"no exclusive scan fits {subject.ranks} ranks; take fewer")
    return min((_of_algorithm(subject, elements, how, each) for each in names), key=lambda found: found.seconds)


def _of_algorithm(subject: PrefixSum, elements: int, how: str, algorithm: str) -> Distribution:
    counts = counts_of(subject, elements, how, algorithm)
    return Distribution(tuple(counts), how, algorithm, subject.timeline(algorithm, counts).seconds)


def counts_of(subject: PrefixSum, elements: int, how: str, algorithm: str) -> list[int]:
    """Elements of each rank; Error for what makes no sense."""
    kind, step = parts(how)
    try:
        if kind == EVEN:
            counts: list[int] = _core.even(elements, subject.ranks)
        elif kind == LADDER:
            counts = _core.ladder(elements, subject.ranks, subject.step if step is None else step)
        elif kind == TENT:
            counts = _core.tent(elements, subject.ranks, subject.first_pass, subject.second_pass, subject.hop)
        else:
            counts = subject.best(algorithm, elements)
    except ValueError as error:
        raise Error(str(error)) from None
    return counts


def parts(how: str) -> tuple[str, float | None]:
    """The kind, and the step of a ladder if it is said; Error if there is no such distribution."""
    if not isinstance(how, str):
        raise Error(f"how={how!r}: {EXPECTED}")
    kind, colon, setting = how.partition(":")
    name, _, value = setting.partition("=")
    if kind not in KINDS or (colon and (kind != LADDER or name != "step")):
        raise Error(f"distribution {how!r}: {EXPECTED}")
    if not colon:
        return kind, None
    try:
        return kind, float(_core.quantity(value))
    except ValueError as error:
        raise Error(f"distribution {how!r}: {error}") from None


def _agreed(comm: Any, find: Any) -> Distribution:
    """What rank 0 finds, on all ranks: their machine files might differ."""
    found: Any = None
    if comm.Get_rank() == 0:
        try:
            found = find(comm.Get_size())
        except Exception as error:  # whatever it is: the others wait to hear of it
            found = error
    found = comm.bcast(found, root=0)
    if isinstance(found, Exception):
        raise found
    agreed: Distribution = found
    return agreed


def _whole(value: Any, name: str, what: str, least: int, most: int | None = None) -> int:
    """The number; Error if it is none from `least` to `most`."""
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise Error(f"{name}={value!r}: expected {what}") from None
    if number < least:
        raise Error(f"{name}={value!r}: expected {what}, at least {least}")
    if most is not None and number > most:
        raise Error(f"{name}={value!r}: expected {what}, at most {most}")
    return int(number)
