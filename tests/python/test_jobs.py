# SPDX-License-Identifier: BSD-3-Clause
"""`rondo jobs` adds up what jobs have left."""

from __future__ import annotations

import datetime
import getpass
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from html_page import Page
from rondo.commands import main
from rondo.launching import jobs, jobs_page

BEGAN = 1795724385  # in November


def job(program: str = "/opt/app", *, calls: int = 10, all_ranks: bool = True, **rank: Any) -> dict[str, Any]:
    """The file of a job of four ranks, whose bcasts of 8 bytes went to Rondo and took a millisecond each."""
    entry = {
        "collective": "bcast", "algorithm": "binomial", "reason": "",
        "classes": [{"up_to": 64, "calls": calls, "bytes": 80, "smallest": 8, "largest": 8, "seconds": calls * 1e-3}],
    }  # fmt: skip
    return {
        "rondo": "0.1.0", "uid": 1, "batch_job": "17", "program": program, "rules": "", "began": BEGAN,
        "seconds": 2.5, "all_ranks": all_ranks,
        "sums": [
            {"collective": "bcast", "by": "rondo", "calls": 4 * calls, "bytes": 320, "seconds": calls * 4e-3},
            {"collective": "scan", "by": "taken_back", "calls": 8, "bytes": 64, "seconds": 0.5},
        ],
        "rank": {
            "rank": 0, "size": 4, "host": "n1", "library": "MPICH Version 5.0.2", "abi": "mpich", "ended": all_ranks,
            "entries": [entry], "trials": [], **rank,
        },
    }  # fmt: skip


TRIAL = {
    "collective": "bcast", "bytes": 8, "processes": 4, "nodes": 1, "choice": "binomial", "rondo": 0.001,
    "library": 0.003, "calls": 8, "rounding": False, "effective": True, "day": "",
}  # fmt: skip


def leave(folder: Path, *found: dict[str, Any]) -> None:
    for number, each in enumerate(found):
        (folder / f"{number}.json").write_text(json.dumps(each))


