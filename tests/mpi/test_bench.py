# SPDX-License-Identifier: BSD-3-Clause
"""`rondo bench` with real ranks: what it measures, what it notices, what it leaves when it is interrupted.

Nothing here says how long anything takes: the machine may be busy.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from launching import Run, descendants, end, launch
from mpi_libraries import BUILD, ROOT, MpiLibrary
from rondo.bench import launches, plans, results
from rondo.launching import mpi_library

from rondo import forms

pytestmark = pytest.mark.parallel
RONDO = Path(sys.executable).with_name("rondo")
RANKS = 3
THREE_LIBRARIES = pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi"], indirect=True)
MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
DEBIAN_OPENMPI = Path("/usr/bin/mpiexec.openmpi")
TIMEOUT = 150
BRIEF = ["--repetitions", "3", "--warmup", "1", "--seconds", "20"]


def environment(mpi: MpiLibrary) -> dict[str, str]:
    # Compiled once for all tests, and for the next run of them.
    return {**os.environ, **mpi.environment, **mpi.patience, "XDG_CACHE_HOME": str(BUILD / "cache")}


def launcher(mpi: MpiLibrary, *options: object, ranks: object = RANKS) -> list[object]:
    return ["--", mpi.prefix / mpi.launcher, *mpi.launcher_options, *options, "-n", ranks]


def bench(mpi: MpiLibrary, output: Path, *words: object, options: tuple[object, ...] = ()) -> Run:
    command = [RONDO, "bench", *words, "--output", output, *launcher(mpi, *options)]
    return launch(command, environment(mpi), TIMEOUT)


def measured(output: Path) -> results.Results:
    return results.read(output.with_suffix(".json"))


@THREE_LIBRARIES
def test_algorithms_are_measured_beside_the_native_collective(mpi: MpiLibrary, tmp_path: Path) -> None:
    words = ["--algorithms", "native,doubling_123,linear_pipeline:segment=64", "--counts", "8,1000", "--start", "both"]
    run = bench(mpi, tmp_path / "out", "exscan", *words, "--op", "bxor", *BRIEF).check()
    found = measured(tmp_path / "out")
    assert found.complete
    assert {(each.label, each.start, each.count) for each in found.configurations} == {
        (label, start, count)
        for label in ("native", "doubling_123", "linear_pipeline:segment=64")
        for start in ("clock", "barrier")
        for count in (8, 1000)
    }
    for each in found.configurations:
        assert (each.bytes, each.type, each.operator, each.bus_factor) == (8 * each.count, "long", "bxor", 0)
        assert each.wrong() == 0
        assert 3 <= len(each.repetitions) <= 6
        assert len(each.seconds()) >= 3 or each.start == "clock"
        for repetition in each.repetitions:
            assert 0 < repetition.fastest <= repetition.mean <= repetition.seconds < TIMEOUT
    facts = found.environment
    assert (facts.ranks, facts.nodes, facts.ranks_per_node, facts.clock) == (RANKS, 1, [RANKS], "shared")
    assert facts.command.startswith("rondo bench exscan --algorithms native,doubling_123,")
    assert "linear_pipeline" in run.stdout
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert len(rows) == len(found.configurations)
    assert {(row["wrong_results"], row["ranks"], row["library"]) for row in rows} == {("0", "3", facts.library)}


@THREE_LIBRARIES
def test_forms_are_measured_with_the_share_that_computing_hides(mpi: MpiLibrary, tmp_path: Path) -> None:
    words = ["-a", "native", "-a", "recursive_doubling", "--counts", "1,5000", "--form", "all", "--overlap"]
    run = bench(mpi, tmp_path / "out", "allreduce", *words, "--pieces", "10", "--start", "barrier", *BRIEF).check()
    found = measured(tmp_path / "out")
    own_forms = ("blocking",) if mpi.name == "impi" else forms.FORMS  # where Rondo can go on with calls
    assert {(each.label, each.form, each.count) for each in found.configurations} == {
        (label, form, count)
        for label, those in (("native", forms.FORMS), ("recursive_doubling", own_forms))
        for form in those
        for count in (1, 5000)
    }
    for each in found.configurations:
        assert each.wrong() == 0
        assert len(each.seconds()) >= 3
        for repetition in each.repetitions:
            assert (repetition.computing > 0) == (repetition.overlapped > 0) == (each.form != "blocking")
    assert found.environment.computing == ("sleep" if found.environment.cores < RANKS else "loop")
    assert "MPI_Iallreduce long sum" in run.stdout
    assert "MPI_Allreduce_init long sum" in run.stdout
    if mpi.name == "impi":
        refusal = "recursive_doubling, nonblocking, count 1 was not measured: this MPI library goes on with its own"
        assert refusal in run.stderr


# Each signature once; more in `make soak`.
@MPICH
@pytest.mark.parametrize(
    "collective",
    [
        "reduce",
        "gather",
        "alltoallv",
        "barrier",
        *(
            pytest.param(each, marks=pytest.mark.soak)
            for each in ("bcast", "scan", "exscan", "reduce_scatter", "allgather", "alltoall", "scatter")
        ),
        *(pytest.param(each, marks=pytest.mark.soak) for each in ("gatherv", "scatterv")),
    ],
)
def test_all_forms_of_everything_are_right(mpi: MpiLibrary, tmp_path: Path, collective: str) -> None:
    words = ["--form", "all", "--counts", "1,5003", "--start", "barrier"]
    bench(mpi, tmp_path / "out", collective, *words, *BRIEF).check()
    found = measured(tmp_path / "out").configurations
    assert [each.wrong() for each in found] == [0] * len(found)
    by_form = [{each.label for each in found if each.form == form} for form in forms.FORMS]
    assert by_form == [by_form[0]] * 3
    assert len(by_form[0]) > 1


@pytest.mark.skipif(not DEBIAN_OPENMPI.exists(), reason="Debian's Open MPI is not installed")
def test_form_that_the_library_lacks_is_refused(tmp_path: Path) -> None:
    """Open MPI 4.1 is of MPI 3.1."""
    words = ["bcast", "--form", "persistent", "--output", tmp_path / "out", "--mpi", DEBIAN_OPENMPI]
    variables = {**os.environ, "XDG_CACHE_HOME": str(BUILD / "cache")}
    run = launch([RONDO, "bench", *words, "--", DEBIAN_OPENMPI, "--oversubscribe", "-n", "2"], variables, TIMEOUT)
    assert run.returncode == 2
    assert "rondo: this MPI library has no MPI_Bcast_init\n" in run.stderr


# Each collective and each type once; more in `make soak`.
@MPICH
@pytest.mark.parametrize(
    ("words", "factor"),
    [
        ("exscan double min", 0),
        pytest.param("scan int bor", 0, marks=pytest.mark.soak),
        ("scan float sum", 0),
        pytest.param("allreduce float sum", 4 / 3, marks=pytest.mark.soak),
        ("allreduce double_int maxloc", 4 / 3),
        pytest.param("reduce_scatter double sum", 2 / 3, marks=pytest.mark.soak),
        ("reduce_scatter 2int minloc", 2 / 3),
        ("allgather int", 2 / 3),
        ("gather int", 2 / 3),
        pytest.param("scatter double", 2 / 3, marks=pytest.mark.soak),
        pytest.param("gatherv double", 2 / 3, marks=pytest.mark.soak),
        ("alltoallv long skewed", 2 / 3),
        ("alltoallv int uniform", 2 / 3),
        pytest.param("alltoallv double normal", 2 / 3, marks=pytest.mark.soak),
        pytest.param("alltoallv int heavy", 2 / 3, marks=pytest.mark.soak),
        ("alltoallv double_int sparse", 2 / 3),
        pytest.param("gatherv int skewed", 2 / 3, marks=pytest.mark.soak),
        ("scatterv double_int skewed", 2 / 3),
        pytest.param("gatherv double heavy", 2 / 3, marks=pytest.mark.soak),
        pytest.param("scatterv int sparse", 2 / 3, marks=pytest.mark.soak),
        ("scan float_int minloc", 0),
        ("reduce double max", 1),
        ("bcast long", 1),
        ("ping_pong int", 1),
        pytest.param("incast long", 0, marks=pytest.mark.soak),
        ("incast long_int", 0),
        ("ring_shift double", 0),
        ("half_shift double", 0),
    ],
)
def test_everything_that_can_be_measured_is_right(mpi: MpiLibrary, tmp_path: Path, words: str, factor: float) -> None:
    collective, type_name, *more = words.split()
    named = ["--parts", *more] if more and more[0] in plans.PARTS else ["--op", *more] if more else []
    options = ["--type", type_name, *named, "--start", "barrier"]
    bench(mpi, tmp_path / "out", collective, *options, "--counts", "1,61,5003,20000", *BRIEF).check()
    found = measured(tmp_path / "out")
    assert [each.wrong() for each in found.configurations] == [0] * len(found.configurations)
    assert {each.count for each in found.configurations} == {1, 61, 5003, 20000}
    assert [each.bus_factor for each in found.configurations] == [pytest.approx(factor)] * len(found.configurations)
    # Where the call's count is of a part, bytes are those of the whole vector all the same.
    parts = RANKS if collective in plans.DIVIDED else 1
    for each in found.configurations:
        assert each.bytes == each.count * parts * plans.TYPES[type_name]


@MPICH
def test_barriers_have_no_bytes(mpi: MpiLibrary, tmp_path: Path) -> None:
    bench(mpi, tmp_path / "out", "barrier", "--start", "barrier", *BRIEF).check()
    found = measured(tmp_path / "out").configurations
    assert {each.label for each in found} == {"native", "dissemination", "leaders", "tree"}
    assert {(each.count, each.bytes, each.wrong()) for each in found} == {(0, 0, 0)}


@MPICH
def test_wrong_results_are_counted_and_end_with_3(mpi: MpiLibrary, tmp_path: Path) -> None:
    tool = mpi.compile("corrupting_tool.c", "-shared", "-fPIC")
    words = ["--algorithms", "native,doubling_123", "--counts", "1,1000", "--start", "barrier", *BRIEF]
    run = bench(mpi, tmp_path / "out", "exscan", *words, options=("-genv", "LD_PRELOAD", tool))
    assert run.returncode == 3, run.stderr
    assert "WRONG RESULTS: doubling_123" in run.stderr
    # What is called native is the library's own function, whatever stands before it.
    for each in measured(tmp_path / "out").configurations:
        spoiled = each.algorithm == "doubling_123"
        assert {repetition.wrong for repetition in each.repetitions} == {1 if spoiled else 0}


@MPICH
def test_algorithm_that_the_ranks_refuse_is_left_out_with_the_reason(mpi: MpiLibrary, tmp_path: Path) -> None:
    # More segments than it takes.
    words = ["-a", "linear_pipeline:segment=1", "--counts", "140000", "--start", "barrier", *BRIEF]
    run = bench(mpi, tmp_path / "out", "exscan", "-a", "native", *words).check()
    assert "rondo: linear_pipeline:segment=1, count 140000 was not measured: linear_pipeline needs " in run.stderr
    assert [each.label for each in measured(tmp_path / "out").configurations] == ["native"]
    run = bench(mpi, tmp_path / "nothing", "exscan", *words)
    assert run.returncode == 2
    assert "nothing was measured" in run.stderr
    assert not (tmp_path / "nothing.json").exists()


@MPICH
def test_page_is_measured_under_a_launcher_and_goes_on_where_it_was(mpi: MpiLibrary, tmp_path: Path) -> None:
    (tmp_path / "page.toml").write_text(
        'file = "{name}-p{processes}"\ntitle = "{name}, p = {processes}"\ncandidates.few.exscan = ["doubling_123"]\n'
        '[[experiment]]\nname = "tiny"\nlibraries = ["mpich"]\ncluster = "{p}x1:1ms:1Gbit"\nprocesses = [2, 3]\n'
        'candidates = "few"\ncounts = [8]\nseconds = 1\nrepetitions = 2\n'
    )
    words = [RONDO, "bench", "--page", tmp_path / "page.toml", "--output", tmp_path, *launcher(mpi, ranks="{p}")]
    assert "to measure: 2 measurements" in launch(words, environment(mpi), TIMEOUT).check().stderr
    found = measured(tmp_path / "tiny-p3")
    assert (found.environment.ranks, {each.label for each in found.configurations}) == (3, {"native", "doubling_123"})
    assert found.environment.command.startswith("rondo bench exscan --algorithm native --algorithm doubling_123 ")
    (tmp_path / "tiny-p2.json").unlink()
    run = launch(words, environment(mpi), TIMEOUT).check()
    assert "1 of 2 measurements are there already" in run.stderr
    assert "tiny, p = 2: " in run.stderr


@MPICH
def test_map_is_measured_with_each_number_of_processes_and_goes_on_where_it_was(
    mpi: MpiLibrary, tmp_path: Path
) -> None:
    words = [
        "exscan",
        "--map",
        "--algorithms",
        "native,doubling_123",
        "--counts",
        "8,1000",
        "--start",
        "barrier",
        *BRIEF,
    ]

    def draw(processes: str) -> Run:
        command = [RONDO, "bench", *words, "--processes", processes, "--output", tmp_path / "map"]
        return launch([*command, *launcher(mpi, ranks="{p}")], environment(mpi), TIMEOUT).check()

    assert "2 processes: " in draw("2").stderr
    run = draw("2,3")
    assert "1 of 2 numbers of processes are there already" in run.stderr
    assert "2 processes: " not in run.stderr
    cells = json.loads((tmp_path / "map" / "map.json").read_text())["cells"]
    assert [(each["processes"], each["bytes"]) for each in cells] == [(2, 64), (2, 8000), (3, 64), (3, 8000)]
    for each in cells:
        assert set(each["seconds"]) == {"native", "doubling_123"}
        assert 0 < each["ratio"] <= 1
    assert measured(tmp_path / "map" / "p3").environment.ranks == 3
    for name in ("fastest.png", "bandwidth.png"):
        assert (tmp_path / "map" / name).read_bytes().startswith(b"\x89PNG")


@MPICH
def test_time_budget_ends_a_long_measurement(mpi: MpiLibrary, tmp_path: Path) -> None:
    words = ["--counts", "1,1000", "--repetitions", "1000000", "--seconds", "3", "--json"]
    run = bench(mpi, tmp_path / "out", "scan", *words).check()
    found = json.loads(run.stdout)
    assert found["complete"]
    assert all(1 <= len(each["repetitions"]) < 1000000 for each in found["configurations"])


@MPICH
def test_launcher_that_fails_is_reported_with_its_code(mpi: MpiLibrary, tmp_path: Path) -> None:
    run = bench(mpi, tmp_path / "out", "scan", options=("-genv", "LD_LIBRARY_PATH", "/missing", "-wdir", "/missing"))
    assert run.returncode not in (0, 2), run.stderr
    assert "nothing was measured" in run.stderr


@MPICH
def test_one_rank_is_refused(mpi: MpiLibrary, tmp_path: Path) -> None:
    run = launch([RONDO, "bench", "scan", "--output", tmp_path / "out", *launcher(mpi, ranks=1)], environment(mpi), 60)
    assert run.returncode == 2
    assert "one rank has nobody to communicate with" in run.stderr


@pytest.fixture
def long_run(mpi: MpiLibrary, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A measurement that would take minutes, when it has measured something."""
    words = ["--counts", "1,1000", "--repetitions", "1000000", "--seconds", "600", "--output", "out"]
    process = subprocess.Popen(
        [str(word) for word in [RONDO, "bench", "exscan", *words, *launcher(mpi)]],
        cwd=tmp_path,
        env=environment(mpi),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline and process.poll() is None:
            records = list(tmp_path.glob(".rondo-bench-*/records"))
            if records and records[0].read_text().count('"valid"') > 10:
                break
            time.sleep(0.1)
        yield process
    finally:
        if process.poll() is None:
            end(process)


def executable(pid: int) -> str:
    """Its file name; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def check_partial_data(directory: Path) -> None:
    found = measured(directory / "out")
    assert not found.complete
    assert sum(len(each.seconds()) for each in found.configurations) > 10
    with (directory / "out.csv").open(newline="") as table:
        assert [row["complete"] for row in csv.DictReader(table)] == ["False"] * len(found.configurations)
    assert list(directory.glob(".rondo-bench-*")) == []


@MPICH
def test_interrupt_leaves_what_was_measured(long_run: subprocess.Popen[str], tmp_path: Path) -> None:
    long_run.send_signal(signal.SIGINT)
    assert long_run.wait(TIMEOUT) == 128 + signal.SIGINT
    check_partial_data(tmp_path)


@MPICH
def test_killed_ranks_leave_what_was_measured(long_run: subprocess.Popen[str], tmp_path: Path) -> None:
    for pid in descendants(long_run.pid):
        if executable(pid).startswith("bench-mpich-"):
            os.kill(pid, signal.SIGKILL)
    assert long_run.wait(TIMEOUT) not in (0, 2, 3)
    check_partial_data(tmp_path)


@MPICH
def test_killed_launcher_leaves_what_was_measured(long_run: subprocess.Popen[str], tmp_path: Path) -> None:
    (launcher_pid,) = [pid for pid in descendants(long_run.pid) if executable(pid).startswith("mpiexec")]
    os.kill(launcher_pid, signal.SIGKILL)
    assert long_run.wait(TIMEOUT) == 128 + signal.SIGKILL
    check_partial_data(tmp_path)


@MPICH
def test_clocks_that_differ_are_learned(mpi: MpiLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = run_driver(
        mpi, tmp_path, monkeypatch, ["clock learned", "clock_skew 0.5", "clock_drift 0.001", "repetitions 40"]
    )
    (last,) = [each for each in records if each["kind"] == "end"]
    assert [each["clock"] for each in records if each["kind"] == "environment"] == ["learned"]
    # Unlearned, it would be half a second, and a millisecond more with every second.
    assert 0 < last["true_clock_error"] < 0.01
    assert 0 < last["clock_error"] < 0.02
    times = [each["seconds"] for each in records if each["kind"] == "repetition"]
    assert 0 < sorted(times)[len(times) // 2] < 0.25


@MPICH
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("collective exscn", "no collective of this name"),
        ("count 2147483648", "expected at most 2147483647 elements"),
        ("seconds -1", "not negative"),
        ("form rounded", "expected blocking, nonblocking or persistent"),
        ("colour red", "unknown key"),
    ],
)
def test_plan_that_cannot_be_read_ends_all_ranks(
    mpi: MpiLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, expected: str
) -> None:
    with pytest.raises(AssertionError, match=expected):
        run_driver(mpi, tmp_path, monkeypatch, [line])


def run_driver(
    mpi: MpiLibrary, directory: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> list[Mapping[str, object]]:
    """The records of the driver alone, with a plan that `rondo bench` does not write."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(BUILD / "cache"))
    driver = launches.driver_for(mpi_library.find(str(mpi.prefix / mpi.launcher), os.environ))
    plan, records = directory / "plan", directory / "records"
    standard = ["collective exscan", "candidate native", "count 10", "form blocking", "start clock", "seconds 15"]
    plan.write_text("\n".join([*standard, *lines]))
    run = mpi.run([driver, plan, records], 4, timeout=TIMEOUT)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in records.read_text().splitlines()]


def test_python_measures_what_the_driver_can() -> None:
    table = (ROOT / "apps/bench/collectives.cpp").read_text().partition("Collective table[] = {")[2].partition("};")[0]
    rows = [line.strip().removeprefix("{").split(", ") for line in table.splitlines() if line.strip().startswith('{"')]
    functions = {row[0].strip('"'): row[2] == "true" for row in rows if row[1] != "RONDO_PATTERN"}
    assert functions == {**plans.COLLECTIVES, **dict.fromkeys(plans.OF_LOCAL_LENGTHS, False)}
    assert tuple(row[0].strip('"') for row in rows if row[7] != "Counts::whole") == plans.DIVIDED
    assert tuple(row[0].strip('"') for row in rows if row[1] == "RONDO_PATTERN") == plans.PATTERNS
