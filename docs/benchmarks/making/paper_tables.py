# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that hold what papers measured, most of them beside virtual time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from computed_tables import records
from measurements import DATA
from predicted_tables import HEAD, Candidate, Cell, order_of
from rondo.bench.pages import Page
from rondo.bench.results import NATIVE
from rondo.bench.statistics import SMALLEST_DIFFERENCE
from rondo.cluster import shapes
from rondo.machine import machine
from rondo.reports.style import bytes_text
from table_parts import markdown, quoted
from virtual_papers import TABLES, TWO_TREES, machine_file

Times = dict[tuple[str, str], float]  # by count and candidate

FULL = "36x32"
IN_ORDER = "pairs in order"


def published(file: str, collective: str, shape: str = FULL) -> dict[tuple[str, str, str], float]:
    """Least times of a paper on nodes of this shape, microseconds: by library, count and candidate."""
    return {
        (each["library"], each["count"], each["candidate"]): float(each["minimum_us"])
        for each in records(file)
        if each["collective"] == collective and _shape(each) == shape
    }


def computed(file: str, library: str, collective: str, way: str, shape: str) -> Times:
    """Those of virtual_papers.py, microseconds."""
    wanted = library, collective, way, shape
    return {
        (each["count"], each["candidate"]): 1e6 * float(each["seconds"])
        for each in records(file)
        if (each["library"], each["collective"], each["way"], _shape(each)) == wanted
    }


def _shape(row: dict[str, str]) -> str:
    return f"{row['nodes']}x{row['ranks_per_node']}"


# ------------------------------------------------------------------------------------------------ kinds of tables


def beside_paper(
    page: Page, *, file: str, literature: str, library: str, collective: str, base: str, candidates: list[str],
    ways: list[str], shape: str = FULL,
) -> str:  # fmt: skip
    """Times as ratios to those of `base`: of the paper / in virtual time in each of some ways.

    The second column is the time of `base` in virtual time, as a ratio to the paper's. A dash: the paper has no time.
    """
    del page
    paper = {
        (count, each): time for (of, count, each), time in published(literature, collective, shape).items()
        if of == library
    }  # fmt: skip
    found = [computed(file, library, collective, way, shape) for way in ways]
    rows = [["c", f"`{base}` here, of the paper's", *quoted(candidates)]]
    for count in dict.fromkeys(count for count, _ in paper):
        scales = " / ".join(f"{times[count, base] / paper[count, base]:.2f}" for times in found)
        ratios = [
            " / ".join(
                f"{times[count, each] / times[count, base]:.2f}" if (count, each) in times else "-"
                for times in (paper, *found)
            )
            for each in candidates
        ]
        rows.append([count, scales, *ratios])
    return markdown(rows)


def published_ratios(page: Page, literature: str, collective: str, candidates: list[str], counts: list[int]) -> str:
    """Least times of a paper on all its nodes, per library: native in microseconds, the others as ratios to it."""
    del page
    rows = [["c", "library", "native, µs", *quoted(candidates)]]
    found = published(literature, collective)
    for count, library in itertools.product(map(str, counts), dict.fromkeys(library for library, _, _ in found)):
        native = found[library, count, NATIVE]
        ratios = [f"{found[library, count, each] / native:.2f}" for each in candidates]
        rows.append([count, library, f"{native:.1f}", *ratios])
    return markdown(rows)


def paper_machines(page: Page) -> str:
    """The figures of the machine files that virtual_papers.py derives from cells."""
    del page
    found = [[machine.read(DATA / machine_file(library, way)) for library in TABLES] for way in ("all", "few")]
    common = {
        "latency between nodes, µs": [f"{1e6 * each.alpha:.2f}" for each in found[0]],
        "processor's time for a message, at either end, µs": [f"{1e6 * each.overhead:.2f}" for each in found[0]],
        "a byte on one lane, ns": [f"{1e9 * each.beta:.3f}" for each in found[0]],
        "a byte that an operator produces, ns": [f"{1e9 * each.gamma:.3f}" for each in found[0]],
    }
    rows = [["", *TABLES], *([name, *cells] for name, cells in common.items())]
    for way, machines in zip(("all", "few"), found, strict=True):
        inside = [(each.beta, each.beta_inside or 0.0) for each in machines]
        rows.append([f"a byte inside a node, *{way}*, ns", *(f"{1e9 * byte:.3f}" for _, byte in inside)])
        rows.append([f"r, *{way}*", *(f"{lane / byte:.2f}" for lane, byte in inside)])
        rows.append([f"machine file, *{way}*", *(f"`{machine_file(library, way)}`" for library in TABLES)])
    return markdown(rows)