def shown(folder: Path, *words: str) -> Any:
    result = CliRunner().invoke(main, ["jobs", "--json", *words, str(folder)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_jobs_of_a_program_are_added_up(tmp_path: Path) -> None:
    leave(tmp_path, job(), job(calls=20), job("/usr/bin/other"))
    rows = {row["name"]: row for row in shown(tmp_path)["rows"]}
    assert (rows["app"]["jobs"], rows["app"]["rondo_calls"], rows["app"]["taken_back_calls"]) == (2, 120, 16)
    assert rows["other"]["rondo_calls"] == 40


def test_gains_are_those_that_the_guard_has_measured(tmp_path: Path) -> None:
    leave(tmp_path, job(trials=[TRIAL]), job(trials=[{**TRIAL, "bytes": 1 << 20}]))
    (row,) = shown(tmp_path)["rows"]
    assert row["gained"] == pytest.approx(10 * 4 * 0.002)
    assert row["compared_calls"] == 40


@pytest.mark.parametrize("group", jobs.GROUPS)
def test_jobs_are_grouped(tmp_path: Path, group: str) -> None:
    leave(tmp_path, job())
    (row,) = shown(tmp_path, "--by", group)["rows"]
    day = datetime.datetime.fromtimestamp(BEGAN).astimezone().strftime("%Y-%m-%d")
    known = {"user": getpass.getuser(), "program": "app", "library": "MPICH Version 5.0.2", "host": "n1", "day": day}
    assert row["name"] == known[group]


def test_jobs_can_be_chosen(tmp_path: Path) -> None:
    leave(tmp_path, job(), job("/usr/bin/other"))
    assert shown(tmp_path, "--program", "other")["jobs"] == 1
    assert shown(tmp_path, "--user", "nobody-here")["jobs"] == 0


def test_what_cannot_be_read_is_named_and_left_out(tmp_path: Path) -> None:
    leave(tmp_path, job(), job(all_ranks=False))
    (tmp_path / "x.json").write_text("{")
    result = CliRunner().invoke(main, ["jobs", str(tmp_path)])
    assert result.exit_code == 0
    assert "x.json" in result.stderr
    assert "2 jobs" in result.stdout
    assert "of 1 job rank 0 alone is counted: 1 did not come to MPI_Finalize" in result.stdout


def test_what_others_may_put_there_neither_stops_it_nor_counts_twice(tmp_path: Path) -> None:
    leave(tmp_path, job())
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "0.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "deep.json").write_text('{"rank":' + "[" * 100_000)
    (tmp_path / "late.json").write_text(json.dumps({**job(), "began": 10**18}))
    found = shown(tmp_path, "--by", "day")
    assert found["jobs"] == 1
    assert {Path(each.partition(":")[0]).stem for each in found["unreadable"]} == {
        "pipe", "link", "folder", "deep", "late"
    }  # fmt: skip
    assert CliRunner().invoke(main, ["jobs", str(tmp_path)]).exit_code == 0


@pytest.mark.parametrize("program", ["/opt/[/bold]", "/opt/[red]x"])
def test_names_are_shown_as_they_are(tmp_path: Path, program: str) -> None:
    leave(tmp_path, job(program))
    result = CliRunner().invoke(main, ["jobs", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert Path(program).name in result.stdout


def test_a_directory_is_expected(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["jobs", str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "no directory" in result.output


def test_a_page_shows_days_groups_and_jobs(rondo: Any, tmp_path: Path) -> None:
    folder, output = tmp_path / "jobs", tmp_path / "page.html"
    (folder / "november").mkdir(parents=True)
    leave(folder / "november", job(trials=[TRIAL]), job("/opt/<b>", calls=20), {**job(), "began": BEGAN + 86_400})
    leave(folder, job(all_ranks=False))
    (folder / "x.json").write_text("{")
    result = rondo("report", folder, "--output", output)
    assert result.exit_code == 0, result.output
    page = Page(output)
    for said in (
        "of 1 job rank 0 alone is counted",
        "x.json: Input data was truncated",
        "4 jobs",
        "app 3 120",
        "<b> 1 80",
        "Gained 80 ms",
        "MPICH Version 5.0.2",
        "The last 4 jobs",
    ):
        assert said in page.text, said
    bars = {each["name"]: each for each in page.figures["days1"]["data"]}
    assert bars["served"]["y"] == [0.16, 0.04]
    assert page.figures["programs1"]["data"][0]["x"] == ["app", "&lt;b&gt;"]
    assert rondo("report", folder / "november" / "1.json", "--output", output).exit_code == 0
    assert "1 job" in Page(output).text


def test_a_page_of_chosen_jobs_is_written_beside_the_table(rondo: Any, tmp_path: Path) -> None:
    leave(tmp_path, job(), job("/usr/bin/other"))
    output = tmp_path / "page.html"
    result = rondo("jobs", "--program", "other", "--json", "--page", output, tmp_path)
    assert json.loads(result.stdout)["jobs"] == 1
    assert result.stderr == f"wrote {output}\n"
    assert "other" in Page(output).text
    assert "app" not in Page(output).text


def test_a_figure_has_a_bar_for_all_that_have_no_room(rondo: Any, tmp_path: Path) -> None:
    leave(tmp_path, *(job(f"/opt/app{number}", calls=100 - number) for number in range(20)))
    assert rondo("report", tmp_path, "--output", tmp_path / "page.html").exit_code == 0
    served = Page(tmp_path / "page.html").figures["programs1"]["data"][0]
    assert len(served["x"]) == jobs_page.MOST_BARS
    assert served["x"][-1] == "9 others"
    assert served["y"][-1] == pytest.approx(sum(100 - number for number in range(11, 20)) * 4e-3, rel=1e-3)
