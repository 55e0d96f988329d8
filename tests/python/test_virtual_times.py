# SPDX-License-Identifier: BSD-3-Clause
"""Virtual time without a trace, and what k lanes give in it."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.machine.machine import Machine

from rondo import _core

ROOT = Path(__file__).resolve().parents[2]
MACHINE = Machine(
    alpha=2e-6, beta=1e-10, overhead=5e-7, gamma=0, alpha_inside=3e-7, beta_inside=4e-11, overhead_inside=1e-7, lanes=2
)


@pytest.mark.parametrize(
    "collective, choice",
    [
        ("bcast", "full_lane:segment=4Ki"),
        ("scatter", "k_lane:ports=3"),
        ("alltoall", "k_lane"),
        ("alltoallv", "pairwise"),
        ("allreduce", "ring"),
    ],
)
def test_times_are_those_of_a_trace(collective: str, choice: str) -> None:
    faster = Machine(1e-6, 5e-11, 5e-7, 0, 3e-7, 4e-11, 1e-7, lanes=4)
    call = {"element_bytes": 4, "nodes": "3x4"}
    traced = [
        _core.trace(
            collective, choice, 12, 12000, commutative=True, mode="overlapped", alpha=each.alpha, beta=each.beta,
            overhead=each.overhead, alpha_inside=each.alpha_inside, beta_inside=each.beta_inside,
            overhead_inside=each.overhead_inside, lanes=each.lanes, **call,
        )["time"]
        for each in (MACHINE, faster)
    ]  # fmt: skip
    assert _core.times(collective, choice, 12, 12000, [MACHINE.text(), faster.text()], **call) == pytest.approx(traced)
    assert traced[1] < traced[0]


def test_open_settings_are_closed_for_each_machine() -> None:
    slow = Machine(alpha=1e-3, beta=1e-8, overhead=0, gamma=0)
    machines = [MACHINE.text(), slow.text()]
    together = _core.times("bcast", "linear_pipeline", 4, 1 << 20, machines)
    assert together == [_core.times("bcast", "linear_pipeline", 4, 1 << 20, [each])[0] for each in machines]


def test_fluids_share_wires() -> None:
    """As measured with MPICH on 3x1:5ms:100Mbit: 52.5 ms. What meets no other message takes what it took."""
    machine = [Machine(alpha=5e-3, beta=8e-8, overhead=6e-5, gamma=0, eager=1 << 19).text()]
    for collective, choice, processes, expected in (
        ("allreduce", "recursive_doubling", 3, (0.0418, 0.0522)),
        ("allreduce", "recursive_doubling", 2, (0.0156, 0.0156)),
    ):
        both = [_core.times(collective, choice, processes, 1 << 14, machine, fluid=fluid)[0] for fluid in (False, True)]
        assert both == pytest.approx(expected, rel=0.01)


def test_ranks_may_come_at_different_times() -> None:
    text = "alpha = 1\nbeta = 0\noverhead = 0\ngamma = 0\n"
    for ready, end in (([], 3), ([0, 0, 0, 0], 3), ([5, 0, 0, 0], 8), ([0, 0, 0, 5], 5), ([0, 1.5, 0, 0], 3.5)):
        (time,) = _core.times("exscan", "linear_pipeline", 4, 1, [text], ready=ready)
        assert time == end, ready
        found = _core.trace(
            "exscan", "linear_pipeline", 4, 1, mode="overlapped", alpha=1, overhead=0, ready=[float(x) for x in ready]
        )
        assert max(rank["time"] for rank in found["ranks"]) == pytest.approx(min(end, found["time"]))
    with pytest.raises(ValueError, match="expected one for each of 4 ranks"):
        _core.times("exscan", "linear_pipeline", 4, 1, [text], ready=[1.0])
    with pytest.raises(ValueError, match="rank 2 comes at -1"):
        _core.times("exscan", "linear_pipeline", 4, 1, [text], ready=[0, 0, -1, 0])
    with pytest.raises(ValueError, match="in lock step all ranks come at once"):
        _core.trace("exscan", "linear_pipeline", 4, 1, ready=[0, 0, 1, 0])


def test_what_cannot_be_timed_is_refused() -> None:
    text = [MACHINE.text()]
    with pytest.raises(ValueError, match="choose one of Rondo's"):
        _core.times("bcast", "native", 4, 1, text)
    with pytest.raises(ValueError, match="machine:1: "):
        _core.times("bcast", "binomial", 4, 1, ["alpha"])
    with pytest.raises(ValueError, match="more than 2 messages"):
        _core.times("bcast", "binomial", 4, 1, text, most_messages=2)
    with pytest.raises(ValueError, match="expected as many for each"):
        _core.times("alltoall", "pairwise", 4, 5, text)
    with pytest.raises(ValueError, match="more than 100 messages"):
        _core.times("alltoallv", "pairwise", 16, 16, text, most_messages=100)


def test_lanes_give_what_the_page_says(tmp_path: Path) -> None:
    """docs/benchmarks/tables/lanes.md: the times of long vectors from what the busiest wires carry."""
    script = [sys.executable, str(ROOT / "docs/benchmarks/making/virtual_lanes.py"), "--shape", "4x4"]
    subprocess.run([*script, "--output", str(tmp_path)], check=True, timeout=60)
    with (tmp_path / "virtual-lanes-ratios.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole, nodes, ranks = 8e-11 * (1 << 24), 4, 4  # of a lane

    def seconds(collective: str, candidate: str) -> dict[tuple[int, float], float]:
        found = [row for row in rows if (row["collective"], row["candidate"]) == (collective, candidate)]
        return {(int(row["lanes"]), float(row["ratio"])): float(row["seconds"]) / whole for row in found}

    bcast, scatter = seconds("bcast", "full_lane"), seconds("scatter", "full_lane")
    alltoall = seconds("alltoall", "full_lane")
    assert set(bcast) == {(k, 2.0**power) for k in (1, 2, 4, 8) for power in range(-2, 9)}
    inside, outside = (ranks - 1) / ranks, (nodes - 1) / nodes
    for (k, r), time in bcast.items():
        if k <= ranks:
            assert time == pytest.approx(max(1 / k, 2 * inside / r), rel=0.15), (k, r)
    for found, vectors in ((alltoall, ranks), (scatter, 1)):
        for (k, r), time in found.items():
            node, lanes = inside / r, vectors * outside / min(k, ranks)
            assert time >= 0.99 * max(node, lanes), (k, r)
            # Both at once, but for the first other node, or the last.
            assert time <= 1.01 * max(node, lanes) + min(node, lanes) / (nodes - 1), (k, r)


@pytest.mark.parametrize("collective, choice", [("barrier", "leaders"), ("gather", "full_lane")])
def test_many_ranks_on_nodes_are_planned_in_time_that_grows_with_their_number(collective: str, choice: str) -> None:
    def seconds(square: int) -> float:
        """Of as many nodes as ranks on each."""
        processes = square * square
        began = process_time()
        count = 0 if collective == "barrier" else processes
        _core.times(collective, choice, processes, count, [MACHINE.text()], nodes=f"{square}x{square}")
        return process_time() - began

    # Of sixteen times as many ranks, each has a list of four times as many nodes. With a list of all ranks, it would be
    # 256 times as long.
    assert seconds(128) < 100 * max(seconds(32) for _ in range(3))
