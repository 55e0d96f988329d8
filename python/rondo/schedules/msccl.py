# SPDX-License-Identifier: BSD-3-Clause
"""MSCCL's XML, in which GPUs are given collective algorithms [cowan2023mscclang].

[cowan2023mscclang] M. Cowan, S. Maleki, M. Musuvathi, O. Saarikivi, Y. Xiong, MSCCLang: Microsoft collective
communication language, ASPLOS 2023.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree

from rondo.drawing.trace import Problem
from rondo.errors import Error
from rondo.schedules.plans import Action, Block, Plans, RankPlan, Row

COLLECTIVES = {
    "allgather": "allgather",
    "allreduce": "allreduce",
    "alltoall": "alltoall",
    "bcast": "broadcast",
    "gather": "gather",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
    "scatter": "scatter",
}
"""MSCCL's names of those that it has."""
DIVIDED = ("allgather", "reduce_scatter", "gather", "scatter")
IN_PLACE = ("allgather", "allreduce", "alltoall", "bcast")
"""Those in which MSCCL and MPI mean the same by it."""
MOST_STEPS = 256
"""Of a thread block, that MSCCL's interpreter takes."""

Place = tuple[int, int]
"""Of a step: thread block and number."""


@dataclass
class ThreadBlock:
    """Steps that are taken one after the other."""

    number: int
    send: int = -1
    receive: int = -1
    steps: list[dict[str, str]] = field(default_factory=list)
    _waited_for: dict[int, int] = field(default_factory=lambda: defaultdict(lambda: -1))

    def add(self, kind: str, source: Block | None, target: Block | None, chunk: int, waits: Iterable[Place]) -> Place:
        """Appends a step that waits for others. A step waits for one; nop's before it wait for the rest."""
        new = {block: step for block, step in _latest(waits).items() if step > self._waited_for[block]}
        new.pop(self.number, None)
        self._waited_for.update(new)
        *before, last = [*new.items()] or [(-1, -1)]
        for place in before:
            self._append("nop", None, None, 1, place)
        return self._append(kind, source, target, chunk, last)

    def _append(self, kind: str, source: Block | None, target: Block | None, chunk: int, wait: Place) -> Place:
        length = source or target
        self.steps.append(
            {
                "s": str(len(self.steps)),
                "type": kind,
                **_place("src", source, "i", chunk),
                **_place("dst", target, "o", chunk),
                "cnt": str(length.count // chunk if length else 0),
                "depid": str(wait[0]),
                "deps": str(wait[1]),
                "hasdep": "0",
            }
        )
        return self.number, len(self.steps) - 1


def written(problem: Problem, plans: Plans) -> str:
    """The schedule in chunks; Error for what MSCCL cannot say.

    A rank has a thread block for each peer to which it sends, one for each from which it receives, and one for local
    work. The attribute `root`, which MSCCL ignores, says which rank is the root.
    """
    _check(problem)
    chunk = chunk_of(plans)
    root = {"root": str(problem.root)} if problem.has_root else {}
    algorithm = ElementTree.Element(
        "algo",
        {
            "name": f"{problem.collective}_{plans.choice.partition(':')[0]}",
            "proto": "Simple",
            "nchannels": "1",
            "nchunksperloop": str(plans.count // chunk),
            "ngpus": str(len(plans.ranks)),
            "coll": COLLECTIVES[problem.collective],
            "inplace": str(int(any(rank.in_place for rank in plans.ranks))),
            **root,
        },
    )
    for rank in plans.ranks:
        algorithm.append(_gpu(rank, chunk))
    ElementTree.indent(algorithm)
    return ElementTree.tostring(algorithm, encoding="unicode") + "\n"


def longest(text: str) -> int:
    """Steps of the longest thread block in an XML text."""
    return max((len(block) for block in ElementTree.fromstring(text).iter("tb")), default=0)


def chunk_of(plans: Plans) -> int:
    """Elements of the longest chunk that no block cuts."""
    numbers = [plans.count]
    for rank in plans.ranks:
        for block in (rank.input, rank.output, *(each for action in rank.actions for each in action.blocks())):
            numbers += [block.first, block.count]
        rows = [action.row for action in rank.actions if action.row is not None]
        numbers += [distance for row in rows for distance in (row.from_distance, row.into_distance)]
    return math.gcd(*numbers)


def _check(problem: Problem) -> None:
    name = problem.collective
    if name not in COLLECTIVES:
        raise Error(f"MSCCL has no {name}; it has {', '.join(COLLECTIVES)}")
    if problem.count == 0:
        raise Error("MSCCL divides vectors into chunks; expected at least one element")
    if problem.reduces and not problem.commutative:
        raise Error("MSCCL has operators that commute only; leave out --op user")
    if name in DIVIDED and problem.count % problem.processes != 0:
        raise Error(f"{problem.count} elements for {problem.processes} processes: MSCCL has parts of equal length only")
    if problem.in_place and name not in IN_PLACE:
        raise Error(f"MSCCL has no {name} in place as MPI means it; leave out --in-place")


def _gpu(rank: RankPlan, chunk: int) -> ElementTree.Element:
    sizes = {
        "i_chunks": rank.input.count // chunk,
        "o_chunks": max(block.first + block.count for block in (rank.output, *_outputs(rank))) // chunk,
        "s_chunks": -(-rank.scratch // chunk),
    }
    gpu = ElementTree.Element("gpu", {"id": str(rank.rank), **{key: str(value) for key, value in sizes.items()}})
    combines = _done_with_receives(rank)
    blocks = _thread_blocks(rank, set(combines.values()))
    last: dict[int, Place] = {}  # step of each action
    for number, action in enumerate(rank.actions):
        if number in last:  # a combine, done with its receive
            continue
        combine = combines.get(number)
        waits = [*action.after, *(rank.actions[combine].after if combine is not None else ())]
        places = [last[each] for each in waits if each != number]
        for kind, source, target in _steps(action, rank.actions[combine] if combine is not None else None):
            last[number] = blocks[_key(action)].add(kind, source, target, chunk, places)
            places = []
        if combine is not None:
            last[combine] = last[number]
    _mark_waited_for(blocks)
    for block in blocks.values():
        of_block = {"id": block.number, "send": block.send, "recv": block.receive, "chan": 0}
        element = ElementTree.SubElement(gpu, "tb", {key: str(value) for key, value in of_block.items()})
        for step in block.steps:
            ElementTree.SubElement(element, "step", step)
    return gpu


def _outputs(rank: RankPlan) -> Iterator[Block]:
    yield from (block for action in rank.actions for block in action.blocks() if block.buffer == "output")


def _key(action: Action) -> tuple[str, int]:
    return ("local", -1) if action.peer is None else (action.kind, action.peer)


def _thread_blocks(rank: RankPlan, left_out: Container[int]) -> dict[tuple[str, int], ThreadBlock]:
    order = ("local", "send", "receive")
    found = {_key(action) for number, action in enumerate(rank.actions) if number not in left_out}
    keys = sorted(found, key=lambda key: (order.index(key[0]), key[1]))
    return {
        key: ThreadBlock(number, **({} if key[0] == "local" else {key[0]: key[1]})) for number, key in enumerate(keys)
    }


def _done_with_receives(rank: RankPlan) -> dict[int, int]:
    """By receive, the combine that it can do at once, for all else that it needs comes before the receive."""
    return {
        number: action.combined_by
        for number, action in enumerate(rank.actions)
        if action.combined_by is not None and max(rank.actions[action.combined_by].after) == number
    }


def _steps(action: Action, combine: Action | None) -> Iterator[tuple[str, Block | None, Block | None]]:
    """Kind, source and target. `re` adds the source to the target, in an order that does not matter."""
    if action.kind == "send":
        yield "s", action.block, action.block
    elif combine is not None:
        yield "rrc", combine.right if combine.block == action.block else combine.block, combine.into
    elif action.kind == "receive":
        yield "r", action.block, action.block
    elif action.kind == "copy":
        assert action.into is not None
        row = action.row or Row(1, 0, 0)
        for number in range(row.number):
            yield (
                "cpy",
                _moved(action.block, number * row.from_distance),
                _moved(action.into, number * row.into_distance),
            )
    elif action.into == action.block:
        yield "re", action.right, action.into
    else:
        if action.into != action.right:
            yield "cpy", action.right, action.into
        yield "re", action.block, action.into


def _moved(block: Block, by: int) -> Block:
    return Block(block.buffer, block.first + by, block.count)


def _latest(places: Iterable[Place]) -> dict[int, int]:
    latest: dict[int, int] = {}
    for block, step in places:
        latest[block] = max(step, latest.get(block, -1))
    return latest


def _place(end: str, block: Block | None, otherwise: str, chunk: int) -> Mapping[str, str]:
    buffer, offset = (block.buffer[0], block.first // chunk) if block is not None else (otherwise, -1)
    return {f"{end}buf": buffer, f"{end}off": str(offset)}


def _mark_waited_for(blocks: Mapping[tuple[str, int], ThreadBlock]) -> None:
    by_number = {block.number: block for block in blocks.values()}
    for block in blocks.values():
        for step in block.steps:
            if step["depid"] != "-1":
                by_number[int(step["depid"])].steps[int(step["deps"])]["hasdep"] = "1"
