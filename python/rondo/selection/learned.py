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
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.machine import machine

VARIABLE = "RONDO_LEARNED"
NONE = "none"
SUFFIX = ".verdicts"
MACHINE_SUFFIX = ".machine"
BEGINNINGS = {"mpich": "MPICH", "openmpi": "Open MPI", "impi": "Intel(R) MPI"}
"""Of what MPI libraries call themselves, as conditions of rules know them."""
NOT_COMPARED = "could not be compared"


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


def rules(verdicts: tuple[Verdict, ...], library: str | None = None) -> list[str]:
    """Lines of a rules file that say the same, to stand above others. Of several choices, the fastest.

    `library`: the only one that they are for.
    """
    return [_rule(condition, known, library) for condition, known in kinds(verdicts).items()]


def kinds(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Those about the same calls, by which calls these are, as rules say it. Rules cannot tell sums from others."""
    found: dict[str, list[Verdict]] = {}
    for each in verdicts:
        found.setdefault(_condition(each), []).append(each)
    return found


def ratios(known: Sequence[Verdict]) -> dict[str, float]:
    """By choice, its time to the library's. `known`: verdicts about the same calls; their geometric mean counts.

    Infinite for a choice that could not be compared.
    """
    found: dict[str, list[float]] = {}
    for each in known:
        found.setdefault(each.choice, []).extend([math.log(each.ratio)] if each.compared else [])
    return {choice: math.exp(sum(each) / len(each)) if each else math.inf for choice, each in found.items()}


def best(known: Sequence[Verdict]) -> str:
    """Who is the fastest for these calls: a choice, or the library ("native")."""
    found = ratios(known)
    choice = min(found, key=found.__getitem__)
    return choice if found[choice] < 1 else NATIVE


def _condition(verdict: Verdict) -> str:
    """Which calls a verdict is about, as rules say it."""
    conditions = [] if verdict.is_of_any_length else [f"bytes in {verdict.lowest}..{verdict.highest}"]
    conditions.append(f"processes = {verdict.processes}")
    if verdict.nodes > 0:
        conditions.append(f"nodes = {verdict.nodes}")
        if verdict.fewest_on_node == verdict.most_on_node:
            conditions.append(f"ranks_per_node = {verdict.most_on_node}")
        if verdict.most_on_node > 1:
            conditions.append(f"shared_memory = {'yes' if verdict.shared_memory else 'no'}")
    if any(each["name"] == verdict.collective and each["has_operation"] for each in _core.collectives()):
        conditions.append(f"commutative = {'yes' if verdict.commutative else 'no'}")
    return f"{verdict.collective} {', '.join(conditions)}"


def _rule(condition: str, known: Sequence[Verdict], library: str | None) -> str:
    took = ", ".join(took_text(choice, ratio) for choice, ratio in ratios(known).items())
    where = f", library = {library}" if library is not None else ""
    return f"{condition}{where} -> {best(known)}  # {took} on {max(each.day for each in known)}"


def took_text(choice: str, ratio: float | None) -> str:
    """What a choice took, for people."""
    if ratio is None or math.isinf(ratio):
        return f"{choice} {NOT_COMPARED}"
    return f"{choice} took {ratio_text(ratio)} of the library's time"


def ratio_text(ratio: float) -> str:
    """With two digits at least: 14.44, 0.43, 0.0037."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def as_rows(kept: Kept) -> list[dict[str, Any]]:
    """For programs."""
    return [{**each.__dict__, "file": str(kept.path), "lost": None if each.begun else each.lost} for each in kept.all]
