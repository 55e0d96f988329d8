# SPDX-License-Identifier: BSD-3-Clause
"""What the guard has found out in earlier runs: a file for each machine and MPI library."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rondo
from rondo import _core
from rondo.bench import plans
from rondo.errors import Error
from rondo.machine import machine

VARIABLE = "RONDO_LEARNED"
NONE = "none"
SUFFIX = ".verdicts"
MACHINE_SUFFIX = ".machine"
BEGINNINGS = {"mpich": "MPICH", "openmpi": "Open MPI", "impi": "Intel(R) MPI"}
"""Of what MPI libraries call themselves, as conditions of rules know them."""


@dataclass(frozen=True)
class Verdict:
    """Who carried out calls of a kind faster, by a few of each: Rondo's choice or the library."""

    collective: str
    bytes: int
    """Of the vector in the first call."""
    lowest: int
    """Bytes of the shortest call that it holds for."""
    highest: int
    """The same of the longest."""
    commutative: bool
    rounding: bool
    """The last bits of results depend on who carries the call out."""
    empty_parts: bool
    """Some rank has no part and need not wait for all, as it would in other calls of the collective."""
    processes: int
    nodes: int
    """0: nobody knows; so for the next two."""
    fewest_on_node: int
    most_on_node: int
    in_rank_order: bool
    shared_memory: bool
    """All messages inside nodes went through memory that ranks share."""
    domains: int
    """Of the only node, to which its ranks were bound."""
    choice: str
    """Rondo's, as the rules have it."""
    rondo: float
    """Seconds of the fastest call by Rondo's choice; 0, as the library's: they could not be compared."""
    library: float
    """The same of the library's."""
    calls: int
    """Of each that were compared; 0: nobody knows."""
    alone: float
    """Not 0 if the calls came in a row and may have overlapped: about the seconds of one alone."""
    begun: int
    """Not 0: no verdict yet. So many calls of both were timed when the program ended."""
    day: str
    line: str
    """As it stands in the file."""

    @property
    def compared(self) -> bool:
        """Did the ranks come together for such calls?"""
        return self.rondo > 0 or self.library > 0

    @property
    def is_of_any_length(self) -> bool:
        """Is it about calls whose lengths no rank knows?"""
        return self.collective in plans.OF_LOCAL_LENGTHS

    @property
    def in_row(self) -> bool:
        """Did the calls come in a row, so that they may have overlapped?"""
        return self.alone > 0

    @property
    def lost(self) -> bool:
        """Does the library have such calls?"""
        return not self.compared or self.library <= self.rondo

    @property
    def ratio(self) -> float:
        """Of Rondo's time to the library's; infinite if nobody knows, so that the library is the better choice."""
        if not self.compared:
            return math.inf
        return self.rondo / self.library if self.library > 0 and self.rondo > 0 else 1.0


@dataclass(frozen=True)
class Proposal:
    """What the model has proposed for calls of a kind; the next run need not ask it."""

    collective: str
    processes: int
    choice: str
    seconds: float
    """Predicted."""
    day: str
    line: str
    """As it stands in the file."""


@dataclass(frozen=True)
class Complaint:
    """A line that cannot be read."""

    line: int
    what: str


