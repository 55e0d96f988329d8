# SPDX-License-Identifier: BSD-3-Clause
"""What the rules have chosen is compared with the library's own collectives, and taken back where these are faster."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from mpi_libraries import MpiLibrary, results_command, results_of_data

from rondo import _core

CALLS = 40
RANKS = 2
COMPARED = "while Rondo's choice is in doubt"
TAKEN_BACK = "Rondo's choice is no faster here"
TOO_BUSY = "the machine is too busy to compare"
NOT_COMPARED = "ranks do not come together to compare"
# Thousands of messages of 8 bytes, one after the other. Rules that ask for nodes let ranks know that there is one.
SLOW_RULES = "bcast nodes >= 1 -> linear_pipeline:segment=8\nallreduce nodes >= 1 -> ring:segment=8\n"
# By messages of the library: ten thousand take longer than any pause of a busy processor, so noise decides nothing.
SLOW_MESSAGES = {"RONDO_SHARED_MEMORY": "off"}
# Calls of each side before a trial is over: on a busy machine, 16 for which ranks come together, two rows, and 8 more.
FEW = range(2, 16 + 2 * 16 + 8 + 1)
WATCHED = 4  # calls by the library at most, if the first ones have shown nothing
# Microseconds that some rank comes late, at most: far more than the rivals differ by.
LATE = "30000"


def given_back(counted: dict[str, int]) -> int:
    """Calls that the library has after a trial: Rondo's choice has lost, or nobody could tell on a busy machine."""
    return counted.get(TAKEN_BACK, 0) + counted.get(TOO_BUSY, 0)


def calls(run, collective: str) -> dict[str, int]:
    """By algorithm, or by the reason why a call was the library's; of one rank."""
    counted: dict[str, int] = {}
    for entry in run.report.ranks[0]["entries"]:
        if entry["collective"] == collective:
            name = entry["reason"] or entry["algorithm"]
            counted[name] = counted.get(name, 0) + sum(each["calls"] for each in entry["classes"])
    return counted


# An algorithm for every collective; what is faster is of no matter.
RULES = """
allgather -> ring
allreduce commutative = yes -> circulant
allreduce -> recursive_doubling
alltoall -> pairwise
alltoallv -> bruck
bcast -> circulant
exscan -> cyclic_doubling
gather -> binomial
gatherv -> linear
reduce commutative = yes -> circulant
reduce -> binomial
reduce_scatter -> pairwise
scan -> doubling
scatter -> binomial
scatterv -> linear
"""
EVERYDAY = {("mpich", "allreduce"), ("openmpi", "allgather"), ("mpich", "alltoallv"), ("openmpi", "gatherv")}


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "slow.rules"
    path.write_text(SLOW_RULES)
    return str(path)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "mpiabi"], indirect=True)
def test_slow_choices_are_taken_back_where_that_keeps_all_bits(mpi: MpiLibrary, rules: str) -> None:
    run = mpi.run_under_rondo(
        [mpi.compile("guarded.c"), str(CALLS), LATE],
        RANKS,
        environment={"RONDO_RULES": rules, "RONDO_GUARD": "exact", **SLOW_MESSAGES},
    ).check()
    assert run.stdout == "failures 0\nchanges 0\n"
    broadcasts = calls(run, "bcast")
    assert broadcasts["linear_pipeline"] in FEW
    assert broadcasts[COMPARED] - broadcasts["linear_pipeline"] in range(WATCHED + 1)
    assert given_back(broadcasts) == CALLS - broadcasts[COMPARED] - broadcasts["linear_pipeline"]
    sums = calls(run, "allreduce")
    assert sums["ring"] - CALLS in FEW  # those of integers; all of fractions
    assert given_back(sums) >= CALLS - 32


