# SPDX-License-Identifier: BSD-3-Clause
"""`rondo report`: the page, the figures and the table, from results with times of the alpha-beta model."""

from __future__ import annotations

import csv
import math
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import numpy
import pytest
from html_page import Page
from rondo.bench import maps
from rondo.bench.results import Configuration, Emulation, Environment, Network, Repetition, Results, write
from rondo.reports import charts, style, words
from rondo.reports.sections import Source, figure_names, library_text, styles

from rondo import optional

RECORDED_MAP = Path(__file__).with_name("recorded_map")
MACHINE = "alpha = 2e-06\nbeta = 8e-11\noverhead = 5e-07\ngamma = 5e-11\n"
VERDICT = (
    "exscan bytes=8 commutative=yes rounding=no processes=2 nodes=1 fewest_on_node=2 most_on_node=2 in_rank_order=yes "
    "shared_memory=yes choice=doubling_123 rondo=1e-05 library=0.0005 calls=5 day=2026-11-26\n"
)
RANKS = 36
ALPHA, BETA = 10e-3, 160e-9  # seconds; 50 Mbit/s
COUNTS = [mantissa * 10**power for power in range(6) for mantissa in (1, 2, 5)]
DOUBLINGS = math.ceil(math.log2(RANKS))
SEGMENT = 32768

# Seconds that a collective takes on vectors of m bytes; Rondo's names with the rounds that they are known for.
MODELS: dict[str, Callable[[int], float]] = {
    "native": lambda m: (RANKS - 1) * (ALPHA + BETA * m) if m > 262144 else (DOUBLINGS + 1) * (ALPHA + BETA * m),
    "cyclic_doubling": lambda m: DOUBLINGS * (ALPHA + BETA * m),
    "doubling_123": lambda m: (DOUBLINGS + 0.02) * (ALPHA + BETA * m),
    "two_op_doubling": lambda m: DOUBLINGS * (ALPHA + BETA * m + 2e-9 * m) + 1e-3,
    "linear_pipeline:segment=32Ki": lambda m: (RANKS - 1) * (ALPHA + BETA * min(m, SEGMENT)) + BETA * m,
    "linear_pipeline:segment=128Ki": lambda m: (RANKS - 1) * (ALPHA + BETA * min(m, 4 * SEGMENT)) + BETA * m,
}


def repetitions(seconds: float, generator: numpy.random.Generator, number: int = 20) -> list[Repetition]:
    noise = (1 + generator.gamma(2.0, 0.006, number)).tolist()
    found = [Repetition(seconds * each, seconds * each * 0.9, seconds * each * 0.8, 2e-5, "valid", 0) for each in noise]
    found[3] = Repetition(seconds * 1.3, seconds, seconds, 4e-3, "late", 0)
    return found


def environment(**changes: object) -> Environment:
    facts: dict[str, object] = {
        "date": "2026-02-03T04:05:06Z",
        "command": "rondo bench exscan --nodes 36 --seed 7",
        "rondo": "0.1.0",
        "library": "MPICH Version:      5.0.2",
        "abi": "mpich",
        "launcher": "mpiexec",
        "ranks": RANKS,
        "nodes": RANKS,
        "ranks_per_node": [1] * RANKS,
        "hosts": [f"node{each}" for each in range(RANKS)],
        "kernel": "Linux 6.1",
        "processor": "Acme 9000",
        "cores": 2,
        "clock": "shared",
        "clock_error": 0.0,
        "seed": 7,
        "network": Network(10.1e-3, 162e-9, 0.021),
        "emulation": Emulation(RANKS, 1, ALPHA, 50e6, 1),
    }
    return Environment(**{**facts, **changes})  # type: ignore[arg-type]


def measured(collective: str = "exscan", seed: int = 1, counts: list[int] | None = None) -> list[Configuration]:
    generator = numpy.random.default_rng(seed)
    found = []
    for count in counts or COUNTS:
        for label, seconds in MODELS.items():
            algorithm, _, parameters = label.partition(":")
            made = repetitions(seconds(8 * count), generator)
            found.append(
                Configuration(collective, algorithm, parameters, "barrier", count, 8 * count, "long", "bxor", 0.0, made)
            )
    return found


