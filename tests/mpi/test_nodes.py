# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that use nodes, and rules that ask for them, on nodes that MPICH or Rondo makes up on one machine."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from launching import launch
from mpi_libraries import (
    LIBRARIES,
    NATIVELY_WRONG,
    OF_PARTS,
    ROOT,
    TAME,
    MpiLibrary,
    results_command,
    results_of_data,
)
from rondo.bench.results import NATIVE

from rondo import _core

pytestmark = pytest.mark.parallel

MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)

# Ranks and nodes. MPICH deals ranks out to the nodes in turn.
SHAPES = [(7, 3), (6, 2), (5, 2), (6, 1), (4, 4)]
IN_RANK_ORDER = "nodes in rank order, or a commutative operator"


WITHOUT_PROPOSALS = {each["name"] for each in _core.collectives() if each["local_lengths"]}
# Of barriers, test_barriers.py knows what is right.
COLLECTIVES = [each["name"] for each in _core.collectives() if each["has_data"]]


def algorithms_on_nodes() -> list[tuple[str, dict]]:
    return [(name, each) for name in COLLECTIVES for each in _core.algorithms(name) if each["uses_nodes"]]


@pytest.mark.parametrize("collective", [each for each in COLLECTIVES if each not in WITHOUT_PROPOSALS])
@MPICH
def test_the_model_serves_calls_wherever_ranks_are(mpi: MpiLibrary, tmp_path: Path, collective: str) -> None:
    command = results_command(mpi, collective)
    rules = tmp_path / "model.rules"
    rules.write_text(f"\n{collective} -> predicted\n")
    native = mpi.run(command, 7, timeout=200).check()
    run = mpi.run_under_rondo(
        command, 7, environment={"MPIR_CVAR_NUM_CLIQUES": "3", "RONDO_RULES": str(rules)}, timeout=200
    ).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    entries = [each for rank in run.report.ranks for each in rank["entries"] if each["collective"] == collective]
    assert {each["line"] for each in entries if each["algorithm"] != "native"} == {2}


# In turn; all of them in `make soak`.
@pytest.mark.parametrize(
    ("collective", "algorithm", "ranks", "nodes"),
    [
        pytest.param(
            collective,
            each["name"],
            *shape,
            marks=[] if j == i % len(SHAPES) else pytest.mark.soak,
        )
        for i, (collective, each) in enumerate(algorithms_on_nodes())
        for j, shape in enumerate(SHAPES)
    ],
)
@MPICH
def test_algorithm_gives_the_native_results_wherever_ranks_are(
    mpi: MpiLibrary, collective: str, algorithm: str, ranks: int, nodes: int
) -> None:
    command = results_command(mpi, collective)
    where = {"MPIR_CVAR_NUM_CLIQUES": str(nodes)}
    native = mpi.run(command, ranks, timeout=200).check()
    run = mpi.run_under_rondo(command, ranks, environment=where, timeout=200, **{collective: algorithm}).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    assert run.report.calls(collective)[algorithm] > 0
    needs = next(each["requirements"] for each in _core.algorithms(collective) if each["name"] == algorithm)
    refused = f"{algorithm} needs {IN_RANK_ORDER}" in run.report.native_reasons(collective)
    assert refused == (IN_RANK_ORDER in needs and 1 < nodes < ranks)


@pytest.mark.parametrize(
    ("collective", "lane"),
    [
        ("allgather", "bruck"),
        ("allreduce", "recursive_multiplying"),
        ("bcast", "bine_butterfly"),
        ("exscan", "doubling_123"),
        ("reduce", "halving_doubling"),
        pytest.param("allgather", "recursive_doubling", marks=pytest.mark.soak),
        pytest.param("allreduce", "binary_tree", marks=pytest.mark.soak),
        pytest.param("allreduce", "halving_doubling", marks=pytest.mark.soak),
        pytest.param("bcast", "k_ported", marks=pytest.mark.soak),
        pytest.param("exscan", "one_doubling", marks=pytest.mark.soak),
        pytest.param("scan", "two_op_doubling", marks=pytest.mark.soak),
    ],
)
@MPICH
def test_leaders_take_the_algorithm_that_is_named(mpi: MpiLibrary, collective: str, lane: str) -> None:
    program = "results_of_parts.cpp" if collective == "allgather" else "results.cpp"
    command = [mpi.compile(program), collective, "1501", "brief"]
    native = mpi.run(command, 5, timeout=200).check()
    choice = {"RONDO_NODES": "2,1,2", f"RONDO_{collective.upper()}": f"leaders:lane={lane}"}
    run = mpi.run_under_rondo(command, 5, environment=choice, timeout=200).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    assert run.report.calls(collective)["leaders"] > 0


