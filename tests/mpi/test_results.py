# SPDX-License-Identifier: BSD-3-Clause
"""Results of every algorithm, for every operator, type, count, root and communicator.

results.cpp and results_of_parts.cpp know what is right. Here: native and Rondo agree, and it was Rondo's algorithm that
served the calls, but for those that the registry says it refuses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from mpi_libraries import (
    FORCED,
    FORCED_ALL_TO_ALL,
    FORCED_PARTS_OF_THE_ROOT,
    LIBRARIES,
    NATIVELY_WRONG,
    OF_PARTS,
    ROOT,
    TAME,
    MpiLibrary,
)

from rondo import _core

pytestmark = pytest.mark.parallel

RANKS = 9
FEW_RANKS = 5
FEWEST_RANKS = 3
# Segments of eight elements: many messages in flight, and a rest at the end. Vectors of less are refused.
SMALL_SEGMENT = 64
# By the text of the requirement, what a call is that does not meet it.
REFUSED = {
    "a commutative operator": {"ordered"},
    "the first or the last rank as root, or a commutative operator": {"ordered", "inner"},
}
COLLECTIVES = FORCED | FORCED_ALL_TO_ALL | FORCED_PARTS_OF_THE_ROOT
THOROUGH = ["mpich", "openmpi"]
LEFT_IF_NONBLOCKING = "the first nonblocking calls on a communicator"
# Each call of a blocking collective becomes a nonblocking or a persistent one, which is waited for.
NONBLOCKING = ("-include", str(Path(__file__).with_name("nonblocking.h")))
FORMS = {"nonblocking": NONBLOCKING, "persistent": (*NONBLOCKING, "-DRONDO_TESTS_PERSISTENT")}


def algorithms(collective: str) -> list[str]:
    """A file is an algorithm; what several share stands elsewhere."""
    return sorted(path.stem for path in (ROOT / "rondo/algorithms" / collective).glob("*.cpp"))


def every_algorithm() -> list[tuple[str, str]]:
    return [(collective, algorithm) for collective in COLLECTIVES for algorithm in algorithms(collective)]


def description(collective: str, algorithm: str) -> dict:
    return next(each for each in _core.algorithms(collective) if each["name"] == algorithm)


def has_segments(collective: str, algorithm: str) -> bool:
    return any(each["name"] == "segment" for each in description(collective, algorithm)["parameters"])


def program(mpi: MpiLibrary, collective: str, *flags: str) -> Path:
    return mpi.compile("results_of_parts.cpp" if collective in OF_PARTS else "results.cpp", *flags)


def results(output: str) -> dict[str, str]:
    return dict(re.findall(r"^(\w+) (\S+)$", output, re.MULTILINE))


@functools.cache
def native_results(name: str, ranks: int, arguments: tuple[str, ...]) -> dict[str, str]:
    mpi = LIBRARIES[name]
    return results(mpi.run([program(mpi, arguments[0]), *arguments], ranks, timeout=200).check().stdout)


def refused_calls(collective: str, algorithm: str, native: dict[str, str]) -> int:
    """How many calls the algorithm refuses, by its requirements."""
    refused = [REFUSED[text] for text in description(collective, algorithm)["requirements"] if text in REFUSED]
    return sum(calls for kind, calls in calls_by_kind(native).items() if any(each <= kind for each in refused))


def calls_by_kind(native: dict[str, str]) -> dict[frozenset[str], int]:
    kinds = [name for name in native if name.startswith(("commutative_", "ordered_"))]
    return {frozenset(name.split("_")): int(native[name]) for name in kinds}


def check(
    mpi: MpiLibrary,
    collective: str,
    choice: str,
    *arguments: str,
    ranks: int = RANKS,
    environment: Mapping[str, str] | None = None,
) -> None:
    if collective in TAME.get(mpi.name, ()):
        arguments = (*arguments, "tame")
    command = [program(mpi, collective), collective, *arguments]
    run = mpi.run_under_rondo(command, ranks, environment=environment, **{collective: choice}, timeout=200).check()
    wrong = collective in NATIVELY_WRONG.get(mpi.name, set())
    native = results(run.stdout) if wrong else native_results(mpi.name, ranks, (collective, *arguments))
    assert results(run.stdout) == {**native, "unrepeated": "0"}
    algorithm = choice.partition(":")[0]
    reasons = run.report.native_reasons(collective)
    refused = sum(calls for reason, calls in reasons.items() if reason.startswith(f"{algorithm} needs "))
    assert refused == refused_calls(collective, algorithm, native), reasons
    assert run.report.calls(collective)[algorithm] + refused >= sum(calls_by_kind(native).values()), reasons


# `make test` tries each algorithm on communicators of up to five ranks, with one library after the other in turn. `make
# soak` tries nine ranks, and besides what depends on the MPI library alone.
@pytest.mark.parametrize(
    ("collective", "algorithm", "mpi", "extent"),
    [
        pytest.param(*each, mpi, extent, marks=[] if extent == "brief" else pytest.mark.soak)
        for i, each in enumerate(every_algorithm())
        for j, mpi in enumerate(THOROUGH)
        for extent in ("brief", "full")
        if extent == "full" or i % len(THOROUGH) == j
    ],
    indirect=["mpi"],
)
def test_algorithm_gives_the_native_results(mpi: MpiLibrary, collective: str, algorithm: str, extent: str) -> None:
    if extent == "brief":
        check(mpi, collective, algorithm, "20011", extent, ranks=FEW_RANKS)
    else:
        check(mpi, collective, algorithm, "20011")


# Every fourth one, in turn as well; all in `make soak`.
@pytest.mark.parametrize(
    ("collective", "algorithm", "mpi"),
    [
        pytest.param(*each, THOROUGH[i // 4 % len(THOROUGH)], marks=[] if i % 4 == 0 else pytest.mark.soak)
        for i, each in enumerate(each for each in every_algorithm() if has_segments(*each))
    ],
    indirect=["mpi"],
)
def test_many_segments_give_the_native_results(mpi: MpiLibrary, collective: str, algorithm: str) -> None:
    check(mpi, collective, f"{algorithm}:segment={SMALL_SEGMENT}", "1501", "brief")


# Every fourth one, in turn again; all in `make soak`. Vectors of up to 1 MiB: short messages, references to memory of
# the other process, and pieces.
@pytest.mark.parametrize(
    ("collective", "algorithm", "mpi"),
    [
        pytest.param(*each, THOROUGH[i // 4 % len(THOROUGH)], marks=[] if i % 4 == 1 else pytest.mark.soak)
        for i, each in enumerate(every_algorithm())
    ],
    indirect=["mpi"],
)
def test_algorithm_gives_the_native_results_through_shared_memory(
    mpi: MpiLibrary, collective: str, algorithm: str
) -> None:
    check(mpi, collective, algorithm, "131072", "brief", ranks=4, environment={"RONDO_SHARED_MEMORY": "on"})


# Every eighth one on three ranks; all on nine in `make soak`. Ranks without a processor poll while they wait here, so
# two ranks more take three times as long.
@pytest.mark.parametrize(
    ("collective", "algorithm", "mpi", "form", "ranks"),
    [
        pytest.param(*each, mpi, form, ranks, marks=[] if ranks == FEWEST_RANKS else pytest.mark.soak)
        for i, each in enumerate(every_algorithm())
        for j, mpi in enumerate(THOROUGH)
        for k, form in enumerate(FORMS)
        for ranks in (FEWEST_RANKS, RANKS)
        if ranks == RANKS or i % 8 == 4 * j + 2 * k
    ],
    indirect=["mpi"],
)
def test_other_forms_give_the_native_results(
    mpi: MpiLibrary, collective: str, algorithm: str, form: str, ranks: int
) -> None:
    arguments = ("1501", "brief", *(["tame"] if collective in TAME.get(mpi.name, ()) else []))
    # A context for messages, or with MPICH a communicator of Rondo's own.
    environment = {"RONDO_BARRIER": "dissemination"} if mpi.is_openmpi else {}
    command = [program(mpi, collective, *FORMS[form]), collective, *arguments]
    run = mpi.run_under_rondo(command, ranks, environment=environment, **{collective: algorithm}, timeout=200).check()
    native = native_results(mpi.name, ranks, (collective, *arguments))
    wrong = {"unrepeated"}  # the first calls on a communicator are native: sums have other bits
    if collective in NATIVELY_WRONG.get(mpi.name, set()):
        wrong |= {"digest"}
    assert {k: v for k, v in results(run.stdout).items() if k not in wrong} == {
        k: v for k, v in native.items() if k not in wrong
    }
    left = sum(
        calls
        for reason, calls in run.report.native_reasons(collective).items()
        if reason == LEFT_IF_NONBLOCKING or reason.startswith(f"{algorithm} needs ")
    )
    served = run.report.calls(collective)[algorithm]
    assert served > 0
    assert served + left >= sum(calls_by_kind(native).values())


@pytest.mark.parametrize("extent", ["brief", pytest.param("full", marks=pytest.mark.soak)])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_library_gives_its_results(mpi: MpiLibrary, collective: str, extent: str) -> None:
    if extent == "brief":
        check(mpi, collective, COLLECTIVES[collective], "5003", extent, ranks=FEW_RANKS)
    else:
        check(mpi, collective, COLLECTIVES[collective], "5003")