# Between nodes, it costs more to come together than to call: two pairs of calls are timed, then one pair in 66 calls.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_between_nodes_a_trial_rests(mpi: MpiLibrary, rules: str) -> None:
    environment = {"RONDO_RULES": rules, "RONDO_GUARD": "free", "RONDO_NODES": "2x1", **SLOW_MESSAGES}
    run = mpi.run_under_rondo([mpi.compile("guarded.c"), str(CALLS)], RANKS, environment=environment).check()
    assert run.stdout.startswith("failures 0\n")
    for collective, algorithm, made in (("bcast", "linear_pipeline", CALLS), ("allreduce", "ring", 2 * CALLS)):
        found = calls(run, collective)
        assert found[algorithm] in range(2, 2 + 2 * made // 64 + 2), found


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_where_bits_do_not_matter_all_are_taken_back(mpi: MpiLibrary, rules: str) -> None:
    environment = {"RONDO_RULES": rules, "RONDO_GUARD": "free", **SLOW_MESSAGES}
    run = mpi.run_under_rondo([mpi.compile("guarded.c"), str(CALLS)], RANKS, environment=environment).check()
    assert run.stdout.startswith("failures 0\n")
    sums = calls(run, "allreduce")
    assert sums["ring"] <= 2 * max(FEW)
    assert given_back(sums) >= 2 * (CALLS - 32)


# Thousands of messages, one after the other, where the rules choose one.
SLOW_LIBRARY = {
    "mpich": {
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "pipelined_tree",
        "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": "16",
    },
    "openmpi": {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_bcast_algorithm": "3",
        "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize": "16",
    },
}


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_what_wins_is_kept_however_late_ranks_come(mpi: MpiLibrary, tmp_path: Path) -> None:
    rules = tmp_path / "fast.rules"
    rules.write_text("bcast -> binomial\n")
    environment = {**SLOW_LIBRARY[mpi.name], "RONDO_RULES": str(rules), "RONDO_GUARD": "exact"}
    kept = []
    for _ in range(3):  # on a busy machine a trial may show nothing
        run = mpi.run_under_rondo([mpi.compile("guarded.c"), str(CALLS), LATE], RANKS, environment=environment).check()
        assert run.stdout == "failures 0\nchanges 0\n"
        broadcasts = calls(run, "bcast")
        assert broadcasts.pop(COMPARED) in FEW
        kept.append(set(broadcasts))
        if kept[-1] == {"binomial"}:
            return
    pytest.fail(f"Rondo has not won once: {kept}")


# What was found out on the world holds on its copy and for pairs of ranks, which wait for it. Where four ranks share
# processors, a trial rests: two pairs of calls are timed, and one more pair after 64 calls.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_communicators_learn_from_the_world(mpi: MpiLibrary, tmp_path: Path) -> None:
    rules = tmp_path / "slow.rules"
    rules.write_text(SLOW_RULES.replace("ring:segment=8", "ring"))  # which sums of fractions keep
    run = mpi.run_under_rondo(
        [mpi.compile("guarded.c"), "60", "500", "3"],
        4,
        environment={"RONDO_RULES": str(rules), "RONDO_GUARD": "exact", **SLOW_MESSAGES},
    ).check()
    assert run.stdout == "failures 0\nchanges 0\n"
    served = calls(run, "bcast").get("linear_pipeline", 0)
    if len(os.sched_getaffinity(0)) < 4:
        assert served in range(2, 5)
    else:
        assert served in FEW
        assert given_back(calls(run, "bcast")) >= 60 - 8 - 32


@pytest.mark.parametrize(
    ("mpi", "collective"),
    [
        pytest.param(
            mpi, each, id=f"{mpi}-{each['name']}", marks=[] if (mpi, each["name"]) in EVERYDAY else pytest.mark.soak
        )
        for mpi in ("mpich", "openmpi")
        for each in _core.collectives()
        if each["has_data"]
    ],
    indirect=["mpi"],
)
def test_results_are_the_native_ones_during_trials_and_after(
    mpi: MpiLibrary, collective: dict[str, Any], tmp_path: Path
) -> None:
    rules = tmp_path / "all.rules"
    rules.write_text(RULES)
    name = collective["name"]
    command = results_command(mpi, name)
    native = mpi.run(command, 3, timeout=200).check()
    run = mpi.run_under_rondo(
        command, 3, environment={"RONDO_RULES": str(rules), "RONDO_GUARD": "free"}, timeout=200
    ).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    found = calls(run, name)
    assert COMPARED in found
    assert set(found) & set(re.findall(rf"^{name} .*-> (\w+)", RULES, re.MULTILINE)), found


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_somebody_has_named_stays(mpi: MpiLibrary, rules: str) -> None:
    run = mpi.run_under_rondo(
        [mpi.compile("guarded.c"), str(CALLS)],
        RANKS,
        environment={"RONDO_RULES": rules, "RONDO_GUARD": "free", **SLOW_MESSAGES},
        bcast="linear_pipeline:segment=8",
    ).check()
    assert calls(run, "bcast") == {"linear_pipeline": CALLS}
    assert given_back(calls(run, "allreduce")) > 0


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_ranks_with_different_guards_leave_all_to_the_library(mpi: MpiLibrary, rules: str) -> None:
    program = mpi.compile("guarded.c")
    guards = '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && export RONDO_GUARD=free; exec "$@"'
    run = mpi.run_under_rondo(
        ["bash", "-c", guards, "bash", program, "12"], 3, environment={"RONDO_RULES": rules, "RONDO_GUARD": "exact"}
    ).check()
    assert run.stdout.startswith("failures 0\n")
    assert run.stderr.count("rondo: the ranks were given different RONDO_ variables") == 1
    for collective in ("bcast", "allreduce"):
        assert set(calls(run, collective)) == {"the ranks were given different instructions"}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_guard_that_does_not_exist_is_said_once(mpi: MpiLibrary, rules: str) -> None:
    run = mpi.run_under_rondo(
        [mpi.compile("guarded.c"), "12"], RANKS, environment={"RONDO_RULES": rules, "RONDO_GUARD": "dog"}
    ).check()
    assert run.stderr.count("RONDO_GUARD: 'dog' is none of off, exact, free; it is off") == 1
    assert calls(run, "bcast") == {"linear_pipeline": 12}
