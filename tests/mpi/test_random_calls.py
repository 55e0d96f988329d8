# SPDX-License-Identifier: BSD-3-Clause
"""Random calls, each repeated many times, without a report: the way of calls that users' programs take."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary
from rondo.launching.installation import DEFAULT_RULES
from test_guard import RULES

KINDS = 60
SEEDS = [pytest.param(seed, marks=[] if seed == 0 else pytest.mark.soak) for seed in range(20)]


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi"], indirect=True)
@pytest.mark.parametrize("guard", ["off", "exact", "free"])
@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_right_however_often_calls_are_repeated(
    mpi: MpiLibrary, guard: str, seed: int, tmp_path: Path
) -> None:
    rules, directory = tmp_path / "all.rules", tmp_path / "learned"
    rules.write_text(RULES + "barrier -> dissemination\n")
    directory.mkdir()
    ranks = 2 + (seed + ["off", "exact", "free"].index(guard)) % 4
    known = {"RONDO_REPORT": "", "RONDO_GUARD": guard, "RONDO_LEARNED": str(directory)}
    known |= {"RONDO_RULES": str(rules if seed % 3 else DEFAULT_RULES)} if ranks == 2 else {"RONDO_RULES": str(rules)}
    command = [mpi.compile("random_calls.c"), str(seed), str(KINDS)]
    for _ in ("first run", "next run"):  # which knows what the first has learned
        run = mpi.run_under_rondo(command, ranks, environment=known, timeout=150).check()
        assert run.stdout.startswith("failures 0\n"), run.stdout
        assert not run.stderr, run.stderr
