# SPDX-License-Identifier: BSD-3-Clause
"""Wrong instructions never break a program: one warning, the native collective, the right results."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary, Run, preload_library
from test_results import FORMS

import rondo

pytestmark = pytest.mark.parallel

# What Rondo says does not depend on the library, how its launcher treats environment and output does.
TWO_LIBRARIES = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
RANKS = 3


def warnings(run: Run) -> list[str]:
    return [line for line in run.stderr.splitlines() if line.startswith("rondo: ")]


def check_native_with_one_warning(run: Run, *expected: str) -> None:
    # The program checks its results, and its exit code tells.
    said = warnings(run.check())
    assert len(said) == 1, run.stderr
    assert all(word in said[0] for word in expected), said
    assert run.stdout == ""
    assert set(run.report.calls("exscan")) <= {"native"}


@TWO_LIBRARIES
@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("nonsense", ["RONDO_EXSCAN", "nonsense"]),
        ("doubling_132", ["doubling_132", "doubling_123"]),
        ("linear_pipeline:segment=-1", ["segment"]),
        ("linear_pipeline:segments=8", ["segments"]),
        ("doubling_123:", ["RONDO_EXSCAN"]),
    ],
)
def test_unknown_choice_is_named_once(mpi: MpiLibrary, choice: str, expected: list[str]) -> None:
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, exscan=choice)
    check_native_with_one_warning(run, *expected)


@TWO_LIBRARIES
def test_unknown_choice_for_one_collective_leaves_the_other_alone(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, exscan="nonsense", scan="doubling")
    check_native_with_one_warning(run, "RONDO_EXSCAN")
    assert run.report.calls("scan") == {"doubling": 5 * RANKS}


@TWO_LIBRARIES
def test_missing_rules_file_is_named_once(mpi: MpiLibrary, tmp_path: Path) -> None:
    path = tmp_path / "missing.rules"
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, environment={"RONDO_RULES": str(path)})
    check_native_with_one_warning(run, str(path))


@TWO_LIBRARIES
@pytest.mark.parametrize("text", ["exscan bytes<= ->\n", "\0\1\2", "[" * 5000, "exscan -> nonsense\n"])
def test_malformed_rules_file_is_named_once(mpi: MpiLibrary, tmp_path: Path, text: str) -> None:
    path = tmp_path / "malformed.rules"
    path.write_text(text)
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, environment={"RONDO_RULES": str(path)})
    check_native_with_one_warning(run, f"{path}:1")


@TWO_LIBRARIES
def test_directory_in_place_of_a_rules_file_is_named_once(mpi: MpiLibrary, tmp_path: Path) -> None:
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, environment={"RONDO_RULES": str(tmp_path)})
    check_native_with_one_warning(run, str(tmp_path))


@TWO_LIBRARIES
@pytest.mark.parametrize(
    "others",
    ["RONDO_EXSCAN=linear_pipeline:segment=64", "RONDO_EXSCAN=native", "RONDO_EXSCAN=nonsense", "RONDO_EXSCAN="],
)
def test_ranks_with_different_choices_agree_on_the_native_collective(mpi: MpiLibrary, others: str) -> None:
    program = mpi.compile("profiled.c")
    first = ["env", "RONDO_EXSCAN=doubling_123", program]
    run = mpi.run_under_rondo([*first, ":", "-n", str(RANKS - 1), "env", others, program], 1, timeout=30)
    check_native_with_one_warning(run, "different")


@TWO_LIBRARIES
def test_ranks_with_different_eager_limits_agree_on_the_native_collective(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = mpi.compile("profiled.c")
    words: list[object] = []
    for number, limit in enumerate((16, 32)):
        path = tmp_path / f"{limit}.machine"
        path.write_text(f"alpha = 2e-6\nbeta = 8e-11\neager = {limit}Ki\n")
        words += [":", "-n", "1"] if number else []
        words += ["env", "RONDO_EXSCAN=linear_pipeline", f"RONDO_MACHINE={path}", program]
    run = mpi.run_under_rondo(words, 1, timeout=30)
    check_native_with_one_warning(run, "different")


@TWO_LIBRARIES
def test_ranks_with_different_versions_of_rondo_agree_on_the_native_collective(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = mpi.compile("profiled.c")
    own = preload_library(mpi.abi)
    version = f"\0{rondo.__version__}\0".encode()
    other_version = version[:-2] + (b"9" if version[-2:-1] != b"9" else b"8") + version[-1:]
    content = own.read_bytes()
    assert version in content
    other = tmp_path / own.name
    other.write_bytes(content.replace(version, other_version))
    words = [program, ":", "-n", "1", "env", f"LD_PRELOAD={other}", program]
    run = mpi.run_under_rondo(words, RANKS - 1, exscan="doubling_123", timeout=30)
    check_native_with_one_warning(run, "different versions of Rondo")
    same = mpi.run_under_rondo([program], RANKS, exscan="doubling_123", environment={"LD_PRELOAD": str(other)}).check()
    assert set(same.report.calls("exscan")) == {"doubling_123"}  # the copy works


@TWO_LIBRARIES
def test_report_that_cannot_be_written_does_not_fail_the_program(mpi: MpiLibrary, tmp_path: Path) -> None:
    variables = {"RONDO_REPORT": str(tmp_path / "missing" / "directory")}
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, exscan="doubling_123", environment=variables).check()
    assert run.stdout == ""
    assert "cannot write" in run.stderr


@TWO_LIBRARIES
@pytest.mark.parametrize("form", ["blocking", *FORMS])
def test_killed_rank_ends_the_job_as_natively(mpi: MpiLibrary, form: str) -> None:
    command = [mpi.compile("killed_rank.c", *FORMS.get(form, ()))]
    native = mpi.run(command, RANKS, timeout=30)
    run = mpi.run_under_rondo(command, RANKS, exscan="doubling_123", timeout=30)
    assert not run.timed_out
    assert run.returncode == native.returncode != 0
