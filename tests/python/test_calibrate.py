# SPDX-License-Identifier: BSD-3-Clause
"""`rondo calibrate`, the machine file, and how `rondo run` hands it on. Nothing is measured here."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from rondo.bench import bench
from rondo.bench.results import VALID, Configuration, Environment, Network, Repetition, Results
from rondo.errors import Error
from rondo.machine import calibrate, machine
from rondo.machine.machine import Machine

from rondo import _core

EMULATED = Machine(
    alpha=2e-3, beta=4e-8, overhead=5e-5, gamma=1e-10, alpha_inside=4e-7, beta_inside=2e-10, overhead_inside=1e-7,
    first_pass=2e-10, second_pass=3e-10,
)  # fmt: skip
STANDARD_INSIDE = {"alpha_inside": 3e-7, "beta_inside": 1e-10, "overhead_inside": 1e-7}
STANDARD_PASSES = {"first_pass": 1e-10, "second_pass": 2e-10}


@pytest.fixture
def machine_file(tmp_path: Path) -> Path:
    path = tmp_path / "my.machine"
    path.write_text(EMULATED.text("two lines\nof remarks"))
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / "home"


def refusal(result) -> str:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_a_machine_file_is_read_back(machine_file):
    assert machine.read(machine_file) == EMULATED
    assert machine_file.read_text().startswith("# two lines\n# of remarks\nalpha = 0.002")
    full = dataclasses.replace(EMULATED, lanes=2, eager=16384, rendezvous=8.5e-3)
    machine_file.write_text(full.text())
    assert machine.read(machine_file) == full
    machine_file.write_text("alpha = 1\nbeta = 2\n")
    found = dataclasses.asdict(machine.read(machine_file))
    assert {key: found[key] for key in STANDARD_INSIDE} == STANDARD_INSIDE
    assert {key: found[key] for key in STANDARD_PASSES} == STANDARD_PASSES


def test_the_default_file_is_in_the_configuration_directory(home):
    assert machine.default_path({"HOME": str(home)}) == home / ".config" / "rondo" / "machine"
    assert machine.default_path({"HOME": str(home), "XDG_CONFIG_HOME": "/etc/xdg"}) == Path("/etc/xdg/rondo/machine")
    assert machine.find(None, {"HOME": str(home)}) is None
    machine.write(machine.default_path({"HOME": str(home)}), EMULATED.text())
    assert machine.find(None, {"HOME": str(home)}) == home / ".config" / "rondo" / "machine"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alpha = 1\nbetta = 1\n", "my.machine:2: unknown key 'betta'; did you mean 'beta'?"),
        ("alpha = -1\n", "my.machine:1: 'alpha = -1' is negative; expected seconds"),
        ("alpha = soon\n", "my.machine:1: 'alpha = soon' is not a number; expected seconds, as in 2.5e-6"),
        ("alpha = 1\n", "my.machine:1: beta is missing"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(rondo, machine_file, text, expected):
    machine_file.write_text(text)
    for words in (["run", "--machine", machine_file, "--", "no-such-launcher"], ["calibrate", "--show", machine_file]):
        assert expected in refusal(rondo(*words))


def test_a_file_that_is_not_there_is_refused(rondo, tmp_path):
    message = refusal(rondo("run", "--machine", tmp_path / "gone", "--", "no-such-launcher"))
    assert "gone: No such file or directory; `rondo calibrate` makes one" in message
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "not a text file" in refusal(rondo("calibrate", "--show", tmp_path / "binary"))


@pytest.fixture
def program(stand_in_launcher, stand_in_program, installed, tmp_path, monkeypatch) -> list[object]:
    """A command line for `rondo run`."""
    monkeypatch.chdir(tmp_path)
    return ["--", stand_in_launcher("hydra"), "-n", "2", stand_in_program("libmpi.so.12")]


def test_run_hands_the_file_to_the_ranks(rondo, home, machine_file, program, monkeypatch):

    def handed(*options: object) -> str:
        result = rondo("run", "--dry-run", *options, *program)
        assert result.exit_code == 0, result.output
        _, found, rest = result.stdout.partition("RONDO_MACHINE ")
        return rest.split()[0] if found else ""

    assert handed() == ""
    assert handed("--machine", machine_file.name) == str(machine_file)
    machine.write(home / ".config" / "rondo" / "machine", EMULATED.text())
    assert handed() == str(home / ".config" / "rondo" / "machine")
    monkeypatch.setenv("RONDO_MACHINE", str(machine_file))
    assert handed() == str(machine_file)


def test_show_tells_links_between_domains_apart_where_they_differ(rondo, machine_file):
    machine_file.write_text(EMULATED.text() + "alpha_across = 9e-7\n")
    result = rondo("calibrate", "--show", machine_file, "--sizes", "4Mi")
    assert "alpha       2 ms; inside a node 400 ns; between its domains 900 ns\n" in result.stdout
    assert "inside a node 2e-10 s/byte (5 GB/s)\n" in result.stdout


def test_show_prints_the_figures_and_every_pipelined_algorithm(rondo, machine_file):
    result = rondo("calibrate", "--show", machine_file, "--sizes", "4Mi")
    assert result.exit_code == 0, result.output
    assert "alpha       2 ms; inside a node 400 ns" in result.stdout
    assert "(0.025 GB/s); inside a node 2e-10 s/byte (5 GB/s)" in result.stdout
    assert "rendezvous  two latencies" in result.stdout
    for collective, name in calibrate.pipelined():
        assert f"{collective}/{name} " in result.stdout


def test_json_holds_figures_and_table(rondo, machine_file):
    result = rondo("calibrate", "--show", machine_file, "--sizes", "4Mi", "--ranks", "8", "--json")
    document = json.loads(result.stdout)
    assert document["machine"]["alpha"] == EMULATED.alpha
    (row,) = [
        row for row in document["segments"] if (row["collective"], row["algorithm"]) == ("exscan", "linear_pipeline")
    ]
    assert row["ranks"] == 8
    assert row["bytes"] == 4 << 20
    # sqrt((A - B) beta m / (B alpha)), with A = p - 1 rounds for one segment and B = 1 for each further one.
    assert row["lock_step_segments"] == round((6 * 4e-8 * (4 << 20) / 2e-3) ** 0.5)
    assert row["segments"] > 2 * row["lock_step_segments"]
    assert row["seconds"] == pytest.approx(4e-8 * (4 << 20) + 7 * 2e-3, rel=0.08)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "what to calibrate? Expected a launcher"),
        (["--cluster", "8x1:fast"], "expected NODESxRANKS_PER_NODE"),
        (["--cluster", "2x1:1ms:1Gbit", "--", "mpiexec"], "leave out the launcher"),
        (["--sizes", "4", "--show", "FILE"], "expected at least 8 bytes each"),
        (["--sizes", "much", "--show", "FILE"], "cannot read 'much'"),
        (["--show", "FILE", "--output", "other"], "--show measures and writes nothing"),
        (["--cluster", "2x1:1ms:1Gbit", "--output", "DIRECTORY"], "is a directory; expected a file in it"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_measured(rondo, machine_file, words, expected):
    places = {"FILE": machine_file, "DIRECTORY": machine_file.parent}
    assert expected in refusal(rondo("calibrate", *(places.get(word, word) for word in words)))


def results_of(pattern: str, seconds: dict[int, float], network: Network | None = None, ranks: int = 2) -> Results:
    environment = Environment(
        library="MPICH", ranks=ranks, nodes=1, ranks_per_node=[ranks], hosts=["host"], kernel="", processor="", cores=2,
        clock="shared", date="", command="", rondo="", abi="mpich", launcher="", clock_error=0, seed=1, network=network,
    )  # fmt: skip
    configurations = [
        Configuration(
            collective=pattern, algorithm="native", parameters="", start="barrier", count=size // 8, bytes=size,
            type="double", operator="", bus_factor=0,
            repetitions=[Repetition(factor * time, 0, 0, 0, VALID, 0) for factor in (1.5, 1.0, 1.2)],
        )
        for size, time in seconds.items()
    ]  # fmt: skip
    return Results(environment, configurations)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Results]:
    """What the benchmark would measure on a machine with 1 us, 1 GB/s, 2 us a message, 10 GB/s."""
    sizes = [8 * 4**power for power in range(8)]
    results = {
        "ping_pong": results_of("ping_pong", {size: 1e-6 + 1e-9 * size for size in sizes}),
        "stream": results_of("stream", {8 * count: 5e-6 + 2e-6 * count for count in calibrate.MESSAGES}),
        "reduce_local": results_of("reduce_local", {8 * n: 1e-6 + 1e-10 * 8 * n for n in calibrate.OPERANDS}),
        "first_pass": results_of("first_pass", {8 * n: 3e-10 * 8 * n for n in calibrate.ARRAYS}),
        "second_pass": results_of("second_pass", {8 * n: 5e-10 * 8 * n for n in calibrate.ARRAYS}),
    }
    monkeypatch.setattr(bench, "measure", lambda pattern, **_: results[pattern])
    return results


def test_figures_follow_from_what_was_measured(measured):
    found = calibrate.measure((), "2x1:1us:8Gbit", None)
    assert found.machine.alpha == pytest.approx(1e-6)
    assert found.machine.beta == pytest.approx(1e-9)
    assert found.machine.overhead == pytest.approx(2e-6)
    assert found.machine.gamma == pytest.approx(1e-10)
    assert found.machine.first_pass == pytest.approx(3e-10)
    assert found.machine.second_pass == pytest.approx(5e-10)


def ping_pong_that_waits(longest_eager: int) -> Results:
    """2 ms, 200 Mbit/s, and four latencies more for longer messages, as Debian's MPICH has it."""
    return results_of(
        "ping_pong",
        {8 << power: 2e-3 + 4e-8 * (8 << power) + (8e-3 if 8 << power > longest_eager else 0) for power in range(17)},
        Network(2e-3, 4e-8, 0.01, 8e-3),
    )


