# SPDX-License-Identifier: BSD-3-Clause
"""What papers measured, in virtual time: docs/benchmarks/data/virtual-papers-*, which docs/benchmarks/papers.md shows.

    python docs/benchmarks/making/virtual_papers.py                 both: three minutes
    python docs/benchmarks/making/virtual_papers.py trees           half a minute

cluster: the tables of [traff2025exscan] and [traff2020kported], which were measured on the same 36 nodes of 32 ranks.
         The machine files that it takes are written, too: `rondo predict --machine` reads them.
trees:   what the text of [sanders2009two] says of its figures, on machines that differ in one figure.
"""

from __future__ import annotations

import argparse
import csv
import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from computed_tables import records
from measurements import DATA
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.machine import machine
from rondo.machine.machine import Machine
from rondo.selection.candidates import MOST_MESSAGES

from rondo import _core
from rondo.selection import call as described
from rondo.selection import native

LANES = "literature-lanes.csv"
EXSCANS = "literature-exscan.csv"
TREES = "literature-two-trees.csv"

# ------------------------------------------------------------------------------------------------ 36 nodes of 32

NODES, RANKS_PER_NODE = 36, 32
TABLES = {"Open MPI 3.1.3": ("2", "10"), "Intel MPI 2018": ("4", "15"), "MPICH 3.3": ("6", "20")}
"""Of [traff2020kported], by library: an all-to-all of 32 ranks with 32 messages at a time, and a broadcast of all."""
FILES = {"Open MPI 3.1.3": "openmpi", "Intel MPI 2018": "impi", "MPICH 3.3": "mpich"}
AS_MEASURED_WITH = {"MPICH 4.1.2": "MPICH 3.3"}
"""Whose figures a library takes that has none of its own: on the same cluster."""
INT = 4
ELEMENT_BYTES = {"exscan": 8}
"""Others are of MPI_INT."""
PEERS = 31
LONGEST_PART, LONGEST_VECTOR, LONGEST_SCAN = 31250, 1000000, 100000
ROUNDS_BETWEEN, ROUNDS_INSIDE = 6, 5
"""Of the broadcast that halves ranges of 1152 ranks."""
MORE_OPERATIONS = 5
"""Of two-op doubling on 36 ranks, which applies the operator 11 times, than of 123-doubling, which does so 6 times."""
NETWORKS = 2
WAYS = ("all", "few", "steps")
"""all: messages inside a node as slow as while all its ranks communicate; few: as fast as in a broadcast along a tree;
steps: as all, and no rank starts a step before the one before is over."""
MORE_CANDIDATES = {"alltoall": ["full_lane:overlap=1", "k_ported:ports=32"]}
"""Which the paper's tables do not have."""


def cell(table: str, nodes: int, candidate: str, count: int, file: str = LANES) -> float:
    """Least seconds in one cell of a paper's table."""
    wanted = table, str(nodes), candidate, str(count)
    (found,) = (
        float(each["minimum_us"])
        for each in records(file)
        if (each["table"], each["nodes"], each["candidate"], each["count"]) == wanted
        and (file == LANES or each["ranks_per_node"] == "1")
    )
    return found / 1e6


@functools.cache
def figures(library: str, way: str) -> Machine:
    """Those that follow from single cells of the papers; docs/benchmarks/tables/papers.md says how."""
    all_to_all, broadcast = TABLES[library]
    standard = machine.standard()
    assert standard.alpha_inside is not None
    assert standard.overhead_inside is not None
    bytes_ = INT * PEERS * LONGEST_PART
    beta = cell(all_to_all, 32, "k_ported:ports=32", LONGEST_PART) / bytes_
    inside = standard.alpha_inside + 2 * standard.overhead_inside
    between = (cell(broadcast, NODES, "k_ported:ports=1", 1) - ROUNDS_INSIDE * inside) / ROUNDS_BETWEEN
    overhead = (cell(all_to_all, 32, "k_ported:ports=32", 1) - between) / (2 * PEERS - 2)
    if way == "few":
        vector = INT * LONGEST_VECTOR
        longest = cell(broadcast, NODES, "k_ported:ports=1", LONGEST_VECTOR)
        beta_inside = (longest - ROUNDS_BETWEEN * beta * vector) / (ROUNDS_INSIDE * vector)
    else:
        beta_inside = cell(all_to_all, 1, "k_ported:ports=32", LONGEST_PART) / bytes_
    scans = [cell("1", NODES, each, LONGEST_SCAN, EXSCANS) for each in ("two_op_doubling", "doubling_123")]
    return Machine(
        alpha=between - 2 * overhead, beta=beta, overhead=overhead,
        gamma=(scans[0] - scans[1]) / (MORE_OPERATIONS * ELEMENT_BYTES["exscan"] * LONGEST_SCAN),
        alpha_inside=standard.alpha_inside, beta_inside=beta_inside, overhead_inside=standard.overhead_inside,
        lanes=NETWORKS, eager=_core.library(library)["eager"],
    )  # fmt: skip


