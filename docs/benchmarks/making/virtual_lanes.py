# SPDX-License-Identifier: BSD-3-Clause
"""What k lanes give in virtual time: docs/benchmarks/data/virtual-lanes-*.csv, which docs/benchmarks/lanes.md shows.

    python docs/benchmarks/making/virtual_lanes.py                                     both: three minutes
    python docs/benchmarks/making/virtual_lanes.py ratios --shape 4x4 --output /tmp    16 ranks: a second

ratios: long vectors on 1, 2, 4 and 8 lanes, with nodes from a quarter of a lane's rate to 256 times of it; 16x16.
paper:  the counts of [traff2020kported] with figures from its section 4.1; 36x32.
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
PORTS = (1, 2, 3, 4, 5, 6)
PAPERS_FAMILIES = {
    **FAMILIES,
    "bcast": ["k_ported:ports={k}", "k_lane:ports={k},whole_node=1", "full_lane"],
    "alltoall": [*FAMILIES["alltoall"], "full_lane:overlap=1"],
}
COUNTS = {
    "bcast": [1, 6, 10, 60, 100, 600, 1000, 6000, 10000, 60000, 100000, 600000, 1000000],
    "scatter": [1, 6, 9, 53, 87, 521, 869],
    "alltoall": [1, 6, 9, 53, 87, 521, 869],
}
"""The paper's; of a scatter or an all-to-all, the elements of one part."""

# From section 4.1 of the paper: an all-to-all of 32 ranks, MPICH 3.3, 31250 elements for each. On one node it takes
# 2730 us, on 32 nodes 424 us, for 3.9 MB from each rank. A message of one element: 0.5 us to send and receive it. The
# rest of the least broadcast of one element over 11 rounds, 9 to 13 us, is latency.
PAPER = Machine(
    alpha=1e-6, beta=1.1e-10, overhead=2.5e-7, gamma=0, alpha_inside=3e-7, beta_inside=7e-10, overhead_inside=2e-7,
    lanes=2,
)  # fmt: skip


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


def paper(shape: shapes.Shape) -> Iterator[list[str]]:
    """Rows by collective, algorithm and count, under a head."""
    yield ["collective", "candidate", "count", "seconds"]
    for collective, families in PAPERS_FAMILIES.items():
        candidates = dict.fromkeys(each.format(k=k) for each in families for k in PORTS)
        for candidate in candidates:
            for count in COUNTS[collective]:
                whole = count if collective == "bcast" else count * shape.ranks
                (seconds,) = times(Problem(collective, candidate, shape, whole), [PAPER])
                yield [collective, candidate, str(count), f"{seconds:.6g}"]


PARTS = {"ratios": (ratios, "16x16"), "paper": (paper, "36x32")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="part", help="ratios, paper; both")
    parser.add_argument("--shape", help="NODESxRANKS_PER_NODE (16x16 and 36x32)")
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        for part in arguments.parts or PARTS:
            rows, usual = PARTS[part]
            shape = shapes.parse(f"{arguments.shape or usual}:0us:100Gbit")
            with (arguments.output / f"virtual-lanes-{part}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows(shape))
    except (Error, ValueError) as error:
        print(f"virtual_lanes: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