@pytest.mark.parametrize("longest", [4096, 16384, 262144])
def test_the_eager_limit_is_where_latency_jumps(measured, longest):
    measured["ping_pong"] = ping_pong_that_waits(longest)
    found = calibrate.measure((), "2x1:2ms:200Mbit", None).machine
    assert found.eager == longest
    assert found.rendezvous == pytest.approx(8e-3)


def test_without_a_jump_the_eager_limit_is_all_that_was_measured(measured):
    found = calibrate.measure((), "2x1:1us:8Gbit", None).machine
    assert found.eager == 8 * 4**7
    assert found.rendezvous is None


def test_one_slow_length_is_no_eager_limit():
    points = [(8, 2e-3), (4096, 6e-3), (16384, 2.6e-3), (65536, 10e-3), (262144, 18e-3)]
    assert calibrate.eager_limit(points, 2e-3, 4e-8) == 16384


def test_the_file_keeps_the_eager_limit_and_the_table_stays_below_it(rondo, tmp_path):
    path = tmp_path / "eager.machine"
    path.write_text(dataclasses.replace(EMULATED, eager=16384).text())
    assert machine.read(path).eager == 16384
    result = rondo("calibrate", "--show", path, "--sizes", "4Mi")
    assert "eager       16Ki bytes" in result.stdout
    document = json.loads(rondo("calibrate", "--show", path, "--sizes", "4Mi", "--json").stdout)
    assert max(row["segment"] for row in document["segments"]) == 16384


