# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of distributed arrays in virtual time, with the parameters of [carver_ladder] and near them.

    python docs/benchmarks/making/virtual_prefix.py          into docs/benchmarks/data/virtual-prefix.csv (two minutes)

Times are in additions: an element takes one in each pass, and a message 25 000.
"""

from __future__ import annotations

import argparse
import csv
import functools
import sys
from dataclasses import dataclass
from pathlib import Path

from rondo.distributions import distribution
from rondo.distributions.prefix_sum import PrefixSum, Timeline
from rondo.errors import Error
from rondo.machine.machine import Machine

DATA = Path(__file__).resolve().parents[1] / "data"
FILE = "virtual-prefix.csv"
RANKS = 600
MESSAGE = 25_000
SCANS = (
    "chain", "broadcast", "one_doubling", "doubling_123", "two_op_doubling", "cyclic_doubling", "pipelined_binary_tree"
)  # fmt: skip
STEPS = tuple(f"ladder:step={step}" for step in (6000, 12000, 25000, 50000, 75000))


@dataclass(frozen=True)
class Case:
    """One table."""

    elements: int = 200_000_000_000
    second_pass: float = 1.0
    overhead: float = 0.0
    """Of a message of 25 000, on either side."""
    scans: tuple[str, ...] = SCANS
    distributions: tuple[str, ...] = distribution.KINDS

    def prefix_sum(self, ranks: int = RANKS) -> PrefixSum:
        """On so many ranks."""
        machine = Machine(MESSAGE - 2 * self.overhead, 0.0, self.overhead, 0.0)
        return PrefixSum(ranks, machine, 1.0, self.second_pass)

    @property
    def computing(self) -> float:
        """Of both passes."""
        return self.prefix_sum().computing(self.elements)


CASES = {
    "paper": Case(distributions=("even", *STEPS, "tent", "best")),
    "busy": Case(overhead=2500),
    "one-pass": Case(second_pass=0.0, scans=("chain", "two_op_doubling")),
    "short": Case(elements=3_000_000_000, scans=("chain", "two_op_doubling", "cyclic_doubling")),
}


@functools.cache
def timeline(case: Case, scan: str, how: str) -> Timeline:
    """A prefix sum in virtual time."""
    prefix_sum = case.prefix_sum()
    return prefix_sum.timeline(scan, distribution.counts_of(prefix_sum, case.elements, how, scan))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        with (arguments.output / FILE).open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["case", "scan", "distribution", "active", "additions"])
            for name, case in CASES.items():
                for scan in case.scans:
                    for how in case.distributions:
                        found = timeline(case, scan, how)
                        writer.writerow([name, scan, how, found.active, f"{found.seconds:.0f}"])
                        file.flush()
    except Error as error:
        print(f"virtual_prefix: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
