# SPDX-License-Identifier: BSD-3-Clause
"""`rondo bench --page`: how it reads a page's file, what it would measure, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from rondo.bench import pages, series
from rondo.errors import Error
from script_loader import script

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks"
PAGE = """
file = "{name}-{library}-{collective}-p{processes}"
title = "{name}, {collective}, p = {processes}"
[candidates]
few.allgather = ["bruck", "ring"]
few.scan = ["doubling"]
[[experiment]]
name = "tiny-{library}"
libraries = ["mpich", "openmpi"]
cluster = "{p}x2:1ms:100Mbit"
processes = [2, 3]
candidates = "few"
counts = [1, 10]
seconds = 3
repetitions = 4
"""


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    path = tmp_path / "page.toml"
    path.write_text(PAGE)
    return path


def test_a_page_is_a_measurement_for_each_library_collective_and_number_of_nodes(page_file):
    runs = pages.read(page_file).runs
    assert [each.file for each in runs] == [
        f"tiny-{library}-{library}-{collective}-p{p}.json"
        for library in ("mpich", "openmpi")
        for collective in ("allgather", "scan")
        for p in (2, 3)
    ]
    first, scan = runs[1], runs[2]
    assert (first.title, first.cluster, first.shape.ranks) == ("tiny-mpich, allgather, p = 3", "3x2:1ms:100Mbit", 6)
    assert (first.plan.candidates, first.plan.operator) == (("native", "bruck", "ring"), "")
    assert (first.counts, scan.counts) == ([1, 2], [1, 10])  # of a part, and of the whole vector
    assert scan.command(["--", "mpiexec", "-n", "4"]) == (
        "rondo bench scan --algorithm native --algorithm doubling --type long --op sum --counts 1,10 --repetitions 4 "
        "--warmup 2 --seconds 3 --start clock -- mpiexec -n 4"
    )


def test_experiments_are_found_by_either_name(page_file):
    page = pages.read(page_file)
    assert [len(page.runs_of(each)) for each in ("tiny-{library}", "tiny-mpich")] == [8, 4]
    with pytest.raises(Error, match=r"unknown experiment tiny-mpch; did you mean tiny-mpich\?"):
        page.runs_of("tiny-mpch")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("seconds", "second", "describes no benchmark page: Object contains unknown field `second`"),
        ("[1, 10]", "[1, 'x']", "describes no benchmark page: Expected `int`, got `str`"),
        ("seconds", 'start = "bar"\nseconds', "unknown way to start 'bar'; did you mean barrier?"),
        ("[[experiment]]", "[[experiment", "describes no benchmark page: "),
        ('"few"', '"many"', "there are no candidates 'many'"),
        ('"openmpi"', '"lam"', "unknown library 'lam'; expected mpich, openmpi, impi"),
        ('"doubling"', '"doublng"', "scan has no algorithm 'doublng'; did you mean"),
        ("-p{processes}", "", "two measurements have the file tiny-mpich-mpich-allgather.json"),
        ("{name}-", "{nam}-", "describes no benchmark page: 'nam'"),
        ("{p}x2", "{p}y2", "experiment tiny-mpich: cluster '2y2:1ms:100Mbit': expected NODESx"),
    ],
)
def test_what_is_wrong_in_the_file_is_said(rondo, page_file, old, new, expected):
    page_file.write_text(PAGE.replace(old, new, 1))
    result = rondo("bench", "--page", page_file, "--", "mpiexec", "-n", "{p}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert expected in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--counts", "3"], "--page FILE says what is measured and how; leave out --counts"),
        (["--cluster", "2x1:1ms:1Gbit", "--map", "scan"], "leave out --cluster, --map, scan"),
        (["--experiment", "huge"], "unknown experiment huge; expected one of: tiny-mpich, tiny-openmpi"),
        (["--mpi", "no-such"], "unknown MPI library no-such"),
    ],
)
def test_what_cannot_be_asked_of_a_page_is_refused(rondo, page_file, words, expected):
    result = rondo("bench", "--page", page_file, *words)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_experiments_are_of_pages(rondo):
    result = rondo("bench", "scan", "--experiment", "tiny")
    assert (result.exit_code, result.stderr) == (2, "rondo: --experiment goes with --page\n")


def test_a_launcher_gets_the_number_of_processes_and_measures_with_its_library_alone(page_file, stand_in_launcher):
    launcher = str(stand_in_launcher("hydra"))
    page = pages.read(page_file)
    parts = series.of_page(page, (), page_file.parent, (None, None, (launcher, "-n", "{p}")))
    assert [each.ranks for each in parts] == [4, 6, 4, 6]
    assert {each.file.name.split("-")[1] for each in parts} == {"mpich"}
    assert parts[1].place().launcher_words == (launcher, "-n", "6")
    assert parts[1].command is not None
    assert parts[1].command.endswith(f" -- {launcher} -n 6")
    with pytest.raises(Error, match=r"several numbers of processes; write \{p\} in their place"):
        series.of_page(page, (), page_file.parent, (None, None, (launcher, "-n", "4")))


def test_what_is_there_is_not_measured_again(rondo, stand_in_launcher, tmp_path):
    script("measurements").unpack("exclusive-scans", tmp_path)
    # The launcher only knows its version: it cannot measure anything.
    words = ["--output", tmp_path, "--", stand_in_launcher("hydra"), "-n", "{p}"]
    result = rondo("bench", "--page", BENCHMARKS / "exclusive-scans.toml", *words)
    assert result.exit_code == 0, result.stderr
    assert "4 of 4 measurements are there already" in result.stderr
    assert "to measure" not in result.stderr
