# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run --report` when programs do not end well: what ranks counted is there, and the exit code is as without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from launching import Run, end, launch
from mpi_libraries import MpiLibrary, preload_library

# What becomes of ranks is the launchers' business.
pytestmark = [pytest.mark.parallel, pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)]
RANKS = 3
CALLS = {64: (10, 64), 1024: (1, 72), None: (1, 2**22 + 8)}  # of endings.c, by class: how many, and bytes of one
IN_FULL_DIRECTORY = """
mount -t tmpfs -o size="$1" none "$2" && head -c "$3" /dev/zero > "$2/filling" && cd "$2" || exit 99
shift 3
exec "$@"
"""


def under_rondo(mpi: MpiLibrary, ending: str, merged: Path) -> list[object]:
    preload_library(mpi.abi)
    command = mpi.command(RANKS, mpi.patience, [mpi.compile("endings.c"), ending])
    options = ["--rules", "none", "--use", "exscan=doubling_123", f"--report={merged}"]
    return [sys.executable, "-m", "rondo", "run", *options, "--", *command]


def natively(mpi: MpiLibrary, ending: str) -> Run:
    return mpi.run([mpi.compile("endings.c"), ending], RANKS, mpi.patience, timeout=60)


def check_counts(merged: Path, cut_short: Sequence[int]) -> None:
    """All that ranks did is in the report, and it says which of them did not come to their ends."""
    report = json.loads(merged.read_text())
    assert (report["size"], report["missing"], report["unreadable"]) == (RANKS, [], [])
    assert report["cut_short"] == cut_short
    assert len(report["ranks"]) == RANKS
    for rank in report["ranks"]:
        # A rank may be ended before it has counted the barrier that it left.
        (entry,) = (each for each in rank["entries"] if each["collective"] != "barrier")
        assert (entry["collective"], entry["algorithm"], entry["reason"]) == ("exscan", "doubling_123", "")
        assert {each["up_to"]: (each["calls"], each["smallest"]) for each in entry["classes"]} == CALLS
        assert all(each["largest"] == each["smallest"] for each in entry["classes"])
        assert all(each["bytes"] == each["calls"] * each["smallest"] for each in entry["classes"])
        assert all(0 < each["seconds"] < 60 for each in entry["classes"])
    (entry,) = (each for each in report["entries"] if each["collective"] != "barrier")
    assert (entry["ranks"], entry["calls"], entry["total_calls"]) == (RANKS, 12, 12 * RANKS)
    assert (entry["smallest"], entry["largest"]) == (64, 2**22 + 8)
    assert [each["up_to"] for each in entry["classes"]] == list(CALLS)


@pytest.mark.parametrize("ending", ["abort", "kill", "crash", "fork"])
def test_counts_of_ranks_that_were_ended_are_in_the_report(mpi: MpiLibrary, tmp_path: Path, ending: str) -> None:
    run = launch(under_rondo(mpi, ending, tmp_path / "merged.json"), {**os.environ, **mpi.environment}, 60)
    assert run.returncode == natively(mpi, ending).returncode != 0
    check_counts(tmp_path / "merged.json", cut_short=[0, 1, 2])
    assert "rondo: 3 of 3 ranks did not come to an end by themselves: 0, 1, 2 (killed, aborted" in run.stderr
    assert "doubling_123" in run.stderr


def test_ranks_that_came_to_their_ends_are_not_complained_about(mpi: MpiLibrary, tmp_path: Path) -> None:
    run = launch(under_rondo(mpi, "finalize", tmp_path / "merged.json"), {**os.environ, **mpi.environment}, 60)
    assert run.check().stderr.count("rondo: ") == 0
    check_counts(tmp_path / "merged.json", cut_short=[])


def interrupted(command: Sequence[object], mpi: MpiLibrary, directory: Path, number: signal.Signals) -> int:
    """The exit code after a signal, which is sent when the ranks have made their calls."""
    said = directory / "stdout"
    with said.open("w") as stdout:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=directory,
            env={**os.environ, **mpi.environment},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
    try:
        deadline = time.monotonic() + 60
        while "ready" not in said.read_text(errors="replace"):
            assert process.poll() is None and time.monotonic() < deadline, said.read_text(errors="replace")
            time.sleep(0.05)
        process.send_signal(number)
        return process.wait(60)
    finally:
        if process.poll() is None:
            end(process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_has_its_report(mpi: MpiLibrary, tmp_path: Path, number: signal.Signals) -> None:
    code = interrupted(under_rondo(mpi, "wait", tmp_path / "merged.json"), mpi, tmp_path, number)
    check_counts(tmp_path / "merged.json", cut_short=[0, 1, 2])
    assert list(tmp_path.glob(".rondo-report-*")) == []
    native = mpi.command(RANKS, mpi.patience, [mpi.compile("endings.c"), "wait"])
    assert code == interrupted(native, mpi, tmp_path, number)


def in_full_directory(mpi: MpiLibrary, directory: Path, size: int, filling: int) -> Run:
    """A run in a directory of a few pages that only it sees."""
    if launch(["unshare", "--user", "--map-root-user", "--mount", "true"], os.environ, 10).returncode != 0:
        pytest.skip("mounting needs a user namespace of our own")
    full = directory / "full"
    full.mkdir()
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", IN_FULL_DIRECTORY, "sh"]
    command = [*words, size, full, filling, *under_rondo(mpi, "finalize", directory / "merged.json")]
    return launch(command, {**os.environ, **mpi.environment}, 60).check()


def test_a_full_disk_is_said_and_the_program_runs_to_its_end(mpi: MpiLibrary, tmp_path: Path) -> None:
    page = os.sysconf("SC_PAGESIZE")
    run = in_full_directory(mpi, tmp_path, size=page, filling=page)
    said = [line for line in run.stderr.splitlines() if line.startswith("rondo: ")]
    assert len([line for line in said if line.startswith("rondo: no file for counts in ")]) == 1
    assert len([line for line in said if "cannot write its report" in line]) == RANKS
    assert len([line for line in said if "No space left on device" in line]) == RANKS + 1
    assert said[-1].startswith("rondo: no rank left a report")


def test_a_disk_that_is_full_at_the_end_loses_nothing(mpi: MpiLibrary, tmp_path: Path) -> None:
    page = os.sysconf("SC_PAGESIZE")
    run = in_full_directory(mpi, tmp_path, size=page + RANKS * 256 * 512, filling=page)
    assert "rondo: " not in run.stderr
    check_counts(tmp_path / "merged.json", cut_short=[])
