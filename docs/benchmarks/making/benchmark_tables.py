# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that show measurements: each takes a page and the options of its file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from chosen_today import chosen_by_rules
from measurements import DATA
from rondo.bench.pages import Page, Run
from rondo.bench.plans import DIVIDED, TYPES
from rondo.bench.results import NATIVE, read
from rondo.launching.mpi_library import NAMES
from rondo.reports import style
from table_parts import (
    by_label,
    family,
    labels,
    markdown,
    minimum,
    number,
    parted,
    quoted,
    ratio,
    results_of,
    valid,
    vector_text,
)

from rondo import _core


def counts_and_libraries(page: Page, experiment: str) -> str:
    """Per count and library: native in milliseconds, the others as ratios to it."""
    runs = page.runs_of(experiment)
    rows = [["m", "library", "native, ms", *quoted(runs[0].algorithms)]]
    for count in runs[0].counts:
        for run in runs:
            found = by_label(results_of(run), count)
            ratios = [ratio(found, each) for each in run.algorithms]
            rows.append([str(count), NAMES[run.library], number(minimum(found[NATIVE]), 2), *ratios])
    return markdown(rows)


def lanes_measured(page: Page, experiments: list[list[str]]) -> str:
    """The longest vector on one lane, in milliseconds, and how much faster it is on more.

    Each list names experiments, on one lane first; of the others count the libraries of that one. Of algorithms with a
    number of ports the fastest counts; it stands behind its time.
    """
    groups = [[page.runs_of(each) for each in names] for names in experiments]
    families = dict.fromkeys(family(each) for group in groups for run in group[0] for each in labels(run))
    rows = [["cluster", "collective", "library", "lanes", *quoted(list(families))]]
    for group in groups:
        for alone in group[0]:
            first = {name: _fastest(alone, name) for name in families}
            for run in (each for runs in group for each in runs if each.library == alone.library):
                cells = [_cell_of_lanes(_fastest(run, name), first[name], run is alone) for name in families]
                shape = f"{run.shape.nodes}x{run.shape.per_node}"
                rows.append([shape, run.collective, NAMES[run.library], str(run.shape.lanes), *cells])
    return markdown(rows)


def _fastest(run: Run, name: str) -> tuple[float, str]:
    """Milliseconds of the longest vector, and with which settings; NaN if there are none."""
    found = by_label(results_of(run), run.counts[-1])
    times = [(minimum(found[each]), each.partition("=")[2]) for each in labels(run) if family(each) == name]
    return min((each for each in times if not math.isnan(each[0])), default=(math.nan, ""))


def _cell_of_lanes(found: tuple[float, str], one_lane: tuple[float, str], is_first: bool) -> str:
    time, ports = found
    if math.isnan(time) or math.isnan(one_lane[0]):
        return ""
    text = f"{time:.1f}" if is_first else f"{one_lane[0] / time:.2f} times"
    return f"{text} ({ports})" if ports else text


def libraries(page: Page, experiment: str, unit: str, digits: int, more_rows: Sequence[list[str]] = ()) -> str:
    """One count: times per library, in milliseconds or in latencies of the network."""
    runs = page.runs_of(experiment)
    # Of algorithms that differ in their settings alone these.
    names = [each.partition(":")[2] or each for each in runs[0].algorithms]
    rows = [["library", "native", *quoted(names)]]
    for run in runs:
        found = by_label(results_of(run), run.counts[0])
        size = 1e3 * run.shape.latency if unit == "alpha" else 1.0
        rows.append([NAMES[run.library], *(number(minimum(found[each]) / size, digits) for each in labels(run))])
    return markdown([*rows, *more_rows])


