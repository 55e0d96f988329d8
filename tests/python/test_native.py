# SPDX-License-Identifier: BSD-3-Clause
"""What libraries' own collectives would take: their rules, the prediction, and its correction by measurements."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_results import recorded
from rondo.bench import results
from rondo.machine import machine
from rondo.selection.call import Call

from rondo import _core
from rondo.selection import native

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "tuning" / "native").glob("*.rules"))
RECORDED = "bandwidth-bcast-8x1-mpich.json"
VERSIONS = ("MPICH Version 4.0.2", "MPICH Version 5.0.2", "Open MPI v4.1.4", "Open MPI v5.0.11")
MACHINE = machine.Machine(alpha=2e-6, beta=8e-11, overhead=5e-7, gamma=4e-11)


def rules_in(path: Path) -> list[str]:
    """Without layout and comments."""
    lines = (" ".join(line.partition("#")[0].split()) for line in path.read_text().splitlines())
    return [line for line in lines if line]


@pytest.fixture
def predict(rondo: Callable[..., Any], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs the command, and gives the native candidate of the last point."""
    file = tmp_path / "machine"
    file.write_text(MACHINE.text())

    def run(*words: object) -> dict[str, Any]:
        result = rondo("predict", *map(str, words), "--machine", str(file), "--json")
        assert result.exit_code == 0, result.stderr
        candidates = json.loads(result.stdout)["points"][-1]["candidates"]
        found: dict[str, Any] = next(each for each in candidates if each["algorithm"] == "native")
        return found

    return run


# ---------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_the_rules_are_sound(path):
    found = _core.inspect_rules(path.read_text())
    assert found["wrong"] == []
    assert found["unreachable"] == []
    assert [each for each in found["refusing"] if each["always"]] == []


def test_every_file_is_that_of_a_version():
    assert {native.rules_of(each).name for each in VERSIONS} == {path.name for path in RULES}
    assert native.rules_of("Intel(R) MPI Library 2021.19.0 for Linux* OS") is None


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_every_collective_with_data_has_a_rule_for_every_call(path):
    text = path.read_text()
    for collective in [each["name"] for each in _core.collectives() if each["has_data"]]:
        for length in (1, 1 << 12, 1 << 20, 1 << 30):
            for nodes, each in ((2, 1), (7, 1), (36, 1), (5000, 1), (2, 2), (8, 4), (300, 64)):
                said = _core.choice_by_rules(text, path.name, collective, length, nodes * each, each, nodes=nodes)
                assert said is not None, (collective, length, nodes, each)


@pytest.mark.parametrize("library, only_in_five", [("open_mpi", "ranks_per_node >= 2"), ("mpich", "bytes > 2Mi")])
def test_what_both_versions_do_is_said_alike(library, only_in_five):
    four, five = (rules_in(ROOT / "tuning" / "native" / f"{library}-{each}.rules") for each in (4, 5))
    assert [each for each in five if only_in_five not in each] == four


# ---------------------------------------------------------------------------------------------------- predictions


@pytest.mark.parametrize(
    "words, library, like",
    [
        (("bcast", "--count", 128, "-n", 8), "mpich", "binomial"),
        (("bcast", "--count", "16Ki", "-n", 8), "mpich", "scatter_allgather:doubling=1"),
        (("bcast", "--count", 128, "--nodes", "8x4"), "mpich", "leaders:lane=binomial,ports=3,at_once=0"),
        (("allreduce", "--count", "16Ki", "-n", 8), "Open MPI v4.1.4", "halving_doubling"),
        (("allreduce", "--count", "16Ki", "--nodes", "4x4"), "openmpi", "leaders:lane=binary_tree,radix=4"),
    ],
)
def test_native_takes_what_the_algorithm_takes_that_its_rules_name(predict, words, library, like):
    found = predict(*words, "--native", library)
    mpi = _core.library(library)
    assert found["like"].startswith(f"as {like} ({mpi['native_rules']}.rules:")
    collective, _, count, *where = map(str, words)
    nodes = where[1] if where[0] == "--nodes" else f"{where[1]}x1"
    predicted = _core.predict(
        collective, like, len(_core.ranks_on_nodes(nodes)) * _core.ranks_on_nodes(nodes)[0], _core.quantity(count),
        f"{MACHINE.text()}eager = {mpi['eager']}\n", nodes=nodes, step_by_step=True,
    )  # fmt: skip
    assert found["seconds"] == predicted["seconds"]


