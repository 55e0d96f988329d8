# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs that are trees: ranks in order from left to right, edges in the colour of the steps in which
they are used, as in figure 1 of Sanders, Speck, Traeff: Two-tree algorithms. Everything is read from a trace."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rondo import optional
from rondo.drawing import canvas
from rondo.drawing.canvas import POINT, Sheet
from rondo.drawing.trace import ROUNDS, Problem, Trace, ranges_text
from rondo.errors import Error
from rondo.reports import style

MOST_RANKS = 128
MOST_TREES = 2
RADIUS = 0.105  # of a rank, inches
LEVEL, COLUMN, WIDEST_COLUMN, LEFT = 0.48, 0.34, 0.5, 0.75
BETWEEN = 0.3  # two trees
GAP = 0.025  # inches between the edges of nodes and columns
HEAD = 0.1  # inches of an edge without dashes
STEADY = 0.75  # of the uses of an edge have the same parity: the others are from before the pipeline was full
PARITIES = ("rounds 1, 3, 5, ...", "rounds 2, 4, 6, ...", "odd and even rounds")
LOOKS = ((style.COLOURS[0], "-"), (style.COLOURS[1], (0, (3.5, 1.5))), (canvas.FAINT, ":"))

PIECES = 50  # of an edge
CLEAR = RADIUS + 0.02  # inches from a rank that an edge passes by
BENDS = (0.0, 0.07, -0.07, 0.15, -0.15, 0.2, -0.2, 0.25, -0.25, 0.3, -0.3, 0.45, -0.45)  # inches

Edge = tuple[int, int]
Place = tuple[float, float]


@dataclass(frozen=True)
class Tree:
    """Edges that the same blocks travel, all of them directed, and how far each rank is from the root."""

    blocks: list[int]
    uses: Mapping[Edge, Sequence[int]]
    """Rounds, from 0, in which a message goes from the first rank to the second."""
    depths: Mapping[int, int]