def test_the_fit_between_nodes_is_taken_where_there_is_one(measured):
    measured["ping_pong"].environment.network = Network(3e-3, 4e-8, 0.01, 8e-3)
    found = calibrate.measure((), "2x1:1us:8Gbit", None)
    assert (found.machine.alpha, found.machine.beta) == (3e-3, 4e-8)


def test_both_classes_of_links_are_measured_where_a_cluster_has_both(measured, monkeypatch):
    between = ping_pong_that_waits(16384)
    between.environment.nodes = 2
    clusters: list[str] = []

    def measure(pattern: str, cluster: str, **_: object) -> Results:
        clusters.append(cluster)
        return between if pattern == "ping_pong" and cluster == "2x1:2ms:200Mbit:2" else measured[pattern]

    monkeypatch.setattr(bench, "measure", measure)
    stages: list[str] = []
    found = calibrate.measure((), "4x4:2ms:200Mbit:2", None, stages.append).machine
    assert (found.alpha, found.alpha_inside) == (2e-3, pytest.approx(1e-6))
    assert (found.beta, found.beta_inside) == (4e-8, pytest.approx(1e-9))
    assert found.overhead_inside == pytest.approx(2e-6)
    assert (found.eager, found.lanes) == (16384, 2)
    assert stages[-1].startswith("inside a node, overhead")
    assert set(clusters) == {"2x1:2ms:200Mbit:2", "1x2:2ms:200Mbit:2"}


