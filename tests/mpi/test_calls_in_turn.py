# SPDX-License-Identifier: BSD-3-Clause
"""Calls that differ in turn: what is known of one is never used for another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary, preload_library

pytestmark = pytest.mark.parallel

RANKS = 3
RULES = """\
allreduce bytes <= 64 -> native
allreduce bytes > 3000 -> ring
allreduce -> recursive_doubling
bcast     bytes <= 8 -> native
bcast     -> binomial
exscan    bytes <= 8 -> doubling_123
exscan    bytes in 9..200 -> native
exscan    -> one_doubling
gather    bytes <= 72 -> native
gather    -> binomial
barrier   -> dissemination
"""


@pytest.mark.parametrize("guard", ["off", "exact", "free"])
def test_calls_in_turn_have_the_native_results(mpi: MpiLibrary, guard: str, tmp_path: Path) -> None:
    rules = tmp_path / "some.rules"
    rules.write_text(RULES)
    variables = {"RONDO_RULES": str(rules), "RONDO_GUARD": guard}
    command = [mpi.compile("calls_in_turn.c")]
    # With a report, each call that goes to the library is looked at; without one, few are.
    reported = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert reported.report.calls("exscan").keys() >= {"doubling_123", "one_doubling", "native"}
    run = mpi.run(command, RANKS, environment={**variables, "LD_PRELOAD": str(preload_library(mpi.abi))}).check()
    assert run.stdout == reported.stdout == "failures 0\n"
