# SPDX-License-Identifier: BSD-3-Clause
"""Merging the reports of ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from html_page import Page
from rich.console import Console
from rondo.launching import run_report, run_table
from rondo.launching.rank_report import Traffic, Trial


def size_class(up_to, calls=10, *, smallest=8, largest=80, seconds=0.5):
    return {
        "up_to": up_to,
        "calls": calls,
        "bytes": calls * largest,
        "smallest": smallest,
        "largest": largest,
        "seconds": seconds,
    }


def entry(algorithm="doubling_123", reason="", calls=10, *, collective="exscan", line=0, **facts):
    classes = [size_class(1024, calls, **facts)]
    return {"collective": collective, "algorithm": algorithm, "reason": reason, "line": line, "classes": classes}


def write_rank(directory: Path, rank: int, entries: list[dict], size: int = 3, *, ended: bool = True) -> Path:
    path = directory / f"{rank}-n{rank}-{1000 + rank}.json"
    facts = {"rank": rank, "size": size, "host": f"n{rank}", "library": "MPICH 5.0.2", "abi": "mpich", "ended": ended}
    path.write_text(json.dumps({**facts, "entries": entries}))
    return path


def shown(merged, width: int = 80) -> str:
    console = Console(width=width, color_system=None, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    run_table.show(merged, console)
    return console.export_text()


def trial(choice: str, rondo: float, library: float, calls: int, *, collective: str = "exscan") -> Trial:
    return Trial(collective, 8, 3, 1, choice, rondo, library, effective=True, day="", calls=calls)


def test_forms_are_told_apart(tmp_path):
    for rank in range(3):
        calls = entry(), entry(calls=20), entry(calls=30)
        calls[1]["form"], calls[2]["form"] = "nonblocking", "persistent"
        write_rank(tmp_path, rank, list(calls))
    merged = run_report.read(tmp_path)
    assert {each.function: each.calls for each in merged.entries} == {"exscan": 10, "iexscan": 20, "exscan_init": 30}
    assert all(each.function in shown(merged) for each in merged.entries)


def test_the_column_says_which_trials_were_won(tmp_path):
    longer = entry(line=9, smallest=1 << 20, largest=1 << 20)
    write_rank(
        tmp_path, 0, [entry(line=7), longer, entry("ring", collective="allreduce"), entry("tree", collective="bcast")]
    )
    merged = run_report.read(tmp_path)
    merged.trials = [trial("doubling_123", 1, 2, 4), trial("doubling", 1, 4, 4)]
    merged.trials += [
        trial("ring:segment=8", *each, collective="allreduce") for each in ((3, 4, 4), (1, 4, 2), (5, 4, 4))
    ]
    merged.trials += [trial("tree", 2, 1, 4, collective="bcast"), trial("tree", 0, 0, 1, collective="bcast")]
    text = shown(merged, 140)
    assert "doubling_123 (line 7: won a trial, 0.50, n 4) " in text
    assert "ring (won 2 trials of 3, 0.25..0.75, n 2..4) " in text
    assert "doubling_123 (line 9) " in text  # no trial was about such long calls
    assert "tree  " in text  # whose calls are carried out so because bits depend on it, or during trials
    assert "tree took 2.00 of the library's time (n 4): taken back, from then on" in text
    assert "tree could not be compared: taken back, from then on" in text


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
    assert merged.missing == merged.cut_short == merged.unreadable == []
    assert run_report.warnings(merged) == []


def test_what_ranks_sent_through_shared_memory_is_one_line(tmp_path):
    write_rank(tmp_path, 0, [entry()])
    assert "ranks share" not in shown(run_report.read(tmp_path))
    for rank in (1, 2):
        path = write_rank(tmp_path, rank, [entry()])
        facts = json.loads(path.read_text())
        path.write_text(json.dumps({**facts, "shared_memory": {"messages": 5, "bytes": 512}}))
    merged = run_report.read(tmp_path)
    assert (merged.shared_memory.messages, merged.shared_memory.bytes) == (10, 1024)
    assert "through memory that ranks share: 10 messages, 1 KiB, of all ranks" in shown(merged)


def test_calls_are_merged_by_classes_of_size(tmp_path):
    small, large, huge = size_class(64, 5, largest=64), size_class(1024), size_class(None, 1, largest=2**33)
    write_rank(tmp_path, 0, [{**entry(), "classes": [small, huge]}])
    write_rank(tmp_path, 1, [{**entry(), "classes": [small, large]}])
    (merged,) = run_report.read(tmp_path).entries
    assert [(each.up_to, each.ranks, each.calls, each.total_calls) for each in merged.classes] == [
        (64, 2, 5, 10),
        (1024, 1, 10, 10),
        (None, 1, 1, 1),
    ]
    assert (merged.ranks, merged.calls, merged.total_calls) == (2, 15, 21)
    assert (merged.smallest, merged.largest) == (8, 2**33)
    assert (merged.bytes, merged.total_bytes) == (5 * 64 + 2**33, 2 * 5 * 64 + 10 * 80 + 2**33)
    assert merged.seconds == 1.0


def wide_entries() -> list[dict]:
    classes = [size_class(limit, 3, smallest=limit - 1, largest=limit) for limit in (64, 1024, 16384)]
    reason = "the datatype is of a kind that no algorithm here serves"
    return [{**entry(collective="reduce_scatter"), "classes": classes}, entry("native", reason, 3)]


def test_the_table_fits_80_columns(tmp_path):
    for rank in range(2):
        write_rank(tmp_path, rank, wide_entries(), size=2)
    text = shown(run_report.read(tmp_path))
    assert "MPICH 5.0.2, 2 ranks" in text
    assert "8..80" in text
    assert "48 KiB" in text  # three calls of 16384 bytes
    assert "doubling_123" in text
    assert [text.count(word) for word in ("reduce_scatter", "63..64", "16383..16384")] == [1, 1, 1]
    assert "ranks  " not in text  # all made such calls
    table = text[: text.index("calls, bytes and seconds")].splitlines()
    assert max(map(len, table)) <= 80


def test_ranks_are_counted_where_not_all_made_such_calls(tmp_path):
    write_rank(tmp_path, 0, [entry(), entry(collective="bcast")], size=2)
    write_rank(tmp_path, 1, [entry()], size=2)
    lines = [line.split() for line in shown(run_report.read(tmp_path)).splitlines()]
    assert ["collective", "algorithm", "calls", "ranks", "bytes", "a", "call", "bytes", "seconds"] in lines
    assert ["bcast", "doubling_123", "10", "1", "8..80", "800", "B", "0.5"] in lines


def test_what_is_too_wide_for_a_table_turns_long(tmp_path):
    write_rank(tmp_path, 0, wide_entries(), size=1)
    text = shown(run_report.read(tmp_path), width=50)
    assert "MPICH 5.0.2, 1 rank\n" in text
    assert "reduce_scatter: doubling_123\n  3 calls on 1 rank, 63..64 bytes a call, 192 B, 0.5 s\n" in text
    assert "  3 calls on 1 rank, 16383..16384 bytes a call, 48 KiB, 0.5 s\n" in text
    assert "collective " not in text


def test_a_file_that_is_not_finished_is_said_and_not_fatal(tmp_path):
    write_rank(tmp_path, 0, [entry()])
    path = write_rank(tmp_path, 1, [entry()])
    path.write_text(path.read_text()[:40])
    (tmp_path / "2-n2-1002.json.part").write_text("{")
    merged = run_report.read(tmp_path)
    assert merged.missing == [1, 2]
    first, second, third = run_report.warnings(merged)
    assert first.startswith("unreadable report 1-n1-1001.json: ")
    assert second.startswith("unreadable report 2-n2-1002.json.part: ")
    assert third.startswith("2 of 3 ranks left no report: 1, 2 (")
    assert "doubling_123" in shown(merged)


def test_ranks_that_were_cut_short_are_named(tmp_path):
    for rank in range(3):
        write_rank(tmp_path, rank, [entry()], ended=rank != 1)
    merged = run_report.read(tmp_path)
    assert merged.cut_short == [1]
    (line,) = run_report.warnings(merged)
    assert line.startswith("1 of 3 ranks did not come to an end by itself: 1 (killed, aborted, or ")


@pytest.mark.parametrize("image", [b"", b"\0" * 131072, b"rondo counts 3\0\0" + b"\0" * 131056, b"x" * 700])
def test_counts_that_no_rank_wrote_are_unreadable(tmp_path, image):
    (tmp_path / "0-n0-1.counts").write_bytes(image)
    merged = run_report.read(tmp_path)
    (problem,) = merged.unreadable
    assert problem.startswith("0-n0-1.counts: ")
    assert merged.ranks == []


def test_a_finished_report_goes_before_counts(tmp_path):
    path = write_rank(tmp_path, 0, [entry()], size=1)
    path.with_suffix(".counts").write_bytes(b"whatever")
    assert run_report.warnings(run_report.read(tmp_path)) == []


def test_a_report_with_other_fields_is_unreadable(tmp_path):
    (tmp_path / "0-n0-1.json").write_text('{"rank": "zero"}')
    assert len(run_report.read(tmp_path).unreadable) == 1


def test_no_report_at_all_is_a_clear_warning(tmp_path):
    (line,) = run_report.warnings(run_report.read(tmp_path))
    assert line.startswith("no rank left a report: none loaded Rondo, none called")
    assert line in shown(run_report.read(tmp_path)).replace("\n", " ")


def test_ranks_without_calls_are_said(tmp_path):
    for rank in range(3):
        write_rank(tmp_path, rank, [])
    assert run_report.warnings(run_report.read(tmp_path)) == [
        "Rondo was loaded, but no rank called a collective that it knows"
    ]


def test_processes_that_were_each_alone_are_said_to_be(tmp_path):
    write_rank(tmp_path, 0, [entry()], size=1)
    assert run_report.warnings(run_report.read(tmp_path)) == []
    path = write_rank(tmp_path, 0, [entry()], size=1)
    path.with_name("0-n0-77.json").write_text(path.read_text())
    (line,) = run_report.warnings(run_report.read(tmp_path))
    assert line.startswith("2 processes were each alone in MPI_COMM_WORLD: if they belong together, the launcher is ")


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


def test_a_page_shows_what_the_report_says(rondo, tmp_path):
    many = [entry(seconds=0.25 * (1 + rank)) for rank in range(40)]
    for rank, each in enumerate(many):
        left = entry("native", "<no rule>", 4, collective="bcast", seconds=2.0)
        write_rank(tmp_path, rank, [each, left], size=41, ended=rank != 7)
    merged = run_report.read(tmp_path)
    merged.trials = [trial("doubling_123", 1, 2, 4)]
    merged.shared_memory = Traffic(5, 2048)
    file, output = tmp_path / "report-of-a-run.json", tmp_path / "page.html"
    run_report.write(merged, file)
    assert run_report.opened(file) == merged
    result = rondo("report", file, "--output", output)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {output}\n"
    page = Page(output)
    assert page.fetched == []
    for said in (
        "MPICH 5.0.2, 41 ranks",
        "1 of 41 ranks left no report: 40",
        "did not come to an end by itself: 7",
        "Through memory that ranks share 5 messages, 2 KiB, of all ranks",
        "exscan doubling_123 (won a trial, 0.50, n 4) 8..80 10 400 40 800 B 31.2 KiB 10 s",
        "bcast native (<no rule>) 8..80 4 160 40",
        "exscan of about 8 B on 3 ranks: doubling_123 took 0.50 of the library's time (n 4): kept, from then on",
        "10 more",
    ):
        assert said in page.text, said
    bars = {each["name"]: each["y"] for each in page.figures["ranks1"]["data"]}
    assert bars == {"bcast: native": [2.0] * 40, "exscan: doubling_123": [0.25 * (1 + rank) for rank in range(40)]}


def test_a_page_of_nothing_says_so(rondo, tmp_path):
    run_report.write(run_report.read(tmp_path), tmp_path / "empty.json")
    assert rondo("report", tmp_path / "empty.json", "--output", tmp_path / "page.html").exit_code == 0
    assert "no rank left a report" in Page(tmp_path / "page.html").text
    (tmp_path / "odd.json").write_text('{"ranks": 3, "entries": [], "cut_short": []}')
    result = rondo("report", tmp_path / "odd.json")
    assert (result.exit_code, "odd.json holds no report of rondo run: " in result.stderr) == (2, True)


def test_lines_of_the_rules_that_chose_are_named(tmp_path):
    entries = [entry(line=7), entry(line=9), entry("native", "chosen", line=3), entry("native", "chosen")]
    write_rank(tmp_path, 0, [*entries, entry("native", "ring needs it", line=4)], size=1)
    text = shown(run_report.read(tmp_path))
    for said in ("doubling_123 (line 7)", "doubling_123 (line 9)", "native (line 3)", "native (chosen)"):
        assert said in text
    assert "native (line 4: ring needs it)" in shown(run_report.read(tmp_path), width=200)
