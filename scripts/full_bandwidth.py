# SPDX-License-Identifier: BSD-3-Clause
"""Measures broadcast, reduction and scans on emulated clusters, and writes docs/benchmarks/full-bandwidth.md.

    python scripts/full_bandwidth.py                      measure everything (an hour), then as `page`
    python scripts/full_bandwidth.py measure 8x1-mpich    one experiment, or several
    python scripts/full_bandwidth.py page                 tables and figures from the results in docs/benchmarks/data

It needs what `make install` sets up, and a machine that does nothing else (`rondo cluster check` says if it is fit).
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib
from benchmark_page import (
    DATA,
    ENVIRONMENT_HEAD,
    LIBRARIES,
    PAGES,
    RONDO,
    ROOT,
    by_label,
    environment_row,
    main,
    markdown,
    minimum,
    number,
)
from benchmark_page import filled as page_filled
from rondo.bench.results import NATIVE, Results, read
from rondo.cluster import shapes
from rondo.reports import figures as report_figures
from rondo.reports import sections, style

from rondo import _core

PAGE = PAGES / "full-bandwidth.md"
RULES = ROOT / "tuning" / "default.rules"

ALGORITHMS = {
    "bcast": [
        "binomial", "scatter_allgather", "pipelined_binary_tree", "split_tree", "linear_pipeline", "two_tree",
        "circulant",
    ],
    "reduce": ["binomial", "butterfly", "pipelined_binary_tree", "linear_pipeline", "two_tree", "circulant"],
    "scan": ["doubling", "pipelined_binary_tree", "doubly_pipelined_tree", "linear_pipeline", "two_tree"],
    "exscan": [
        "two_op_doubling", "doubling_123", "cyclic_doubling", "doubly_pipelined_tree", "linear_pipeline", "two_tree",
    ],
}  # fmt: skip
FASTEST = {
    "bcast": ["linear_pipeline", "two_tree", "circulant"],
    "reduce": ["linear_pipeline", "two_tree", "circulant"],
    "scan": ["doubling", "linear_pipeline", "two_tree"],
    "exscan": ["two_op_doubling", "cyclic_doubling", "linear_pipeline", "two_tree"],
}
PIPELINES = {
    "bcast": ["linear_pipeline", "two_tree", "circulant"],
    "reduce": ["linear_pipeline", "two_tree", "circulant"],
    "scan": ["doubly_pipelined_tree", "linear_pipeline", "two_tree"],
    "exscan": ["doubly_pipelined_tree", "linear_pipeline", "two_tree"],
}


@dataclass(frozen=True)
class Experiment:
    """Runs of `rondo bench`, one for each collective."""

    shape: str
    algorithms: dict[str, list[str]]
    counts: str
    seconds: int
    repetitions: int

    def words(self, collective: str, library: str, output: Path) -> list[str]:
        algorithms = [word for each in ("native", *self.algorithms[collective]) for word in ("--algorithm", each)]
        operator = [] if collective == "bcast" else ["--op", "sum"]
        return [
            str(RONDO), "bench", collective, *algorithms, "--counts", self.counts, "--type", "long", *operator,
            "--start", "clock", "--repetitions", str(self.repetitions), "--seconds", str(self.seconds),
            "--cluster", self.shape, "--mpi", str(ROOT / ".toolchain" / library), "--output", str(output),
        ]  # fmt: skip


NODES_8, NODES_28, NODES_36 = "8x1:2ms:200Mbit", "28x1:10ms:100Mbit", "36x1:10ms:100Mbit"
NODES_36_LONG = "36x1:5ms:100Mbit"
SIZES = "1,128,1024,8192,65536"
LONG, LONGEST = "524288", "2097152"
EXPERIMENTS = {
    **{f"long-8x1-{each}": Experiment(NODES_8, FASTEST, LONG, 20, 10) for each in LIBRARIES},
    **{f"long-36x1-{each}": Experiment(NODES_36_LONG, PIPELINES, LONGEST, 90, 8) for each in LIBRARIES},
    "8x1-mpich": Experiment(NODES_8, ALGORITHMS, SIZES, 15, 8),
    "8x1-openmpi": Experiment(NODES_8, FASTEST, SIZES, 12, 8),
    "8x1-impi": Experiment(NODES_8, FASTEST, SIZES, 12, 8),
    **{f"28x1-{each}": Experiment(NODES_28, ALGORITHMS, "128,8192,65536,524288", 40, 4) for each in LIBRARIES},
    **{f"36x1-{each}": Experiment(NODES_36, FASTEST, "1,1024,8192,65536,524288", 35, 4) for each in LIBRARIES},
    **{f"16mib-8x1-{each}": Experiment(NODES_8, PIPELINES, LONGEST, 20, 4) for each in LIBRARIES},
}


# What makes one table: experiments by the beginning of their names, the shorter vectors first.
TABLES = {"8x1": ("8x1", "long-8x1", "16mib-8x1"), "28x1": ("28x1",), "36x1": ("36x1", "long-36x1")}


def library_of(name: str) -> str:
    return name.rpartition("-")[2]


def data_file(name: str, collective: str) -> Path:
    return DATA / f"bandwidth-{collective}-{name}.json"


def measure(names: Sequence[str]) -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    for name in names:
        for collective in ALGORITHMS:
            output = data_file(name, collective).with_suffix("")
            print(f"{name}, {collective}", flush=True)
            words = EXPERIMENTS[name].words(collective, library_of(name), output)
            subprocess.run(words, check=True)
            path = output.with_suffix(".json")
            path.write_text(path.read_text().replace(f"{ROOT}/", ""))  # the checkout may lie anywhere
            output.with_suffix(".csv").unlink()


# ------------------------------------------------------------------------------------------------ tables


def results_of(name: str, collective: str) -> Results:
    return read(data_file(name, collective))


def bytes_text(count: int) -> str:
    return style.bytes_text(8 * count)


def chosen_by_rules(experiment: Experiment, library: str, collective: str, count: int) -> str:
    """The algorithm that the default rules give such a call."""
    ranks = shapes.parse(experiment.shape).ranks
    choice = _core.choice_by_rules(RULES.read_text(), str(RULES), collective, 8 * count, ranks, 1, True, library)
    return (choice or NATIVE).partition(":")[0]


def table_of_ratios(table: str, library: str, collective: str) -> str:
    """Native in milliseconds, the others as ratios to it, and what the default rules choose."""
    names = [f"{each}-{library}" for each in TABLES[table]]
    algorithms = list(dict.fromkeys(each for name in names for each in EXPERIMENTS[name].algorithms[collective]))
    rows = [["bytes", "native, ms", *(f"`{each}`" for each in algorithms), "default rules"]]
    for name in names:
        experiment, results = EXPERIMENTS[name], results_of(name, collective)
        for count in map(int, experiment.counts.split(",")):
            found = by_label(results, count)
            native = minimum(found[NATIVE])
            ratios = [number(minimum(found[each]) / native, 2) if each in found else "" for each in algorithms]
            chosen = chosen_by_rules(experiment, library, collective, count)
            shown = number(minimum(found[chosen]) / native, 2) if chosen in found else "?"
            rows.append([bytes_text(count), number(native, 1), *ratios, f"{chosen} {shown}"])
    return markdown(rows)


def limit(collective: str, shape: shapes.Shape, count: int) -> float:
    """Milliseconds of messages that overlap perfectly: the vector once, and the latencies to the last rank."""
    hops = (shape.ranks - 1).bit_length() if collective in ("bcast", "reduce") else shape.ranks - 1
    return 1e3 * (8 * count * shape.seconds_per_byte + hops * shape.latency)


def table_of_limits() -> str:
    """Long vectors against the limit of overlap."""
    head = ["cluster", "bytes", "collective", "limit, ms", "library", "native", "best of ours", "of the limit"]
    rows = [[*head, "of native"]]
    for name, experiment in EXPERIMENTS.items():
        if not name.startswith("long-"):
            continue
        shape, count = shapes.parse(experiment.shape), int(experiment.counts)
        for collective, algorithms in experiment.algorithms.items():
            found = by_label(results_of(name, collective), count)
            times = {each: minimum(found[each]) for each in (NATIVE, *algorithms)}
            best = min(algorithms, key=lambda each, times=times: (math.isnan(times[each]), times[each]))
            bound = limit(collective, shape, count)
            rows.append([
                experiment.shape, bytes_text(count), collective, number(bound, 0), LIBRARIES[library_of(name)],
                number(times[NATIVE], 0), f"`{best}` {number(times[best], 0)}", number(times[best] / bound, 2),
                number(times[best] / times[NATIVE], 2),
            ])  # fmt: skip
    return markdown(rows)


ONE_TREE = {"bcast": "pipelined_binary_tree", "reduce": "pipelined_binary_tree",
            "scan": "doubly_pipelined_tree", "exscan": "doubly_pipelined_tree"}  # fmt: skip


def table_of_trees() -> str:
    """Two trees against one, for the longest vector on 28 nodes."""
    rows = [["library", "collective", "one tree", "ms", "two trees, ms", "times the bandwidth"]]
    for library in LIBRARIES:
        experiment = EXPERIMENTS[f"28x1-{library}"]
        for collective, one in ONE_TREE.items():
            found = by_label(results_of(f"28x1-{library}", collective), int(experiment.counts.split(",")[-1]))
            single, double = minimum(found[one]), minimum(found["two_tree"])
            rows.append([
                LIBRARIES[library], collective, f"`{one}`", number(single, 0), number(double, 0),
                number(single / double, 2),
            ])  # fmt: skip
    return markdown(rows)


def table_of_environments() -> str:
    rows = [
        environment_row(f"{name}, {collective}", results_of(name, collective))
        for name in EXPERIMENTS
        for collective in ALGORITHMS
    ]
    return markdown([ENVIRONMENT_HEAD, *rows])


def filled(page: str) -> str:
    blocks = {
        f"{collective}-{table}-{library}": partial(table_of_ratios, table, library, collective)
        for table in TABLES
        for library in LIBRARIES
        for collective in ALGORITHMS
    }
    return page_filled(
        page,
        {**blocks, "limits": table_of_limits, "trees": table_of_trees, "environments": table_of_environments},
        PAGE,
    )


def draw_bandwidth(name: str, collective: str) -> None:
    """Vector length over time of the slowest rank, as the paper's figures 5 to 9."""
    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    results = results_of(name, collective)
    counts = [int(each) for each in EXPERIMENTS[name].counts.split(",") if int(each) >= 128]
    labels = [NATIVE, *EXPERIMENTS[name].algorithms[collective]]
    with pyplot.rc_context(report_figures.SETTINGS):
        figure, axes = pyplot.subplots(figsize=(4.8, 3.2))
        for number_of, label in enumerate(labels):
            rates = [8e-3 * count / minimum(by_label(results, count)[label]) for count in counts]
            colour, shape = "#000000", "circle"
            if label != NATIVE:
                colour = style.COLOURS[(number_of - 1) % len(style.COLOURS)]
                shape = style.MARKERS[(number_of - 1) % len(style.MARKERS)]
            marker, size = report_figures.MARKERS[shape]
            sizes = [8 * count for count in counts]
            axes.plot(sizes, rates, label=label, color=colour, marker=marker, markersize=size, linewidth=1)
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xticks([8 * count for count in counts], [bytes_text(count) for count in counts])
        axes.set_xlabel("vector")
        axes.set_ylabel("MB/s")
        axes.legend(fontsize="small")
        environment = results.environment
        axes.set_title(
            f"MPI_{collective.capitalize()}, {sections.library_text(environment)}, {EXPERIMENTS[name].shape}"
        )
        path = PAGES / "figures" / f"bandwidth-{collective}-{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.tight_layout()
        figure.savefig(path, dpi=160)
        pyplot.close(figure)


def write_page() -> None:
    PAGE.write_text(filled(PAGE.read_text()))
    for name in ("8x1-mpich", "28x1-mpich", "28x1-openmpi", "28x1-impi", "36x1-mpich"):
        for collective in ALGORITHMS:
            draw_bandwidth(name, collective)


if __name__ == "__main__":
    sys.exit(main("full_bandwidth", __doc__, list(EXPERIMENTS), measure, write_page))
