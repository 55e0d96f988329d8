# SPDX-License-Identifier: BSD-3-Clause
"""The scripts behind docs/benchmarks: the page shows its data, and simulated time agrees with theory."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from script_loader import script, script_of_its_own

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.bench import pages
from rondo.bench.results import Configuration, read, write
from rondo.errors import Error

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "benchmarks").glob("*.toml"))

LANES = """
file = "{name}"
title = "{name}"

[candidates]
some.bcast = ["k_lane:ports=2", "k_lane:ports=3"]

[[experiment]]
name = "one"
cluster = "4x4:2ms:100Mbit"
libraries = ["mpich"]
candidates = "some"
counts = [16384, 524288]
seconds = 1
repetitions = 1

[[experiment]]
name = "two"
cluster = "4x4:2ms:100Mbit:2"
libraries = ["mpich"]
candidates = "some"
counts = [16384, 524288]
seconds = 1
repetitions = 1
"""


def of_all_data(path: Path) -> object:
    """Pages that every measurement changes, and so does every algorithm, take their time."""
    return (
        pytest.param(path, marks=pytest.mark.soak)
        if path.stem in ("native", "nodes", "predictions", "tuning")
        else path
    )


@pytest.mark.parametrize("path", [of_all_data(each) for each in PAGES], ids=lambda each: each.stem)
def test_a_page_shows_its_data(path: Path) -> None:
    texts = script("page").page_texts(path.stem)
    assert path.with_suffix(".md") in texts
    assert texts == {each: each.read_text() for each in texts}


def test_a_table_stands_in_the_page_or_behind_it(tmp_path: Path) -> None:
    filled = script("page").filled
    marks = "<!-- begin x -->\n{}<!-- end x -->\n"
    page, tables = tmp_path / "page.md", tmp_path / "tables" / "page.md"
    made = {"x": lambda: "| 1 |"}
    texts = {page: "A page.\n", tables: marks.format("old\n")}
    assert filled(texts, made) == {page: "A page.\n", tables: marks.format("| 1 |\n")}
    for texts in ({page: "", tables: ""}, {page: marks.format(""), tables: marks.format("")}):
        with pytest.raises(Error, match="expected one block x"):
            filled(texts, made)


@pytest.mark.parametrize("path", PAGES, ids=lambda each: each.stem)
def test_the_file_of_a_page_asks_for_what_was_measured(path: Path) -> None:
    measurements = script("measurements")
    for run in pages.read(path).runs:
        results = measurements.results_in(run.file)
        found = results.configurations
        assert {each.collective for each in found} == {run.collective}
        assert {each.label for each in found} <= {"native", *run.algorithms}
        assert {each.count for each in found} == set(run.counts)
        assert {(each.type, each.operator) for each in found} == {(run.plan.type, run.plan.operator)}
        assert (results.environment.ranks, results.environment.nodes) == (run.shape.ranks, run.shape.nodes)
        assert run.library in results.environment.launcher
        assert not Path(
            results.environment.launcher
        ).is_absolute()  # docs/benchmarks/making/page.py takes the checkout off
        assert f"--cluster {run.cluster} " in results.environment.command


def test_all_pages_with_data_are_among_these() -> None:
    assert len(PAGES) >= 3
    wanted = {run.file for path in PAGES for run in pages.read(path).runs}
    measurements = script("measurements")
    assert set(measurements.texts()) == wanted
    there = {each.name for each in measurements.DATA.iterdir()} - {f"{path.stem}.jsonl" for path in PAGES}
    of_other_tables = (
        "simulated-",
        "virtual-",
        "literature-",
        "modelled-",
        "real-prefix",
        "one-node-",
        "whole-node-",
        "guard-",
        "tuned-",
    )
    assert {each for each in there if not each.startswith(of_other_tables)} == set()


def test_machines_of_papers_follow_from_cells_and_predictions_from_machines(tmp_path: Path) -> None:
    """docs/benchmarks/tables/papers.md: the machine files, and predictions that are quick to compute."""
    papers = script("virtual_papers")
    papers.write_machines(tmp_path)
    for path in tmp_path.iterdir():
        assert (papers.DATA / path.name).read_text() == path.read_text()
    mpich = papers.figures("MPICH 3.3", "all")
    assert mpich.beta * 31 * 31250 * 4 == pytest.approx(424.15e-6)  # table 6
    assert mpich.alpha + 2 * 31 * mpich.overhead == pytest.approx(20.50e-6)
    kept = {tuple(each.values()) for each in papers.records("virtual-papers-cluster.csv")}
    for call in papers.calls():
        if call.count == 1 and call.collective != "alltoall":
            assert (*map(str, call), "all", f"{papers.seconds(call, 'all'):.6g}") in kept, call


def test_what_lanes_gave_is_told_of_the_longest_vector(tmp_path: Path) -> None:
    real = script("measurements").results_in("nodes-4-a-node-mpich-bcast-4.json")
    (tmp_path / "page.toml").write_text(LANES)

    def taking(parameters: str, count: int, seconds: float) -> Configuration:
        found = next(each for each in real.configurations if each.algorithm == "native" and each.count == count)
        times = [msgspec.structs.replace(each, seconds=seconds, state="valid") for each in found.repetitions]
        algorithm = "k_lane" if parameters else "native"
        return msgspec.structs.replace(found, algorithm=algorithm, parameters=parameters, repetitions=times)

    for name, factor in (("one", 1.0), ("two", 0.5)):
        longest = [("", 0.4), ("ports=2", 0.3 * factor), ("ports=3", 0.2 * factor)]
        made = [taking(parameters, 524288, seconds) for parameters, seconds in longest]
        made += [taking(parameters, 16384, 0.001) for parameters, _ in longest]
        write(msgspec.structs.replace(real, configurations=made), tmp_path / f"{name}.json")
    with script_of_its_own("benchmark_tables") as tables:
        measurements = sys.modules["measurements"]
        measurements.DATA = tmp_path
        measurements.pack("page", tmp_path.glob("*.json"))
        shown = tables.lanes_measured(pages.read(tmp_path / "page.toml"), [["one", "two"]])
    assert shown.splitlines() == [
        "| cluster | collective | library | lanes | `native` | `k_lane` |",
        "|---|---:|---:|---:|---:|---:|",
        "| 4x4 | bcast | MPICH | 1 | 400.0 | 200.0 (3) |",
        "| 4x4 | bcast | MPICH | 2 | 1.00 times | 2.00 times (3) |",
    ]


def test_no_result_on_the_page_was_wrong() -> None:
    measurements = script("measurements")
    simulated = measurements.DATA.glob("*.json")
    for results in [*map(measurements.results_in, measurements.texts()), *map(read, simulated)]:
        assert results.complete, results.environment.command
        assert sum(each.wrong() for each in results.configurations) == 0, results.environment.command


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("smpicxx") is None, reason="no SimGrid: apt-get install libsimgrid-dev")
def test_simulated_time_of_long_vectors_is_that_of_the_rounds(tmp_path: Path) -> None:
    """On 9 ranks cyclic and two-op doubling take 4 rounds, 123-doubling 4 and 1-doubling 4."""
    words = ["--ranks", "9", "--counts", "100000", "--latency", "1ms", "--rate", "100Mbit", "--repetitions", "1"]
    command = [
        sys.executable,
        str(ROOT / "docs/benchmarks/making/simulated_scans.py"),
        *words,
        "--output",
        str(tmp_path),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert result.returncode == 0, result.stderr
    results = read(tmp_path / "simulated-9.json")
    one_round = 1e-3 + 800000 * 80e-9
    rounds = {each.algorithm: each.seconds()[0] / one_round for each in results.configurations}
    theory = {"cyclic_doubling": 4, "two_op_doubling": 4, "doubling_123": 4, "one_doubling": 4}
    assert {name: rounds[name] for name in theory} == pytest.approx(theory, rel=0.02)