def machine_file(library: str, way: str) -> str:
    """Its name; step by step needs no figures of its own."""
    return f"virtual-papers-{FILES[library]}{'-few' if way == 'few' else ''}.machine"


class Call(NamedTuple):
    """One cell of a paper's table."""

    library: str
    collective: str
    nodes: int
    per_node: int
    candidate: str
    count: int
    """The paper's: of a broadcast or scan in all, of the others for each rank."""


def seconds(call: Call, way: str) -> float:
    """In virtual time."""
    ranks = call.nodes * call.per_node
    elements = call.count if call.collective in ("bcast", "exscan") else call.count * ranks
    size = ELEMENT_BYTES.get(call.collective, INT)
    text = figures(AS_MEASURED_WITH.get(call.library, call.library), way).text()
    if call.candidate != NATIVE:
        found = _core.predict(
            call.collective, call.candidate, ranks, elements, text, element_bytes=size,
            nodes=f"{call.nodes}x{call.per_node}", step_by_step=way == "steps",
        )  # fmt: skip
        return float(found["seconds"])
    own = native.candidate(
        described.Call(
            call.collective, (call.per_node,) * call.nodes, elements, size, commutative=True, root=0,
            library=version_of(call.library), shared_memory=True,
        ),
        native.required_rules_of(version_of(call.library)), text, most_messages=MOST_MESSAGES,
    )  # fmt: skip
    assert own.seconds is not None
    return own.seconds


def version_of(library: str) -> str:
    """As MPI_Get_library_version says it."""
    return library.replace("MPICH", "MPICH Version")


def calls() -> Iterator[Call]:
    """All cells of the tables on all nodes, with those candidates for which there is a prediction, and more."""
    for each in [*records(EXSCANS), *records(LANES)]:
        call = Call(
            each["library"], each["collective"], int(each["nodes"]), int(each["ranks_per_node"]), each["candidate"],
            int(each["count"]),
        )  # fmt: skip
        is_known = call.candidate != NATIVE or native.rules_of(version_of(call.library)) is not None
        if call.nodes == NODES and is_known:
            yield call
            for more in MORE_CANDIDATES.get(call.collective, []):
                yield call._replace(candidate=more)


def cluster() -> Iterator[list[str]]:
    """Rows by library, collective, shape, candidate, count and way, under a head."""
    yield ["library", "collective", "nodes", "ranks_per_node", "candidate", "count", "way", "seconds"]
    for call in dict.fromkeys(calls()):
        for way in WAYS:
            if call.per_node > 1 or way != "few":
                yield [*map(str, call), way, f"{seconds(call, way):.6g}"]


# ------------------------------------------------------------------------------------------------ two trees

LATENCIES = (1 << 10, 1 << 12, 1 << 14)
"""Bytes that a link carries while a message is on its way, alpha / beta: the paper gives neither."""
LENGTHS = (1 << 20, 1 << 24)
TWO_TREES = "two_tree"
MORE_TREES = [("reduce", 150, "binary_blocks"), ("reduce", 128, TWO_TREES), ("reduce", 128, "butterfly")]
LONG = 8


def trees() -> Iterator[list[str]]:
    """Rows by collective, nodes, candidate, latency and length, under a head."""
    yield ["collective", "nodes", "candidate", "latency_bytes", "bytes", "seconds"]
    calls = [(each["collective"], int(each["nodes"]), each["candidate"]) for each in records(TREES)]
    bases = [(collective, nodes, TWO_TREES) for collective, nodes, _ in calls]
    for (collective, nodes, candidate), latency, length in itertools.product(
        dict.fromkeys([*bases, *calls, *MORE_TREES]), LATENCIES, LENGTHS
    ):
        beta = 1e-9  # any: times are told as ratios
        text = Machine(alpha=latency * beta, beta=beta, overhead=0, gamma=0).text()
        found = _core.predict(collective, candidate, nodes, length // LONG, text, element_bytes=LONG)
        yield [collective, str(nodes), candidate, str(latency), str(length), f"{found['seconds']:.6g}"]


PARTS: dict[str, Callable[[], Iterator[list[str]]]] = {"cluster": cluster, "trees": trees}


def write_machines(directory: Path) -> None:
    """Files for `rondo predict --machine`."""
    for library, way in itertools.product(TABLES, ("all", "few")):
        remarks = (
            f"36 nodes of 32 ranks with {library}, from cells of a paper's tables: docs/benchmarks/tables/papers.md.\n"
            "Written by docs/benchmarks/making/virtual_papers.py."
        )
        (directory / machine_file(library, way)).write_text(figures(library, way).text(remarks))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="part", help="cluster, trees; both")
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        for part in arguments.parts or PARTS:
            if part == "cluster":
                write_machines(arguments.output)
            with (arguments.output / f"virtual-papers-{part}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(PARTS[part]())
    except (Error, ValueError) as error:
        print(f"virtual_papers: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