def test_both_classes_of_links_are_measured_where_a_launcher_has_both(measured, monkeypatch):
    between = ping_pong_that_waits(16384)
    between.environment.nodes, between.environment.ranks_per_node = 2, [2, 1]
    parts: list[tuple[str, object]] = []

    def measure(pattern: str, part: str | None, **_: object) -> Results:
        parts.append((pattern, part))
        return between if pattern == "ping_pong" and part is None else measured[pattern]

    monkeypatch.setattr(bench, "measure", measure)
    found = calibrate.measure(("mpiexec",), None, None).machine
    assert (found.alpha, found.alpha_inside) == (2e-3, pytest.approx(1e-6))
    assert [pattern for pattern, part in parts if part == "node"] == ["ping_pong", "stream"]


def test_ranks_on_one_node_have_one_class_of_links(measured):
    found = calibrate.measure(("mpiexec",), None, None).machine
    assert (found.alpha_inside, found.beta_inside) == (found.alpha, found.beta)
    measured["ping_pong"].environment.nodes, measured["ping_pong"].environment.ranks_per_node = 2, [1, 1]
    assert calibrate.measure(("mpiexec",), None, None).machine.alpha_inside is None
    with pytest.raises(Error, match="the ranks are on 2 nodes; expected at least 2 ranks on one node"):
        calibrate.measure_inside(("mpiexec",), None, None)


def test_what_is_inside_a_node_is_added_to_a_file(rondo, measured, machine_file, monkeypatch):
    monkeypatch.setattr("rondo.bench.launches.make", lambda *_: None)
    kept = "segment exscan/linear_pipeline 8 1Mi = 16Ki\n"
    machine_file.write_text(EMULATED.text("remarks") + kept)
    result = rondo("calibrate", "--inside", "--output", machine_file, "--sizes", "64Ki", "--", "mpiexec", "-n", "2")
    assert result.exit_code == 0, result.output
    assert machine.read(machine_file) == dataclasses.replace(
        EMULATED, alpha_inside=1e-6, beta_inside=1e-9, overhead_inside=2e-6
    )
    text = machine_file.read_text()
    assert text.startswith("# remarks\n")
    assert kept in text
    missing = machine_file.parent / "missing"
    assert "missing: No such file" in refusal(rondo("calibrate", "--inside", "--output", missing, "--", "mpiexec"))


def test_what_is_between_domains_of_a_node_is_added_to_a_file(rondo, measured, machine_file, monkeypatch):
    monkeypatch.setattr("rondo.bench.launches.make", lambda *_: None)
    machine_file.write_text(EMULATED.text("remarks"))
    words = ("--output", machine_file, "--sizes", "64Ki", "--", "mpiexec", "-n", "2")
    result = rondo("calibrate", "--across", *words)
    assert result.exit_code == 0, result.output
    assert machine.read(machine_file) == dataclasses.replace(
        EMULATED, alpha_across=1e-6, beta_across=1e-9, overhead_across=2e-6
    )
    assert machine_file.read_text().startswith("# remarks\n")
    assert "overhead    50 us; inside a node 100 ns; between its domains 2 us" in result.stdout
    both = refusal(rondo("calibrate", "--inside", "--across", *words))
    assert both == "rondo: --inside and --across measure other pairs of ranks; leave out one of the two\n"


