# SPDX-License-Identifier: BSD-3-Clause
"""Measures allreduce, reduce_scatter and allgather on emulated clusters, and writes docs/benchmarks/allreduce.md.

    python scripts/allreduce.py                      measure everything (an hour), then as `page`
    python scripts/allreduce.py measure map-sum      one experiment, or several
    python scripts/allreduce.py page                 tables and figures from the results in docs/benchmarks/data

It needs what `make install` sets up, and a machine that does nothing else (`rondo cluster check` says if it is fit).
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

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
from rondo.bench.maps import Map, Question, call_count, draw_up
from rondo.bench.results import NATIVE, Results, read
from rondo.cluster import shapes
from rondo.reports import map_figures, style

from rondo import _core

PAGE = PAGES / "allreduce.md"
RULES = ROOT / "tuning" / "default.rules"
NETWORK = "5ms:100Mbit"

SHORT = ["recursive_doubling", "recursive_multiplying:radix=4", "recursive_multiplying:radix=8"]
LONG = ["halving_doubling", "binary_blocks", "ring", "circulant", "two_tree"]
LONGEST = ["halving_doubling", "ring", "circulant"]
# What a long allreduce is made of.
HALVES = {
    "reduce_scatter": ["recursive_halving", "pairwise", "circulant", "ring"],
    "allgather": ["bruck", "recursive_doubling", "circulant", "ring"],
}
PROCESSES = (2, 3, 4, 5, 7, 8, 13, 16, 17, 27, 32, 33, 36)
MODES = ("lockstep", "overlapped")
IN_RULES = (5, 8, 13, 16, 36)


@dataclass(frozen=True)
class Experiment:
    """A run of `rondo bench` for each number of processes."""

    shape: str
    """Of the cluster, with {p} where the number of nodes goes."""
    processes: tuple[int, ...]
    algorithms: list[str]
    counts: str
    """Of the whole vector."""
    seconds: int
    """For each number of processes."""
    library: str = "mpich"
    type: str = "double"
    operator: str = "sum"
    repetitions: int = 6
    collective: str = "allreduce"

    @property
    def labels(self) -> list[str]:
        """Of all candidates, as results call them."""
        return [NATIVE, *self.algorithms]

    def counts_of_calls(self, processes: int) -> list[int]:
        """Of an allreduce, the whole vector's; of the others, of one rank's part."""
        return [call_count(self.collective, int(each), processes) for each in self.counts.split(",")]

    def words(self, processes: int, output: Path) -> list[str]:
        algorithms = [word for each in (NATIVE, *self.algorithms) for word in ("--algorithm", each)]
        return [
            str(RONDO), "bench", self.collective, *algorithms, "--type", self.type,
            "--counts", ",".join(str(each) for each in self.counts_of_calls(processes)),
            "--op", self.operator, "--start", "clock", "--warmup", "1", "--repetitions", str(self.repetitions),
            "--seconds", str(self.seconds), "--cluster", self.shape.format(p=processes),
            "--mpi", str(ROOT / ".toolchain" / self.library), "--output", str(output),
        ]  # fmt: skip


SHORT_SIZES = "1,128,2048"
SIZES = "1,128,2048,16384,131072,524288"
EXPERIMENTS = {
    "map-sum": Experiment(f"{{p}}x1:{NETWORK}", PROCESSES, SHORT + LONG, SIZES, 45),
    "map-maxloc": Experiment(
        f"{{p}}x1:{NETWORK}", (2, 3, 4, 5, 8, 13, 16, 33, 36), SHORT + LONG, "1,64,1024,8192,65536,262144", 40,
        type="double_int", operator="maxloc",
    ),
    # A longer latency: ranks of short calls start together well enough.
    **{
        f"short-{each}": Experiment("{p}x1:20ms:100Mbit", IN_RULES if each == "mpich" else (8, 36), SHORT,
                                    SHORT_SIZES, 12, library=each, repetitions=10)
        for each in LIBRARIES
    },
    "longest": Experiment(f"{{p}}x1:{NETWORK}", IN_RULES, LONGEST, "2097152", 35),
    **{
        f"long-8x1-{each}": Experiment("{p}x1:2ms:200Mbit", (8,), LONG, "524288", 30, library=each)
        for each in LIBRARIES
    },
    **{
        f"sizes-{each}": Experiment(
            f"{{p}}x1:{NETWORK}", (8, 36), [SHORT[2], *LONGEST], "1,128,2048,16384,131072,524288", 35, library=each
        )
        for each in ("openmpi", "impi")
    },
    **{f"longest-{each}": Experiment(f"{{p}}x1:{NETWORK}", (8, 36), LONGEST, "2097152", 40, library=each)
       for each in ("openmpi", "impi")},
    **{
        f"{collective}-{each}": Experiment(
            f"{{p}}x1:{NETWORK}", (5, 8, 13, 36) if each == "mpich" else (8, 36), algorithms,
            "128,2048,16384,131072,524288,2097152", 50, library=each, collective=collective,
        )
        for collective, algorithms in HALVES.items()
        for each in LIBRARIES
    },
}  # fmt: skip


def data_file(name: str, processes: int) -> Path:
    return DATA / f"allreduce-{name}-p{processes}.json"


def measure(names: Sequence[str]) -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    for name in names:
        for processes in EXPERIMENTS[name].processes:
            output = data_file(name, processes).with_suffix("")
            print(f"{name}, {processes} processes", flush=True)
            subprocess.run(EXPERIMENTS[name].words(processes, output), check=True)
            path = output.with_suffix(".json")
            path.write_text(path.read_text().replace(f"{ROOT}/", ""))  # the checkout may lie anywhere
            output.with_suffix(".csv").unlink()


# ------------------------------------------------------------------------------------------------ tables


def results_of(name: str, processes: int) -> Results:
    return read(data_file(name, processes))


def counts_of(experiment: Experiment) -> list[int]:
    return [int(each) for each in experiment.counts.split(",")]


def limit(experiment: Experiment, processes: int, size: int) -> float:
    """Milliseconds of a reduce-scatter and an allgather in ceil(log2 p) rounds each."""
    shape = shapes.parse(experiment.shape.format(p=processes))
    rounds = (processes - 1).bit_length()
    return 1e3 * (2 * rounds * shape.latency + 2 * size * shape.seconds_per_byte * (processes - 1) / processes)


def rows_of_limits() -> Iterator[list[str]]:
    asked = [(f"long-8x1-{each}", 8) for each in LIBRARIES]
    asked += [("map-sum", each) for each in (13, 27, 33, 36)] + [("longest", 36)]
    asked += [(f"{kind}-{each}", 36) for each in ("openmpi", "impi") for kind in ("sizes", "longest")]
    for name, processes in asked:
        experiment, count = EXPERIMENTS[name], max(counts_of(EXPERIMENTS[name]))
        found = by_label(results_of(name, processes), count)
        times = {each: minimum(found[each]) for each in experiment.labels if each in found}
        native = times.pop(NATIVE)
        best = min(times, key=lambda each, times=times: (math.isnan(times[each]), times[each]))
        bound = limit(experiment, processes, 8 * count)
        yield [
            experiment.shape.format(p=processes), LIBRARIES[experiment.library], style.bytes_text(8 * count),
            number(bound, 0), number(native, 0), f"`{best}` {number(times[best], 0)}",
            number(times[best] / bound, 2), number(native / times[best], 2),
        ]  # fmt: skip


def table_of_limits() -> str:
    head = ["cluster", "library", "bytes", "limit, ms", "native", "best of ours", "of the limit"]
    return markdown([[*head, "times as fast as native"], *rows_of_limits()])


def predicted(algorithm: str, processes: int, count: int, mode: str) -> float:
    """Milliseconds in virtual time, with what `rondo bench` takes for the processor's part of a message."""
    shape = shapes.parse(EXPERIMENTS["map-sum"].shape.format(p=processes))
    answer = _core.trace(
        "allreduce", algorithm, processes, count, element_bytes=8, root=0, commutative=True, in_place=False, mode=mode,
        most_messages=1_000_000, alpha=shape.latency, beta=shape.seconds_per_byte, gamma=0.0, overhead=4e-5,
    )  # fmt: skip
    return 1e3 * answer["time"]