def papers_order(page: Page, file: str, tables: list[dict[str, Any]]) -> str:
    """How often the paper's fastest is among the model's first, and how many pairs are in the paper's order."""
    del page
    rows = [["", "way", *HEAD, IN_ORDER]]
    for table in tables:
        literature, collective, shape = table["literature"], table["collective"], table.get("shape", FULL)
        of_paper = published(literature, collective, shape)
        for library, way in itertools.product(dict.fromkeys(library for library, _, _ in of_paper), table["ways"]):
            times = computed(file, library, collective, way, shape)
            paper = {(count, each): time for (of, count, each), time in of_paper.items() if of == library}
            cells = [
                Cell(
                    literature, collective, library, shapes.parse(f"{shape}:0us:100Gbit"), int(count), "", decided=True,
                    candidates=tuple(_candidates(count, paper, times)),
                )
                for count in dict.fromkeys(count for count, _ in paper)
            ]  # fmt: skip
            rows.append([f"{collective}, {shape}, {library}", way, *order_of(cells), _in_order(cells)])
    return markdown(rows)


def _candidates(count: str, paper: Times, times: Times) -> list[Candidate]:
    """The paper's algorithms, but native, in the order of the predictions."""
    names = [each for of, each in paper if of == count and each != NATIVE]
    most = (1 + SMALLEST_DIFFERENCE) * min(paper[count, each] for each in names)
    found = [Candidate(each, times[count, each], paper[count, each], paper[count, each] <= most) for each in names]
    return sorted(found, key=lambda each: (each.predicted, each.label))


def _in_order(cells: list[Cell]) -> str:
    """The share of pairs of which the times differ enough, the paper's and those in virtual time."""
    pairs = [
        one.measured < other.measured
        for cell in cells
        for one, other in itertools.combinations(cell.candidates, 2)  # in the order of the predicted times
        if _differ(one.measured, other.measured) and _differ(one.predicted, other.predicted)
    ]
    return f"{100 * sum(pairs) / len(pairs):.0f}% of {len(pairs)}" if pairs else "-"


def _differ(one: float, other: float) -> bool:
    return max(one, other) > (1 + SMALLEST_DIFFERENCE) * min(one, other)


def two_trees(page: Page, file: str, literature: str) -> str:
    """The time of each algorithm over that of two trees: in the paper's words / in virtual time, by length."""
    del page
    times: dict[tuple[str, ...], dict[tuple[str, str], float]] = {}
    for each in records(file):
        found = times.setdefault((each["collective"], each["nodes"], each["candidate"]), {})
        found[each["latency_bytes"], each["bytes"]] = float(each["seconds"])
    lengths = dict.fromkeys(length for found in times.values() for _, length in found)
    heads = [bytes_text(int(length)) for length in lengths]
    rows = [["figure", "nodes", "collective", "algorithm", "paper", *heads]]
    for each in records(literature):
        call = each["collective"], each["nodes"]
        base = times[(*call, TWO_TREES)]
        ratios = {cell: time / base[cell] for cell, time in times[(*call, each["candidate"])].items()}
        shown = []
        for length in lengths:
            of_length = [ratio for (_, other), ratio in ratios.items() if other == length]
            shown.append(f"{min(of_length):.2f} to {max(of_length):.2f}")
        where = f"{each['nodes']}, {each['network']}"
        rows.append([each["figure"], where, each["collective"], f"`{each['candidate']}`", each["paper"], *shown])
    return markdown(rows)


KINDS: dict[str, Callable[..., str]] = {
    each.__name__: each for each in (beside_paper, published_ratios, paper_machines, papers_order, two_trees)
}
