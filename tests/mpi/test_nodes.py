# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that use nodes, and rules that ask for them, on nodes that MPICH makes up on one machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary

pytestmark = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
COUNTS = ("3001", "brief")


def results(output: str) -> dict[str, str]:
    """What the program printed about the data; how results repeat depends on who combined what."""
    return {name: value for name, value in re.findall(r"^(\w+) (\S+)$", output, re.MULTILINE) if name != "unrepeated"}


# MPICH deals ranks out to the nodes in turn.
@pytest.mark.parametrize(("ranks", "nodes"), [(6, 1), (6, 2), (5, 2), (7, 3), (4, 4)])
@pytest.mark.parametrize("collective", ["allreduce", "bcast"])
def test_full_lane_gives_the_native_results_wherever_ranks_are(
    mpi: MpiLibrary, collective: str, ranks: int, nodes: int
) -> None:
    command = [mpi.compile("results.cpp"), collective, *COUNTS]
    where = {"MPIR_CVAR_NUM_CLIQUES": str(nodes)}
    native = mpi.run(command, ranks, timeout=200).check()
    run = mpi.run_under_rondo(command, ranks, environment=where, timeout=200, **{collective: "full_lane"}).check()
    assert results(run.stdout) == results(native.stdout)
    assert run.report.calls(collective)["full_lane"] > 0
    reason = "full_lane needs nodes in rank order, or a commutative operator"
    interleaved = collective == "allreduce" and 1 < nodes < ranks
    assert (reason in run.report.native_reasons(collective)) == interleaved


@pytest.mark.parametrize(("nodes", "served"), [(1, False), (2, True), (3, True)])
def test_rules_ask_for_nodes(mpi: MpiLibrary, tmp_path: Path, nodes: int, served: bool) -> None:
    rules = tmp_path / "nodes.rules"
    rules.write_text("allreduce nodes in 2..3, commutative = yes -> full_lane\n")
    where = {"MPIR_CVAR_NUM_CLIQUES": str(nodes), "RONDO_RULES": str(rules)}
    run = mpi.run_under_rondo(
        [mpi.compile("results.cpp"), "allreduce", *COUNTS], 5, environment=where, timeout=200
    ).check()
    assert (run.report.calls("allreduce").get("full_lane", 0) > 0) == served
