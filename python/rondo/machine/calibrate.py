# SPDX-License-Identifier: BSD-3-Clause
"""Measures the figures of a machine file, and shows the segments that they lead to."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rondo import _core
from rondo.bench import bench
from rondo.bench.results import Environment, Network, Results
from rondo.cluster import shapes
from rondo.errors import Error
from rondo.machine.machine import INSIDE, Machine

ELEMENT = 8
REPETITIONS = 15
SECONDS = 20.0
# Elements. Messages of a stream: their difference leaves out what one message takes alone. Operands that stay in the
# cache, as segments do.
MESSAGES = (500, 1000)
OPERANDS = (4096, 16384)
ARRAYS = (1 << 22, 1 << 23)  # longer than most caches, and what prefix sums write past them
# By factors of two where a library may begin to ask the receiver, from 4 KiB on.
ROUND_TRIPS = "1,4,16,64,256,512,1Ki,2Ki,4Ki,8Ki,16Ki,32Ki,64Ki"
SEGMENT = "segment"

STAGES = {
    "ping_pong": "alpha, beta, eager and rendezvous: a message there and back",
    "stream": "overhead: many short messages, one after the other",
    "reduce_local": "gamma: an operator on vectors in the cache",
    "first_pass": "first_pass: the sum of a long array",
    "second_pass": "second_pass: its running sums",
}


@dataclass(frozen=True)
class Calibration:
    """What was measured."""

    machine: Machine
    library: str
    ranks: int


@dataclass(frozen=True)
class Links:
    """What messages between the first and the last rank cost."""

    alpha: float
    beta: float
    overhead: float
    eager: int
    rendezvous: float | None
    environment: Environment


Measured = Callable[[str, str], Results]
"""Of a pattern and counts."""


@dataclass(frozen=True)
class Row:
    """The segment that is chosen for one call."""

    collective: str
    algorithm: str
    ranks: int
    bytes: int
    segment: int
    """Bytes."""
    segments: int
    seconds: float
    """Predicted."""
    basis: str
    """How: whole, extrapolated, fewer ranks, standard."""
    lock_step_segments: float
    """The best number by the formula for lock-step rounds; 0 if it was not computed."""


def measure(
    launcher: tuple[str, ...],
    cluster: str | None,
    mpi: str | None,
    progress: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Measures the figures under a launcher, or on an emulated cluster. Error that says what failed if one does.

    Where all ranks are on one node, there is one class of links. Both are measured where the node of rank 0 has several
    of them; else those inside a node are the standard ones. Of a cluster that is described, only as many nodes and
    ranks are made as are measured: others would need the processor.
    """
    shape = shapes.parse(cluster) if cluster is not None and ":" in cluster else None
    if shape is not None and shape.nodes > 1:
        cluster = str(dataclasses.replace(shape, nodes=2, per_node=1))
    measured = _measured(launcher, cluster, mpi, progress)
    links = _links(measured)
    gamma = slope(quickest(measured("reduce_local", ",".join(map(str, OPERANDS)))))
    passes = [slope(quickest(measured(each, ",".join(map(str, ARRAYS))))) for each in ("first_pass", "second_pass")]
    machine = Machine(
        links.alpha, links.beta, links.overhead, gamma, eager=links.eager, rendezvous=links.rendezvous,
        first_pass=passes[0], second_pass=passes[1],
    )  # fmt: skip
    if shape is not None:
        machine = dataclasses.replace(machine, lanes=shape.lanes)
    if links.environment.nodes == 1:
        machine = with_links(machine, links, INSIDE)
    elif shape is not None and shape.per_node > 1:
        one_node = str(dataclasses.replace(shape, nodes=1, per_node=2))
        machine = with_links(machine, measure_inside((), one_node, mpi, progress), INSIDE)
    elif links.environment.ranks_per_node[0] > 1:
        machine = with_links(machine, measure_inside(launcher, cluster, mpi, progress, "node"), INSIDE)
    return Calibration(machine, links.environment.library, links.environment.ranks)


def measure_inside(
    launcher: tuple[str, ...],
    cluster: str | None,
    mpi: str | None,
    progress: Callable[[str], None] = lambda _: None,
    part: str | None = None,
) -> Links:
    """Measures what messages cost inside a node. Error if the ranks, or their part, are not on one.

    Where its ranks are bound to two domains, that is what messages between these cost.
    """
    links = _links(_measured(launcher, cluster, mpi, lambda stage: progress(f"inside a node, {stage}"), part))
    if links.environment.nodes != 1:
        raise Error(f"the ranks are on {links.environment.nodes} nodes; expected at least 2 ranks on one node")
    return links


def with_links(machine: Machine, links: Links, names: Sequence[str]) -> Machine:
    """The machine, in which these are the links of one class, whose figures have the names: INSIDE or ACROSS."""
    figures = (links.alpha, links.beta, links.overhead)
    return dataclasses.replace(machine, **dict(zip(names, figures, strict=True)))