@pytest.mark.parametrize("collective", ["alltoall", "gather", "scatter"])
@pytest.mark.parametrize(
    ("mpi", "nodes"),
    [
        ("mpich", "2x3"),
        pytest.param("mpich", "2,3,1", marks=pytest.mark.soak),
        pytest.param("openmpi", "2x3", marks=pytest.mark.soak),
        ("openmpi", "2,3,1"),
        pytest.param("impi", "2,3,1", marks=pytest.mark.soak),
    ],
    indirect=["mpi"],
)
def test_nodes_and_lanes_that_work_at_once_give_the_native_results(
    mpi: MpiLibrary, collective: str, nodes: str
) -> None:
    command = results_command(mpi, collective)
    native = mpi.run(command, 6, timeout=200).check()
    choice = {"RONDO_NODES": nodes, f"RONDO_{collective.upper()}": "full_lane:overlap=1"}
    run = mpi.run_under_rondo(command, 6, environment=choice, timeout=200).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    assert run.report.calls(collective)["full_lane"] > 0


@pytest.mark.parametrize("collective", ["bcast", "gather", "scatter"])
@MPICH
def test_more_lanes_than_a_node_has_ranks_are_as_many_as_it_has(mpi: MpiLibrary, collective: str) -> None:
    command = results_command(mpi, collective)
    native = mpi.run(command, 5, timeout=200).check()
    choice = {"RONDO_NODES": "2,1,2", f"RONDO_{collective.upper()}": "k_lane:ports=32"}
    run = mpi.run_under_rondo(command, 5, environment=choice, timeout=200).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    assert run.report.calls(collective)["k_lane"] > 0


# The vectors of which ranks know their own parts have no algorithms that use nodes; these run on nodes as well.
ON_FOUR_NODES = [
    *((collective, each["name"]) for collective, each in algorithms_on_nodes()),
    *((collective, "full_lane:overlap=1") for collective in ("alltoall", "gather", "scatter")),
    *(
        (collective, each["name"])
        for collective in ("alltoallv", "gatherv", "scatterv")
        for each in _core.algorithms(collective)
    ),
]
THREE_LIBRARIES = ["mpich", "openmpi", "impi"]
# From 8 ranks on MPICH sends short parts by Bruck's algorithm, which spoils MPI_REAL16.
WRONG_ON_16_RANKS = {"mpich": {"alltoall"}}
# Open MPI's own reduce_scatter spoils types whose elements interlock from 15 ranks on; Rondo leaves these to it.
TAME_ON_16_RANKS = {"openmpi": {"reduce_scatter"}}
# What few seconds allow: each collective of parts but the slow allgather, and each library.
EVERY_DAY = {
    ("alltoall", "full_lane:overlap=1", "impi"),
    ("alltoall", "k_lane", "mpich"),
    ("alltoallv", "pairwise", "openmpi"),
    ("bcast", "k_lane", "impi"),
    ("gather", "k_lane", "openmpi"),
    ("gatherv", "linear", "mpich"),
    ("scatter", "full_lane", "mpich"),
    ("scatterv", "linear", "impi"),
}


@functools.cache
def native_results_of_16_ranks(name: str, *arguments: str) -> dict[str, str]:
    mpi = LIBRARIES[name]
    return results_of_data(mpi.run([program_for(mpi, arguments[0]), *arguments], 16, timeout=400).check().stdout)


def program_for(mpi: MpiLibrary, collective: str) -> Path:
    return mpi.compile("results_of_parts.cpp" if collective in OF_PARTS else "results.cpp")


