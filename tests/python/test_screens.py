# SPDX-License-Identifier: BSD-3-Clause
"""Tables of all commands on a terminal of 80 columns: nothing is cut, and no line is longer."""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path

import msgspec
import pytest
from on_a_terminal import COLUMNS, on_a_terminal
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rondo.bench import maps, tables
from rondo.cluster import check, shapes
from rondo.commands.cluster import _check_table
from rondo.comparing import table as comparing_table
from rondo.launching import run_report, run_table
from rondo.machine import machine
from rondo.profiling import terminal
from rondo.reports import style
from rondo.tune import console
from rondo.tune.cells import Shape
from script_loader import script
from test_jobs import job, leave
from test_learned import line
from test_profile_report import comparison, example
from test_report import entry, write_rank
from test_report_command import RECORDED_MAP
from test_tune import state

from rondo import screens

MEASUREMENTS = script("measurements")
RULE = "─"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files of the commands lie."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "x.verdicts").write_text(f"{line('exscan', 'two_op_doubling')}\n{line('bcast', 'binomial')}\n")
    (tmp_path / "machine").write_text(machine.standard().text())
    (tmp_path / "jobs").mkdir()
    leave(tmp_path / "jobs", job("/opt/" + "a long way/" * 9 + "app"), job(calls=10**9))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "least"),
    [
        ("list", 100),
        ("list exscan", 50),
        ("explain allreduce --count 1Mi -n 64 --ppn 16", 20),
        ("explain exscan --count 8 -n 8 --rules none", 10),
        ("learned show {}/x.verdicts", 4),
        ("calibrate --show {}/machine --ranks 64", 80),
        ("distribution -n 64 --count 1Gi --algorithm doubly_pipelined_tree --algorithm chain", 8),
        ("predict allreduce --count 64Ki --nodes 16x4", 20),
        ("predict bcast --count 1Mi -n 64 --over ranks --native openmpi", 12),
        ("jobs {}/jobs", 3),
        ("jobs {}/jobs --by program", 3),
        ("rules check", 60),
        ("rules check --ppn 8 --library openmpi", 60),
    ],
)
def test_a_command_prints_nothing_that_is_cut(files: Path, words: str, least: int) -> None:
    lines = on_a_terminal(*words.format(files).split())
    assert len(lines) > least
    assert not [each for each in lines if "\N{HORIZONTAL ELLIPSIS}" in each]
    is_of_table = [each for each in lines if RULE in each or re.search(r"\S {2,}\S", each)]
    assert is_of_table
    assert [each for each in is_of_table if len(each.rstrip()) > COLUMNS] == []


@pytest.fixture
def narrow() -> Console:
    return Console(width=COLUMNS, record=True, highlight=False, file=Path(os.devnull).open("w", encoding="utf-8"))


def shown(console: Console) -> str:
    text = console.export_text()
    in_tables = [each for each in text.splitlines() if RULE in each or re.search(r"\S {2,}\S", each)]
    assert in_tables
    assert [each for each in in_tables if len(each.rstrip()) > COLUMNS] == []
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    return text


@pytest.mark.parametrize("file", fnmatch.filter(MEASUREMENTS.texts(), "bandwidth-*-8x1-*.json"))
def test_benchmarks(file: str, narrow: Console) -> None:
    measured = MEASUREMENTS.results_in(file)
    for _, table in tables.tables(measured):
        screens.show(table, narrow)
    text = shown(narrow)
    assert all(each.label in text for each in measured.configurations)


def test_maps_of_many_lengths_are_printed_in_blocks(narrow: Console) -> None:
    asked = msgspec.json.decode((RECORDED_MAP / maps.PLAN_FILE).read_bytes(), type=maps.Question)
    found = maps.read(RECORDED_MAP, asked)
    assert found is not None
    shifted = [
        msgspec.structs.replace(each, count=each.count << shift, bytes=each.bytes << shift)
        for each in found.cells
        for shift in (0, 1, 3, 5, 7, 9)
    ]
    many = msgspec.structs.replace(found, cells=shifted)
    table, _ = maps.table(many)
    screens.show_grid(table, narrow)
    text = shown(narrow)
    assert text.count("  p ") == 2
    assert all(style.bytes_text(many.nominal_bytes(count)) in text for count in many.counts)


def test_comparisons_profiles_and_runs(narrow: Console, tmp_path: Path) -> None:
    comparing_table.show(comparison(), narrow)
    terminal.show(example(), narrow)
    for rank in range(3):
        write_rank(tmp_path, rank, [entry(), entry("native", "no rule", collective="bcast")])
    run_table.show(run_report.read(tmp_path), narrow)
    text = shown(narrow)
    assert all(each in text for each in ("times as fast", "of the run", "doubling_123"))


def test_a_check_of_a_cluster(narrow: Console) -> None:
    rows = [
        check.Row(pattern, length, 0.0123 * length, 0.012 * length, True, 30, 2, 0)
        for pattern in ("ping_pong", "ring_shift", "half_shift", "incast")
        for length in (1, 1024, 1 << 20)
    ]
    found = check.Check(shapes.parse("8x1:2ms:200Mbit"), "MPICH", None, rows, dropped=0, retransmissions=0)
    screens.show(_check_table(found), narrow)
    assert " 12897484.800 " in shown(narrow)


def test_what_was_tuned(narrow: Console) -> None:
    times = {"native": 1e-3, "ring": 0.5e-3, "pairwise": 0.8e-3}
    states = [state(times, shape=Shape((16,) * 64), collective="reduce_scatter", count=1 << each) for each in (3, 20)]
    screens.show(console._table(states), narrow)
    assert "reduce_scatter" in shown(narrow)


def wide(cells: int, words: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("name")
    for number in range(cells):
        table.add_column(f"heading {number}", justify="right")
    table.add_row("the_name_of_the_row", *(f"{words} {number}" for number in range(cells)))
    return table


def test_headings_become_narrow_before_a_table_becomes_rows(narrow: Console) -> None:
    screens.show(wide(6, "x"), narrow)
    text = shown(narrow)
    assert RULE in text
    assert "heading 1" not in text
    assert "heading" in text


def test_a_table_that_cannot_fit_becomes_a_paragraph_for_each_row(narrow: Console) -> None:
    screens.show(wide(9, "word"), narrow)
    lines = narrow.export_text().splitlines()
    assert lines[0] == "the_name_of_the_row"
    assert " ".join(each.strip() for each in lines[1:]) == ", ".join(f"heading {n} word {n}" for n in range(9))
    assert max(map(len, lines)) <= COLUMNS


def test_a_table_goes_into_a_file_as_wide_as_it_is() -> None:
    assert screens.console().width == screens.UNBOUNDED
