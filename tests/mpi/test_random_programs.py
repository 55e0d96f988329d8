# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of blocking, nonblocking and persistent collectives and of messages, many in each launch.

Each launch draws its own rules: for each collective several algorithms, by length.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary
from rondo.bench import plans

from rondo import _core

pytestmark = pytest.mark.parallel

COLLECTIVES = [each["name"] for each in _core.collectives()]
# Of ranks, by their number; in the first of each they share no memory.
NODES = {2: ["1,1", "2"], 3: ["1,1,1", "2,1"], 4: ["1,1,1,1", "2x2", "4"], 5: ["1,1,1,1,1", "2,3", "3,2"]}
GUARDS = ["off", "exact", "free"]


def random_setting(draw: random.Random, parameter: dict) -> str:
    if parameter["names"]:
        value = draw.choice(parameter["names"])
    elif parameter["unit"] == "bytes":
        value = draw.choice([8, 24, 64, 512, 4096])
    elif parameter["name"] == "doubling":  # for powers of two alone
        value = parameter["standard"]
    else:
        value = draw.randint(parameter["minimum"], min(parameter["maximum"], parameter["minimum"] + 4))
    return f"{parameter['name']}={value}"


def random_choice(draw: random.Random, algorithms: list[dict]) -> str:
    algorithm = draw.choice(algorithms)
    settings = [random_setting(draw, each) for each in algorithm["parameters"] if draw.randrange(2)]
    return algorithm["name"] + (":" if settings else "") + ",".join(settings)


def random_rules(draw: random.Random) -> str:
    """Rules that leave no call to the library."""
    rules = []
    for collective in COLLECTIVES:
        algorithms = _core.algorithms(collective)
        for_all = [each for each in algorithms if not any("operator" in text for text in each["requirements"])]
        if len(for_all) < len(algorithms):
            rules.append(f"{collective} commutative = no -> {random_choice(draw, for_all)}")
        if collective not in ("alltoallv", "barrier", "gatherv", "scatterv"):
            for limit in sorted(draw.sample([16, 64, 200, 1000, 8000], 2)):
                rules.append(f"{collective} bytes < {limit} -> {random_choice(draw, algorithms)}")
        rules.append(f"{collective} -> {random_choice(draw, algorithms)}")
    return "\n".join(rules) + "\n"


def check(mpi: MpiLibrary, first_seed: int, programs: int, guard: str, directory: Path) -> None:
    """Programs of that many seeds in one launch, whose shape the first seed and the guard decide."""
    draw = random.Random(first_seed)
    ranks = draw.choice(list(NODES))
    nodes = draw.choice(NODES[ranks])
    rules, learned = directory / "drawn.rules", directory / "learned"
    rules.write_text(random_rules(draw))
    learned.mkdir()
    environment = {"RONDO_GUARD": guard, "RONDO_LEARNED": str(learned), "RONDO_NODES": nodes}
    environment |= {"RONDO_RULES": str(rules), "RONDO_SHARED_MEMORY": draw.choice(["on", "off"])}
    is_as_users_run_it = draw.randrange(4) > 0
    if is_as_users_run_it:
        environment["RONDO_REPORT"] = ""
    # The guard leaves some calls to the library, and so do ranks that all share memory.
    words = ["native"] if guard != "off" or len(nodes) == 1 else []
    command = [mpi.compile("random_programs.cpp"), str(first_seed), str(programs), *words]
    run = mpi.run_under_rondo(command, ranks, environment=environment, timeout=60 + programs).check()
    assert run.stdout.startswith("failures 0\n"), run.stdout + run.stderr
    assert not run.stderr, run.stderr
    if not is_as_users_run_it:
        # With the guard, nonblocking calls of lengths that no rank knows are the library's.
        counted = [name for name in COLLECTIVES if guard == "off" or name not in plans.OF_LOCAL_LENGTHS]
        served = {name: run.report.calls(name).total() - run.report.calls(name)["native"] for name in counted}
        assert all(calls > 0 for calls in served.values()), served


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("guard", GUARDS)
def test_random_programs_are_right(mpi: MpiLibrary, guard: str, tmp_path: Path) -> None:
    check(mpi, 1000 * GUARDS.index(guard), 40, guard, tmp_path)


# A hundred thousand programs.
@pytest.mark.soak
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("start", range(100))
def test_many_random_programs_are_right(mpi: MpiLibrary, start: int, tmp_path: Path) -> None:
    check(mpi, 10000 + 500 * start, 500, GUARDS[start % 3], tmp_path)


@pytest.mark.parametrize("mpi", ["impi", "mpiabi"], indirect=True)
def test_other_libraries_keep_their_calls(mpi: MpiLibrary) -> None:
    words = ["native"] if mpi.name == "mpiabi" else ["native", "no-persistent"]  # Intel MPI's own wait for ever
    command = [mpi.compile("random_programs.cpp"), "1", "20", *words]
    forced = {"bcast": "binomial", "allreduce": "recursive_doubling", "allgather": "ring"}
    run = mpi.run_under_rondo(command, 3, environment={"RONDO_NODES": "1,1,1"}, timeout=150, **forced).check()
    assert run.stdout.startswith("failures 0\n"), run.stdout
    assert run.report.native_reasons("bcast")["this MPI library goes on with its own nonblocking calls alone"] > 0