def _measured(
    launcher: tuple[str, ...],
    cluster: str | None,
    mpi: str | None,
    progress: Callable[[str], None],
    part: str | None = None,
) -> Measured:
    def measured(pattern: str, counts: str) -> Results:
        progress(STAGES[pattern])
        try:
            return bench.measure(
                pattern,
                launcher=launcher,
                cluster=cluster,
                mpi=mpi,
                part=part,
                counts=counts,
                type_name="double",
                repetitions=REPETITIONS,
                seconds=SECONDS,
                start="barrier",
            )
        except Error as error:
            raise Error(f"could not measure {STAGES[pattern]}: {error}", error.exit_code) from None

    return measured


def _links(measured: Measured) -> Links:
    network = measured("ping_pong", ROUND_TRIPS)
    if network.environment.ranks < 2:
        raise Error("a network has two ends; expected at least 2 ranks, on different nodes, as in: mpiexec -n 2 ...")
    points = quickest(network)
    line = network.environment.network or fitted_line(points)
    overhead = slope(quickest(measured("stream", ",".join(map(str, MESSAGES)))))
    alpha, beta = max(line.latency, 0.0), max(line.seconds_per_byte, 0.0)
    eager = eager_limit(points, alpha, beta)
    wait = rendezvous(points, alpha, beta, eager)
    return Links(alpha, beta, overhead * ELEMENT, eager, wait, network.environment)


def quickest(results: Results) -> list[tuple[int, float]]:
    """Bytes and the shortest time of each length; Error if a length has no time."""
    points = []
    for each in results.configurations:
        if each.wrong():
            raise Error(f"{each.collective} of {each.bytes} bytes delivered wrong results; is this MPI library sound?")
        if not each.seconds():
            raise Error(
                f"{each.collective} of {each.bytes} bytes: no repetition was undisturbed; try again on an idle machine"
            )
        points.append((each.bytes, min(each.seconds())))
    return points


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Seconds per byte between the shortest and the longest; not below 0, which noise can make it."""
    (first_bytes, first), (last_bytes, last) = points[0], points[-1]
    return max((last - first) / (last_bytes - first_bytes), 0.0)


def fitted_line(points: Sequence[tuple[int, float]]) -> Network:
    """Least squares of the relative deviations from latency + bytes * seconds_per_byte."""
    weights = [1 / seconds**2 for _, seconds in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    variance = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    covariance = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points, strict=True))
    per_byte = covariance / variance
    latency = mean_y - per_byte * mean_x
    residual = max(abs(y / (latency + per_byte * x) - 1) for x, y in points)
    return Network(latency, per_byte, residual)


def eager_limit(points: Sequence[tuple[int, float]], alpha: float, beta: float) -> int:
    """Bytes of the longest measured message that did not wait for its receiver.

    To ask and hear takes two latencies: half of that, in all longer messages, is the sign.
    """
    first_bytes, first = points[0]
    waits = [seconds - first - beta * (size - first_bytes) > alpha for size, seconds in points]
    eager = len(points) - (waits[::-1].index(False) if False in waits else len(points))
    return points[max(eager - 1, 0)][0]


def rendezvous(points: Sequence[tuple[int, float]], alpha: float, beta: float, eager: int) -> float | None:
    """What longer messages take in addition, in seconds: the median of those measured; None if there are none."""
    waits = [seconds - alpha - beta * size for size, seconds in points if size > eager]
    return max(statistics.median(waits), 0.0) if waits else None


def pipelined() -> list[tuple[str, str]]:
    """Collective and name of every algorithm with segments."""
    return [
        (collective["name"], algorithm["name"])
        for collective in _core.collectives()
        for algorithm in _core.algorithms(collective["name"])
        if any(parameter["name"] == SEGMENT for parameter in algorithm["parameters"])
    ]


def table(machine: Machine, ranks: int, sizes: Sequence[int], nodes: str = "") -> list[Row]:
    """The segments chosen for vectors of these lengths, by every pipelined algorithm, on nodes such as 4x8."""
    return [
        Row(collective, name, ranks, size, **chosen(machine, collective, name, ranks, size, nodes=nodes))
        for collective, name in pipelined()
        for size in sizes
    ]


def chosen(
    machine: Machine, collective: str, name: str, ranks: int, size: int, *, nodes: str = "", budget: int = 0
) -> dict[str, float]:
    """What _core.chosen_segment says; a budget of 0 actions is that of a program's first call."""
    choice: dict[str, float] = _core.chosen_segment(
        collective, name, ranks, size, machine.text(), nodes=nodes, budget=budget
    )
    return choice


def known_segments(machine: Machine, ranks: Sequence[int], sizes: Sequence[int], budget: int) -> str:
    """Lines of a machine file: what a larger budget than that of a program's first call finds for so many ranks."""
    lines = []
    for collective, name in pipelined():
        for count in ranks:
            for size in sizes:
                choice = chosen(machine, collective, name, count, size, budget=budget)
                size_text, segment = _core.quantity_text(size), _core.quantity_text(int(choice["segment"]))
                lines.append(f"segment {collective}/{name} {count} {size_text} = {segment}\n")
    return "".join(lines)
