# SPDX-License-Identifier: BSD-3-Clause
"""What k lanes give in virtual time: docs/benchmarks/data/virtual-lanes-ratios.csv, for docs/benchmarks/lanes.md.

    python docs/benchmarks/making/virtual_lanes.py                              16x16: two minutes
    python docs/benchmarks/making/virtual_lanes.py --shape 4x4 --output /tmp    16 ranks: a second

Long vectors on 1, 2, 4 and 8 lanes, with nodes from a quarter of a lane's rate to 256 times of it.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rondo.cluster import shapes
from rondo.errors import Error
from rondo.machine.machine import Machine

from rondo import _core

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs" / "benchmarks" / "data"
LANES = (1, 2, 4, 8)
RATIOS = tuple(2.0**power for power in range(-2, 9))
"""What one rank can send inside its node, over what one lane carries."""
LONG = 1 << 24
"""Bytes of a whole vector: long, because latencies and the processor's part are left out."""
ELEMENT_BYTES = 4
PIECES = (1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)
"""Bytes of a lane at a time in a pipeline; or the whole. The best counts."""
FAMILIES = {
    "bcast": ["k_ported:ports={k}", "k_lane:ports={k}", "full_lane"],
    "scatter": ["k_ported:ports={k}", "k_lane:ports={k}", "full_lane"],
    "alltoall": ["k_ported:ports={k}", "k_lane", "full_lane"],
}
"""Algorithms for k lanes."""
WITH_PIECES = {("bcast", "full_lane")}
MOST_PIECES = 256


class Problem(NamedTuple):
    """One call on all ranks."""

    collective: str
    candidate: str
    shape: shapes.Shape
    count: int


def machine(lanes: int, ratio: float) -> Machine:
    """Rates alone: a lane of 100 Gbit/s, and ranks that send so many times as fast inside their node."""
    beta = 8e-11
    return Machine(
        alpha=0, beta=beta, overhead=0, gamma=0, alpha_inside=0, beta_inside=beta / ratio, overhead_inside=0,
        lanes=lanes,
    )  # fmt: skip


def times(problem: Problem, machines: list[Machine]) -> list[float]:
    """Seconds on each machine, with the best pieces on each."""
    collective, candidate, shape, count = problem
    choices = [candidate]
    if (collective, candidate) in WITH_PIECES:
        whole = ELEMENT_BYTES * count
        fitting = [each for each in PIECES if each < whole <= each * MOST_PIECES * shape.per_node]
        choices = [f"{candidate}:segment={each}" for each in (*fitting, whole)]
    nodes = f"{shape.nodes}x{shape.per_node}"
    found = [
        _core.times(
            collective, each, shape.ranks, count, [each.text() for each in machines], element_bytes=ELEMENT_BYTES,
            nodes=nodes,
        )
        for each in choices
    ]  # fmt: skip
    return [min(each) for each in zip(*found, strict=True)]


def ratios(shape: shapes.Shape) -> Iterator[list[str]]:
    """Rows by collective, algorithm, lanes and ratio, under a head."""
    yield ["collective", "candidate", "lanes", "ratio", "seconds"]
    for collective, families in FAMILIES.items():
        count = LONG // ELEMENT_BYTES // shape.ranks * shape.ranks
        for family in families:
            for lanes in LANES:
                candidate = family.format(k=lanes)
                found = times(Problem(collective, candidate, shape, count), [machine(lanes, each) for each in RATIOS])
                for ratio, seconds in zip(RATIOS, found, strict=True):
                    yield [collective, candidate, str(lanes), f"{ratio:g}", f"{seconds:.6g}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="16x16", help="NODESxRANKS_PER_NODE (%(default)s)")
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        shape = shapes.parse(f"{arguments.shape}:0us:100Gbit")
        with (arguments.output / "virtual-lanes-ratios.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(ratios(shape))
    except (Error, ValueError) as error:
        print(f"virtual_lanes: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
