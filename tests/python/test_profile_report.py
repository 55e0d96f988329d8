# SPDX-License-Identifier: BSD-3-Clause
"""Profiles for people: on the terminal, and as pages of `rondo report`; and what it says to files that are none."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import msgspec
import pytest
from html_page import Page
from profile_builder import RUN, SITES, line, profile
from recorded_results import EXSCAN, recorded
from rich.console import Console
from rondo.comparing import results as comparisons
from rondo.errors import Error
from rondo.profiling import prediction, savings, terminal
from rondo.profiling.profile import CUT_OFF, Communicator, Function, Profile, Site, read, write
from rondo.reports.files import kind

from rondo import optional

PYTHON = Site("", "", 0, "libpython3.11.so", 1, ["train.py:40 in step", "train.py:80 in main"])


def example(**changes: object) -> Profile:
    """Of two nodes of four ranks: rank 3 comes late, and has not ended."""
    waits = [4e-3, 4e-3, 4e-3, 1e-4, 4e-3, 4e-3, 4e-3, 4e-3]
    found = profile(
        line("MPI_Allreduce", bytes=1 << 20, calls=10, moving=0.4, waiting=waits),
        line("MPI_Allreduce", moving=5e-3, waiting=waits, calls=200),
        line("MPI_Bcast", bytes=64 << 10, moving=9e-3, site=1, root=2),
        line("MPI_Alltoallw", collective="", moving=2e-3, site=2),
        line("MPI_Allgather", communicator=1, ranks=[0, 4], moving=3e-3, site=2),
        line("MPI_Barrier", bytes=0, element=0, moving=2e-3, site=1),
        nodes=2,
        each=4,
        sites=[*SITES, PYTHON],
        communicators=[Communicator("leaders", "MPI_Comm_split", 2, 2, 1, 1)],
        functions=[Function("MPI_Send", 400, [0.01] * 8, 1 << 20), Function("MPI_Wait", 400, [0.02] * 8)],
        **changes,
    )
    found.ranks[3].ended = CUT_OFF
    return found


@pytest.fixture
def profile_file(tmp_path):
    """Writes a profile into a file."""

    def save(name: str = "profile.json", found: Profile | None = None) -> Path:
        path = tmp_path / name
        write(found if found is not None else example(), path)
        return path

    return save


def shown(found: Profile, width: int = 80, outlook: savings.Outlook | None = None) -> str:
    console = Console(width=width, record=True, file=Path(os.devnull).open("w"), highlight=False)  # noqa: SIM115
    terminal.show(found, console, outlook)
    return console.export_text()


def test_the_terminal_says_on_80_columns_where_the_time_goes_and_what_to_do():
    text = shown(example())
    title, *rest = text.splitlines()
    assert title == "mpiexec -n 8 ./app, 8 ranks on 2 nodes, MPICH Version:      5.0.2"
    assert all(len(each) <= 80 for each in rest)
    flat = " ".join(text.split())
    assert re.search(r"collectives: moving data +6\.38 +63\.8%", text)
    assert re.search(r"the run, from MPI_Init to MPI_Finalize +10\.0+", text)
    assert re.search(r"^ Allreduce +210 +\d+\.\d% +0\.738 +5\.000 +[\d.]+ +[\d.]+", text, re.MULTILINE)
    for expected in ("solver.c:112 in", "libfft.so+0x99a0", "train.py:40 in step", "1 MiB", "Alltoallw"):
        assert expected in text
    assert "of the run in collectives;" in flat
    assert "most of all for rank 3 (node0)" in flat
    assert "missing: the end of rank 3 (node0): cut off" in flat


def test_a_program_without_collectives_has_a_profile_too():
    text = shown(profile(functions=[Function("MPI_Send", 3, [0.1] * 8)]))
    assert "The program calls no collective." in text
    assert "0.0% of the run in collectives; 0.0% moving data; nothing of the run could be saved." in " ".join(
        text.split()
    )


def on_one_node_and_not_blocking() -> Profile:
    """Of an MPI_Allreduce of which nothing is predicted, and collectives of which nobody knows what they wait for."""
    rest = line("MPI_Iallreduce", collective="allreduce", sampled=0, moving=1e-3)
    for share in rest.shares:
        share.completing, share.seconds = 0.5, share.seconds + 0.5
    graph = line("MPI_Neighbor_alltoall", collective="", sampled=0, moving=2e-3)
    return profile(line("MPI_Allreduce", moving=20e-3, waiting=1e-3), rest, graph, nodes=1, each=8)


def test_the_terminal_says_of_nothing_that_it_is_known_when_it_is_not(tmp_path):
    (tmp_path / "mine.rules").write_text("allreduce -> ring\n")
    found = on_one_node_and_not_blocking()
    where = prediction.circumstances(found, {}, str(tmp_path / "mine.rules"))
    text = shown(found, outlook=prediction.outlook(found, where))
    rows = {each.split()[0]: each.split()[1:] for each in text.splitlines() if re.match(r" [A-Z]\w+ +100 ", each)}
    assert rows == {
        "Allreduce": ["100", "21.0%", "0.000", "0.100", "2.000", "?", "?"],
        "Iallreduce": ["100", "6.0%", "0.500", "\N{EN DASH}", "\N{EN DASH}", "\N{EN DASH}", "\N{EN DASH}"],
        "Neighbor_alltoall": ["100", "2.0%", "0.000", "\N{EN DASH}", "\N{EN DASH}", "\N{EN DASH}", "\N{EN DASH}"],
    }
    assert re.search(r"collectives: in MPI_Wait +0\.50 +5\.0%", text)
    assert re.search(r"collectives: not compared +0\.30 +3\.0%", text)
    flat = " ".join(text.split())
    assert "5.0% in MPI_Wait for those that do not block; nobody knows what of it could be saved." in flat
    assert "could be saved (" not in flat
    assert "nothing of the run" not in flat
    assert all(len(each) <= 80 for each in text.splitlines()[1:])


def test_what_nobody_compared_is_no_zero_in_the_first_table():
    text = shown(profile(line("MPI_Allreduce", sampled=0, moving=20e-3)))
    assert re.search(r"collectives: waiting +\N{EN DASH} +\N{EN DASH}\s", text)
    assert re.search(r"collectives: moving data +\N{EN DASH} +\N{EN DASH}\s", text)
    assert re.search(r"collectives: not compared +2\.00 +20\.0%", text)
    assert "moving data; " not in text


def test_the_page_says_unknown_in_tables_and_bars(rondo, profile_file, tmp_path):
    (tmp_path / "mine.rules").write_text("allreduce -> ring\n")
    file = profile_file(found=on_one_node_and_not_blocking())
    rondo("report", file, "--rules", tmp_path / "mine.rules", "--output", tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    for said in (
        "saved by rondo run nobody knows",
        "saved at best nobody knows",
        "collectives, with rondo run nobody knows",
        "calls of which nobody knows what they take with rondo run 2 s 20.0%",
        "MPI_Allreduce 100 800 B 2.1 s 21.0% 0 100 ms 2 s ? ?",
        "MPI_Iallreduce 100 800 B 600 ms 6.0% 500 ms \N{EN DASH} \N{EN DASH} \N{EN DASH} \N{EN DASH}",
    ):
        assert said in page.text, said
    assert "benefit1" not in page.figures  # where nothing is predicted, there is nothing to draw
    waiting = {each["name"]: each["x"] for each in page.figures["waiting1"]["data"]}
    assert waiting["waiting"] == [pytest.approx(0.1), None, None]
    assert waiting["in MPI_Wait"] == [0, 0.5, 0]
    glance = {each["name"]: each["x"][0] for each in page.figures["glance1"]["data"]}
    assert glance["collectives: in MPI_Wait"] == pytest.approx(0.5)
    assert sum(glance.values()) == pytest.approx(RUN, rel=1e-3)


def test_the_file_says_null_for_what_nobody_knows_and_0_of_older_files_is_no_figure(profile_file):
    path = profile_file(found=on_one_node_and_not_blocking())
    content = json.loads(path.read_text())
    known, *unknown = ([share[3:5] for share in each["shares"]] for each in content["lines"])
    assert all(None not in each for each in known)
    assert unknown == [[[None, None]] * 8] * 2
    for each in content["lines"][1:]:
        for share in each["shares"]:
            share[3:5] = [0.0, 0.0]
    path.write_text(json.dumps(content))
    assert read(path) == on_one_node_and_not_blocking()


def test_what_is_written_is_read_again(profile_file):
    assert read(profile_file()) == example()


def test_the_page_of_a_profile_needs_nothing_but_plotly(rondo, profile_file, tmp_path):
    result = rondo("report", profile_file(), "--output", tmp_path / "page.html")
    assert (result.exit_code, result.stdout) == (0, f"wrote {tmp_path / 'page.html'}\n")
    page = Page(tmp_path / "page.html")
    assert not page.fetched
    graph_objects = optional.module("plotly.graph_objects")
    names = {"glance1", "benefit1", "waiting1", "sizes1", "counts1", "predicted1", "ranks1"}
    assert set(page.figures) == names
    assert {f"{each}data" for each in names} <= page.targets
    for each in page.figures.values():
        graph_objects.Figure(each)  # refuses what Plotly does not know


def test_the_page_has_the_same_figures_as_the_profile(rondo, profile_file, tmp_path):
    rondo("report", profile_file(), "--output", tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    glance = {each["name"]: each["x"][0] for each in page.figures["glance1"]["data"]}
    assert sum(glance.values()) == pytest.approx(RUN, rel=1e-4)
    *functions, unknown = page.figures["benefit1"]["data"]
    assert unknown["name"] == "not predicted"
    moving = {each["name"]: each["y"][0] for each in functions}
    assert moving["MPI_Allreduce"] == pytest.approx(10 * 0.4 + 200 * 5e-3)
    assert moving["MPI_Allgather"] == pytest.approx(0.3 * 2 / 8)
    assert sum(moving.values()) == pytest.approx(glance["collectives: moving data"], rel=1e-4)
    for each in functions:
        measured, by_rules, best = each["y"]
        assert best is None or (0 <= best <= measured)
        assert by_rules is None or (best or 0) <= by_rules <= measured
    for column in (1, 2):
        assert sum(each["y"][column] or 0 for each in [*functions, unknown]) <= sum(moving.values()) * 1.0001
    calls = {each["name"]: dict(zip(each["x"], each["y"], strict=True)) for each in page.figures["counts1"]["data"]}
    assert (calls["MPI_Allreduce"]["8 B"], calls["MPI_Allreduce"]["1 MiB"]) == (200, 10)
    assert calls["MPI_Barrier"]["none"] == 100
    ranks = page.figures["ranks1"]["data"]
    assert [sum(each["y"][rank] for each in ranks) for rank in range(8)] == pytest.approx([RUN] * 8, rel=1e-3)
    for expected in (
        "What is missing the end of rank 3 (node0): cut off",
        "solver.c:112 in step",
        "train.py:40 in step train.py:80 in main",
        "leaders MPI_Comm_split 2 2 of 1 1",
        "Rondo has no algorithm for it",
        "alpha = 1 ms, beta = 100 ns/B (80 Mbit/s), overhead = 0 µs",
        "MPI_Wait 400",
    ):
        assert expected in page.text
    then = re.search(r"collectives, with rondo run ([\d.]+) s [\d.]+% ([\d.]+) s and ([\d.]+) s", page.text)
    low, high = float(then[2]), float(then[3])
    assert (
        low <= float(then[1]) <= high <= glance["collectives: moving data"] + glance["collectives: waiting"] + RUN / 100
    )


def test_profiles_before_and_after_stand_side_by_side(rondo, profile_file, tmp_path):
    after = example()
    for each in after.lines:
        for share in each.shares:
            share.moving /= 2
    files = profile_file("before.json"), profile_file("after.json", after)
    result = rondo("report", *files, "--output", tmp_path / "page.html")
    assert result.exit_code == 0, result.exception
    page = Page(tmp_path / "page.html")
    assert "Profiles, side by side" in page.text
    assert "before after after / before" in page.text
    assert re.search(r"MPI_Allreduce: moving 5 s 2\.5 s 0\.5 ", page.text)
    assert re.search(r"MPI_Allreduce: waiting (\d+ ms) \1 1 ", page.text)
    assert [each["x"][0] for each in page.figures["benefit0"]["data"]] == ["before: measured"] * 6
    assert {"glance1", "glance2"} <= set(page.figures)


def test_names_in_a_profile_are_text_not_markup(rondo, profile_file, tmp_path):
    hostile = '</script><img src="http://nowhere/x">'
    found = example(command=[hostile], library=hostile)
    found.sites[0].file, found.sites[2].frames[0] = hostile, hostile
    found.communicators[1].name, found.lines[0].function = hostile, hostile
    found.functions[0].name, found.hosts[0], found.missing = hostile, hostile, [hostile]
    result = rondo("report", profile_file(found=found), "--output", tmp_path / "page.html")
    assert result.exit_code == 0, result.exception
    assert Page(tmp_path / "page.html").fetched == []


def test_other_rules_and_another_machine_change_what_is_predicted(rondo, profile_file, tmp_path):
    (tmp_path / "mine.rules").write_text("allreduce -> ring\n")
    (tmp_path / "machine").write_text("alpha = 1e-7\nbeta = 1e-12\noverhead = 1e-7\ngamma = 0\n")
    page = tmp_path / "page.html"
    rondo("report", profile_file(), "--rules", tmp_path / "mine.rules", "--output", page)
    assert f"Rules of rondo run {tmp_path / 'mine.rules'}" in Page(page).text
    assert "ring:segment=" in Page(page).text
    rondo("report", profile_file(), "--machine", tmp_path / "machine", "--output", page)
    assert "alpha = 0.1 µs" in Page(page).text
    rondo("report", profile_file(), "--machine", "hdr", "--output", page)
    assert "alpha = 0.95 µs" in Page(page).text


def comparison() -> comparisons.Results:
    counted = [comparisons.Counted(1.5, {"bcast": 1.5}, {"bcast": {"native": 2}})] * 6
    served = [comparisons.Counted(0.5, {"bcast": 0.5}, {"bcast": {"binomial": 2}})] * 6
    rivals = [
        comparisons.Runs("native", "./app", False, [2.0, 2.01, 2.02, 2.0, 2.03, 2.01], [0] * 6, counted),
        comparisons.Runs("rondo", "rondo run ./app", True, [1.0, 1.01, 1.02, 1.0, 1.03, 1.01], [0] * 6, served),
    ]
    return comparisons.Results(
        "2026-11-23",
        "rondo compare ./app",
        "0.1.0",
        "MPICH",
        8,
        "",
        6,
        rivals,
        verdicts=list(comparisons.judged(rivals)),
    )


def test_a_comparison_becomes_a_page(rondo, tmp_path):
    comparisons.write(comparison(), tmp_path / "compare.json")
    result = rondo("report", tmp_path / "compare.json", "--output", tmp_path / "page.html")
    assert result.exit_code == 0, result.exception
    page = Page(tmp_path / "page.html")
    assert re.search(r"Wall time rondo 6 1\.01 s \[1, 1\.\d+\] 1 s 1\.03 s 1\.99 times as fast", page.text)
    assert re.search(r"bcast 1\.5 s 500 ms 2 of 2 by binomial", page.text)
    assert set(page.figures) == {"wall1", "counted1"}
    points = [each for each in page.figures["wall1"]["data"] if each["mode"] == "markers"]
    assert [each["y"] for each in points] == [each.seconds for each in comparison().rivals]


def test_a_comparison_of_one_run_can_be_read(tmp_path):
    found = comparison()
    for each in found.rivals:
        del each.seconds[1:], each.counted[1:]
    found.verdicts = list(comparisons.judged(found.rivals))
    comparisons.write(found, tmp_path / "compare.json")
    (verdict, _) = comparisons.read(tmp_path / "compare.json").verdicts
    assert verdict.low != verdict.low  # NaN: one run has no interval


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"",
            "{path} is empty; expected a file of rondo bench, profile, compare or run --report",
        ),
        (b"hello", "{path} holds no JSON ("),
        (b"[1, 2]", "{path} holds other JSON; expected a file of rondo bench,"),
        (b'{"a": 1}', "{path} holds other JSON; expected a file of rondo bench,"),
        (b"HALF", "{path} is cut off after 3000 bytes: its end is missing"),
        (b"VERSION", "{path} has format 7 of profiles; this version of Rondo reads format 1"),
        (b"TYPE", "{path} holds no profile of rondo profile: Expected `str`, got `int`"),
        (b"SITES", "{path} holds no whole profile: line 2 speaks of what is not there"),
        (b"NOBODY", "{path} holds no rank: the program had not called MPI_Init when it ended"),
    ],
)
def test_files_that_are_no_profiles_are_told_apart_in_a_line(rondo, profile_file, content, said):
    path = profile_file()
    whole = path.read_bytes()
    special = {
        b"HALF": whole[:3000],
        b"VERSION": whole.replace(b'"format":1', b'"format":7').replace(b'"calls":', b'"times":'),
        b"TYPE": whole.replace(b'"MPI_DOUBLE"', b"8"),
        b"SITES": msgspec.json.encode(msgspec.structs.replace(example(), sites=SITES[:1])),
        b"NOBODY": msgspec.json.encode(msgspec.structs.replace(profile(), ranks=[])),
    }
    path.write_bytes(special.get(content, content))
    result = rondo("report", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"rondo: {said.format(path=path)}")
    assert result.stderr.count("\n") == 1


def test_a_file_is_cut_off_wherever_it_ends(profile_file):
    path = profile_file()
    whole = path.read_bytes().rstrip()
    for end in range(1, len(whole), 7):
        path.write_bytes(whole[:end])
        with pytest.raises(Error, match=f"is cut off after {end} bytes"):
            kind(path)


def test_files_of_two_kinds_and_options_of_other_kinds_are_refused(rondo, profile_file, tmp_path):
    path, other = profile_file(), recorded(EXSCAN, tmp_path)
    comparisons.write(comparison(), tmp_path / "compare.json")
    for words, said in (
        (
            [path, other],
            f"{path} holds a profile of rondo profile, {other} results of rondo bench; expected files of one",
        ),
        ([path, "--csv", "x.csv"], "--csv is for results of rondo bench; "),
        ([tmp_path / "compare.json", "--figures", "x"], "--figures is for results of rondo bench; "),
        ([other, "--rules", "none"], "--rules is for profiles; "),
        ([tmp_path / "compare.json", "--machine", "x"], "--machine is for profiles; "),
        ([path, "--rules", tmp_path / "none.rules"], f"cannot read the rules {tmp_path}/none.rules: "),
        ([path, "--machine", tmp_path / "none"], f"cannot read the machine file {tmp_path}/none: "),
    ):
        result = rondo("report", *words)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"rondo: {said}")