def of(trace: Trace) -> list[Tree] | None:
    """The spanning trees that the messages form, in the order of their blocks; None if they form anything else."""
    by_block: dict[int, dict[Edge, list[int]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for message in trace.events.messages:
        for block in trace.blocks_of(message):
            by_block[block][message.sender, message.receiver].append(round(message.start))
    alike: dict[frozenset[Edge], list[int]] = collections.defaultdict(list)
    for block in sorted(by_block):
        alike[frozenset(_undirected(by_block[block]))].append(block)
    if not 1 <= len(alike) <= MOST_TREES or not all(_spans(edges, trace.problem.processes) for edges in alike):
        return None
    trees = []
    for edges, blocks in alike.items():
        uses: dict[Edge, list[int]] = collections.defaultdict(list)
        for block in blocks:
            for edge, rounds in by_block[block].items():
                uses[edge] += rounds
        trees.append(Tree(blocks, uses, _depths(_neighbours(edges), _root(edges, uses))))
    return trees


def are_worth_drawing(trace: Trace, trees: list[Tree] | None) -> bool:
    """Whether they say more than a space-time diagram: several blocks travel them, and they are no mere lines."""
    if not trees or trace.problem.timing != ROUNDS or trace.blocks < 2:
        return False
    return any(len(each) > 2 for tree in trees for each in _neighbours(tree.uses).values())


def draw(trace: Trace, trees: list[Tree]) -> Sheet:
    """The first tree with its root on top, the second one with its root below."""
    ranks = trace.problem.processes
    if ranks > MOST_RANKS:
        raise Error(f"{ranks} ranks: trees are legible up to {MOST_RANKS}; take fewer processes")
    depths = [LEVEL * max(tree.depths.values()) for tree in trees]
    title = canvas.title_of(trace)
    column = min(max((canvas.width_of(title) - LEFT) / ranks, COLUMN), WIDEST_COLUMN)
    height = sum(depths) + BETWEEN * (len(trees) - 1) + 4 * RADIUS
    sheet = Sheet(title, column * ranks, height, left=LEFT, bottom=2 * canvas.LEGEND)
    _draw_nodes(sheet, trace.problem.nodes, column, height)
    top = 2 * RADIUS
    for number, (tree, depth) in enumerate(zip(trees, depths, strict=True)):
        direction = 1 if number == 0 else -1
        root_level = top if number == 0 else top + depth
        levels = {rank: root_level + direction * LEVEL * each for rank, each in tree.depths.items()}
        places = {rank: (column * (rank + 0.5), level) for rank, level in levels.items()}
        _draw_tree(sheet, tree, places, number, trace.problem)
        if len(trees) > 1:
            text = f"blocks\n{ranges_text(tree.blocks)}"
            sheet.text(canvas.MARGIN - LEFT, top + depth / 2, text, ha="left", linespacing=1.3)
        top += depth + BETWEEN
    _explain(sheet, trees, trace.problem)
    return sheet


def _draw_nodes(sheet: Sheet, nodes: Sequence[int], column: float, height: float) -> None:
    """A common ground for the ranks of each node."""
    first = 0
    for number, ranks in enumerate(nodes):
        sheet.ground(column * first + GAP, 0, column * ranks - 2 * GAP, height, f"node-{number}")
        first += ranks


def _explain(sheet: Sheet, trees: list[Tree], problem: Problem) -> None:
    line = optional.module("matplotlib.lines").Line2D
    uses = [rounds for tree in trees for rounds in tree.uses.values()]
    looks = sorted({_parity(rounds) for rounds in uses})
    entries = {PARITIES[each]: line([], [], color=LOOKS[each][0], linestyle=LOOKS[each][1]) for each in looks}
    drifts = any(len({each % 2 for each in rounds}) > 1 and _parity(rounds) < 2 for rounds in uses)
    note = "number: round of the first use" + ("; colour: once the pipeline is full" if drifts else "")
    if any(problem.are_together(*edge) for tree in trees for edge in tree.uses):
        note += "; thin: inside a node"
    sheet.legend(entries, note)


def _draw_tree(
    sheet: Sheet, tree: Tree, places: Mapping[int, tuple[float, float]], number: int, problem: Problem
) -> None:
    for edge, rounds in tree.uses.items():
        colour, dashes = LOOKS[_parity(rounds)]
        beside = edge[::-1] in tree.uses
        start, end = _shortened(places[edge[0]], places[edge[1]], beside=beside)
        name = f"tree-{number}-edge-{edge[0]}-{edge[1]}"
        way = _way(start, end, [place for rank, place in places.items() if rank not in edge])
        corners = [start, end] if _is_straight(way) else way
        width = 0.6 if problem.are_together(*edge) else 1.2
        sheet.line(*zip(*corners, strict=True), color=colour, linestyle=dashes, linewidth=width, zorder=2)
        head = _before(way[-2], end)
        sheet.arrow(head, end, name, color=colour, linewidth=width, mutation_scale=7, zorder=2)
        # Nearer to the end, for the sake of the one the other way.
        part = 0.72 if beside else 0.58
        sheet.label(*way[round(part * (len(way) - 1))], str(min(rounds) + 1), colour)
    circle = optional.module("matplotlib.patches").Circle
    for rank, (x, y) in places.items():
        root = tree.depths[rank] == 0
        sheet.axes.add_patch(
            circle((x, y), RADIUS, facecolor="white", edgecolor=canvas.INK, linewidth=1.4 if root else 0.8, zorder=5)
        )
        sheet.text(x, y, str(rank), fontsize=canvas.SMALL if rank < 100 else 5, zorder=6)


def _way(start: Place, end: Place, others: Sequence[Place]) -> list[Place]:
    """Places along an edge: straight, or bent as little as it takes to pass by the other ranks."""
    (x, y), (to_x, to_y) = start, end
    length = math.dist(start, end)
    across, down = (to_x - x) / length, (to_y - y) / length
    ways = []
    for bend in BENDS:
        # A parabola: all of the bend in the middle.
        aside = [4 * bend * i * (PIECES - i) / PIECES**2 for i in range(PIECES + 1)]
        ways.append(
            [
                (x + (to_x - x) * i / PIECES + each * down, y + (to_y - y) * i / PIECES - each * across)
                for i, each in enumerate(aside)
            ]
        )
        if not _meets(ways[-1], others):
            return ways[-1]
    return min(ways, key=lambda way: _meets(way, others))


def _meets(way: Sequence[Place], others: Sequence[Place]) -> int:
    """How many of the other ranks."""
    return sum(any(math.dist(place, other) <= CLEAR for place in way) for other in others)


def _is_straight(way: Sequence[Place]) -> bool:
    middle = tuple((one + other) / 2 for one, other in zip(way[0], way[-1], strict=True))
    return math.dist(way[PIECES // 2], middle) < POINT / 10


def _before(near: Place, end: Place) -> Place:
    """A head's length before the end, coming from near it."""
    part = HEAD / math.dist(near, end)
    return end[0] + part * (near[0] - end[0]), end[1] + part * (near[1] - end[1])


def _shortened(start: Edge | Any, end: Edge | Any, *, beside: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """From circle to circle; a little to the left if there is another one the other way."""
    (x, y), (to_x, to_y) = start, end
    length = math.dist(start, end)
    across, down = (to_x - x) / length, (to_y - y) / length
    aside = 0.03 if beside else 0.0
    gap = RADIUS + 0.015
    shift_x, shift_y = aside * down, -aside * across
    return (
        (x + gap * across + shift_x, y + gap * down + shift_y),
        (to_x - gap * across + shift_x, to_y - gap * down + shift_y),
    )


def _parity(rounds: Sequence[int]) -> int:
    """0 or 1 where they are alike; 2 where not."""
    odd = sum(each % 2 for each in rounds) / len(rounds)
    return 1 if odd >= STEADY else 0 if odd <= 1 - STEADY else 2


def _undirected(edges: Iterable[Edge]) -> set[Edge]:
    return {(min(edge), max(edge)) for edge in edges}


def _neighbours(edges: Iterable[Edge]) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = collections.defaultdict(list)
    for one, other in _undirected(edges):
        neighbours[one].append(other)
        neighbours[other].append(one)
    return neighbours


def _spans(edges: frozenset[Edge], ranks: int) -> bool:
    return len(edges) == ranks - 1 and ranks > 1 and len(_depths(_neighbours(edges), next(iter(edges))[0])) == ranks


def _depths(neighbours: Mapping[int, Sequence[int]], root: int) -> dict[int, int]:
    depths = {root: 0}
    waiting = collections.deque([root])
    while waiting:
        rank = waiting.popleft()
        for other in neighbours[rank]:
            if other not in depths:
                depths[other] = depths[rank] + 1
                waiting.append(other)
    return depths


def _root(edges: frozenset[Edge], uses: Iterable[Edge]) -> int:
    """From where all edges lead, or to where; where data go both ways, what makes it a search tree, or the middle."""
    directed = set(uses)
    ranks = {rank for edge in edges for rank in edge}
    if len(directed) == len(edges):
        for at in (1, 0):
            ends = ranks - {edge[at] for edge in directed}
            if len(ends) == 1:
                return ends.pop()
    neighbours = _neighbours(edges)
    return min(sorted(ranks), key=lambda rank: _unlikeliness(neighbours, rank))


def _unlikeliness(neighbours: Mapping[int, Sequence[int]], root: int) -> tuple[int, int]:
    """As a root: children too many on a side and ranks below the wrong one, and height."""
    depths = _depths(neighbours, root)
    parents = {rank: each for rank, around in neighbours.items() for each in around if depths[each] < depths[rank]}
    wrong = 0
    for rank, around in neighbours.items():
        children = [other for other in around if depths[other] > depths[rank]]
        before = sum(other < rank for other in children)
        wrong += max(before - 1, 0) + max(len(children) - before - 1, 0)
        child = rank
        while child in parents:
            parent = parents[child]
            wrong += (rank < parent) != (child < parent)
            child = parent
    return wrong, max(depths.values())
