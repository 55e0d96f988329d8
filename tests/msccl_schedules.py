# SPDX-License-Identifier: BSD-3-Clause
"""Schedules that were published for MSCCL, written down anew: the algorithms of Microsoft's files, for any ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

Place = tuple[str, int]
"""Buffer and chunk."""


@dataclass(frozen=True)
class Step:
    kind: str
    source: Place = ("i", -1)
    target: Place = ("o", -1)
    after: tuple[int, int] | None = None
    """Thread block and step."""


@dataclass(frozen=True)
class Block:
    steps: Sequence[Step]
    send: int = -1
    receive: int = -1
    channel: int = 0


@dataclass(frozen=True)
class Schedule:
    collective: str
    chunks: int
    ranks: Sequence[Sequence[Block]]
    sizes: tuple[int, int, int]
    """Chunks of input, output and scratch memory."""
    in_place: bool = True
    more: dict[str, Any] = field(default_factory=dict)

    def tree(self) -> ElementTree.Element:
        words = {"name": "test", "proto": "Simple", "nchannels": 1, "nchunksperloop": self.chunks}
        words |= {"ngpus": len(self.ranks), "coll": self.collective, "inplace": int(self.in_place), **self.more}
        top = _element("algo", words)
        for rank, blocks in enumerate(self.ranks):
            keys = ("i_chunks", "o_chunks", "s_chunks")
            gpu = _element("gpu", {"id": rank, **dict(zip(keys, self.sizes, strict=True))})
            awaited = {step.after for block in blocks for step in block.steps}
            for number, block in enumerate(blocks):
                tb = _element("tb", {"id": number, "send": block.send, "recv": block.receive, "chan": block.channel})
                tb.extend(_step(step, at, (number, at) in awaited) for at, step in enumerate(block.steps))
                gpu.append(tb)
            top.append(gpu)
        return top

    def text(self) -> str:
        return text_of(self.tree())


def text_of(tree: ElementTree.Element) -> str:
    return ElementTree.tostring(tree, encoding="unicode")


def _element(tag: str, words: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.Element(tag, {key: str(value) for key, value in words.items()})


def _step(step: Step, number: int, is_awaited: bool) -> ElementTree.Element:
    block, awaited = step.after or (-1, -1)
    return _element(
        "step",
        {
            "s": number, "type": step.kind, "srcbuf": step.source[0], "srcoff": step.source[1],
            "dstbuf": step.target[0], "dstoff": step.target[1], "cnt": int(step.kind != "nop"),
            "depid": block, "deps": awaited, "hasdep": int(is_awaited),
        },
    )  # fmt: skip


def ring(ranks: int, channels: int = 2) -> Schedule:
    """Allreduce as msccl-algorithms/ndv4/r48ll.xml has it: rings side by side, and all steps but the ends fused."""

    def block(rank: int, channel: int) -> Block:
        places = [("i", channel * ranks + (rank - turn) % ranks) for turn in range(ranks)]
        first, *middle, last = places
        steps = [Step("s", first, first), *(Step("rrs", each, each) for each in middle), Step("rrcs", last, last)]
        steps += [Step("rcs", each, each) for each in (first, *middle[:-1], *middle[-1:])][: max(ranks - 2, 0)]
        steps.append(Step("r", (middle or [first])[-1], (middle or [first])[-1]))
        return Block(steps, (rank + 1) % ranks, (rank - 1) % ranks, channel)

    blocks = [[block(rank, channel) for channel in range(channels)] for rank in range(ranks)]
    return Schedule("allreduce", channels * ranks, blocks, (channels * ranks, 0, 0))


def all_pairs(ranks: int) -> Schedule:
    """Allreduce as msccl-algorithms/ndv4/ap2ll.xml has it: who has got a chunk from all sends its sum back.

    A step waits for one other, so that nop's wait for the rest.
    """

    def blocks_of(rank: int) -> list[Block]:
        others = [other for other in range(ranks) if other != rank]
        own = ("i", rank)
        nops = [Step("nop", after=(1 + number, 1)) for number in range(len(others))]
        reduces = [Step("re", ("s", number), own) for number in range(len(others))]
        local = Block([*nops, *reduces])
        last = len(local.steps) - 1
        return [
            local,
            *(
                Block(
                    [
                        Step("s", ("i", other), ("s", 0)),
                        Step("r", own, ("s", number)),
                        Step("s", own, own, after=(0, last)),
                        Step("r", ("i", other), ("i", other)),
                    ],
                    other,
                    other,
                )
                for number, other in enumerate(others)
            ),
        ]

    return Schedule("allreduce", ranks, [blocks_of(rank) for rank in range(ranks)], (ranks, 0, ranks - 1))


def two_by_two() -> Schedule:
    """Allgather as msccl-algorithms/ncv4/ag_hier_4_LL.xml has it: in a pair, what comes from afar is passed on."""

    def blocks_of(rank: int) -> list[Block]:
        buddy, afar = rank ^ 1, rank ^ 2
        own, out = ("i", 0), ("o", rank)
        return [
            Block([Step("r", own, ("o", buddy)), Step("r", own, ("o", buddy ^ 2))], receive=buddy),
            Block([Step("s", own, out), Step("rcs", own, ("o", afar))], send=buddy, receive=afar),
            Block([Step("s", own, out), Step("cpy", own, out)], send=afar),
        ]

    return Schedule("allgather", 4, [blocks_of(rank) for rank in range(4)], (1, 4, 0), in_place=False)
