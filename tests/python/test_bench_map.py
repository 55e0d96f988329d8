# SPDX-License-Identifier: BSD-3-Clause
"""`rondo bench --map` on recorded results: what it reads, draws, keeps and refuses.

recorded_map/ holds a part of a map of exscan (MPICH, emulated network): the first repetitions of some candidates.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
from collections.abc import Callable
from html import unescape
from pathlib import Path

import msgspec
import pytest
from rondo.bench import maps, plans, results
from rondo.errors import Error
from rondo.reports import map_figures, style

RECORDED = Path(__file__).with_name("recorded_map")
OPTIONS = (
    "--type",
    "double",
    "--counts",
    "4,1Ki,4Ki",
    "--algorithms",
    "native,linear_pipeline,two_op_doubling,two_tree",
)


@pytest.fixture
def question() -> maps.Question:
    return msgspec.json.decode((RECORDED / maps.PLAN_FILE).read_bytes(), type=maps.Question)


@pytest.fixture
def found(question: maps.Question) -> maps.Map:
    recorded = maps.read(RECORDED, question)
    assert recorded is not None
    return recorded


def median(processes: int, label: str, count: int) -> float:
    measured = results.read(RECORDED / f"p{processes}.json")
    (one,) = [each for each in measured.configurations if (each.label, each.count) == (label, count)]
    return statistics.median(one.seconds())


def test_each_cell_has_the_fastest_with_its_ratio_to_native(found):
    assert [(each.processes, each.count) for each in found.cells] == [
        (p, n) for p in (2, 3, 5) for n in (4, 1024, 4096)
    ]
    for cell in found.cells:
        times = {label: median(cell.processes, label, cell.count) for label in found.question.candidates}
        assert cell.fastest == min(times, key=times.__getitem__)
        assert cell.ratio == pytest.approx(times[cell.fastest] / times["native"])
        assert cell.seconds == pytest.approx(times)
        assert cell.bytes == 8 * cell.count
    assert found.ranks_per_node == 1
    assert found.processes == [2, 3, 5]


def test_a_candidate_with_a_wrong_result_cannot_be_the_fastest(found, question):
    measured = results.read(RECORDED / "p3.json")
    winner = next(each.fastest for each in found.cells if (each.processes, each.count) == (3, 4))
    for each in measured.configurations:
        if each.label == winner:
            each.repetitions[0].wrong = 1
    cells = maps.draw_up(question, {3: measured}).cells
    assert all(winner not in each.seconds for each in cells)


def test_figures_show_the_colours_of_those_that_win(found, tmp_path):
    numpy = pytest.importorskip("numpy")
    image = pytest.importorskip("matplotlib.image")
    written = map_figures.draw(found, tmp_path, maps.bandwidth_count(found, 32 << 10))
    assert [each.name for each in written] == ["fastest.png", "fastest.svg", "bandwidth.png", "bandwidth.svg"]
    looks = map_figures.looks_of(found)
    assert len({(each.fill, each.hatch) for each in looks.values()}) == len(looks)
    pixels = numpy.rint(255 * image.imread(tmp_path / "fastest.png")[:, :, :3]).astype(int).reshape(-1, 3)
    for cell in found.cells:
        if cell.undecided or (cell.native_tied and cell.fastest != "native"):
            continue
        colour = [int(looks[cell.fastest].fill[place : place + 2], 16) for place in (1, 3, 5)]
        assert (abs(pixels - colour).max(axis=1) <= 1).sum() > 500


def test_the_length_for_bandwidth_is_the_next_one_measured(found):
    assert [maps.bandwidth_count(found, each) for each in (1, 30_000, 1 << 30)] == [4, 4096, 4096]


def test_table_has_letters_for_algorithms(found):
    from rich.console import Console  # noqa: PLC0415

    table, legend = maps.table(found)
    console = Console(width=200, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    console.print(table)
    text = console.export_text()
    assert "8 KiB" in text
    assert sum(int(line.rpartition(" ")[2]) for line in legend) == len(found.cells)
    cell = found.cells[-2]
    letter = next(line[0] for line in legend if f" {cell.fastest}:" in line)
    assert f"{letter} {cell.ratio:.2f}" in text


def test_a_cell_with_too_few_repetitions_names_nobody(question, tmp_path):
    from rich.console import Console  # noqa: PLC0415

    measured = results.read(RECORDED / "p3.json")
    for each in measured.configurations:
        if each.count == 1024:
            each.repetitions = [one for one in each.repetitions if one.state == results.VALID][:1]
    found = maps.draw_up(question, {3: measured})
    assert [(each.count, each.verdict, each.valid_text) for each in found.cells if each.undecided] == [
        (1024, "undecided", "n=1")
    ]
    table, legend = maps.table(found)
    console = Console(width=200, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    console.print(table)
    assert console.export_text().count("? n=1") == 1
    assert [int(line.rpartition(" ")[2]) for line in legend] == [1, 1, 1]
    assert legend[-1].startswith("?  undecided")
    assert json.loads(maps.write(found, tmp_path).read_text())["cells"][1]["valid"] == dict.fromkeys(
        found.cells[1].seconds, 1
    )
    written = map_figures.draw(found, tmp_path, 1024)
    assert all(map_figures.UNDECIDED in texts_of(each) for each in written if each.name == "fastest.svg")
    assert all(style.HOLLOW in texts_of(each) for each in written if each.name == "bandwidth.svg")


def test_cells_without_a_ratio_are_explained(question, found, tmp_path):
    explanations = {map_figures.NO_NATIVE[1], map_figures.NOTHING[1]}
    map_figures.draw(found, tmp_path, 1024)
    assert not explanations & set(texts_of(tmp_path / "fastest.svg"))
    parts = {p: results.read(RECORDED / f"p{p}.json") for p in (2, 3)}
    for each in parts[2].configurations:
        if each.count == 4 or (each.count == 1024 and each.label == results.NATIVE):
            each.repetitions = []
    map_figures.draw(maps.draw_up(question, parts), tmp_path, 4096)
    assert explanations <= set(texts_of(tmp_path / "fastest.svg"))


def texts_of(figure: Path) -> list[str]:
    """The texts in an SVG file, which are drawn as glyphs and said in comments."""
    return [unescape(each) for each in re.findall("<!-- (.*?) -->", figure.read_text())]


def test_cells_are_written_for_programs(found, tmp_path):
    document = json.loads(maps.write(found, tmp_path).read_text())
    assert document["question"]["collective"] == "exscan"
    assert [each["fastest"] for each in document["cells"]] == [each.fastest for each in found.cells]
    assert [each["ratio"] for each in document["cells"]] == [pytest.approx(each.ratio) for each in found.cells]


@pytest.fixture
def started(tmp_path: Path, stand_in_launcher: Callable[..., Path]) -> tuple[Path, tuple[object, ...]]:
    """A copy of the recorded map that another command began, and the words that go on with it."""
    directory = tmp_path / "map"
    shutil.copytree(RECORDED, directory)
    launcher = stand_in_launcher("hydra")
    asked = maps.question(
        plans.make("exscan", type_name="double", counts="4,1Ki,4Ki", algorithms=OPTIONS[-1].split(",")),
        cluster=None, launcher=[str(launcher), "-n", "{p}"], mpi=None,
    )  # fmt: skip
    (directory / maps.PLAN_FILE).write_bytes(msgspec.json.encode(asked))
    return directory, ("--output", directory, "--", launcher, "-n", "{p}")


def test_what_is_there_is_not_measured_again(rondo, started):
    directory, words = started
    # The launcher only knows its version: it cannot measure anything.
    result = rondo("bench", "--map", "exscan", *OPTIONS, "--processes", "2,3,5", *words)
    assert result.exit_code == 0, result.stderr
    assert "3 of 3 numbers of processes are there already" in result.stderr
    assert "to measure" not in result.stderr
    assert "two_tree: fastest in" in result.stdout
    assert (directory / "fastest.png").stat().st_size > 10_000


def test_another_question_is_refused(rondo, started):
    directory, words = started
    result = rondo("bench", "--map", "exscan", *OPTIONS, "--op", "max", "--processes", "2,3,5", *words)
    assert result.exit_code == 2
    assert f"{directory} holds a map with operator sum, not max; name another directory" in result.stderr


def test_counts_of_a_map_are_of_the_whole_vector():
    plan = plans.make("allgather", algorithms=["native"], counts="1,8,100")
    assert maps.plan_for(plan, 8).counts == (1, 13)
    assert maps.call_count("allgather", 8, 8) == 1
    assert maps.plan_for(plans.make("bcast", algorithms=["native"], counts="1,100"), 8).counts == (1, 100)


def test_clusters_and_launchers_get_the_number_of_processes():
    assert maps.place_for(6, (), "8x2:1ms:200Mbit:2") == ((), "3x2:1ms:200Mbit:2")
    assert maps.place_for(6, ("srun", "-n{p}", "x"), None) == (("srun", "-n6", "x"), None)
    assert maps.processes_for(None, "4x2:1ms:1Gbit") == (2, 4, 6, 8)
    assert maps.processes_for(None, "4x1:1ms:1Gbit") == (2, 3, 4)
    assert maps.processes_for("2..4,8", None) == (2, 3, 4, 8)


@pytest.mark.parametrize("text", ["", "1..3", "4..2", "2,,3", "two", "2..", "0"])
def test_numbers_of_processes_that_cannot_be_read_are_refused(text):
    with pytest.raises(Error, match="expected numbers from 2 on"):
        plans.processes_of(text)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ping_pong"], "--map compares algorithms, and ping_pong has none"),
        (["barrier"], "--map compares lengths, and barrier has none"),
        (["scan", "--start", "both"], "--map takes one way to start"),
        (["scan", "--cluster", "mine"], "starts an emulated cluster for each number of processes"),
        (["scan", "--cluster", "4x2:1ms:1Gbit", "--processes", "3"], "3 do not fill whole nodes of 4x2:1ms:1Gbit"),
        (["scan", "--", "mpiexec", "-n", "3"], "write {p} in its place"),
        (["scan", "--at", "1,2"], "--at 1,2: expected one number of bytes"),
        (["scan"], "where to measure? Expected a launcher"),
    ],
)
def test_maps_that_cannot_be_are_refused_before_anything_starts(rondo, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    result = rondo("bench", "--map", *words)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert list(tmp_path.iterdir()) == []