@pytest.mark.parametrize(
    ("collective", "choice", "mpi"),
    [
        pytest.param(*each, mpi, marks=[] if (*each, mpi) in EVERY_DAY else pytest.mark.soak)
        for each in ON_FOUR_NODES
        for mpi in THREE_LIBRARIES
    ],
    indirect=["mpi"],
)
def test_sixteen_ranks_on_four_nodes_give_the_native_results(mpi: MpiLibrary, collective: str, choice: str) -> None:
    is_tame = collective in TAME.get(mpi.name, set()) | TAME_ON_16_RANKS.get(mpi.name, set())
    arguments = ("3001", "brief", *(["tame"] if is_tame else []))
    environment = {"RONDO_NODES": "4x4"}
    command = [program_for(mpi, collective), collective, *arguments]
    run = mpi.run_under_rondo(command, 16, environment=environment, timeout=400, **{collective: choice}).check()
    # The program itself knows what is right; where the library does as well, it agrees.
    if collective not in NATIVELY_WRONG.get(mpi.name, set()) | WRONG_ON_16_RANKS.get(mpi.name, set()):
        assert results_of_data(run.stdout) == native_results_of_16_ranks(mpi.name, collective, *arguments)
    algorithm = choice.partition(":")[0]
    assert run.report.calls(collective)[algorithm] > 0
    assert not any(reason.startswith(f"{algorithm} needs ") for reason in run.report.native_reasons(collective))


# 160 KB of the longer types.
@pytest.mark.parametrize("collective", COLLECTIVES)
@MPICH
def test_the_default_rules_serve_long_vectors_on_nodes(mpi: MpiLibrary, collective: str) -> None:
    command = results_command(mpi, collective, longest=20011)
    where = {"RONDO_NODES": "2x2", "RONDO_RULES": str(ROOT / "tuning" / "default.rules")}
    native = mpi.run(command, 4, timeout=200).check()
    run = mpi.run_under_rondo(command, 4, environment=where, timeout=200).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    is_served = any(calls > 0 for choice, calls in run.report.calls(collective).items() if choice != NATIVE)
    assert is_served != (collective in WITHOUT_PROPOSALS)


@pytest.mark.parametrize(("nodes", "served"), [(1, False), (2, True), (3, True)])
@MPICH
def test_rules_ask_for_nodes(mpi: MpiLibrary, tmp_path: Path, nodes: int, served: bool) -> None:
    rules = tmp_path / "nodes.rules"
    rules.write_text("allreduce nodes in 2..3, commutative = yes -> full_lane\n")
    where = {"MPIR_CVAR_NUM_CLIQUES": str(nodes), "RONDO_RULES": str(rules)}
    run = mpi.run_under_rondo(results_command(mpi, "allreduce"), 5, environment=where, timeout=200).check()
    assert (run.report.calls("allreduce").get("full_lane", 0) > 0) == served


NODES_RULES = "allreduce nodes in 2..3, commutative = yes -> full_lane\n"


@pytest.mark.parametrize(("nodes", "served"), [("1x5", False), ("3,2", True), ("2,2,1", True)])
@MPICH
def test_nodes_can_be_imposed(mpi: MpiLibrary, tmp_path: Path, nodes: str, served: bool) -> None:
    rules = tmp_path / "nodes.rules"
    rules.write_text(NODES_RULES)
    command = results_command(mpi, "allreduce")
    native = mpi.run(command, 5, timeout=200).check()
    # The library says otherwise.
    where = {"RONDO_NODES": nodes, "RONDO_RULES": str(rules), "MPIR_CVAR_NUM_CLIQUES": "1" if served else "2"}
    run = mpi.run_under_rondo(command, 5, environment=where, timeout=200).check()
    assert (run.report.calls("allreduce").get("full_lane", 0) > 0) == served
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    assert "rondo: " not in run.stderr


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("2x3", "nodes 2x3 have 6 ranks; expected 5"),
        ("2y3", "'2y3' says no nodes; expected NODESxRANKS, as in 4x8, or the ranks of each, as in 4,4,3"),
    ],
)
@MPICH
def test_nodes_that_contradict_the_ranks_leave_them_where_they_are(
    mpi: MpiLibrary, tmp_path: Path, nodes: str, expected: str
) -> None:
    rules = tmp_path / "nodes.rules"
    rules.write_text(NODES_RULES)
    where = {"RONDO_NODES": nodes, "RONDO_RULES": str(rules), "MPIR_CVAR_NUM_CLIQUES": "2"}
    command = results_command(mpi, "allreduce")
    run = mpi.run_under_rondo(command, 5, environment=where, timeout=200).check()
    said = [line for line in run.stderr.splitlines() if line.startswith("rondo: ")]
    assert said == [f"rondo: RONDO_NODES: {expected}; ranks are where the MPI library says"]
    assert run.report.calls("allreduce").get("full_lane", 0) > 0


