# SPDX-License-Identifier: BSD-3-Clause
"""rondo.distribution and `rondo distribution`: how a distributed array should lie."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import statistics
from pathlib import Path

import pytest
from rondo.distributions import distribution as distributions
from rondo.distributions.prefix_sum import CHAIN, PrefixSum
from rondo.errors import Error
from rondo.machine import machine
from rondo.machine.machine import Machine
from scipy import optimize
from script_loader import script

import rondo as package
from rondo import _core

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "benchmarks" / "data"
ALPHA = 1e-3
LATENCY_ALONE = Machine(alpha=ALPHA, beta=0, overhead=0, gamma=0)
PASSES = [(1e-6, 1e-6), (4e-6, 1e-6), (2e-7, 2e-6)]


def subject(ranks: int, passes: tuple[float, float] = PASSES[0], figures: Machine = LATENCY_ALONE) -> PrefixSum:
    return PrefixSum(ranks, figures, *passes)


def least_time(prefix_sum: PrefixSum, algorithm: str, elements: int) -> float:
    """By linear programming: the ways from every rank to every other are seen where the one comes very late."""
    ranks, late = prefix_sum.ranks, 10**6
    rows, limits = [], []
    for first in range(ranks):
        counts = [late * (rank == first) for rank in range(ranks)]
        times = dataclasses.replace(prefix_sum, first_pass=1.0, second_pass=0.0).timeline(algorithm, counts).times
        for second, time in enumerate(times):
            if time.prefix < late:
                continue
            row = [0.0] * (ranks + 1)
            row[first] += prefix_sum.first_pass
            row[second] += prefix_sum.second_pass
            row[ranks] = -1.0
            rows.append(row)
            limits.append(-(time.prefix - late))
    found = optimize.linprog(
        [0.0] * ranks + [1.0], A_ub=rows, b_ub=limits, A_eq=[[1.0] * ranks + [0.0]], b_eq=[elements],
        bounds=[(0, None)] * ranks + [(None, None)],
    )  # fmt: skip
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("algorithm", [each["name"] for each in _core.algorithms("exscan")])
def test_best_is_what_linear_programming_finds(algorithm, passes):
    for ranks in (2, 5, 16):
        prefix_sum = subject(ranks, passes)
        elements = round(40 * ALPHA / prefix_sum.both) * ranks
        even = prefix_sum.timeline(algorithm, _core.even(elements, ranks)).seconds
        best = prefix_sum.timeline(algorithm, prefix_sum.best(algorithm, elements)).seconds
        least = least_time(prefix_sum, algorithm, elements)
        assert best <= least + 0.01 * (even - prefix_sum.computing(elements)) + 3 * prefix_sum.both
        assert best >= least - 3 * prefix_sum.both


@pytest.mark.parametrize("passes", PASSES)
def test_a_tent_over_a_chain_is_what_linear_programming_finds(passes):
    for ranks in (2, 7, 12):
        prefix_sum = subject(ranks, passes)
        elements = 40_000 * ranks
        tent = prefix_sum.timeline(CHAIN, distributions.counts_of(prefix_sum, elements, "tent", CHAIN)).seconds
        assert tent == pytest.approx(least_time(prefix_sum, CHAIN, elements), abs=3 * prefix_sum.both)
        hidden = ranks * ALPHA / 2
        assert tent == pytest.approx(prefix_sum.computing(elements) + hidden, abs=0.5 * ALPHA)


def test_the_ladder_of_the_paper_gains_nothing_with_equal_passes_and_half_the_chain_without_a_second():
    for passes, gain in (((1e-6, 1e-6), 0.0), ((1e-6, 0.0), 0.5), ((1e-6, 5e-7), 0.25)):
        prefix_sum = subject(600, passes)
        elements = 10_000_000 * 600
        even, ladder = (
            prefix_sum.timeline(CHAIN, distributions.counts_of(prefix_sum, elements, how, CHAIN)).seconds
            for how in ("even", "ladder")
        )
        assert even - ladder == pytest.approx(gain * 599 * ALPHA, abs=2e-5)


def test_six_hundred_ranks_are_quick(benchmark_seconds=2.0):
    import time  # noqa: PLC0415

    prefix_sum = subject(600)
    start = time.perf_counter()
    counts = prefix_sum.best("two_op_doubling", 600_000_000)
    assert time.perf_counter() - start < benchmark_seconds
    assert sum(counts) == 600_000_000


def test_programs_get_counts_and_offsets():
    found = package.distribution(1000, 4, "tent", algorithm=CHAIN, machine=None)
    assert sum(found.counts) == 1000
    assert found.offsets == (0, found.counts[0], sum(found.counts[:2]), sum(found.counts[:3]))
    assert (found.how, found.algorithm) == ("tent", CHAIN)
    assert found.seconds > 0
    assert package.distribution(10, 4, "even").counts == (3, 3, 2, 2)
    assert package.distribution(0, 3).counts == (0, 0, 0)


def test_best_takes_the_best_algorithm(tmp_path):
    path = tmp_path / "machine"
    path.write_text("alpha = 1e-3\nbeta = 0\noverhead = 0\n")
    common = {"machine": path, "first_pass": 1e-6, "second_pass": 1e-6}
    found = package.distribution(40_000 * 16, 16, **common)
    chain = package.distribution(40_000 * 16, 16, algorithm=CHAIN, **common)
    assert found.algorithm != CHAIN
    assert found.seconds < chain.seconds - 4 * ALPHA
    for each in _core.algorithms("exscan"):
        other = package.distribution(40_000 * 16, 16, algorithm=each["name"], **common)
        assert found.seconds <= other.seconds + 0.02 * ALPHA, each["name"]


def test_passes_are_those_of_the_machine_file(tmp_path, monkeypatch):
    path = tmp_path / "machine"
    path.write_text("alpha = 1\nbeta = 0\nfirst_pass = 0.5\nsecond_pass = 0.25\n")
    monkeypatch.setenv("RONDO_MACHINE", str(path))
    found = package.distribution(80, 1, "even", element_bytes=4)
    assert found.seconds == pytest.approx(80 * 4 * 0.75)
    assert package.distribution(80, 1, "even", element_bytes=4, first_pass=0.0).seconds == pytest.approx(80.0)
    old = tmp_path / "old"
    old.write_text("alpha = 1\nbeta = 0\n")  # of the time before passes were measured
    standard = machine.standard()
    assert package.distribution(80, 1, "even", machine=old).seconds == pytest.approx(
        640 * (standard.first_pass + standard.second_pass)
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"n": -1}, "n=-1: expected the elements of the array, at least 0"),
        ({"n": 1.5}, "n=1.5: expected the elements"),
        ({"comm": 0}, "comm=0: expected a number of ranks or a communicator of mpi4py, at least 1"),
        ({"comm": "world"}, "comm='world': expected"),
        ({"how": "stairs"}, "distribution 'stairs': expected even, ladder"),
        ({"how": "tent:step=3"}, "distribution 'tent:step=3': expected even"),
        ({"how": "ladder:step=x"}, "'x' is not a number"),
        ({"algorithm": "native"}, "not known"),
        ({"algorithm": "no_such"}, "no_such"),
        ({"machine": "/no/such/machine"}, "cannot read the machine file"),
        ({"first_pass": -1.0}, "none below 0"),
        ({"first_pass": math.nan}, "none below 0"),
        ({"nodes": "3x3"}, "9 ranks"),
        ({"nodes": (2, 2)}, "nodes=\\(2, 2\\): expected where"),
        ({"nodes": "two"}, "two"),
        ({"element_bytes": 0}, "element_bytes=0"),
        ({"n": 1 << 63}, "n=9223372036854775808: expected the elements of the array, at most"),
        ({"comm": 20_000}, "comm=20000: expected a number of ranks"),
        ({"first_pass": "1"}, "passes of 1 and"),
        ({"first_pass": 0, "second_pass": 0}, "passes of 0 and 0 seconds an element: expected none below 0, and one"),
        ({"how": None}, "how=None: expected even"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint):
    with pytest.raises(Error, match=complaint):
        package.distribution(**{"n": 100, "comm": 4, "algorithm": CHAIN, **arguments})
    if "algorithm" not in arguments:
        with pytest.raises(Error, match=complaint):
            package.distribution(**{"n": 100, "comm": 4, **arguments})


def test_an_algorithm_that_is_no_name_is_refused():
    with pytest.raises(Error, match="algorithm=None: expected an exclusive scan"):
        package.distribution(100, 4, algorithm=None)


def test_one_rank_takes_nothing_beyond_computing(rondo):
    rows = rondo("distribution", "-n", 1, "--count", 10).stdout.splitlines()[4:]
    assert rows
    assert all(" 0 µs " in row and "0.00" not in row.replace("0.024", "") for row in rows)


def test_the_command_shows_a_table_counts_and_json(rondo, tmp_path):
    words = ["distribution", "-n", 8, "--count", "8000", "--cluster", "8x1:2ms:200Mbit", "--first-pass", 4e-5,
             "--second-pass", 4e-5]  # fmt: skip
    shown = rondo(*words, "--algorithm", CHAIN, "--how", "even", "--how", "tent", "--counts").stdout
    assert "8000 elements on 8 ranks" in shown
    assert "tent with chain: rank, first element, elements" in shown
    assert shown.splitlines()[-8].startswith("0 0 ")
    document = json.loads(rondo(*words, "--json").stdout)
    assert {row["how"] for row in document["rows"]} == {"even", "ladder", "tent", "best"}
    assert document["computing"] == pytest.approx(0.08)
    for row in document["rows"]:
        assert sum(row["counts"]) == 8000
        assert row["seconds"] == pytest.approx(max(each["end"] for each in row["times"]))
    by_chain = {row["how"]: row["seconds"] for row in document["rows"] if row["algorithm"] == CHAIN}
    assert by_chain["best"] <= by_chain["tent"] < by_chain["even"]


def test_the_command_says_how_far_it_is_with_many_ranks(rondo, monkeypatch):
    words = ["distribution", "-n", 5, "--count", 500, "--algorithm", CHAIN, "--how", "even", "--how", "tent"]
    assert rondo(*words).stderr == ""
    monkeypatch.setattr("rondo.commands.distribution.QUICK_RANKS", 4)
    assert rondo(*words).stderr == "chain, even: 1 of 2\nchain, tent: 2 of 2\n"
    words[words.index("--algorithm") : words.index("--how")] = []
    assert rondo(*words).stderr.startswith("looking which of the exclusive scans are the quickest on 5 ranks\n")


def test_the_command_draws(rondo, tmp_path):
    picture = tmp_path / "waits.svg"
    result = rondo("distribution", "-n", 6, "--count", 6000, "--draw", picture, "--algorithm", CHAIN)
    assert f"wrote {picture}" in result.stderr
    text = picture.read_text()
    assert text.lstrip().startswith("<?xml")
    assert text.count("<path") > 4 * 6 * 3  # a bar for each of three parts on each rank of each panel


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--count", "8"], "how many ranks?"),
        (["-n", "3", "--nodes", "2x2", "--count", "8"], "--nodes 2x2 has 4 ranks, not the 3 of -n"),
        (["-n", "3", "--count", "many"], "--count: 'many' is not a number"),
        (["-n", "3", "--count", "8", "--how", "stairs"], "distribution 'stairs'"),
        (["-n", "3", "--count", "8", "--algorithm", "chian"], "chian"),
        (["-n", "3", "--count", "8", "--draw", "waits.gif"], "--draw waits.gif: expected a name that ends in"),
        (["-n", "3", "--count", "8", "--machine", "m", "--cluster", "3x1:1ms:1Gbit"], "leave out one of the two"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(rondo, words, complaint):
    result = rondo("distribution", *words)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.startswith("rondo: ")


def records(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_page_shows_what_virtual_time_says():
    """docs/benchmarks/tables/prefix-sums.md: those of its data that are quick to compute."""
    virtual_prefix = script("virtual_prefix")
    found = {(each["case"], each["scan"], each["distribution"]): each for each in records(virtual_prefix.FILE)}
    assert {case for case, _, _ in found} == set(virtual_prefix.CASES)
    for (case, scan, how), each in found.items():
        if how != "best" and scan in (CHAIN, "two_op_doubling"):
            timeline = virtual_prefix.timeline(virtual_prefix.CASES[case], scan, how)
            assert int(each["additions"]) == pytest.approx(timeline.seconds, abs=1)
            assert int(each["active"]) == timeline.active
    computing = 2 * 200e9 / 600
    for how, waits in (("even", 599), ("ladder:step=25000", 599), ("tent", 300), ("best", 300)):
        additions = int(found["paper", CHAIN, how]["additions"])
        assert additions == pytest.approx(computing + 25_000 * waits, abs=50), how


def test_measured_prefix_sums_take_what_formula_and_virtual_time_say():
    """docs/benchmarks/tables/prefix-sums.md: 8 emulated nodes."""
    times: dict[tuple[str, str, str, str], list[float]] = {}
    predicted = {}
    for each in records("modelled-prefix-8.csv"):
        key = (each["library"], each["algorithm"], each["load"], each["distribution"])
        times.setdefault(key, []).append(float(each["seconds"]))
        predicted[key] = float(each["predicted"])
    medians = {key: statistics.median(found) for key, found in times.items()}
    alpha, ranks = 2e-3, 8
    for load in (40, 10):
        chain = "mpich", CHAIN, str(load), "best"
        assert medians[chain] == pytest.approx(predicted[chain], rel=0.02)
        if load == 40:  # at 10, what messages cost the processor counts for more, of which the formula knows nothing
            assert medians[chain] == pytest.approx(load * alpha + ranks * alpha / 2, rel=0.02)
        of_load = {key: seconds for key, seconds in medians.items() if key[2] == str(load)}
        quickest = min(of_load, key=lambda key: of_load[key])
        assert quickest[3] == "best"
        assert of_load[quickest] == pytest.approx(predicted[quickest], rel=0.03)
        assert of_load[quickest] > load * alpha + alpha  # no scan and no distribution can do it in less