def test_calls_that_do_nothing_have_no_native_time(rondo):
    words = ("predict", "alltoall", "--count", "10", "-n", "64", "--over", "bytes", "--native", "mpich", "--json")
    points = json.loads(rondo(*words).stdout)["points"]
    for point in points:
        names = [each["algorithm"] for each in point["candidates"]]
        assert ("native" in names) == (point["bytes"] >= 64 * 8)
        assert ("bruck" in names) == ("native" in names)


def test_there_is_no_prediction_where_no_algorithm_is_near(predict):
    found = predict("reduce_scatter", "--count", "128Ki", "-n", 8, "--native", "openmpi")
    assert (found["seconds"], found["like"]) == (None, None)
    assert found["untimed"] == "no algorithm of Rondo's is near to what the library does"


@pytest.mark.parametrize(
    "words, said",
    [
        (("--native", "impi"), "nobody knows what the collectives of Intel(R) MPI Library"),
        (("--native", "MPICH Version 3.4"), "nobody knows what the collectives of MPICH Version 3.4 do"),
        (("--measured", RECORDED), "--measured corrects what --native predicts"),
        (("--native", "openmpi", "--measured", RECORDED), "was measured with MPICH Version 5.0.2, not with Open"),
    ],
)
def test_what_cannot_be_predicted_is_said(rondo, tmp_path, monkeypatch, words, said):
    recorded(RECORDED, tmp_path)
    monkeypatch.chdir(tmp_path)
    result = rondo("predict", "bcast", "--count", "1Ki", "-n", "8", *words)
    assert result.exit_code != 0
    assert said in result.stderr


def test_explain_predicts_the_library_that_is_named(rondo):
    words = ("explain", "bcast", "--count", "1Ki", "-n", "8", "--json")
    named = json.loads(rondo(*words, "--library", "MPICH Version 5.0.2").stdout)["candidates"]
    (own,) = [each for each in named if each["algorithm"] == "native"]
    assert own["seconds"] == next(each["seconds"] for each in named if each["choice"] == "binomial")
    assert [each["seconds"] for each in named] == sorted(each["seconds"] for each in named)
    for other in ((), ("--library", "impi")):
        unnamed = json.loads(rondo(*words, *other).stdout)["candidates"]
        assert "native" not in [each["algorithm"] for each in unnamed]
    text = rondo(*words[:-1], "--library", "mpich").stdout
    assert "as binomial (mpich-5.rules:" in " ".join(text.split())
    assert "what native takes is not known" not in text


# ---------------------------------------------------------------------------------------------------- corrections


def test_measured_calls_are_predicted_as_they_were_measured(predict, tmp_path):
    path = recorded(RECORDED, tmp_path)
    measured = {
        each.bytes: statistics.median(each.seconds())
        for each in results.read(path).configurations
        if each.algorithm == "native"
    }
    for length, seconds in measured.items():
        found = predict(
            "bcast", "--type", "long", "--count", length // 8, "-n", 8, "--native", "mpich", "--measured", path
        )
        assert found["seconds"] == pytest.approx(seconds)
        assert found["like"].endswith(" times, as measured")


def test_a_correction_counts_for_less_the_farther_away():
    measured = [native.Measured(1024, 8, 8, 2.0)]
    near, far = (native.correction(measured, length, 8, 8) for length in (2048, 1 << 20))
    assert 2 > near > far > 1
    assert native.correction([], 1024, 8, 8) == 1
    with pytest.raises(ValueError, match="above 0"):
        native.correction([native.Measured(1024, 8, 8, 0.0)], 1024, 8, 8)


def test_a_file_without_such_calls_corrects_nothing(tmp_path):
    call = Call("scan", (1,) * 8, 1024, 8, True, 0, "MPICH Version 5.0.2", False)
    rules = native.required_rules_of(call.library)
    with pytest.raises(native.Error, match="no native scan"):
        native.measured_in(recorded(RECORDED, tmp_path), call, rules, MACHINE.text(), most_messages=1 << 20)