@pytest.fixture
def results_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of results."""

    def save(name: str = "results.json", configurations: list[Configuration] | None = None, **changes: object) -> Path:
        complete = bool(changes.pop("complete", True))
        path = tmp_path / name
        write(Results(environment(**changes), configurations or measured(counts=COUNTS[::4]), complete), path)
        return path

    return save


def test_the_page_needs_nothing_but_plotly(rondo, results_file, tmp_path):
    result = rondo("report", results_file(), "--output", tmp_path / "page.html")
    assert (result.exit_code, result.stdout) == (0, f"wrote {tmp_path / 'page.html'}\n")
    page = Page(tmp_path / "page.html")
    assert page.fetches_plotly
    assert all(each.startswith("#") for each in page.fetched)
    assert "`rondo report --self-contained`".strip("`") in page.text


def test_a_self_contained_page_needs_nothing_but_itself(rondo, results_file, tmp_path):
    result = rondo("report", results_file(), "--self-contained", "--output", tmp_path / "page.html")
    assert (result.exit_code, result.stdout) == (0, f"wrote {tmp_path / 'page.html'}\n")
    page = Page(tmp_path / "page.html")
    assert page.fetched
    assert not page.fetches_plotly
    assert all(each.startswith("#") and each[1:] in page.targets for each in page.fetched)
    assert "Plotly" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_page_sends_nothing_anywhere(rondo, results_file, tmp_path):
    rondo("report", results_file(), "--output", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "showSendToCloud: false" in text[text.rindex("<script>") :]


def test_figures_on_the_page_hold_all_candidates_and_every_valid_repetition(rondo, results_file, tmp_path):
    graph_objects = optional.module("plotly.graph_objects")
    rondo("report", results_file(), "--output", tmp_path / "page.html")
    figures = Page(tmp_path / "page.html").figures
    assert set(figures) == {"times1", "ratios1"}
    for each in figures.values():
        graph_objects.Figure(each)  # refuses what Plotly does not know
    lines = [each for each in figures["times1"]["data"] if each.get("meta", {}).get("role") == "line"]
    assert [each["name"] for each in lines] == list(MODELS)
    points = [each for each in figures["times1"]["data"] if each.get("meta", {}).get("role") == "points"]
    assert {len(each["x"]) for each in points} == {19 * len(COUNTS[::4])}
    assert [each["name"] for each in figures["ratios1"]["data"]] == list(MODELS)[1:]
    ratio = figures["ratios1"]["data"][0]
    assert ratio["y"][0] == pytest.approx(MODELS["cyclic_doubling"](8) / MODELS["native"](8), rel=0.02)
    assert all(0 < each < 0.05 for each in ratio["error_y"]["array"])


def test_the_page_says_in_words_who_wins_and_where_it_was_measured(rondo, results_file, tmp_path):
    rondo("report", results_file(), "--output", tmp_path / "page.html")
    text = Page(tmp_path / "page.html").text
    for expected in (
        "MPICH 5.0.2, 36 nodes of 1 rank, emulated network",
        "linear_pipeline:segment=32Ki wins at 1: ",
        "No single winner among cyclic_doubling, doubling_123, two_op_doubling at 4: 8 B to ",
        "alpha = 10.1 ms, beta = 162 ns/B (49.4 Mbit/s), largest residual 2.1%",
        "36 nodes, latency 10 ms, 50 Mbit/s on 1 lane, 0 packets lost",
        "rondo bench exscan --nodes 36 --seed 7",
        "600 repetitions, 30 invalid, 0 with wrong results.",
    ):
        assert expected in text
    assert "interrupted" not in text


def test_too_few_repetitions_name_no_winner_and_are_drawn_hollow(rondo, results_file, tmp_path):
    configurations = [each for each in measured(counts=[1, 10, 100]) if each.algorithm in ("native", "cyclic_doubling")]
    for each in configurations:
        if each.count < 100:
            each.repetitions = each.repetitions[:1]
    file = results_file(configurations=configurations)
    result = rondo("report", file, "--output", tmp_path / "page.html", "--figures", tmp_path, "--format", "svg")
    assert result.exit_code == 0, result.stderr
    page = Page(tmp_path / "page.html")
    assert "Undecided at 2: 8 B to 80 B, with 1 valid repetitions each; it takes 4 of every candidate." in page.text
    assert page.text.count("undecided: n = 1 each, and it takes 4 of each") == 2
    assert page.text.count(" wins at ") == 1
    for name, figure in page.figures.items():
        lines = [each for each in figure["data"] if each["mode"] == "lines+markers"]
        assert lines, name
        for line in lines:
            assert [each.endswith("-open") for each in line["marker"]["symbol"]] == [True, True, False]
        assert [each["name"] for each in figure["data"]].count(style.HOLLOW) == 1
    for kind in ("time", "ratio"):
        assert f"<!-- {style.HOLLOW.replace('<', '&lt;')} -->" in (tmp_path / f"exscan-{kind}.svg").read_text()


def test_forms_have_sections_of_their_own_with_what_overlaps(rondo, results_file, tmp_path):
    blocking = measured(counts=[1000])
    nonblocking = [
        msgspec.structs.replace(
            each,
            form="nonblocking",
            pieces=100,
            repetitions=[
                msgspec.structs.replace(one, computing=one.seconds, overlapped=1.25 * one.seconds)
                for one in each.repetitions
            ],
        )
        for each in blocking
    ]
    path = results_file(configurations=[*blocking, *nonblocking], computing="sleep")
    assert rondo("report", path, "--output", tmp_path / "page.html").exit_code == 0
    text = Page(tmp_path / "page.html").text
    assert "exscan, long bxor, barrier start" in text
    assert "MPI_Iexscan, long bxor, barrier start" in text
    assert text.count("Together") == 1
    assert text.count("75%") == len(nonblocking)
    assert "sleep for as long, because ranks share processors" in text
    rondo("report", path, "--csv", tmp_path / "rows.csv")
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert {(row["form"], row["pieces"], row["overlapped"] != "0.0") for row in rows} == {
        ("blocking", "0", False),
        ("nonblocking", "100", True),
    }


def test_wrong_results_are_in_plain_sight(rondo, results_file, tmp_path):
    configurations = measured(counts=[1, 10])
    configurations[1].repetitions[0].wrong = 3
    result = rondo("report", results_file(configurations=configurations), "--output", tmp_path / "page.html")
    assert "exscan: cyclic_doubling at 8 B: wrong results in 1 of 20 repetitions" in result.stderr
    page = Page(tmp_path / "page.html")
    assert page.text.count("cyclic_doubling at 8 B: wrong results in 1 of 20 repetitions") == 2
    assert {"alarm", "bad"} <= set(page.classes)
    for figure in page.figures.values():
        assert (figure["data"][-1]["name"], figure["data"][-1]["x"]) == ("wrong result", [8])


def test_what_is_right_and_valid_raises_no_alarm(rondo, results_file, tmp_path):
    configurations = measured(counts=[1, 10])
    for each in configurations:
        del each.repetitions[3]
    result = rondo("report", results_file(configurations=configurations), "--output", tmp_path / "page.html")
    assert result.stderr == ""
    classes = set(Page(tmp_path / "page.html").classes)
    assert "fine" in classes
    assert not {"alarm", "bad"} & classes


def test_an_interrupted_or_disturbed_measurement_is_said_to_be_one(rondo, results_file, tmp_path):
    path = results_file(complete=False, retransmissions=3, emulation=Emulation(RANKS, 1, ALPHA, 50e6, 1, dropped=1))
    result = rondo("report", path, "--output", tmp_path / "page.html")
    for expected in (
        "was interrupted",
        "lost 1 packet.",
        "TCP sent 3 segments again.",
        "30 of 600 repetitions invalid",
    ):
        assert expected in result.stderr
        assert expected in Page(tmp_path / "page.html").text


def test_names_are_text_not_markup(rondo, results_file, tmp_path):
    hostile = '</script><img src="http://nowhere/x">'
    configurations = measured(counts=[1])
    configurations[1].parameters = hostile
    path = results_file(configurations=configurations, library=hostile, command=hostile)
    rondo("report", path, "--output", tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    assert not [each for each in page.fetched if "nowhere" in each]
    assert page.figures["times1"]["data"][5]["name"] == f"cyclic_doubling:{hostile}"


def test_files_are_kept_apart_and_algorithms_keep_their_colours(rondo, results_file, tmp_path):
    first = results_file("first.json", [*measured(counts=[1, 10]), *measured("scan", 2, [1, 10])])
    second = results_file("second.json", measured(counts=[1, 10])[:9], library="Open MPI v5.0.11, package: Debian")
    rondo("report", first, second, first, "--output", tmp_path / "page.html", "--figures", tmp_path, "--format", "svg")
    page = Page(tmp_path / "page.html")
    assert len(page.figures) == 6
    assert "Open MPI 5.0.11, 36 nodes" in page.text
    traces = [each for figure in page.figures.values() for each in figure["data"] if each["mode"] == "lines+markers"]
    colours: dict[str, set[str]] = {}
    for each in traces:
        colours.setdefault(each["name"].partition(":")[0], set()).add(each["line"]["color"])
    assert {len(each) for each in colours.values()} == {1}
    assert len(set.union(*colours.values())) == len(colours)
    stems = {"first-exscan", "first-scan", "second-exscan"}
    assert {each.name for each in tmp_path.glob("*.svg")} == {
        f"{one}-{two}.svg" for one in stems for two in ("time", "ratio")
    }


@pytest.mark.parametrize("line", ["median", "minimum"])
def test_figures_are_a_column_wide_and_name_their_units(rondo, results_file, tmp_path, line):
    directory = tmp_path / "new" / "figures"
    result = rondo("report", results_file(), "--figures", directory, "--format", "png,svg,pdf", "--line", line)
    assert result.exit_code == 0
    names = {f"exscan-{kind}.{suffix}" for kind in ("time", "ratio") for suffix in ("png", "svg", "pdf")}
    assert {each.name for each in directory.iterdir()} == names
    assert not Path("report.html").exists()
    image = optional.module("matplotlib.image").imread(directory / "exscan-time.png")
    assert image.shape[:2] == (810, 1050)
    assert len(numpy.unique(image.reshape(-1, image.shape[2]), axis=0)) > 50
    drawing = ElementTree.parse(directory / "exscan-time.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    comments = re.findall(r"<!-- (.*?) -->", (directory / "exscan-time.svg").read_text(encoding="utf-8"))
    assert {f"{line} time (ms)", "vector on each rank (bytes)", "64 B", "4 KiB", *MODELS} <= set(comments)
    (title,) = (each for each in comments if each.startswith("MPI_"))
    assert re.fullmatch(r"MPI_Exscan, \w+( MPI)? [\d.]+, p = \d+", title)
    assert (directory / "exscan-time.pdf").read_bytes().startswith(b"%PDF")


def test_the_same_results_give_the_same_figures(rondo, results_file, tmp_path):
    path = results_file()
    for name in ("once", "again"):
        rondo("report", path, "--figures", tmp_path / name, "--format", "svg")
    once, again = (sorted((tmp_path / name).iterdir()) for name in ("once", "again"))
    assert [each.read_bytes() for each in once] == [each.read_bytes() for each in again]


def test_the_legend_stays_within_the_figure(rondo, results_file, tmp_path):
    configurations = measured(counts=[1, 10])
    for each in configurations:
        each.parameters = each.parameters and f"{each.parameters},another_parameter=12345678,more=1"
    rondo("report", results_file(configurations=configurations), "--figures", tmp_path, "--format", "png")
    image = optional.module("matplotlib.image").imread(tmp_path / "exscan-time.png")[:, :, :3]
    assert (image[:, :4] == 1).all()
    assert (image[:, -4:] == 1).all()


def test_the_table_has_a_row_for_each_repetition(rondo, results_file, tmp_path):
    path = results_file()
    assert rondo("report", path, "--csv", tmp_path / "table.csv").exit_code == 0
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20 * len(MODELS) * len(COUNTS[::4])
    first = measured(counts=COUNTS[::4])[0].repetitions
    assert [float(each["seconds"]) for each in rows[:20]] == [each.seconds for each in first]
    assert (rows[3]["state"], rows[3]["repetition"], rows[3]["algorithm"]) == ("late", "3", "native")
    assert (rows[0]["file"], rows[0]["bytes"], rows[0]["operator"]) == (str(path), "8", "bxor")


def test_nothing_native_nothing_of_any_length_nothing_valid(rondo, results_file, tmp_path):
    configurations = measured("barrier", counts=[1, 2])[1:3] + measured("exscan", counts=[1])[1:2]
    for each in configurations[:2]:
        each.bytes = each.count = 0
        each.type = each.operator = ""
    for each in configurations[2].repetitions:
        each.state = "disturbed"
    path = results_file(configurations=configurations)
    result = rondo("report", path, "--output", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.exception
    page = Page(tmp_path / "page.html")
    assert page.figures == {}
    assert "barrier, barrier start" in page.text
    assert "Nothing valid at 1: 8 B." in page.text
    assert list((tmp_path / "figures").iterdir()) == []


def test_a_single_repetition_has_no_interval_and_can_be_shown(rondo, results_file, tmp_path):
    configurations = measured(counts=[1, 10, 100])
    for each in configurations:
        del each.repetitions[1:]
    path = results_file(configurations=configurations)
    result = rondo("report", path, "--output", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.exception
    ratio = Page(tmp_path / "page.html").figures["ratios1"]["data"][0]
    assert ratio["error_y"]["array"] == [None, None, None]


def test_a_measurement_without_any_configuration_is_refused(rondo, tmp_path):
    write(Results(environment(), [], complete=False), tmp_path / "empty.json")
    result = rondo("report", tmp_path / "empty.json")
    assert result.exit_code == 2
    assert "empty.json holds no measurement: it was interrupted before the first one was done" in result.stderr


def test_errors_say_what_was_wrong(rondo, results_file, tmp_path):
    path = results_file()
    (tmp_path / "other.json").write_text('{"a": 1}')
    for words_, message in (
        ([tmp_path / "missing.json"], f"cannot read {tmp_path}/missing.json: No such file or directory"),
        (
            [tmp_path / "other.json"],
            f"{tmp_path}/other.json holds other JSON; expected a file of rondo bench, profile, compare or run --report",
        ),
        ([path, "--output", tmp_path / "no/page.html"], f"cannot write {tmp_path}/no/page.html: No such file"),
        ([path, "--csv", tmp_path / "no/table.csv"], f"cannot write {tmp_path}/no/table.csv: No such file"),
        ([path, "--figures", "/proc/none"], "cannot write figures to /proc/none: "),
        (
            [path, "--figures", tmp_path, "--format", "gif"],
            "unknown format 'gif' in --format gif; expected png, svg, pdf",
        ),
    ):
        result = rondo("report", *words_)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"rondo: {message}")
    assert rondo("report").exit_code == 2


def test_a_missing_package_is_named_with_the_remedy(rondo, results_file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    result = rondo("report", results_file(), "--output", tmp_path / "page.html")
    assert result.exit_code == 2
    assert "the Python package plotly is missing" in result.stderr
    assert "pip install 'rondo-mpi[bench]'" in result.stderr


def test_libraries_are_called_as_people_call_them():
    for library, name in (
        ("MPICH Version:      5.0.2", "MPICH 5.0.2"),
        ("Open MPI v5.0.11, package: Open MPI root@x Distribution, ident: 5.0.11", "Open MPI 5.0.11"),
        ("Intel(R) MPI Library 2021.19 for Linux* OS", "Intel MPI 2021.19"),
    ):
        assert library_text(environment(library=library)) == name


def test_names_of_figures_hold_what_tells_them_apart_and_no_more():
    configurations = measured(counts=[1])
    clock = measured(counts=[1])
    for each in clock:
        each.start = "clock"
    source = Source(Path("a.json"), Results(environment(), [*configurations, *clock, *measured("scan", counts=[1])]))
    assert figure_names(source.sections) == ["exscan-barrier", "exscan-clock", "scan"]


def test_algorithms_of_one_figure_differ_in_colour_as_long_as_colours_last():
    names = [f"algorithm{each}" for each in range(6)]
    looks = style.assign([{"native", *names}, {"native", "doubling"}])
    assert len({looks[each].colour for each in ["native", *names]}) == 7
    many = style.assign([{f"algorithm{each}" for each in range(42)}])
    assert len(set(many.values())) == 43


def test_the_styles_of_all_markers_and_dashes_can_be_drawn_by_both():
    from rondo.reports import figures  # noqa: PLC0415

    assert set(style.MARKERS) < set(figures.MARKERS)
    assert set(style.DASHES) == set(figures.DASHES)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (8, "8 B"), (1000, "1000 B"), (1024, "1 KiB"), (4000, "3.91 KiB"), (3 << 20, "3 MiB")],
)
def test_bytes_have_binary_units(number, text):
    assert style.bytes_text(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.5, "1.5 s"), (0.012345, "12.3 ms"), (9.9999e-4, "1 ms"), (2e-7, "0.2 µs"), (math.nan, "\u2013")],
)
def test_times_have_three_digits_and_a_unit(seconds, text):
    assert style.time_text(seconds) == text


def test_ticks_are_round_and_few():
    assert [text for _, text in style.byte_ticks(8, 4 << 20)] == [
        "8 B",
        "64 B",
        "512 B",
        "4 KiB",
        "32 KiB",
        "256 KiB",
        "2 MiB",
    ]
    assert [text for _, text in style.log_ticks(0.04, 6)] == ["0.05", "0.1", "0.2", "0.5", "1", "2", "5"]
    assert [text for _, text in style.log_ticks(0.5, 2e9)][:2] == ["1", "100"]
    assert [text for _, text in style.log_ticks(0.81, 1.23)] == [
        "0.85",
        "0.9",
        "0.95",
        "1",
        "1.05",
        "1.1",
        "1.15",
        "1.2",
    ]
    assert [text for _, text in style.log_ticks(60.05, 60.11)][:2] == ["60.05", "60.06"]
    assert [text for _, text in style.log_ticks(12, 70)] == ["15", "20", "30", "40", "50", "70"]
    assert style.log_ticks(1.0, 1.0) == []


def test_words_join_neighbouring_lengths_only():
    assert words._ranges([0, 1, 2, 4], [8, 16, 32, 64, 128]) == "8 B to 32 B, 128 B"


def test_nothing_to_compare_draws_no_ratios():
    source = Source(Path("a.json"), Results(environment(), measured(counts=[1])[:1]))
    (section,) = source.sections
    assert charts.ratios(section, styles([section])) is None


def test_a_map_becomes_a_page(rondo, tmp_path):
    shutil.copytree(RECORDED_MAP, tmp_path / "map")
    refused = rondo("report", tmp_path / "empty")
    assert (refused.exit_code, "cannot read" in refused.stderr) == (2, True)
    of_results = rondo("report", tmp_path / "map", "--output", tmp_path / "results.html")  # before there is a map
    assert of_results.exit_code == 0, of_results.output
    assert "Measured collectives" in Page(tmp_path / "results.html").text
    asked = msgspec.json.decode((tmp_path / "map" / maps.PLAN_FILE).read_bytes(), type=maps.Question)
    found = maps.read(tmp_path / "map", asked)
    maps.write(found, tmp_path / "map")
    result = rondo("report", tmp_path / "map", "--output", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    page = Page(tmp_path / "page.html")
    fastest = page.figures.pop("fastest1")
    assert sum(len(each["x"]) for each in fastest["data"]) == len(found.cells)
    assert {each["name"] for each in fastest["data"]} == {each.fastest for each in found.cells}
    assert len(page.figures) == 2
    for each in (fastest, *page.figures.values()):
        optional.module("plotly.graph_objects").Figure(each)  # refuses what Plotly does not know
    assert "3 8 KiB two_op_doubling 1.84 ms 3.15 ms 0.58" in page.text


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("mine.rules", "exscan -> doubling_123\n", ("rondo rules check", "nothing wrong")),
        ("x.verdicts", VERDICT, ("rondo learned show", "doubling_123")),
        ("machine", MACHINE, ("rondo calibrate --show", "alpha")),
    ],
)
def test_what_becomes_no_page_is_shown_by_its_own_command(rondo, tmp_path, name, text, shown):
    command, said = shown
    (tmp_path / name).write_text(text)
    result = rondo("report", tmp_path / name)
    assert result.exit_code == 0
    assert result.stderr.startswith(f"{command} {tmp_path / name}")
    assert said in result.stdout
    assert not Path("report.html").exists()


def test_a_directory_without_results_is_refused(rondo, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    result = rondo("report", tmp_path)
    assert (result.exit_code, "holds no results" in result.stderr) == (2, True)