def table_of_predictions() -> str:
    """1 MiB: in lock step, overlapped, and measured."""
    rows = [["p", "algorithm", "lock step, ms", "overlapped, ms", "measured, ms"]]
    count = 131072
    for processes in (13, 33):
        found = by_label(results_of("map-sum", processes), count)
        rows += [
            [str(processes), f"`{each}`", *(number(predicted(each, processes, count, mode), 0) for mode in MODES),
             number(minimum(found[each]), 0)]
            for each in ("halving_doubling", "binary_blocks", "circulant")
        ]  # fmt: skip
    return markdown(rows)


def chosen_by_rules(experiment: Experiment, processes: int, size: int) -> str:
    """What the default rules give such a call, as results label it."""
    choice = _core.choice_by_rules(
        RULES.read_text(), str(RULES), experiment.collective, size, processes, 1, True, experiment.library
    )
    name, _, settings = (choice or NATIVE).partition(":")
    return f"{name}:{settings}" if "radix" in settings else name


def cell_of_rules(name: str, processes: int, index: int) -> str:
    """Of the experiment's count with this index: native in milliseconds, and what the rules choose relative to it."""
    experiment = EXPERIMENTS[name]
    count = experiment.counts_of_calls(processes)[index]
    found = by_label(results_of(name, processes), count)
    native = minimum(found[NATIVE])
    parts = processes if experiment.collective in HALVES else 1
    chosen = chosen_by_rules(experiment, processes, 8 * count * parts)
    ratio = number(minimum(found[chosen]) / native, 2) if chosen in found else "?"
    return f"{number(native, 1)} ms, {chosen} {ratio}"