def simulated(page: Page, files: str, candidates: list[str]) -> str:
    """Results of docs/benchmarks/making/simulated_scans.py in milliseconds, by ranks and count."""
    del page
    rows = [["ranks", "m", *quoted(candidates)]]
    for results in sorted(map(read, DATA.glob(files)), key=lambda each: each.environment.ranks):
        for count in sorted({each.count for each in results.configurations}):
            found = by_label(results, count)
            times = [f"{minimum(found[each]):.1f}" for each in candidates]
            rows.append([str(results.environment.ranks), str(count), *times])
    return markdown(rows)


def lengths(page: Page, experiments: list[str], collective: str) -> str:
    """Native in milliseconds, the others as ratios to it, and what the default rules choose.

    Of several clusters or libraries, each row says which.
    """
    runs = [run for each in experiments for run in page.runs_of(each) if run.collective == collective]
    algorithms = list(dict.fromkeys(each for run in runs for each in run.algorithms))
    several = len({(run.cluster, run.library) for run in runs}) > 1
    rows = [[*(["nodes", "library"] if several else []), "bytes", "native, ms", *quoted(algorithms), "default rules"]]
    for run in runs:
        results = results_of(run)
        for count in run.counts:
            found = by_label(results, count)
            chosen = chosen_by_rules(run, TYPES[run.experiment.type] * count)
            ratios = [ratio(found, each) for each in algorithms]
            native = number(minimum(found[NATIVE]), 1)
            where = [run.cluster.partition(":")[0], NAMES[run.library]] if several else []
            rows.append([*where, vector_text(run, count), native, *ratios, f"{chosen} {ratio(found, chosen) or '?'}"])
    return markdown(rows)


def rules(page: Page, experiments: list[str], processes: list[int]) -> str:
    """Native in milliseconds and what the default rules choose as ratio to it, with processes across.

    A length that several experiments of a library have is shown from the first.
    """
    runs = [run for each in experiments for run in page.runs_of(each) if run.processes in processes]
    several = len({each.library for each in runs}) > 1
    rows = [[*(["library"] if several else []), "bytes", *(f"p = {each}" for each in processes)]]
    shown = set()
    for name in experiments:
        found = {each.processes: each for each in runs if each.name == name}
        first = next(iter(found.values()))
        for index, count in enumerate(first.experiment.counts):
            if (first.library, count) not in shown:
                shown.add((first.library, count))
                cells = [_cell_of_rules(found[each], index) if each in found else "" for each in processes]
                rows.append([*([NAMES[first.library]] if several else []), vector_text(first, count), *cells])
    return markdown(rows)


def _cell_of_rules(run: Run, index: int) -> str:
    count = run.counts[index]
    found = by_label(results_of(run), count)
    chosen = _chosen_for(run, count)
    return f"{number(minimum(found[NATIVE]), 1)} ms, {chosen} {ratio(found, chosen) or '?'}"


def _chosen_for(run: Run, count: int) -> str:
    parts = run.shape.ranks if run.collective in DIVIDED else 1
    return chosen_by_rules(run, TYPES[run.experiment.type] * count * parts)


def across(page: Page, collective: str, experiments: list[str]) -> str:
    """Per cluster and library what the default rules choose, with lengths across, as `rules`.

    Of the experiments whose names begin so; of several that have a length, one that has measured what the rules
    choose, and the one that names most of its settings.
    """
    wanted = tuple(experiments)
    runs = [run for run in page.runs if run.collective == collective and run.name.startswith(wanted)]
    lengths = sorted({count for run in runs for count in run.experiment.counts})
    rows = [["cluster", "library", *(vector_text(runs[0], count) for count in lengths)]]
    for cluster, library in dict.fromkeys((run.cluster, run.library) for run in runs):
        alike = [run for run in runs if (run.cluster, run.library) == (cluster, library)]
        cells = [_cell_of_several([run for run in alike if count in run.experiment.counts], count) for count in lengths]
        rows.append([cluster.partition(":")[0], NAMES[library], *cells])
    return markdown(rows)


