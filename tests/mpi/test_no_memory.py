# SPDX-License-Identifier: BSD-3-Clause
"""A rank on which Rondo gets no memory does what the others do as far as it can: they do not wait for it in vain."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary

pytestmark = pytest.mark.parallel

RULES = """
bcast           ranks_per_node >= 1 -> binomial
reduce_scatter                      -> pairwise
allgather                           -> ring
alltoallv                           -> linear
reduce                              -> ring
"""
# Each on a communicator of its own that Rondo knows: whether the rank without memory can carry the call out.
CASES = {
    "served, for ranks on a node": False,
    "served, to parts": False,
    "served, from parts": False,
    "served, parts of each for each": False,
    "served, parts of types of their own": False,
    "left to the library": True,
    "refused by the algorithm": True,
}


@pytest.mark.parametrize(
    ("reporting", "guard"), [(True, "off"), (False, "off"), (False, "free")], ids=["reporting", "silent", "guarded"]
)
def test_rank_without_memory_keeps_nobody_waiting(mpi: MpiLibrary, tmp_path: Path, reporting: bool, guard: str) -> None:
    rules = tmp_path / "some.rules"
    rules.write_text(RULES)
    environment = {"RONDO_RULES": str(rules), "RONDO_GUARD": guard}
    if not reporting:
        environment["RONDO_REPORT"] = ""
    run = mpi.run_under_rondo([mpi.compile("no_memory.cpp", "-ldl"), *CASES], 2, environment=environment, timeout=20)
    lines = set(run.check().stdout.splitlines())
    for case, carried_out in CASES.items():
        assert f"rank 0, {case}: right" in lines
        if guard == "off":
            assert f"rank 1, {case}: {'right' if carried_out else 'no memory'}" in lines
        else:  # some calls are the library's, which needs no plan
            assert lines & {f"rank 1, {case}: right", f"rank 1, {case}: no memory"}
        for rank in range(2):
            assert f"rank {rank}, {case}, with memory: right" in lines
    if reporting:
        assert run.report.calls("bcast")["binomial"] == 3
        assert run.report.native_reasons("reduce")["ring needs a commutative operator"] >= 2
