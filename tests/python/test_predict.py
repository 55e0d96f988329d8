# SPDX-License-Identifier: BSD-3-Clause
"""`rondo predict`: what calls would take on machines that are not here."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rondo.commands import main
from rondo.commands import predict as predict_command
from rondo.machine import machine
from rondo.selection.call import Call

from rondo import _core
from rondo.selection import predicting

MACHINE = machine.Machine(alpha=2e-6, beta=8e-11, overhead=5e-7, gamma=4e-11, eager=16384)


@pytest.fixture
def predict(tmp_path: Path) -> Callable[..., Any]:
    file = tmp_path / "machine"
    file.write_text(MACHINE.text())

    def run(*words: object, fails: bool = False) -> Any:
        result = CliRunner().invoke(main, ["predict", *map(str, words), "--machine", str(file)])
        assert (result.exit_code != 0) == fails, result.output
        return result

    return run


def document(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_seconds_are_those_of_virtual_time(predict):
    (point,) = document(predict("allreduce", "--count", 1000, "--nodes", "4x4", "--json"))["points"]
    assert (point["value"], point["processes"], point["bytes"]) == (8000, 16, 8000)
    seconds = [each["seconds"] for each in point["candidates"] if each["seconds"] is not None]
    assert len(seconds) > 5
    assert seconds == sorted(seconds)
    for each in point["candidates"]:
        (expected,) = _core.times("allreduce", each["choice"], 16, 1000, [MACHINE.text()], nodes="4x4", fluid=True)
        assert (each["seconds"], each["means"]) == (expected, "whole")


def test_an_algorithm_can_be_asked_for_alone(predict):
    (point,) = document(predict("scan/two_tree", "--count", "64Ki", "-n", 100, "--json"))["points"]
    assert [each["algorithm"] for each in point["candidates"]] == ["two_tree"]


@pytest.mark.parametrize(
    "algorithm, seconds",
    [
        pytest.param("allgather/ring --count 1", (1 << 20) * (2e-6 + 5e-7), marks=pytest.mark.soak),
        ("barrier/dissemination", 20 * (2e-6 + 1e-6)),  # rounds
    ],
)
def test_a_million_ranks_are_predicted(predict, algorithm, seconds):
    (candidate,) = document(predict(*algorithm.split(), "-n", 1 << 20, "--json"))["points"][0]["candidates"]
    assert candidate["means"] == "one node"
    assert candidate["seconds"] == pytest.approx(seconds, rel=0.5)


@pytest.mark.parametrize(
    "over, values",
    [("nodes", [1, 2, 4, 8, 16, 64, 128, 256]), ("ranks", [2, 4, 8, 16, 64, 128, 256, 1024])],
)
def test_series_grow_up_to_the_call(predict, over, values):
    found = document(predict("bcast/binomial", "--count", 10, "--nodes", "256x4", "--over", over, "--json"))
    assert found["over"] == over
    assert found["points"][-1]["value"] == values[-1]
    assert found["points"][0]["value"] == values[0]
    seconds = [each["candidates"][0]["seconds"] for each in found["points"]]
    assert seconds == sorted(seconds)
    text = predict("bcast/binomial", "--count", 10, "--nodes", "256x4", "--over", over).stdout
    assert "binomial" in text


def test_the_part_of_each_rank_stays_as_long(predict):
    found = document(predict("allgather/ring", "--count", 10, "-n", 64, "--over", "ranks", "--json"))
    assert all(each["bytes"] == 80 * each["processes"] for each in found["points"])


def test_series_begin_where_they_are_told() -> None:
    call = Call("bcast", (4,) * 8, 1 << 20, 8, False, 31, "MPICH Version 5.0", False)
    values = [value for value, _ in predicting.series(call, "bytes", 1000)]
    assert values[0] >= 1000
    assert values[-1] == 1 << 23
    assert all(each.elements == value // 8 for value, each in predicting.series(call, "bytes", 1000))
    few = predicting.series(call, "ranks", 6)
    assert [sum(each.ranks_on) for _, each in few] == [value for value, _ in few]
    assert all(each.root < each.processes for _, each in few)


def test_series_are_drawn(predict, tmp_path):
    output = tmp_path / "nodes.svg"
    words = ("bcast", "--count", 1000, "--nodes", "16x2", "--over", "nodes", "--output", output)
    assert f"wrote {output}" in predict(*words).stdout
    text = output.read_text()
    assert "binomial" in text or "<path" in text
    predict(*words)
    assert output.read_text() == text  # the same file for the same numbers


@pytest.mark.parametrize(
    "words, said",
    [
        (("bcast", "-n", 4), "how long is the vector?"),
        (("bcast", "--count", 1), "how many ranks?"),
        (("bcsat", "--count", 1, "-n", 4), "bcast"),
        (("bcast/binomail", "--count", 1, "-n", 4), "did you mean binomial"),
        (("bcast", "--count", 1, "-n", 4, "--root", 4), "--root 4: expected 0 to 3"),
        (("bcast", "--count", 1, "-n", 4, "--least", 2), "--least is for a series"),
        (("bcast", "--count", 1, "-n", 4, "--output", "a.svg"), "--output is for a series"),
        (("bcast", "--count", 1, "-n", 4, "--over", "ranks", "--output", "a.gif"), "expected a name that ends in"),
        (("bcast", "--count", 1, "-n", 4, "--over", "ranks", "--least", "two"), "--least: "),
        (("barrier", "-n", 4, "--over", "bytes"), "barrier has no data"),
        (("barrier", "-n", 4, "--network", "ring"), "'ring' is no network; expected something like fat_tree:nodes="),
        (("barrier", "-n", 4, "--network", ""), "is no network"),
        (("barrier", "-n", 4, "--network", "torus:3"), "a network of 3 nodes; the job has 4"),
        (("barrier", "-n", 4, "--network", "torus:4", "--placement", "cylic"), "'cylic' is no placement; expected"),
        (("barrier", "-n", 4, "--network", "torus:4", "--placement", "n[0-2]"), "names 3 nodes; the job has 4"),
        (("barrier", "-n", 4, "--network", "torus:4", "--placement", "n[0-2,1]"), "two nodes at place 1"),
        (("barrier", "-n", 4, "--network", "torus:4", "--placement", "n[1-4]"), "at place 4 of a network; expected 0"),
        (("barrier", "-n", 4, "--placement", "cyclic"), "say --network, too"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(predict, words, said):
    result = predict(*words, fails=True)
    message = result.output + (str(result.exception) if result.exception is not None else "")
    assert said in message


EXAMPLES = re.findall(r"^ +rondo predict (.+)$", predict_command.command.help or "", re.MULTILINE)


@pytest.mark.parametrize("example", [each for each in EXAMPLES if "--machine" not in each])
def test_the_examples_of_the_help_work(predict, tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    assert predict(*example.split(), "--messages", 1000).stdout


def seconds(result: Any) -> float:
    (candidate,) = document(result)["points"][-1]["candidates"]
    found: float = candidate["seconds"]
    return found


def test_messages_share_the_links_of_the_network(predict):
    ring = ("allgather/ring", "--count", "1Mi", "--type", 1, "--nodes", "8x1", "--json")
    plain = seconds(predict(*ring))
    assert seconds(predict(*ring, "--network", "torus:8")) == plain
    assert seconds(predict(*ring, "--network", "fat_tree:nodes=2,taper=2")) == plain  # one in a pair crosses
    tapered = predict(*ring, "--network", "fat_tree:nodes=2,taper=2", "--placement", "cyclic")
    assert seconds(tapered) == pytest.approx(2 * plain, rel=0.05)  # both do
    said = document(tapered)
    assert (said["network"], said["placement"]) == ("fat_tree:nodes=2,taper=2", "cyclic")
    text = predict(*ring[:-1], "--network", "fat_tree:nodes=2,taper=2", "--placement", "cyclic").stdout
    assert "placed cyclic in fat_tree:nodes=2,taper=2" in " ".join(text.split())


def test_nodes_lie_where_their_names_say(predict):
    words = ("alltoall/pairwise", "--count", "1Mi", "--type", 1, "--nodes", "4x1", "--json")
    tree = ("--network", "fat_tree:nodes=2,taper=4,first=1")
    plain, block = seconds(predict(*words)), seconds(predict(*words, *tree))
    assert seconds(predict(*words, *tree, "--placement", "node[001-004]")) == block
    assert block > 1.5 * plain
    # Each below a switch of its own, whose link carries half of what it sends.
    assert seconds(predict(*words, *tree, "--placement", "node[1,3,5,7]")) == pytest.approx(2 * plain, rel=0.05)
    wide = ("--network", "fat_tree:nodes=4,taper=4,first=1")
    assert seconds(predict(*words, *wide, "--placement", "n1,n5,n9,n13")) == plain
    assert seconds(predict(*words, *wide, "--placement", "block")) == plain  # all below one switch


def test_one_node_stands_for_all_only_where_the_network_has_no_shape(predict):
    words = ("allgather/ring", "--count", 1, "-n", 1100, "--json")
    (alone,) = document(predict(*words))["points"][0]["candidates"]
    assert alone["means"] == "one node"
    (full,) = document(predict(*words, "--network", "fat_tree:nodes=50"))["points"][0]["candidates"]
    assert full == alone
    (whole,) = document(predict(*words, "--network", "fat_tree:nodes=50,taper=4"))["points"][0]["candidates"]
    assert (whole["means"], whole["seconds"]) == ("whole", pytest.approx(alone["seconds"]))
    few = predict(*words, "--network", "fat_tree:nodes=50,taper=4", "--messages", 1000)
    (untimed,) = document(few)["points"][0]["candidates"]
    assert (untimed["seconds"], untimed["untimed"]) == (None, "more than 1000 messages")


def test_series_have_places_for_all_their_calls(predict):
    words = ("bcast/binomial", "--count", 1000, "--nodes", "16x2", "--over", "nodes", "--json")
    for placement in ("cyclic", "random:3", "node[00-15]"):
        found = document(predict(*words, "--network", "torus:4x4", "--placement", placement))
        assert [each["value"] for each in found["points"]] == [1, 2, 4, 8, 16]
        assert all(each["candidates"][0]["seconds"] > 0 for each in found["points"])


def test_the_machine_file_may_name_the_network(tmp_path):
    file = tmp_path / "machine"
    file.write_text(MACHINE.text() + "network = fat_tree:nodes=2,taper=4  # as it is here\n")
    words = ["predict", "alltoall/pairwise", "--count", "1Mi", "-n", "4", "--machine", str(file), "--json"]
    found = document(CliRunner().invoke(main, words))
    assert found["network"] == "fat_tree:nodes=2,taper=4"
    flat = document(CliRunner().invoke(main, [*words, "--network", "flat"]))
    assert (flat["network"], flat["placement"]) == (None, None)
    assert found["points"][0]["candidates"][0]["seconds"] > 1.5 * flat["points"][0]["candidates"][0]["seconds"]
    text = dataclasses.replace(MACHINE, network="torus:2x2").text()
    file.write_text(text)
    assert machine.read(file).network == "torus:2x2"


def test_machines_with_published_figures_come_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {"hdr", "ndr", "slingshot", "ethernet-100g", "ethernet-10g"} <= set(machine.known())
    words = ["predict", "barrier/dissemination", "-n", "16", "--json", "--machine"]
    alone = {}
    for name, path in machine.known().items():
        found = document(CliRunner().invoke(main, [*words, name]))
        assert found["machine"] == str(path)
        alone[name] = found["points"][0]["candidates"][0]["seconds"]
        figures = [
            line for line in path.read_text().splitlines() if line.startswith(("alpha", "beta", "overhead", "gamma"))
        ]
        assert len(figures) == 4
        assert all("#" in line for line in figures)  # where each comes from
    assert alone["hdr"] < alone["slingshot"] < alone["ethernet-10g"]
    (tmp_path / "hdr").write_text(MACHINE.text())  # a file of one's own
    assert document(CliRunner().invoke(main, [*words, "hdr"]))["machine"] == str(tmp_path / "hdr")
    refused = CliRunner().invoke(main, [*words, "hdrr"])
    assert refused.exit_code != 0
    assert "these come with Rondo: ethernet-100g, " in str(refused.output) + str(refused.exception)