def _cell_of_several(runs: Sequence[Run], count: int) -> str:
    """Of the length that the experiments call by that count; nothing if none has it."""
    indices = [(run, run.experiment.counts.index(count)) for run in runs]
    if not indices:
        return ""

    def how_well(each: tuple[Run, int]) -> tuple[bool, int]:
        run, index = each
        chosen = _chosen_for(run, run.counts[index])
        return chosen in labels(run), len(parted(chosen)[1])

    return _cell_of_rules(*max(indices, key=how_well))


def by_cluster(page: Page, experiments: list[str]) -> str:
    """One count: milliseconds of all candidates, per cluster and library."""
    runs = [run for each in experiments for run in page.runs_of(each)]
    rows = [["cluster", "library", "native, ms", *quoted(runs[0].algorithms)]]
    for run in runs:
        found = by_label(results_of(run), run.counts[0])
        times = [number(minimum(found[each]), 1) for each in labels(run)]
        rows.append([run.cluster.partition(":")[0], NAMES[run.library], *times])
    return markdown(rows)


def own_lengths(page: Page, experiments: list[str]) -> str:
    """Per cluster, division and mean length of a part: native in milliseconds, the others as ratios to it.

    Of several libraries, each row says which.
    """
    runs = [run for each in experiments for run in page.runs_of(each)]
    several = len({run.library for run in runs}) > 1
    library = ["library"] if several else []
    rows = [["nodes", *library, "parts", "mean part", "native, ms", *quoted(runs[0].algorithms)]]
    for run in runs:
        for count in run.counts:
            found = by_label(results_of(run), count)
            length = style.bytes_text(TYPES[run.experiment.type] * count)
            ratios = [ratio(found, each) for each in run.algorithms]
            where = [run.cluster.partition(":")[0], *([NAMES[run.library]] if several else [])]
            rows.append([*where, run.experiment.parts, length, number(minimum(found[NATIVE]), 2), *ratios])
    return markdown(rows)


def limit(run: Run, bytes_: int) -> float:
    """Milliseconds of messages between nodes that overlap perfectly; those inside nodes take no time.

    Allreduce: a reduce-scatter and an allgather in ceil(log2 N) rounds each, for N nodes; these two take one half each.
    Scatter and gather: one latency, and all parts but those of its own node through the root's lanes; all-to-all: the
    same for all ranks of each node. Others: the vector once through each link, and the latencies to the last node.
    """
    shape = run.shape
    rounds = (shape.nodes - 1).bit_length()
    transfer = bytes_ * shape.seconds_per_byte / shape.lanes
    kind = run.collective.removesuffix("v")
    if kind in ("scatter", "gather", "alltoall"):
        of_a_node = transfer * (shape.per_node if kind == "alltoall" else 1)
        return 1e3 * (shape.latency + of_a_node * (shape.nodes - 1) / shape.nodes)
    if run.collective in ("allreduce", *DIVIDED):
        halves = 2 if run.collective == "allreduce" else 1
        return 1e3 * halves * (rounds * shape.latency + transfer * (shape.nodes - 1) / shape.nodes)
    hops = rounds if run.collective in ("bcast", "reduce") else shape.nodes - 1
    return 1e3 * (transfer + hops * shape.latency)


HEADS = {
    "cluster": "cluster", "library": "library", "collective": "collective", "bytes": "bytes", "limit": "limit, ms",
    "native": "native", "best": "smallest of ours", "of_limit": "of the limit", "of_native": "of native",
    "times_native": "times as fast as native", "valid": "n",
}  # fmt: skip


def limits(page: Page, columns: list[str], runs: list[dict[str, Any]]) -> str:
    """The longest vectors against the limit of overlap."""
    rows = [[HEADS[each] for each in columns]]
    for wanted in runs:
        for run in page.runs_of(wanted["experiment"]):
            if run.processes in wanted.get("processes", [run.processes]):
                cells = _cells_of_limits(run)
                rows.append([cells[each] for each in columns])
    return markdown(rows)


