# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run --learn`: each run tries something else, until nothing is left to try. Nothing here says who is fast."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from launching import launch
from mpi_libraries import MpiLibrary

from rondo.selection import learned, learned_rules

RONDO = Path(sys.executable).with_name("rondo")
TIMEOUT = 120
MOST_RUNS = 12
CALLS = 120
"""Enough for a trial of short calls."""
FEW_CALLS = 16
"""Fewer than before a second look."""
RULES = "bcast -> linear_pipeline:segment=64\nallreduce -> native\n"


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_runs_try_one_choice_after_the_other_until_nothing_is_left(mpi: MpiLibrary, tmp_path: Path) -> None:
    directory, rules = tmp_path / "learned", tmp_path / "mine.rules"
    rules.write_text(RULES)
    words = [RONDO, "run", "--learn", "--guard", "exact", "--learned", directory, "--rules", rules, "--report", "--"]
    launcher = [mpi.prefix / mpi.launcher, *mpi.launcher_options, "-n", 2]
    environment = {**os.environ, **mpi.environment, **mpi.patience, "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}
    said = []
    for _ in range(MOST_RUNS):
        run = launch([*words, *launcher, mpi.compile("guarded.c"), CALLS], environment, TIMEOUT).check()
        assert run.stdout == "failures 0\nchanges 0\n"
        said.append(re.findall(r"rondo: learned: (.*)", run.stderr))
        if said[-1][0].endswith("nothing is left to try"):
            break
    else:
        pytest.fail(str(said))
    assert "rules: mine.rules, and" not in run.stderr
    assert re.search(rf"rules: {rules}, and \d+ lines of what is tried", run.stderr)

    (file,) = learned.files(directory)
    kinds = learned_rules.kinds(learned.read(file).verdicts)
    tried = {condition.split()[0]: set(learned_rules.ratios(each)) for condition, each in kinds.items()}
    assert len(tried["bcast"]) > 1  # the rule's choice, too
    assert any(each.startswith("linear_pipeline:segment=64") for each in tried["bcast"])
    assert len(tried["allreduce"]) > 1  # which the rules leave to the library
    # What is the best now is what the last run ran, from its first call on.
    best = {condition.split()[0]: learned_rules.best(each) for condition, each in kinds.items()}
    run = launch([*words, *launcher, mpi.compile("guarded.c"), FEW_CALLS], environment, TIMEOUT).check()
    for collective, choice in best.items():
        assert re.search(rf"{collective} +{choice.partition(':')[0]}", run.stderr), (best, run.stderr)
    assert "learning: best" in run.stderr
    # The program reduces only once in a run: of that nothing is ever found out.
    doubtful = {line.split()[0] for line in run.stderr.splitlines() if "in doubt" in line}
    assert not doubtful & set(best), run.stderr
