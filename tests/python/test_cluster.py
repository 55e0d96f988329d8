# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of emulated clusters, and what is refused before anything starts. They run in mpi/test_emulated_cluster.py."""

from __future__ import annotations

import math

import pytest
from click.testing import CliRunner
from rondo.cluster import check, cluster, shapes
from rondo.commands import main
from rondo.commands.cluster import show_check
from rondo.errors import Error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("36x1:5ms:100Mbit", shapes.Shape(36, 1, 5e-3, 100e6)),
        ("8x4:200us:1Gbit/s", shapes.Shape(8, 4, 200e-6, 1e9)),
        ("4x2:0.5s:900kbit:2", shapes.Shape(4, 2, 0.5, 900e3, 2)),
        ("8x1:2ms:1Mbit:torus:2x4", shapes.Shape(8, 1, 2e-3, 1e6, network="torus:2x4")),
        (
            "8x2:2ms:1Mbit:2:fat_tree:nodes=4,taper=2",
            shapes.Shape(8, 2, 2e-3, 1e6, 2, "fat_tree:nodes=4,taper=2"),
        ),
    ],
)
def test_a_shape_is_read_and_written_in_one_form(text: str, expected: shapes.Shape) -> None:
    shape = shapes.parse(text)
    assert shape.ranks == expected.ranks
    assert shape.latency == pytest.approx(expected.latency)
    assert shape.rate == pytest.approx(expected.rate)
    assert shape.lanes == expected.lanes
    assert shapes.parse(str(shape)) == shape


def test_beta_is_the_time_of_a_byte_on_one_lane() -> None:
    assert shapes.parse("8x1:2ms:200Mbit").seconds_per_byte == pytest.approx(40e-9)


def test_the_machine_file_of_a_cluster_has_its_figures() -> None:
    figures = cluster.machine_of(shapes.parse("8x4:2ms:200Mbit:3"), processors=2)
    assert (figures.alpha, figures.beta, figures.lanes) == (pytest.approx(2e-3), pytest.approx(40e-9), 3)
    assert figures.overhead == pytest.approx(16 * cluster.SECONDS_PER_MESSAGE)  # ranks share the processors


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("36:5ms:100Mbit", "expected NODESxRANKS_PER_NODE:LATENCY:RATE"),
        ("36x1:5ms", "expected NODESxRANKS_PER_NODE:LATENCY:RATE"),
        ("36x1:5ms:100Mbit:2:", "expected NODESxRANKS_PER_NODE:LATENCY:RATE"),
        ("36x1:5ms:100Mbit:two", "'two'"),
        ("8x1:5ms:100Mbit:fat_tree:nodes=4,taper=0", "taper=0"),
        ("8x1:5ms:100Mbit:torus:2x3", "6 nodes"),
        ("0x1:5ms:100Mbit", "at least 1"),
        ("4x0:5ms:100Mbit", "at least 1"),
        ("4x1:5ms:100Mbit:0", "lanes"),
        ("4x1:5:100Mbit", "latency '5'"),
        ("4x1:5ms:100MB", "rate '100MB'"),
        ("4x1:5ms:0Mbit", "more than 0"),
    ],
)
def test_a_text_that_is_no_shape_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(Error, match=complaint):
        shapes.parse(text)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "--nodes", "0", "--mpi", "mpich", "--", "true"], "at least 1"),
        (["run", "--mpi", "lampi", "--", "true"], "unknown MPI library lampi"),
        (["run", "--mpi", "/nowhere/at/all", "--", "true"], "no MPI library at /nowhere/at/all"),
        (["run", "--latency", "fast", "--", "true"], "latency 'fast'"),
        (["exec", "--name", "no-such-cluster", "node0", "--", "true"], "no cluster named no-such-cluster"),
        (["down", "no-such-cluster"], "no cluster named no-such-cluster"),
        (
            ["exec", "--name", "8x1", "node0", "--", "true"],
            "8x1 says nothing of the network; expected latency and rate",
        ),
        (["set"], "nothing to set"),
        (["up", "a/b"], "cluster name 'a/b'"),
        (["run", "--", "true"], "does not use MPI"),
    ],
)
def test_impossible_requests_end_with_2_and_one_line(words: list[str], complaint: str) -> None:
    result = CliRunner().invoke(main, ["cluster", *words])
    assert result.exit_code == 2
    assert complaint in result.output
    assert result.output.count("\n") == 1


def test_run_on_a_cluster_wants_the_program_alone() -> None:
    result = CliRunner().invoke(main, ["run", "--mpi", "mpich", "--", "true"])
    assert result.exit_code == 2
    assert "expected --cluster" in result.output


@pytest.mark.parametrize(
    ("measured", "said"), [(2.1e-3, "0.10 ms beyond"), (math.nan, "no repetition was undisturbed")]
)
def test_check_says_what_short_messages_take_only_where_it_knows(
    capsys: pytest.CaptureFixture[str], measured: float, said: str
) -> None:
    short = check.Row("ring_shift", 8, measured, 2e-3, judged=False, repetitions=0, invalid=9, wrong=0)
    show_check(check.Check(shapes.parse("2x1:2ms:200Mbit"), "MPICH", None, [short], dropped=0, retransmissions=0))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"short messages between all ranks at once: {said}")
    assert "nan" not in last
