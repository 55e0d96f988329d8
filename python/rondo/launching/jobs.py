# SPDX-License-Identifier: BSD-3-Clause
"""The files that jobs leave in a directory of the site (rondo/interposer/job.cpp), and sums of many of them."""

from __future__ import annotations

import contextlib
import datetime
import os
import pwd
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from rondo.errors import Error
from rondo.launching.rank_report import RankReport, Trial
from rondo.reports.style import counted, time_text

MOST_BYTES = 4 << 20
"""Of a file: jobs leave far less, but anybody may write into such a directory."""


class Sum(msgspec.Struct):
    """Calls of one collective that were carried out alike, on all ranks."""

    collective: str
    by: Literal["rondo", "library", "taken_back", "trial"]
    """"rondo", or "library": as "taken_back" by the guard, as in a "trial" of it, or for other reasons."""
    calls: int
    bytes: int
    seconds: float


class Job(msgspec.Struct):
    """What one job did."""

    rondo: str
    """Version."""
    uid: int
    batch_job: str
    """Its number in the batch system; empty outside one."""
    program: str
    """Path."""
    rules: str
    began: Annotated[int, msgspec.Meta(ge=0, le=1 << 37)]
    """Seconds since 1970; calendars end thousands of years after that."""
    seconds: float
    all_ranks: bool
    """False: the sums are rank 0's. The job did not come to MPI_Finalize, or its ranks did not agree there."""
    sums: list[Sum]
    rank: RankReport
    """Rank 0, in detail."""
    owner: str = ""
    """Of the file."""


def read(directory: Path) -> tuple[list[Job], list[str]]:
    """All jobs of a directory from the earliest on, and what cannot be read. Error if it is no directory."""
    if not directory.is_dir():
        raise Error(f"{directory} is no directory: expected the one that `jobs` names in the configuration")
    return read_files(files_in(directory))


def files_in(directory: Path) -> list[Path]:
    """Those that may be of jobs, which the site may sort into directories of their own."""
    return sorted(directory.rglob("*.json"))


def read_files(paths: Iterable[Path]) -> tuple[list[Job], list[str]]:
    """As `read`."""
    found, unreadable = [], []
    for path in paths:
        try:
            found.append(_read_one(path))
        except (OSError, ValueError, RecursionError) as error:  # msgspec's are among them
            unreadable.append(f"{path}: {error}")
    return sorted(found, key=lambda job: job.began), unreadable


def _open_own(path: str, flags: int) -> int:
    """Opens no link, which may name somebody else's file, and waits for no writer of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _read_one(path: Path) -> Job:
    with open(path, "rb", opener=_open_own) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError("too long for the file of a job")
    job = msgspec.json.decode(content, type=Job)
    owner = status.st_uid  # nobody can claim to be somebody else
    with contextlib.suppress(KeyError):
        job.owner = pwd.getpwuid(owner).pw_name
    job.owner = job.owner or str(owner)
    return job


@dataclass
class Total:
    """Of some jobs. Calls and seconds are those of all ranks."""

    name: str
    jobs: int = 0
    rondo_calls: int = 0
    rondo_seconds: float = 0
    library_calls: int = 0
    library_seconds: float = 0
    taken_back_calls: int = 0
    """By the guard, because the library was faster."""
    taken_back_seconds: float = 0
    trial_calls: int = 0
    """Carried out by the library while the guard had not found out who is faster."""
    trial_seconds: float = 0
    gained: float = 0
    """Seconds, by the guard's comparisons: what calls by Rondo would have taken in the library, less what they took."""
    compared_calls: int = 0
    """Calls by Rondo of which such a comparison tells."""
    rank_0_alone: int = 0
    """Jobs that did not add up what their ranks did: rank 0 is counted."""

    @property
    def seconds(self) -> float:
        """In collectives."""
        return self.rondo_seconds + self.library_seconds + self.taken_back_seconds + self.trial_seconds

    def add(self, job: Job) -> None:
        """Counts a job, too."""
        self.jobs += 1
        self.rank_0_alone += not job.all_ranks
        for each in job.sums:
            self.add_calls(each)
        ranks = job.rank.size if job.all_ranks else 1
        for calls, seconds in _gains(job.rank):
            self.compared_calls += calls * ranks
            self.gained += seconds * ranks

    def add_calls(self, some: Sum) -> None:
        """Counts calls, too."""
        calls, seconds = f"{some.by}_calls", f"{some.by}_seconds"
        setattr(self, calls, getattr(self, calls) + some.calls)
        setattr(self, seconds, getattr(self, seconds) + some.seconds)


def gain_text(total: Total) -> str:
    """What the guard's comparisons say of calls by Rondo."""
    if not total.compared_calls:
        return "not compared"
    sign = "-" if total.gained < 0 else ""
    return f"{sign}{time_text(abs(total.gained))}" if total.gained else "0"


def _gains(rank: RankReport) -> Iterator[tuple[int, float]]:
    """For calls that Rondo carried out and the guard has compared: how many, and what they gained."""
    for entry in rank.entries:
        if entry.algorithm == "native":
            continue
        for each in entry.classes:
            held = [trial for trial in rank.trials if _is_about(trial, entry.collective, entry.algorithm, each.up_to)]
            if held:
                gain = sum(trial.library - trial.rondo for trial in held) / len(held)
                yield each.calls, each.calls * gain


def _is_about(trial: Trial, collective: str, algorithm: str, up_to: int | None) -> bool:
    same = (trial.collective, trial.choice.partition(":")[0]) == (collective, algorithm)
    limits = (64, 1 << 10, 1 << 14, 1 << 18, 1 << 22, None)
    size_class = next(limit for limit in limits if limit is None or trial.bytes <= limit)
    return same and trial.rondo > 0 and trial.library > 0 and size_class == up_to


def remarks(found: Iterable[Job]) -> list[str]:
    """What has to be known about the sums."""
    alone = [job for job in found if not job.all_ranks]
    if not alone:
        return []
    unfinished = sum(not job.rank.ended for job in alone)
    return [
        f"of {counted(len(alone), 'job')} rank 0 alone is counted: {unfinished} did not come to MPI_Finalize, "
        f"and in {len(alone) - unfinished} the ranks did not agree"
    ]


GROUPS: dict[str, Callable[[Job], str]] = {
    "user": lambda job: job.owner,
    "program": lambda job: Path(job.program).name,
    "library": lambda job: job.rank.library,
    "host": lambda job: job.rank.host,
    "day": lambda job: datetime.datetime.fromtimestamp(job.began).astimezone().date().isoformat(),
}
"""By what jobs can be added up."""


def totals(jobs: Iterable[Job], group: str) -> list[Total]:
    """Sums of the jobs that have something in common, those with the most time in collectives first."""
    found: dict[str, Total] = {}
    for job in jobs:
        name = GROUPS[group](job)
        found.setdefault(name, Total(name)).add(job)
    return sorted(found.values(), key=lambda total: total.seconds, reverse=True)


def collectives(jobs: Iterable[Job]) -> list[Total]:
    """Sums by collective. Jobs are those that called it; gains are not told apart."""
    found: dict[str, Total] = {}
    for job in jobs:
        for name in sorted({each.collective for each in job.sums}):
            total = found.setdefault(name, Total(name))
            total.jobs += 1
            for each in job.sums:
                if each.collective == name:
                    total.add_calls(each)
    return [found[name] for name in sorted(found)]