@dataclass(frozen=True)
class Kept:
    """What is in a file."""

    path: Path
    verdicts: tuple[Verdict, ...]
    begun: tuple[Verdict, ...]
    """Without a verdict yet."""
    complaints: tuple[Complaint, ...]
    proposals: tuple[Proposal, ...] = ()

    @property
    def all(self) -> tuple[Verdict, ...]:
        """Verdicts, and what may become one."""
        return self.verdicts + self.begun

    def about(self, collective: str) -> Kept:
        """What it says about one collective."""

        def about_it(lines: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
            return tuple(each for each in lines if each.collective == collective)

        proposals = tuple(each for each in self.proposals if each.collective == collective)
        return dataclasses.replace(
            self, verdicts=about_it(self.verdicts), begun=about_it(self.begun), proposals=proposals
        )


def default_directory(environment: Mapping[str, str]) -> Path:
    """Where files lie unless it is named: rondo/learned in the user's directory for what programs remember."""
    base = environment.get("XDG_STATE_HOME") or Path(environment.get("HOME") or "~").expanduser() / ".local" / "state"
    return Path(base) / "rondo" / "learned"


def directory(named: str | None, environment: Mapping[str, str], *, make: bool = False) -> Path | None:
    """Where verdicts are kept; None: nowhere. Made on demand; Error if that fails."""
    if named == NONE:
        return None
    path = (Path(named) if named else default_directory(environment)).absolute()
    if make:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"--learned {named}: cannot make that directory" if named else f"cannot make {path}"
            raise Error(f"{what}: {error.strerror}") from None
    return path


def files(path: Path) -> list[Path]:
    """Those of a directory, or the one that is named; Error if there is no such thing."""
    if path.is_dir():
        return sorted(path.glob(f"*{SUFFIX}"))
    if not path.exists():
        raise Error(f"{path}: no such file or directory")
    return [path]


def read(path: Path) -> Kept:
    """What a file says, and which lines say nothing; Error if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Error(f"cannot read {path}: not a text file") from None
    found, complaints, proposals = _core.read_verdicts(text)
    lines = [Verdict(**each) for each in found]
    return Kept(
        path,
        verdicts=tuple(each for each in lines if not each.begun),
        begun=tuple(each for each in lines if each.begun),
        complaints=tuple(Complaint(line, what) for line, what in complaints),
        proposals=tuple(Proposal(**each) for each in proposals),
    )


def file_name(library: str, machine_text: str, host: str = "") -> str:
    """Of the file about an MPI library, as it calls itself, on a machine. `host`: one of its hosts; empty: this one."""
    return _core.verdict_file_name(host or socket.gethostname(), library, rondo.__version__, machine_text)


def measured_machine(path: Path | None, library: str, host: str = "") -> Path | None:
    """The machine file that programs under Rondo have made in a directory, if there is one. `host`: as of `file_name`.

    A program makes it in MPI_Init where it has several nodes and nobody has named a machine file.
    """
    if path is None:
        return None
    file = path / _core.measured_machine_file_name(host or socket.gethostname(), library)
    return file if file.is_file() else None


def figures(named: str | None, environment: Mapping[str, str], path: Path | None, library: str) -> Path | None:
    """The machine file that holds for programs with this MPI library; None: the standard figures do.

    `named`: by the user; `path`: where programs keep what they have learned. Error if the file is malformed.
    """
    found = machine.find(named, environment)
    return found if found is not None or named is not None else measured_machine(path, library)


def about(path: Path | None, library: str, machine_text: str, host: str = "") -> tuple[Verdict, ...]:
    """What is known in a directory (None: nothing) about an MPI library, as it calls itself, on this machine.

    `host`: as of `file_name`.
    """
    if path is None:
        return ()
    file = path / file_name(library, machine_text, host)
    return read(file).verdicts if file.exists() else ()


def change(path: Path, *, add: str = "", forget: Sequence[str] = ()) -> None:
    """Adds the verdicts of a text to a file, and removes lines from it, whoever else writes meanwhile."""
    problem = _core.change_verdicts(str(path), add, list(forget))
    if problem:
        raise Error(problem)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """While nobody else changes a file of verdicts, or what is beside it. Error after a second."""
    lock = path.with_name(f"{path.name}.lock")
    with contextlib.suppress(OSError):  # noticed below
        lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor, error = _core.take_lock(str(lock))
    if error:
        raise Error(f"{lock}: {os.strerror(error)}")
    try:
        yield
    finally:
        os.close(descriptor)


def age(verdict: Verdict | Proposal) -> float:
    """Days since it was found out; infinitely many if nobody knows."""
    try:
        day = datetime.date.fromisoformat(verdict.day)
    except ValueError:
        return math.inf
    return (datetime.datetime.now(datetime.timezone.utc).date() - day).days


def library_here(path: Path) -> str | None:
    """The MPI library that a file is about; None if its name says another machine or version of Rondo."""
    host = _core.name_of_hosts(socket.gethostname())
    for library, text in BEGINNINGS.items():
        beginning, end = (re.sub(r"[^A-Za-z0-9.]", "-", each) for each in (f"{host} {text}", f" {rondo.__version__}."))
        if path.name.startswith(beginning) and end in path.name:
            return library
    return None


def is_in_force(path: Path) -> bool:
    """Would programs read this file now, of those about its MPI library here? They differ in the machine's figures."""
    host = _core.name_of_hosts(socket.gethostname())
    library = path.name.removeprefix(f"{host}-").partition(f"-{rondo.__version__}.")[0].replace("-", " ")
    figures_file = figures(None, os.environ, path.parent, library)
    text = figures_file.read_text(encoding="utf-8") if figures_file is not None else machine.standard().text()
    return path.name == file_name(library, text)


def as_rows(kept: Kept) -> list[dict[str, Any]]:
    """For programs."""
    return [{**each.__dict__, "file": str(kept.path), "lost": None if each.begun else each.lost} for each in kept.all]
