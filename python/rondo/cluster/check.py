# SPDX-License-Identifier: BSD-3-Clause
"""Does an emulated cluster keep what it promises? Traffic between its ranks, measured, against the model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rondo import _core
from rondo.bench import bench, statistics
from rondo.bench.results import Network, Results
from rondo.cluster.cluster import Cluster
from rondo.cluster.shapes import Shape
from rondo.launching.mpi_library import MpiLibrary
from rondo.machine import networks

ELEMENT = 8
REPETITIONS = 9
SECONDS = 20.0
# Lengths by what the wire takes for them, in latencies. The middle one is too short for the handshake that libraries
# make before long messages; with the longest, what the processor does for all ranks at once is small.
SHORT, MIDDLE, LONG = 0.0, 0.25, 20.0
LONGEST = 1e6  # bytes: as long as the messages of the ping-pong that figures are fitted to
LENGTHS = {"ping_pong": (SHORT, MIDDLE, LONG), "ring_shift": (SHORT, LONG), "half_shift": (LONG,), "incast": (LONG,)}
PATTERNS = {
    "ping_pong": "one message, from the first node to the last",
    "ring_shift": "all ranks send to the next at once",
    "half_shift": "all ranks send to the one that is half of all further at once",
    "incast": "all ranks send to the first at once",
}


@dataclass(frozen=True)
class Row:
    """One pattern with messages of one length. Times in seconds."""

    pattern: str
    bytes: int
    measured: float
    """Median of the repetitions that count; NaN if there are none."""
    model: float
    """By the figures that were fitted to a ping-pong."""
    judged: bool
    """False for short messages between all ranks: there the processor takes as long as the network."""
    repetitions: int
    invalid: int
    wrong: int

    @property
    def deviation(self) -> float:
        """Relative, of what was measured from the model."""
        return self.measured / self.model - 1


@dataclass(frozen=True)
class Check:
    """What was measured on a cluster."""

    shape: Shape
    library: str
    network: Network | None
    """As fitted to a ping-pong; None on one node."""
    rows: list[Row]
    dropped: int
    """Packets that the switch lost."""
    retransmissions: int
    """TCP segments sent again."""

    @property
    def start_overhead(self) -> float:
        """Seconds that short messages between all ranks at once take beyond the latency: the processor's share."""
        return next(row.measured - row.model for row in self.rows if not row.judged)

    def faults(self, limit: float) -> list[str]:
        """What is wrong, in words; empty if nothing is further than `limit` (0.05: 5%) from what it should be."""
        found = []
        if self.network is not None:
            figures = {
                "latency": self.network.latency / self.shape.latency,
                "time of a byte": self.network.seconds_per_byte / self.shape.seconds_per_byte,
            }
            found += [
                f"the fitted {name} is {ratio - 1:+.1%} from the nominal one"
                for name, ratio in figures.items()
                if not abs(ratio - 1) <= limit
            ]
        for row in self.rows:
            if row.judged and not row.repetitions:
                found.append(f"{row.pattern} of {row.bytes} bytes: no repetition was undisturbed; is the machine busy?")
            elif row.judged and not abs(row.deviation) <= limit:
                found.append(f"{row.pattern} of {row.bytes} bytes is {row.deviation:+.1%} from the model")
            if row.wrong:
                found.append(f"{row.pattern} of {row.bytes} bytes: {row.wrong} wrong results")
        if self.dropped:
            found.append(f"the switch lost {self.dropped} packets")
        if self.retransmissions:
            found.append(f"{self.retransmissions} TCP segments were sent again")
        return found


def check(cluster: Cluster, library: MpiLibrary, progress: Callable[[str], None] = lambda _: None) -> Check:
    """Measures all patterns on a running cluster. Error if the ranks cannot be started."""
    measured: list[Results] = []
    for pattern, meaning in PATTERNS.items():
        progress(f"{pattern}: {meaning}")
        measured.append(
            bench.measure(
                pattern,
                cluster=cluster.name,
                mpi=str(library.launcher),
                counts=",".join(str(each // ELEMENT) for each in message_sizes(pattern, cluster.shape)),
                repetitions=REPETITIONS,
                seconds=SECONDS,
            )
        )
    environments = [each.environment for each in measured]
    return Check(
        cluster.shape,
        environments[0].library,
        environments[0].network,
        [row for results in measured for row in _rows(results, cluster.shape, environments[0].network)],
        sum(each.emulation.dropped for each in environments if each.emulation),
        sum(each.retransmissions for each in environments),
    )


def message_sizes(pattern: str, shape: Shape) -> list[int]:
    """Bytes, multiples of an element."""
    lengths = (share * shape.latency / shape.seconds_per_byte for share in LENGTHS[pattern])
    return sorted({ELEMENT * max(1, round(min(length, LONGEST) / ELEMENT)) for length in lengths})


def model(pattern: str, bytes_per_message: int, shape: Shape, network: Network) -> float:
    """Seconds that a pattern takes when only the network takes time: alpha, and beta for what shares a lane or link."""
    in_a_row = _in_a_row(messages_between_nodes(pattern, shape), shape)
    is_long = bytes_per_message * shape.seconds_per_byte > MIDDLE * shape.latency
    handshake = network.rendezvous if is_long else 0.0
    return network.latency + handshake + in_a_row * bytes_per_message * network.seconds_per_byte


def messages_between_nodes(pattern: str, shape: Shape) -> list[tuple[int, int]]:
    """The messages that are under way at once, as pairs (from, to) of nodes."""
    ranks = shape.ranks
    if pattern == "ping_pong":
        pairs = [(0, ranks - 1)]
    elif pattern == "incast":
        pairs = [(rank, 0) for rank in range(1, ranks)]
    else:
        distance = 1 if pattern == "ring_shift" else ranks // 2
        pairs = [(rank, (rank + distance) % ranks) for rank in range(ranks)]
    nodes = [(start // shape.per_node, end // shape.per_node) for start, end in pairs]
    return [(start, end) for start, end in nodes if start != end]


def _in_a_row(messages: list[tuple[int, int]], shape: Shape) -> float:
    """How many messages the busiest lane carries, or as many as it could carry while the busiest link is busy."""
    if not messages:
        return 1
    sent = Counter(start for start, _ in messages)
    received = Counter(end for _, end in messages)
    lanes = math.ceil(max(*sent.values(), *received.values()) / shape.lanes)
    return max(lanes, _core.network_load(shape.network or networks.FLAT, messages) / shape.lanes)


def _rows(results: Results, shape: Shape, network: Network | None) -> Iterator[Row]:
    nominal = Network(shape.latency, shape.seconds_per_byte, residual=0.0)
    for each in results.configurations:
        yield Row(
            each.collective,
            each.bytes,
            statistics.summary(each.seconds()).median,
            model(each.collective, each.bytes, shape, network or nominal),
            each.collective == "ping_pong" or each.bytes > ELEMENT,
            len(each.seconds()),
            each.invalid(),
            each.wrong(),
        )