def table_of_rules(library: str) -> str:
    """Native in milliseconds, and what the default rules choose as ratio to it, processes across."""
    longer = ["map-sum", "longest"] if library == "mpich" else [f"sizes-{library}", f"longest-{library}"]
    sources = [f"short-{library}", *longer]
    processes = [each for each in IN_RULES if all(each in EXPERIMENTS[name].processes for name in sources)]
    rows = [["bytes", *(f"p = {each}" for each in processes)]]
    shown = set()
    for name in sources:
        for index, count in enumerate(counts_of(EXPERIMENTS[name])):
            if count not in shown:
                shown.add(count)
                cells = [cell_of_rules(name, each, index) for each in processes]
                rows.append([style.bytes_text(8 * count), *cells])
    return markdown(rows)


def table_of_half(collective: str) -> str:
    """The same for reduce_scatter or allgather, of all libraries."""
    names = [f"{collective}-{each}" for each in LIBRARIES]
    processes = sorted({each for name in names for each in EXPERIMENTS[name].processes})
    rows = [["library", "bytes", *(f"p = {each}" for each in processes)]]
    for name in names:
        experiment = EXPERIMENTS[name]
        for index, count in enumerate(counts_of(experiment)):
            cells = [cell_of_rules(name, each, index) if each in experiment.processes else "" for each in processes]
            rows.append([LIBRARIES[experiment.library], style.bytes_text(8 * count), *cells])
    return markdown(rows)


def table_of_environments() -> str:
    rows = [
        environment_row(f"{name}, p = {processes}", results_of(name, processes))
        for name, experiment in EXPERIMENTS.items()
        for processes in experiment.processes
    ]
    return markdown([ENVIRONMENT_HEAD, *rows])


def map_of(name: str) -> Map:
    experiment = EXPERIMENTS[name]
    question = Question(
        "allreduce", [NATIVE, *experiment.algorithms], counts_of(experiment), experiment.type, experiment.operator,
        "clock", experiment.shape.format(p="N"), "", experiment.library,
    )  # fmt: skip
    return draw_up(question, {each: results_of(name, each) for each in experiment.processes})


def filled(page: str) -> str:
    blocks = {"limits": table_of_limits, "predictions": table_of_predictions, "environments": table_of_environments}
    blocks |= {f"rules-{each}": partial(table_of_rules, each) for each in LIBRARIES}
    blocks |= {f"rules-{each}": partial(table_of_half, each) for each in HALVES}
    return page_filled(page, blocks, PAGE)


def write_page() -> None:
    PAGE.write_text(filled(PAGE.read_text()))
    for name in ("map-sum", "map-maxloc"):
        found = map_of(name)
        with tempfile.TemporaryDirectory() as directory:
            map_figures.draw(found, Path(directory), max(found.counts))
            for each in ("fastest", "bandwidth"):
                source = Path(directory) / f"{each}.png"
                (PAGES / "figures" / f"allreduce-{each}-{name}.png").write_bytes(source.read_bytes())


if __name__ == "__main__":
    sys.exit(main("allreduce", __doc__, list(EXPERIMENTS), measure, write_page))