def _cells_of_limits(run: Run) -> dict[str, str]:
    count = max(run.counts)
    found = by_label(results_of(run), count)
    times = {each: minimum(found[each]) for each in labels(run) if each in found}
    native = times.pop(NATIVE)
    best = min(times, key=lambda each: (math.isnan(times[each]), times[each]))
    parts = run.shape.ranks if run.collective in DIVIDED else 1
    bound = limit(run, TYPES[run.experiment.type] * count * parts)
    return {
        "cluster": run.cluster,
        "library": NAMES[run.library],
        "collective": run.collective,
        "bytes": vector_text(run, count * parts),
        "limit": number(bound, 0),
        "native": number(native, 0),
        "best": f"`{best}` {number(times[best], 0)}",
        "of_limit": number(times[best] / bound, 2),
        "of_native": number(times[best] / native, 2),
        "times_native": number(native / times[best], 2),
        "valid": valid(found[NATIVE], found[best]),
    }


def trees(page: Page, experiment: str, one_tree: dict[str, str]) -> str:
    """Two trees against one, for the longest vector."""
    rows = [["library", "collective", "one tree", "ms", "two trees, ms", "times the bandwidth", "n"]]
    for run in page.runs_of(experiment):
        found = by_label(results_of(run), run.counts[-1])
        one = one_tree[run.collective]
        single, double = minimum(found[one]), minimum(found["two_tree"])
        times = [number(single, 0), number(double, 0), number(single / double, 2), valid(found[one], found["two_tree"])]
        rows.append([NAMES[run.library], run.collective, f"`{one}`", *times])
    return markdown(rows)


def predictions(page: Page, experiment: str, processes: list[int], count: int, algorithms: list[str]) -> str:
    """In lock step, overlapped, and measured."""
    rows = [["p", "algorithm", "lock step, ms", "overlapped, ms", "measured, ms"]]
    for run in page.runs_of(experiment):
        if run.processes in processes:
            found = by_label(results_of(run), count)
            for each in algorithms:
                times = [_predicted(run, each, count, mode) for mode in ("lockstep", "overlapped")]
                rows.append([str(run.processes), f"`{each}`", *(number(t, 0) for t in (*times, minimum(found[each])))])
    return markdown(rows)


def _predicted(run: Run, algorithm: str, count: int, mode: str) -> float:
    """Milliseconds in virtual time, with what `rondo bench` takes for the processor's part of a message."""
    answer = _core.trace(
        run.collective, algorithm, run.processes, count, element_bytes=TYPES[run.experiment.type], root=0,
        commutative=True, in_place=False, mode=mode, most_messages=1_000_000, alpha=run.shape.latency,
        beta=run.shape.seconds_per_byte, gamma=0.0, overhead=4e-5,
    )  # fmt: skip
    return 1e3 * answer["time"]


def environments(page: Page) -> str:
    """Of each measurement the library, the fitted network, and how many repetitions were invalid and wrong."""
    rows = [["experiment", "library", "fitted alpha, ms", "fitted beta, ns a byte", "invalid", "wrong"]]
    for run in page.runs:
        results = results_of(run)
        network, configurations = results.environment.network, results.configurations
        figures = [f"{1e3 * network.latency:.2f}", f"{1e9 * network.seconds_per_byte:.1f}"] if network else ["", ""]
        invalid = sum(each.invalid() for each in configurations)
        total = sum(len(each.repetitions) for each in configurations)
        wrong = str(sum(each.wrong() for each in configurations))
        rows.append([run.title, results.environment.library, *figures, f"{invalid} of {total}", wrong])
    return markdown(rows)


KINDS: dict[str, Callable[..., str]] = {
    each.__name__: each
    for each in (
        counts_and_libraries, libraries, by_cluster, own_lengths, simulated, lengths, rules, across, limits, trees,
        predictions, environments, lanes_measured,
    )
}  # fmt: skip