# Each rank sees a system whose processors each have an L3 cache of their own, and is bound to one of the first two.
BOUND = """#!/bin/bash
set -e
for each in 0 1; do
  echo "${processors[$each]}" > "$folder/$each"
  mount --bind "$folder/$each" "/sys/devices/system/cpu/cpu${processors[$each]}/cache/index3/shared_cpu_list"
done
exec taskset -c "${processors[${domains[${PMI_RANK:-$OMPI_COMM_WORLD_RANK}]}]}" "$@"
"""


@pytest.fixture
def bound(tmp_path: Path) -> Callable[[str], list[object]]:
    """What binds ranks to the domains of a list."""
    processors = sorted(os.sched_getaffinity(0))[:2]
    caches = [Path(f"/sys/devices/system/cpu/cpu{each}/cache/index3/level") for each in processors]
    if len(processors) < 2 or not all(each.exists() and each.read_text().strip() == "3" for each in caches):
        pytest.skip("needs two processors whose L3 caches the system tells")
    if launch(["unshare", "--mount", "true"], os.environ, 10).returncode != 0:
        pytest.skip("mounting needs a namespace of our own")

    def words(domains: str) -> list[object]:
        script = tmp_path / "bound.sh"
        own = f"processors=({processors[0]} {processors[1]}) domains=({domains}) folder=$(mktemp -d {tmp_path}/XXXXXX)"
        script.write_text(BOUND.replace("set -e", f"set -e; {own}"))
        return ["unshare", "--mount", "--propagation", "private", "bash", script]

    return words


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize(
    ("domains", "found"),
    [("0 0 0 1 1", 2), ("0 1 0 1 1", 2), ("0 0 0 0 0", 1)],
    ids=["in rank order", "in turn", "in one"],
)
def test_domains_are_where_ranks_are_bound(
    mpi: MpiLibrary, bound: Callable[[str], list[object]], tmp_path: Path, domains: str, found: int
) -> None:
    rules = tmp_path / "domains.rules"
    rules.write_text(
        "allreduce domains = 2, nodes = 1, ranks_per_node = 5, commutative = yes -> full_lane\n"
        "allreduce domains = 1 -> ring\n"
    )
    command = results_command(mpi, "allreduce")
    native = mpi.run(command, 5, timeout=200).check()
    where = {"RONDO_RULES": str(rules)}
    run = mpi.run_under_rondo([*bound(domains), *command], 5, environment=where, timeout=200).check()
    assert results_of_data(run.stdout) == results_of_data(native.stdout)
    served = {choice for choice, calls in run.report.calls("allreduce").items() if calls > 0} - {NATIVE}
    # The program has other communicators, too: one domain has all ranks of some.
    assert served == ({"full_lane", "ring"} if found == 2 else {"ring"})


@pytest.mark.parametrize("collective", COLLECTIVES)
@MPICH
def test_algorithms_take_domains_for_nodes(mpi: MpiLibrary, tmp_path: Path, collective: str) -> None:
    command = results_command(mpi, collective)
    native = mpi.run(command, 5, timeout=200).check()
    rules = tmp_path / "domains.rules"
    for algorithm in [each["name"] for each in _core.algorithms(collective) if each["uses_nodes"]]:
        rules.write_text(f"{collective} domains = 2, processes = 5, nodes = 1 -> {algorithm}\n")
        where = {"RONDO_NODES": "domains:3,2", "RONDO_RULES": str(rules)}
        run = mpi.run_under_rondo(command, 5, environment=where, timeout=200).check()
        assert results_of_data(run.stdout) == results_of_data(native.stdout)
        assert run.report.calls(collective)[algorithm] > 0