def test_the_table_is_of_calls_on_nodes(rondo, machine_file):
    words = ["calibrate", "--show", machine_file, "--sizes", "4Mi", "--json"]
    document = json.loads(rondo(*words, "--nodes", "4x4").stdout)
    seconds = {row["algorithm"]: row["seconds"] for row in document["segments"] if row["collective"] == "bcast"}
    assert {row["ranks"] for row in document["segments"]} == {16}
    assert seconds["circulant"] > 1.5 * seconds["full_lane"]
    assert "--nodes 4x4 has 16 ranks, not the 8 of --ranks" in refusal(rondo(*words, "--nodes", "4x4", "--ranks", 8))


def test_noise_makes_no_negative_figure(measured):
    measured["reduce_local"] = results_of("reduce_local", {32768: 2e-6, 131072: 1e-6})
    assert calibrate.measure((), "2x1:1us:8Gbit", None).machine.gamma == 0


def test_a_failure_says_what_could_not_be_measured(measured, monkeypatch):
    with pytest.raises(Error, match="at least 2 ranks"):
        measured["ping_pong"].environment.ranks = 1
        calibrate.measure((), "2x1:1us:8Gbit", None)

    def fail(pattern: str, **_: object) -> Results:
        if pattern == "stream":
            raise Error("the ranks died", 9)
        return results_of(pattern, {8: 1e-6, 800: 2e-6})

    monkeypatch.setattr(bench, "measure", fail)
    with pytest.raises(Error, match=r"could not measure overhead: .*: the ranks died") as raised:
        calibrate.measure((), "2x1:1us:8Gbit", None)
    assert raised.value.exit_code == 9


def test_calibrate_writes_a_file_that_is_read_back(rondo, home, measured, monkeypatch):
    monkeypatch.setattr("rondo.commands.calibrate.KNOWN_SIZES", (1 << 16,))
    words = ["calibrate", "--cluster", "2x1:1ms:1Gbit", "--mpi", "mpich", "--sizes", "64Ki", "--precompute", "40"]
    monkeypatch.setattr("rondo.bench.launches.make", lambda *_: None)
    result = rondo(*words)
    assert result.exit_code == 0, result.output
    path = home / ".config" / "rondo" / "machine"
    assert f"wrote {path}" in result.stderr
    assert "measuring alpha, beta, eager and rendezvous" in result.stderr
    found = machine.read(path)
    assert found.overhead == pytest.approx(2e-6)
    lines = [line for line in path.read_text().splitlines() if line.startswith("segment ")]
    assert len(lines) == len(calibrate.pipelined())
    assert lines[0].startswith("segment {}/{} ".format(*calibrate.pipelined()[0]))
    assert " 40 64Ki = " in lines[0]


def test_the_module_refuses_what_has_no_segments():
    with pytest.raises(ValueError, match="has no segments"):
        _core.chosen_segment("exscan", "doubling_123", 8, 1024, EMULATED.text())
    with pytest.raises(ValueError, match="at least one process"):
        _core.chosen_segment("exscan", "linear_pipeline", 0, 1024, EMULATED.text())
    with pytest.raises(ValueError, match="nodes 2x2 have 4 ranks; expected 8"):
        _core.chosen_segment("exscan", "linear_pipeline", 8, 1024, EMULATED.text(), "2x2")


def test_a_segment_depends_on_the_nodes():
    def seconds(algorithm: str, nodes: str) -> float:
        return _core.chosen_segment("bcast", algorithm, 16, 4 << 20, EMULATED.text(), nodes)["seconds"]

    # Every byte enters each node once; flat, once for each rank that gets it from elsewhere, through one lane.
    assert seconds("circulant", "4x4") > 1.5 * seconds("full_lane", "4x4")
    assert seconds("full_lane", "1x16") < seconds("full_lane", "4x4") / 10


def test_without_a_file_a_fast_network_is_meant():
    inside_and_passes = {**STANDARD_INSIDE, **STANDARD_PASSES}
    assert machine.standard() == Machine(alpha=2e-6, beta=8e-11, overhead=5e-7, gamma=5e-11, **inside_and_passes)
