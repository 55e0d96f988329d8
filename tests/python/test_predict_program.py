# SPDX-License-Identifier: BSD-3-Clause
"""`rondo predict PROFILE.json`: a profiled program on another machine, or on more ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import profile_builder
import pytest
from click.testing import CliRunner
from rondo.commands import main
from rondo.profiling import profile
from rondo.profiling.profile import Communicator, Profile

from rondo import _core

LINE = profile_builder.line
PAIRS = Communicator("", "MPI_Comm_split", 2, 2, 1, 4)


@pytest.fixture
def predict(tmp_path: Path) -> Callable[..., Any]:
    def run(program: Profile, *words: object, fails: bool = False) -> Any:
        file = tmp_path / "app.json"
        profile.write(program, file)
        result = CliRunner().invoke(main, ["predict", str(file), *map(str, words)])
        assert (result.exit_code != 0) == fails, result.output
        return result

    return run


def document(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def seconds_of(collective: str, choice: str, ranks: int, bytes_: int, nodes: str) -> float:
    figures = profile_builder.MACHINE.text()
    return _core.predict(collective, choice, ranks, bytes_ // 8, figures, nodes=nodes)["seconds"]


def test_calls_take_what_virtual_time_says_on_the_profile_s_own_machine(predict):
    program = profile_builder.profile(LINE(bytes=8000, calls=10), LINE("MPI_Allreduce", bytes=64, calls=500))
    found = document(predict(program, "--json"))
    assert (found["processes"], found["machine"], found["left_out"]) == (8, "that of the profile", [])
    kinds = {each["collective"]: each for each in found["kinds"]}
    assert {name: (each["bytes"], each["calls"]) for name, each in kinds.items()} == {
        "bcast": (8000, 10), "allreduce": (64, 500),
    }  # fmt: skip
    for name, each in kinds.items():
        takes = seconds_of(name, each["choice"], 8, each["bytes"], "8x1")
        assert each["rondo_seconds"] == pytest.approx(each["calls"] * takes)
        assert each["native_seconds"] > 0
    assert found["native_seconds"] == pytest.approx(sum(each["native_seconds"] for each in kinds.values()))
    best = sum(min(each["native_seconds"], each["rondo_seconds"]) for each in kinds.values())
    assert found["rondo_seconds"] == pytest.approx(best)


def test_what_all_ranks_call_all_ranks_of_the_job_call(predict):
    program = profile_builder.profile(
        LINE(bytes=8000),
        LINE("MPI_Alltoall", bytes=8 * 8 * 50),
        LINE(bytes=800, communicator=1),
        communicators=[PAIRS],
    )
    kinds = document(predict(program, "--nodes", "4x4", "--json"))["kinds"]
    found = {(each["collective"], each["processes"], each["nodes"]): each["bytes"] for each in kinds}
    assert found == {
        ("bcast", 16, "4x4"): 8000,
        ("alltoall", 16, "4x4"): 16 * 8 * 50,  # a part for each rank, as long as before
        ("bcast", 2, "2x1"): 800,
    }


def test_lines_that_differ_in_the_place_alone_are_one_kind(predict):
    (kind,) = document(predict(profile_builder.profile(LINE(calls=3), LINE(calls=4, site=1)), "--json"))["kinds"]
    assert kind["calls"] == 7


def test_what_cannot_be_predicted_is_left_out_and_said(predict):
    program = profile_builder.profile(
        LINE(calls=5),
        LINE("MPI_Iallreduce", collective="allreduce", calls=7),
        LINE("MPI_Neighbor_alltoall", collective="", calls=9),
        LINE(communicator=1, calls=11),
        communicators=[Communicator("", "MPI_Comm_dup", 6, 6, 1, 1)],
    )
    found = document(predict(program, "-n", 4, "--json"))
    assert [each["calls"] for each in found["kinds"]] == [5]
    assert [each.split(" ")[0] for each in found["left_out"]] == ["7", "9", "11"]
    shown = predict(program, "-n", 4).stdout
    assert "left out: 9 calls of MPI_Neighbor_alltoall, for which Rondo has no algorithm" in shown
    assert "Collectives would take a rank" in shown
    assert "No collective of the program" in predict(profile_builder.profile()).stdout


def test_another_machine_library_and_network_can_be_named(predict):
    program = profile_builder.profile(LINE("MPI_Allreduce", bytes=1 << 20))
    own = document(predict(program, "--json"))
    other = document(predict(program, "--machine", "hdr", "--native", "openmpi", "--json"))
    tapered = document(predict(program, "--network", "torus:8", "--json"))
    assert other["native_seconds"] < own["native_seconds"] < tapered["native_seconds"]
    assert other["machine"].endswith("hdr.machine")
    unknown = profile_builder.profile(LINE(), machine=None, library="Intel(R) MPI Library 2021.19 for Linux* OS")
    shown = predict(unknown).stdout
    assert "What the library takes is not known of 1 kind of calls." in shown
    assert "assumed: a 100 Gbit/s network" in shown


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--count", "3"], "--count: the profile says what the program calls"),
        (["--over", "ranks"], "--over: the profile"),
        (["--nodes", "4x"], "--nodes"),
        (["--network", "torus:2x2"], "4 nodes"),
        (["--native", "impi"], "nobody knows"),
    ],
)
def test_what_makes_no_sense_is_refused(predict, words, complaint):
    assert complaint in predict(profile_builder.profile(LINE()), *words, fails=True).output


def test_a_file_that_is_no_profile_is_refused(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    for name, complaint in (("a.json", "holds no profile"), ("b.json", "cannot read")):
        result = CliRunner().invoke(main, ["predict", str(tmp_path / name)])
        assert result.exit_code != 0
        assert complaint in result.output
