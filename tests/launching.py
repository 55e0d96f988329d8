# SPDX-License-Identifier: BSD-3-Clause
"""Bounded runs of launchers: whatever one started is gone afterwards, its shared memory included."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# Tests that run in the background ignore SIGINT, and their children would, too.
RONDO_THAT_HEEDS = (
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from rondo.commands import main; main()",
)


@dataclass
class Report:
    """What the ranks wrote about their collective calls."""

    ranks: list[dict] = field(default_factory=list)

    def calls(self, collective: str) -> Counter[str]:
        """Calls of all ranks together, by algorithm."""
        counts: Counter[str] = Counter()
        for rank in self.ranks:
            for entry in rank["entries"]:
                if entry["collective"] == collective:
                    counts[entry["algorithm"]] += _calls(entry)
        return counts

    def native_reasons(self, collective: str) -> Counter[str]:
        counts: Counter[str] = Counter()
        for rank in self.ranks:
            for entry in rank["entries"]:
                if entry["collective"] == collective and entry["algorithm"] == "native":
                    counts[entry["reason"]] += _calls(entry)
        return counts


def _calls(entry: dict) -> int:
    return sum(each["calls"] for each in entry["classes"])


@dataclass
class Run:
    """One finished launch."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    report: Report = field(default_factory=Report)

    def check(self) -> Run:
        """Itself, or a failure that shows what the program said."""
        if self.returncode != 0 or self.timed_out:
            ending = "did not end in time" if self.timed_out else f"ended with {self.returncode}"
            pytest.fail(f"program {ending}\n{self.stdout[-4000:]}\n{self.stderr[-4000:]}", pytrace=False)
        return self


def _children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    return children


def descendants(pid: int) -> list[int]:
    children, found = _children(), [pid]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


def ranks_of(program: Path) -> list[int]:
    """Processes that run the program. Those that have ended and that nobody has waited for run nothing."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and (process / "cmdline").read_bytes().startswith(bytes(program)):
                found.append(int(process.name))
    return found


# Names that MPICH, Open MPI and Intel MPI give to their shared memory.
SEGMENTS = ("mpich_shm_", "sm_segment.", "vader_segment.", "Intel_MPI_", "impi_shm")


def segments() -> set[Path]:
    return {path for path in Path("/dev/shm").iterdir() if path.name.startswith(SEGMENTS)}


def remove_abandoned(found: set[Path]) -> None:
    """Removes shared memory that jobs left because they were aborted; other jobs' is in use by some process."""
    in_use: set[str] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                in_use.update(word for word in (entry / "maps").read_text().split() if word.startswith("/dev/shm/"))
                in_use.update(str(each.readlink()) for each in (entry / "fd").iterdir())  # a job that starts
    for path in found:
        if str(path) not in in_use:
            with contextlib.suppress(OSError):
                path.unlink()


def end(process: subprocess.Popen[str]) -> None:
    """Ends a launcher and all that it started, politely first: only the launcher can clean up after its ranks."""
    started = descendants(process.pid)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    for pid in {*started, *descendants(process.pid)}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.kill()


def ended_with_us(command: Sequence[object]) -> list[str]:
    """The command, which the kernel asks to end when the tests are killed. Its session is its own."""
    bound = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") is not None else []
    return [*bound, *map(str, command)]


def launch(command: Sequence[object], environment: Mapping[str, str], timeout: float) -> Run:
    """Runs a command in a temporary directory of its own, which holds the sessions of the launchers too."""
    # Sockets of the launchers lie there, whose paths may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="rondo-", dir="/tmp", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o711)  # processes of other users may have files in there
        segments_before = segments()
        output, errors = Path(directory) / "stdout", Path(directory) / "stderr"
        start, timed_out = time.monotonic(), False
        # Files, not pipes: a rank that outlives its launcher must not keep us waiting for the end of a pipe.
        with output.open("w") as stdout, errors.open("w") as stderr:
            process = subprocess.Popen(
                ended_with_us(command),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=directory,
                env={**environment, "TMPDIR": directory},
                start_new_session=True,
                text=True,
            )
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
            finally:
                if process.poll() is None:
                    end(process)
        seconds = time.monotonic() - start
        if process.wait() != 0:
            remove_abandoned(segments() - segments_before)
        texts = [path.read_text(errors="replace") for path in (output, errors)]
        return Run(process.wait(), texts[0], texts[1], seconds, timed_out)
