# SPDX-License-Identifier: BSD-3-Clause
"""The shape of an emulated cluster, and the texts that describe one: 36x1:5ms:100Mbit."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rondo.errors import Error
from rondo.machine import networks

TIMES = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
RATES = {"kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9}
EXPECTED_SHAPE = (
    "expected NODESxRANKS_PER_NODE:LATENCY:RATE[:LANES][:NETWORK], as in 36x1:5ms:100Mbit or "
    "8x1:2ms:100Mbit:fat_tree:nodes=4,taper=2"
)
BETA_BITS = 8


@dataclass(frozen=True)
class Shape:
    """What is emulated: an n-byte message between nodes takes latency + 8 n / rate."""

    nodes: int
    per_node: int
    latency: float
    """Seconds."""
    rate: float
    """Bit/s of a lane, in each direction."""
    lanes: int = 1
    """Of each node; a flow uses one at a time."""
    network: str = ""
    """Its shape, as in fat_tree:nodes=4,taper=2, whose first nodes these are; empty: messages share no links."""

    def __str__(self) -> str:
        """As `parse` reads it."""
        lanes = f":{self.lanes}" if self.lanes != 1 else ""
        network = f":{self.network}" if self.network else ""
        return f"{self.nodes}x{self.per_node}:{latency_text(self.latency)}:{rate_text(self.rate)}{lanes}{network}"

    @property
    def ranks(self) -> int:
        """Of a program that fills it."""
        return self.nodes * self.per_node

    def of_ranks(self, ranks: int) -> Shape:
        """The part that so many ranks take, who fill node after node."""
        return dataclasses.replace(self, nodes=-(-ranks // self.per_node))

    @property
    def seconds_per_byte(self) -> float:
        """Beta of one lane."""
        return BETA_BITS / self.rate


def parse(text: str) -> Shape:
    """The shape that a text like 8x4:2ms:200Mbit:2 describes; Error if it describes none."""
    parts = re.fullmatch(r"(\d+)x(\d+):([^:]+):([^:]+)(?::(\d+))?(?::([a-z].+))?", text)
    if parts is None:
        raise Error(f"cluster {text!r}: {EXPECTED_SHAPE}")
    nodes, per_node, alpha, speed, lanes, network = parts.groups()
    return checked(Shape(int(nodes), int(per_node), latency(alpha), rate(speed), int(lanes or 1), network or ""))


def checked(shape: Shape) -> Shape:
    """The shape; Error if it is impossible whatever the machine. The engine knows what this machine can carry."""
    if shape.nodes < 1 or shape.per_node < 1:
        raise Error(f"a cluster of {shape.nodes} nodes with {shape.per_node} ranks each: expected at least 1 of each")
    if shape.lanes < 1:
        raise Error(f"{shape.lanes} lanes a node: expected at least 1")
    return dataclasses.replace(shape, network=networks.checked(shape.network or None, None, shape.nodes))


def latency(text: str) -> float:
    """Seconds of a text like 5ms; Error if it is no time."""
    return time(text, "latency")


def time(text: str, what: str) -> float:
    """Seconds of a text like 5ms; Error if it is no time. `what`: it is."""
    return _quantity(text, TIMES, what, "5ms")


def rate(text: str) -> float:
    """Bit/s of a text like 100Mbit (or 100Mbit/s); Error if it is no rate above 0."""
    value = _quantity(text.removesuffix("/s"), RATES, "rate", "100Mbit")
    if value <= 0:
        raise Error(f"rate {text}: expected more than 0")
    return value


def latency_text(seconds: float) -> str:
    """A latency as `latency` reads it."""
    unit = "s" if seconds >= 1 else "ms" if seconds >= 1e-3 else "us"
    return f"{seconds / TIMES[unit]:.12g}{unit}"


def rate_text(bits_per_second: float) -> str:
    """A rate as `rate` reads it."""
    unit = "Gbit" if bits_per_second >= 1e9 else "Mbit" if bits_per_second >= 1e6 else "kbit"
    return f"{bits_per_second / RATES[unit]:.12g}{unit}"


def _quantity(text: str, units: Mapping[str, float], what: str, example: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)([a-zA-Zµ]+)", text)
    if match is None or match[2] not in units:
        raise Error(f"{what} {text!r}: expected a number with one of {', '.join(units)}, as in {example}")
    return float(match[1]) * units[match[2]]
