# SPDX-License-Identifier: BSD-3-Clause
"""`rondo bench` without ranks: what it refuses, how it reads what users write, and what it makes of records."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from pathlib import Path

import msgspec
import pytest
from rondo.bench import launches, plans, progress, results, statistics, tables
from rondo.bench.records import Collector
from rondo.errors import Error
from rondo.launching import mpi_library
from script_loader import script

ENVIRONMENT = {
    "kind": "environment",
    "library": "MPICH Version 5.0.2",
    "ranks": 4,
    "nodes": 2,
    "ranks_per_node": [2, 2],
    "hosts": ["a", "b"],
    "kernel": "Linux 6.1",
    "processor": "model",
    "cores": 8,
    "clock": "shared",
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["exscn"], "cannot measure 'exscn'; did you mean exscan?"),
        (["MPI_Exscan"], "did you mean exscan?"),
        (["alltoallw"], "cannot measure 'alltoallw'; "),
        (["exscan", "-a", "doublng_123"], "cannot measure 'doublng_123': exscan has no algorithm 'doublng_123'; did"),
        (["exscan", "-a", "linear_pipeline:segment=0"], "segment=0 is out of range"),
        (["exscan", "-a", "linear_pipeline", "-a", "linear_pipeline:segment=auto"], "are the same (linear_pipeline:"),
        (["exscan", "--algorithms", "native,native"], "native and native are the same"),
        (["bcast", "-a", "doubling_123"], "bcast has no algorithm 'doubling_123'"),
        (["allreduce", "-a", "rng"], "cannot measure 'rng': allreduce has no algorithm 'rng'; did you mean 'ring'?"),
        (["ping_pong", "-a", "doubling"], "Rondo has no algorithms for ping_pong"),
        (["exscan", "--type", "lnog"], "unknown type 'lnog'; did you mean long?"),
        (["exscan", "--op", "prod"], "unknown operator 'prod'; "),
        (["exscan", "--type", "double", "--op", "bxor"], "MPI defines no bxor of type double"),
        (["scan", "--type", "double_int"], "MPI defines no sum of type double_int; expected --op maxloc or minloc"),
        (
            ["scan", "--op", "maxloc"],
            "MPI defines no maxloc of type long; expected one of the pairs float_int, double_int",
        ),
        (["gatherv", "--parts", "skewd"], "unknown parts 'skewd'; did you mean skewed?"),
        (["gather", "--parts", "skewed"], "the parts of gather are equal; expected alltoallv, gatherv, scatterv for"),
        (["gatherv", "--map", "--parts", "skewed"], "--map compares lengths of the whole vector, in equal parts"),
        (["exscan", "--form", "nonblockng"], "unknown form 'nonblockng'; did you mean nonblocking?"),
        (["incast", "--form", "persistent"], "incast is no collective, and has one form alone; leave out --form"),
        (["exscan", "--overlap"], "nothing overlaps with a blocking call; add --form nonblocking, persistent or all"),
        (["exscan", "--form", "all", "--pieces", "5"], "--computing and --pieces go with --overlap"),
        (["exscan", "--form", "all", "--overlap", "--pieces", "0"], "--pieces 0: expected 1 to 1000000"),
        (["exscan", "--form", "all", "--overlap", "--computing", "0s"], "--computing 0s: expected more than 0s"),
        (["exscan", "--form", "all", "--overlap", "--computing", "5"], "computing '5': expected a number with one of"),
        (["exscan", "--map", "--form", "all"], "--map takes one form; expected --form blocking, nonblocking or"),
        (["exscan", "--map", "--form", "persistent", "--overlap"], "--map compares calls alone; leave out --overlap"),
        (["exscan", "--start", "now"], "unknown way to start 'now'; expected one of: clock, barrier, both"),
        (["exscan", "--counts", "1:x"], "counts '1:x': cannot read 'x'; expected numbers of elements as in 1,10,64Ki"),
        (["exscan", "--counts", "0"], "0 is out of range; expected 1 to 2147483647"),
        (["exscan", "--counts", "3G"], "3G is out of range"),
        (["exscan", "--counts", "10:1"], "the range is empty"),
        (["exscan", "--counts", "1:10:octaves"], "cannot read '1:10:octaves'"),
        (["exscan", "--repetitions", "0"], "expected at least one repetition"),
        (["exscan", "--seconds", "0"], "a time of more than 0 seconds"),
        (["exscan", "--output", "missing/out"], "--output missing/out: cannot write into"),
        (["exscan"], "where to measure? Expected a launcher"),
        (["exscan", "--nodes", "4y8", "--", "mpiexec"], "--nodes: '4y8' says no nodes; expected NODESxRANKS"),
        (["exscan", "--nodes", "4x8", "--map"], "--nodes says where so many ranks are"),
        (["exscan", "--cluster", "36:1ms"], "expected NODESxRANKS_PER_NODE:LATENCY:RATE"),
        (["exscan", "--cluster", "2x1:1ms:1Gbit", "--", "mpiexec"], "leave out the launcher: mpiexec"),
        (["exscan", "--cluster", "2x1:1ms:1Gbit", "--processes", "3"], "--processes 3: 2x1:1ms:1Gbit has 2"),
        (["exscan", "--processes", "3", "--", "mpiexec"], "--processes without --map goes with --cluster"),
        (["exscan", "--cluster", "4x1:1ms:1Gbit", "--processes", "2..3"], "several numbers make a map; add --map"),
        (["exscan", "--cluster", "2x1:1ms:1Gbit", "--mpi", "mpihc"], "unknown MPI library mpihc"),
        (["exscan", "--", "no-such-launcher", "-n", "2"], "cannot run no-such-launcher"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(rondo, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    result = rondo("bench", *words)
    assert result.exit_code == (127 if "no-such-launcher" in words else 2)
    assert expected in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_launcher_with_a_program_is_refused(rondo, stand_in_launcher, tmp_path):
    result = rondo("bench", "exscan", "--output", tmp_path / "out", "--", stand_in_launcher("hydra"), "-n", "2", "ls")
    assert result.exit_code == 2
    assert (
        result.stderr
        == "rondo: ls: expected a launcher with its options and no program; the benchmark is the program\n"
    )


def test_a_launcher_of_any_mpi_needs_a_name(rondo, stand_in_launcher, tmp_path):
    launcher = stand_in_launcher("srun", "srun")
    result = rondo("bench", "exscan", "--output", tmp_path / "out", "--", launcher, "-n", "2")
    assert result.exit_code == 2
    assert "starts programs of any MPI; name one: --mpi" in result.stderr


def test_a_library_without_a_compiler_is_refused(rondo, stand_in_launcher, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = rondo("bench", "exscan", "--output", tmp_path / "out", "--", stand_in_launcher("hydra"), "-n", "2")
    assert result.exit_code == 2
    assert "there is no mpicxx beside" in result.stderr


def test_a_missing_package_is_named_before_anything_starts(rondo, stand_in_launcher, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    launcher = stand_in_launcher("hydra")
    launcher.with_name("mpicxx").symlink_to("/bin/false")
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    result = rondo("bench", "exscan", "--output", "out", "--", launcher, "-n", "2")
    assert result.exit_code == 2
    assert "the Python package scipy is missing" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", (7,)),
        ("100,1,10,10", (1, 10, 100)),
        ("2k,2Ki,1M", (2000, 2048, 10**6)),
        ("1:100", (1, 2, 5, 10, 20, 50, 100)),
        ("3:30", (3, 5, 10, 20, 30)),
        ("1:1k:decades", (1, 10, 100, 1000)),
        ("5:1000:decades,7", (5, 7, 10, 100, 1000)),
        ("4:4", (4,)),
    ],
)
def test_counts_are_read(text, expected):
    assert plans.counts_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("native,doubling_123", ["native", "doubling_123"]),
        ("linear_pipeline:segment=32Ki,native", ["linear_pipeline:segment=32Ki", "native"]),
        ("a:x=1,y=2,b,c:z=3", ["a:x=1,y=2", "b", "c:z=3"]),
    ],
)
def test_commas_separate_algorithms_and_their_settings(text, expected):
    assert plans.split_algorithms(text) == expected


def test_by_default_everything_is_measured():
    plan = plans.make("exscan")
    assert plan.candidates[0] == "native"
    assert {"doubling_123", "linear_pipeline"} < set(plan.candidates)
    assert plan.needs_rondo
    assert plans.make("incast").candidates == ("native",)
    assert not plans.make("incast").needs_rondo


def test_the_driver_is_told_the_whole_plan():
    plan = plans.make(
        "scan", algorithms=["native", "linear_pipeline:segment=1Ki"], counts="1,5", operator="max", start="both", seed=7
    )
    assert plan.text().splitlines() == [
        "collective scan", "type long", "operator max", "candidate native", "candidate linear_pipeline:segment=1Ki",
        "count 1", "count 5", "form blocking", "start clock", "start barrier", "repetitions 30", "warmup 2",
        "seconds 60", "seed 7", "clock auto",
    ]  # fmt: skip
    assert plan.configurations == 8
    plan = plans.make("scan", algorithms=["native"], counts="1", form="all", overlap=True, computing="150ms")
    forms = ["form blocking", "form nonblocking", "form persistent", "pieces 100", "computing 0.15"]
    assert [each for each in plan.text().splitlines() if each.startswith(("form", "pieces", "computing"))] == forms
    assert plan.configurations == 3
    assert "parts skewed" in plans.make("gatherv", parts="skewed").text().splitlines()


def test_what_will_be_measured_is_said_beforehand(stand_in_launcher):
    library = mpi_library.find(str(stand_in_launcher("hydra")), {})
    plan = plans.make("exscan", algorithms=["native", "doubling_123"], counts="1,10,1Mi", seconds=5, start="both")
    assert list(progress.announcement(plan, launches.Place(library, ("mpiexec",)))) == [
        "exscan: 2 candidates x 3 counts x 2 ways to start = 12 configurations; about 5 s after the start of the ranks"
    ]
    # 12 configurations, of which 4 take 2 ms + 8 MiB / (12.5 MB/s), 8 take 2 ms; each of them twice.
    first, second = progress.announcement(plan, launches.Place(library, (), "4x2:2ms:100Mbit"))
    assert first.endswith("about 5 s after the start of 8 ranks on an emulated cluster")
    (line, _) = progress.announcement(plan, launches.make((), "4x2:2ms:100Mbit", str(library.launcher), processes=7))
    assert "after the start of 7 ranks on" in line
    assert second.startswith("this takes 5 s at least: each configuration is measured once after a warm-up")


def test_progress_is_told_every_few_seconds_and_an_excess_afterwards(collector):
    now = 100.0
    course = progress.Course(collector.plan, lambda: now)
    seen = []
    after = {
        103: [ENVIRONMENT], 106: [configuration(0, "native"), repetition(0, 1.0)], 170: [],
        200: [{"kind": "end", "retransmissions": 0, "dropped": 0, "clock_error": 0}], 210: [],
    }  # fmt: skip
    for moment, records in after.items():
        now = float(moment)
        write(collector, lines(*records))
        collector.read()
        course.look(collector)
        seen.append(course.line_due())
    assert seen == [
        None, "exscan, count 4 (1 of 1), 6 s", "exscan, count 4 (1 of 1), 70 s",
        "exscan: measured; the ranks are ending, 100 s", "exscan: measured; the ranks are ending, 110 s",
    ]  # fmt: skip
    assert course.completed == collector.plan.configurations
    (line,) = course.excess()
    assert line.startswith("this took 97 s instead of 60: each of the ")


def test_what_keeps_its_time_says_nothing_more(collector):
    course = progress.Course(collector.plan)
    write(collector, lines(ENVIRONMENT, {"kind": "end", "retransmissions": 0, "dropped": 0, "clock_error": 0}))
    collector.read()
    course.look(collector)
    assert course.excess() == []


def configuration(number: int, candidate: str, **changes: object) -> dict:
    facts = {"id": number, "candidate": candidate, "form": "blocking", "start": "clock", "count": 4, "bytes": 32}
    facts |= {"bus_factor": 0}
    return {"kind": "configuration", **facts, **changes}


def repetition(number: int, seconds: float, state: str = "valid", wrong: int = 0) -> dict:
    times = {"seconds": seconds, "mean": 0.9 * seconds, "fastest": 0.5 * seconds, "skew": 1e-6}
    return {"kind": "repetition", "id": number, **times, "state": state, "wrong": wrong}


def lines(*records: dict) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def collector(tmp_path: Path) -> Collector:
    return Collector(tmp_path / "records", plans.make("exscan", counts="4"))


def write(collector: Collector, text: str) -> None:
    with collector._path.open("a") as file:
        file.write(text)


def test_records_are_taken_in_while_they_are_written(collector):
    collector.read()
    assert collector.machine is None
    write(collector, lines(ENVIRONMENT, configuration(0, "native"), repetition(0, 1.0)))
    half = lines(repetition(0, 2.0))
    write(collector, half[:20])
    collector.read()
    assert [each.seconds() for each in collector.configurations()] == [[1.0]]
    write(collector, half[20:])
    collector.read()
    assert [each.seconds() for each in collector.configurations()] == [[1.0, 2.0]]
    assert collector.end is None
    write(collector, lines({"kind": "end", "retransmissions": 2, "dropped": 0, "clock_error": 0}))
    collector.read()
    assert collector.end is not None
    assert collector.end.retransmissions == 2


def test_warm_ups_and_refused_configurations_are_not_among_the_results(collector):
    write(collector, lines(ENVIRONMENT, configuration(0, "native"), configuration(1, "linear_pipeline:segment=1")))
    write(collector, lines(repetition(0, 9.0, "warmup", wrong=1), repetition(1, 9.0, "warmup"), repetition(1, 3.0)))
    write(collector, lines({"kind": "refused", "id": 1, "reason": "too many segments"}))
    write(collector, lines(repetition(0, 1.0), repetition(0, 5.0, "late"), repetition(0, 6.0, "disturbed", wrong=2)))
    collector.read()
    (native,) = collector.configurations()
    assert (native.seconds(), native.invalid(), native.wrong()) == ([1.0], 2, 1)
    assert collector.wrong_warmups == 1
    assert collector.refusals == {"linear_pipeline:segment=1, count 4": "too many segments"}


def test_what_was_computed_meanwhile_is_taken_in(tmp_path):
    collector = Collector(tmp_path / "records", plans.make("exscan", counts="4", form="all", overlap=True, pieces=7))
    write(collector, lines({**ENVIRONMENT, "computing": "loop"}, configuration(0, "native")))
    write(collector, lines(configuration(1, "native", form="persistent"), repetition(0, 1.0)))
    write(collector, lines({**repetition(1, 2.0), "computing": 3.0, "overlapped": 4.0}))
    write(collector, lines(configuration(2, "native", form="nonblocking")))
    write(collector, lines({"kind": "refused", "id": 2, "reason": "not today"}))
    collector.read()
    blocking, persistent = collector.configurations()
    assert (blocking.form, blocking.pieces, blocking.overlap()) == ("blocking", 0, None)
    assert (persistent.form, persistent.pieces, persistent.overlap()) == ("persistent", 7, (3, 4, 0.5))
    assert collector.computing == "loop"
    assert collector.refusals == {"native, nonblocking, count 4": "not today"}


def test_what_is_no_record_is_an_error(collector):
    write(collector, '{"kind": "surprise"}\n')
    with pytest.raises(Error, match="wrote what cannot be read"):
        collector.read()


@pytest.fixture
def measured(collector) -> results.Results:
    times = [(0, "native", 10e-6), (1, "doubling_123", 5e-6), (2, "cyclic_doubling", 20e-6)]
    for number, candidate, seconds in times:
        write(collector, lines(configuration(number, candidate, bus_factor=2.0)))
        state = "late" if number == 2 else "valid"
        write(collector, lines(*(repetition(number, seconds * (1 + i), state) for i in range(5))))
    collector.read()
    environment = results.Environment(
        date="2026-01-01T00:00:00+00:00", command="rondo bench exscan", rondo="0.1.0", library="MPICH Version 5.0.2",
        abi="mpich", launcher="mpiexec -n 4", ranks=4, nodes=2, ranks_per_node=[2, 2], hosts=["a", "b"], kernel="Linux",
        processor="model", cores=8, clock="shared", clock_error=0.0, seed=1,
        network=results.Network(latency=1e-3, seconds_per_byte=1e-9, residual=0.01),
    )  # fmt: skip
    return results.Results(environment, collector.configurations())


@pytest.fixture
def overlapped(measured) -> results.Results:
    """Calls of 100 and 200 us beside computing of 100 us, which together take 130 and 300 us."""
    repetitions = [
        results.Repetition(seconds, seconds, seconds, 0.0, "valid", 0, computing=1e-4, overlapped=together)
        for seconds, together in [(1e-4, 1.3e-4), (2e-4, 3e-4), (1e-4, 1.3e-4)]
    ]
    changes = {"form": "nonblocking", "pieces": 50, "repetitions": repetitions}
    configurations = [msgspec.structs.replace(each, **changes) for each in measured.configurations[:1]]
    environment = msgspec.structs.replace(measured.environment, computing="sleep")
    return results.Results(environment, configurations)


def test_overlap_is_the_hidden_share_of_the_shorter(overlapped):
    (native,) = overlapped.configurations
    assert [each.overlap for each in native.repetitions] == pytest.approx([0.7, 0, 0.7])
    assert native.overlap() == pytest.approx((1e-4, 1.3e-4, 0.7))
    assert results.Repetition(1, 1, 1, 0, "valid", 0, computing=4, overlapped=4.5).overlap == 0.5
    assert results.Repetition(1, 1, 1, 0, "valid", 0, computing=1, overlapped=0.9).overlap == 1
    assert math.isnan(results.Repetition(1, 1, 1, 0, "valid", 0).overlap)


def test_overlap_is_shown_with_the_function_and_how_the_program_computed(overlapped):
    title, lines = shown(overlapped, 80)
    assert title.startswith("MPI_Iexscan long sum, ")
    assert "\ntogether: call and computing, in 50 pieces (asleep: ranks share processors)\n" in title
    assert max(map(len, [*lines, *title.splitlines()[-2:]])) <= 80
    assert " ".join(lines[-1].split()) == "native 100.0 100.0 n=3 130.0 70%"
    (row,) = csv.DictReader(tables.csv_text(overlapped).splitlines())
    assert (row["form"], row["pieces"], row["computing_us"]) == ("nonblocking", "50", "100.000")
    assert (row["together_us"], row["overlap_percent"]) == ("130.000", "70.0")


def test_forms_are_not_compared_with_one_another(overlapped, measured):
    groups = statistics.groups([*overlapped.configurations, *measured.configurations])
    assert [[each.form for each in group] for group in groups] == [["nonblocking"], ["blocking"] * 3]


def test_files_of_other_versions(measured, tmp_path):
    """What came before forms is read as blocking; what is newer is refused."""
    document = msgspec.to_builtins(measured)
    for each in document["configurations"]:
        del each["form"], each["pieces"]
        each["repetitions"] = [one[:6] for one in each["repetitions"]]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**document, "format": 1}))
    found = results.read(path)
    assert [each.form for each in found.configurations] == ["blocking"] * 3
    assert [each.overlap() for each in found.configurations] == [None] * 3
    path.write_text(json.dumps({**document, "format": 3}))
    with pytest.raises(Error, match="has format 3 of results; this version of Rondo reads formats up to 2"):
        results.read(path)


def test_csv_has_a_row_for_each_configuration_with_its_circumstances(measured):
    rows = list(csv.DictReader(tables.csv_text(measured).splitlines()))
    assert [row["algorithm"] for row in rows] == ["native", "doubling_123", "cyclic_doubling"]
    native, _, late = rows
    assert [float(native[name]) for name in ("min_us", "avg_us", "p50_us", "max_us")] == [10, 30, 30, 50]
    assert math.isclose(float(native["bus_bandwidth_MB_per_s"]), 32 / 30 * 2, rel_tol=1e-3)
    assert (native["repetitions"], native["invalid"], native["wrong_results"]) == ("5", "0", "0")
    assert (late["invalid"], late["min_us"], late["bus_bandwidth_MB_per_s"]) == ("5", "", "")
    assert {(row["ranks_per_node"], row["hosts"], row["network_latency"]) for row in rows} == {("2;2", "a;b", "0.001")}


def shown(measured: results.Results, width: int) -> tuple[str, list[str]]:
    """Title, and lines of the table."""
    from rich.console import Console  # noqa: PLC0415

    ((title, table),) = tables.tables(measured)
    with Path(os.devnull).open("w") as nowhere:
        console = Console(width=width, record=True, file=nowhere)
        console.print(table)
    return title, [line.rstrip() for line in console.export_text().splitlines() if line.strip()]


def test_table_ranks_candidates_beside_native(measured):
    title, lines = shown(measured, 80)
    assert "exscan long sum, 4 ranks on 2 nodes, MPICH Version 5.0.2, start by clock" in title
    rows = [" ".join(line.split()) for line in lines]
    fastest = next(i for i, row in enumerate(rows) if row.startswith("doubling_123"))
    assert rows[fastest] == "doubling_123 5.00 15.00 2.00 times as fast █████ n=5"
    assert rows[fastest + 1] == "native 10.00 30.00 ██████████ n=5"
    assert rows[fastest + 2] == "cyclic_doubling no valid repetition"


@pytest.mark.parametrize("name", ["bandwidth-bcast-8x1-mpich", "lanes-alltoall-4x8-1-impi", "rounds-16x1-mpich"])
def test_table_fits_eighty_columns(name):
    """Of real measurements with many candidates: nothing is cut, and no name is folded."""
    measured = script("measurements").results_in(f"{name}.json")
    one_way = [each for each in measured.configurations if each.start == measured.configurations[0].start]
    _, lines = shown(msgspec.structs.replace(measured, configurations=one_way), 80)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    assert {each.label for each in one_way} <= {line.split()[0] for line in lines}
