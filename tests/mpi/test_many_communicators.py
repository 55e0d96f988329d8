# SPDX-License-Identifier: BSD-3-Clause
"""Rondo's private communicators neither pile up, nor take what the program needs, nor show in its callbacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mpi_libraries import FORCED, LIBRARIES, MpiLibrary

# The standard ABI of MPICH is MPICH.
pytestmark = [
    pytest.mark.parallel,
    pytest.mark.parametrize("mpi", [name for name in LIBRARIES if name != "mpiabi"], indirect=True),
]


def test_ten_thousand_communicators_leave_no_memory_behind(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("many_communicators.cpp", "-ldl"), "churn", "10000"], 2, **FORCED).check()
    assert int(re.search(r"growth (-?\d+)", run.stdout)[1]) < 1024
    for collective, algorithm in FORCED.items():
        assert run.report.calls(collective)[algorithm] >= 2 * 10000


def test_rondo_steps_aside_when_communicators_are_many(mpi: MpiLibrary) -> None:
    # Twice as many would be more than MPICH has.
    run = mpi.run_under_rondo([mpi.compile("many_communicators.cpp", "-ldl"), "alive", "1500"], 2, **FORCED).check()
    served = run.report.calls("exscan")
    assert served["native"] > 0
    assert served["doubling_123"] > 0


def test_program_that_has_taken_all_communicators_goes_on_as_natively(mpi: MpiLibrary) -> None:
    command = [mpi.compile("many_communicators.cpp", "-ldl"), "exhausted", "3000"]

    def made(output: str) -> int:
        return int(re.search(r"made (\d+), errors 0\n(?:.*\n)*failures 0", output)[1])

    native = mpi.run(command, 2).check()
    run = mpi.run_under_rondo(command, 2, **FORCED).check()
    # Rondo holds one, for all its messages.
    assert made(run.stdout) in (made(native.stdout), made(native.stdout) - 1)
    # Freed ones can be had again.
    assert run.report.calls("exscan")["doubling_123"] > 0


def test_calls_on_fleeting_communicators_go_where_the_rules_say(mpi: MpiLibrary, tmp_path: Path) -> None:
    rules = tmp_path / "long.rules"
    rules.write_text("scan  bytes >= 1Ki  ->  doubling\n")
    ranks, communicators = 3, 400

    def left_to_library(rank: int) -> int:
        left = 0
        for index in range(communicators):
            first = 1 + index % ranks  # the first so many ranks have one communicator, the others another
            size = first if rank < first else ranks - first
            left += sum(size == 1 or (index + call) % 4 != 3 for call in range(1 + index % 5))
            left += index % 7 != 0
        return left

    variables = {"RONDO_RULES": str(rules), "RONDO_REPORT": ""}
    command = [mpi.compile("many_communicators.cpp", "-ldl"), "fleeting", str(communicators)]
    run = mpi.run_under_rondo(command, ranks, environment=variables).check()
    said = {int(rank): int(left) for rank, left in re.findall(r"rank (\d): (\d+) of", run.stdout)}
    assert said == {rank: left_to_library(rank) for rank in range(ranks)}


def test_attribute_callbacks_of_the_program_are_called_as_often_as_natively(mpi: MpiLibrary) -> None:
    command = [mpi.compile("many_communicators.cpp", "-ldl"), "attributes"]
    native = mpi.run(command, 2).check()
    run = mpi.run_under_rondo(command, 2, **FORCED).check()
    assert run.stdout == native.stdout
    assert native.stdout.count("finalize: failures 0") == 2
    assert run.report.calls("exscan")["doubling_123"] > 0
