# SPDX-License-Identifier: BSD-3-Clause
"""Merging the reports of ranks."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rondo.launching import run_report


def entry(algorithm="doubling_123", reason="", calls=10, *, smallest=8, largest=80, seconds=0.5, collective="exscan"):
    return {
        "collective": collective,
        "algorithm": algorithm,
        "reason": reason,
        "calls": calls,
        "bytes": calls * largest,
        "smallest": smallest,
        "largest": largest,
        "seconds": seconds,
    }


def write_rank(directory: Path, rank: int, entries: list[dict], size: int = 3) -> Path:
    path = directory / f"{rank}-n{rank}-{1000 + rank}.json"
    facts = {"rank": rank, "size": size, "host": f"n{rank}", "library": "MPICH 5.0.2", "abi": "mpich"}
    path.write_text(json.dumps({**facts, "entries": entries}))
    return path


def shown(merged) -> str:
    console = Console(width=80, color_system=None, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    run_report.show(merged, console)
    return console.export_text()


def test_calls_of_all_ranks_are_merged_by_collective_algorithm_and_reason(tmp_path):
    write_rank(tmp_path, 0, [entry(), entry("native", "too long", 3), entry("doubling", collective="scan")])
    write_rank(tmp_path, 1, [entry(calls=12, smallest=4, seconds=0.75), entry("native", "too long", 1)])
    write_rank(tmp_path, 2, [entry(largest=800), entry("native", "odd datatype", 2)])
    merged = run_report.read(tmp_path)
    keys = [(each.collective, each.algorithm, each.reason) for each in merged.entries]
    assert keys == [
        ("exscan", "doubling_123", ""),
        ("exscan", "native", "odd datatype"),
        ("exscan", "native", "too long"),
        ("scan", "doubling", ""),
    ]
    first = merged.entries[0]
    assert (first.ranks, first.calls, first.total_calls) == (3, 12, 32)
    assert (first.smallest, first.largest, first.seconds) == (4, 800, 0.75)
    assert (first.bytes, first.total_bytes) == (8000, 10 * 80 + 12 * 80 + 10 * 800)
    assert (merged.size, merged.library, merged.abi) == (3, "MPICH 5.0.2", "mpich")
    assert merged.missing == merged.unreadable == []
    assert run_report.warnings(merged) == []


def test_the_table_fits_80_columns(tmp_path):
    write_rank(tmp_path, 0, [entry(), entry("native", "the datatype is of a kind that no algorithm here serves", 3)])
    text = shown(run_report.read(tmp_path))
    assert "MPICH 5.0.2" in text
    assert "8..80" in text
    assert "doubling_123" in text
    table = text[: text.index("calls and seconds")].splitlines()
    assert max(map(len, table)) <= 80


def test_a_report_that_is_cut_short_is_said_and_not_fatal(tmp_path):
    write_rank(tmp_path, 0, [entry()])
    path = write_rank(tmp_path, 1, [entry()])
    path.write_text(path.read_text()[:40])
    (tmp_path / "2-n2-1002.json.part").write_text("{")
    merged = run_report.read(tmp_path)
    assert merged.missing == [1, 2]
    first, second, third = run_report.warnings(merged)
    assert first.startswith("unreadable report 1-n1-1001.json: ")
    assert second == "unreadable report 2-n2-1002.json.part: never finished"
    assert third.startswith("2 of 3 ranks left no report: 1, 2 (")
    assert "doubling_123" in shown(merged)


def test_a_report_with_other_fields_is_unreadable(tmp_path):
    (tmp_path / "0-n0-1.json").write_text('{"rank": "zero"}')
    assert len(run_report.read(tmp_path).unreadable) == 1


def test_no_report_at_all_is_a_clear_warning(tmp_path):
    (line,) = run_report.warnings(run_report.read(tmp_path))
    assert line.startswith("no rank left a report: none loaded Rondo, or none called")
    assert line in shown(run_report.read(tmp_path)).replace("\n", " ")


def test_ranks_without_calls_are_said(tmp_path):
    for rank in range(3):
        write_rank(tmp_path, rank, [])
    assert run_report.warnings(run_report.read(tmp_path)) == [
        "Rondo was loaded, but no rank called a collective that it knows"
    ]


def test_many_missing_ranks_are_counted_not_listed(tmp_path):
    write_rank(tmp_path, 0, [entry()], size=1000)
    (line,) = run_report.warnings(run_report.read(tmp_path))
    assert line.startswith("999 of 1000 ranks left no report: 1, 2, 3, 4, 5, 6, 7, 8, ... (")


def test_the_merged_report_is_written_as_json(tmp_path):
    write_rank(tmp_path, 0, [entry()], size=1)
    path = tmp_path / "merged.json"
    run_report.write(run_report.read(tmp_path), path)
    content = json.loads(path.read_text())
    assert content["entries"][0]["algorithm"] == "doubling_123"
    assert content["ranks"][0]["host"] == "n0"
