# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark measured: every repetition, with all that is needed to judge and to repeat it. A file holds one."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import NamedTuple

import msgspec

from rondo import whole_file
from rondo.errors import Error
from rondo.forms import BLOCKING

FORMAT = 2
"""Of files that are written. Those of format 1 know blocking calls alone, and are read as before."""
NATIVE = "native"
BY_THE_MODEL = "predicted"
"""The choice of what the model proposes for a call."""
EQUAL = "equal"

# States of a repetition. Only "valid" ones count for times; wrong results count whatever the state is.
VALID = "valid"
LATE = "late"
"""A rank was not there when the start was due."""
DISTURBED = "disturbed"
"""The emulated network was behind its own clock."""


def parts_text(parts: str) -> str:
    """For titles: nothing where all parts are equal."""
    return f"{parts} parts" if parts != EQUAL else ""


class Repetition(msgspec.Struct, array_like=True):
    """One collective call, on all ranks together. Times in seconds."""

    seconds: float
    """From the common start (or this rank's leaving the barrier) to the end on the slowest rank."""
    mean: float
    """The same, mean over the ranks."""
    fastest: float
    """The same, of the fastest rank."""
    skew: float
    """How late the last rank started."""
    state: str
    wrong: int
    """Ranks with a wrong result."""
    computing: float = 0.0
    """How long the program computed during another call, right after this one; 0 if there was none."""
    overlapped: float = 0.0
    """What that call and the computing took together: as `seconds`."""

    @property
    def overlap(self) -> float:
        """The share of the call, or of the computing if that is shorter, that cost no time, as IMB-NBC defines it.

        NaN without computing.
        """
        shorter = min(self.seconds, self.computing)
        if not shorter > 0:
            return math.nan
        return min(1.0, max(0.0, (self.seconds + self.computing - self.overlapped) / shorter))


class Overlap(NamedTuple):
    """Of calls and computing at the same time: medians, times in seconds."""

    computing: float
    together: float
    """From the start to the end of the later of the two."""
    share: float
    """Of the shorter of the two, what cost no time."""


class Configuration(msgspec.Struct):
    """One candidate on vectors of one length, with all its repetitions in the order in which they were made."""

    collective: str
    algorithm: str
    """"native", or as in `rondo list`."""
    parameters: str
    """As given, "segment=32Ki"; empty if there are none."""
    start: str
    """How ranks start together: "barrier" or "clock"."""
    count: int
    """Elements, as in the call: those of one rank's part where the vector has parts."""
    bytes: int
    """Of the whole vector: of reduce_scatter a rank's input, of allgather its output, otherwise the root's."""
    type: str
    """Of an element, as the bench names it: "long"."""
    operator: str
    """"bxor"; empty for collectives that reduce nothing."""
    bus_factor: float
    """Bus bandwidth is bytes / seconds * bus_factor; 0 where it is not defined."""
    repetitions: list[Repetition]
    parts: str = EQUAL
    """How the vector is divided among the ranks: "equal", or as `rondo bench --parts` says."""
    form: str = BLOCKING
    """Of the call: "blocking"; "nonblocking", until MPI_Wait returns; "persistent", from MPI_Start to there."""
    pieces: int = 0
    """Of what the program computed, with an MPI_Test after each, at most; 0: nothing was computed."""

    @property
    def label(self) -> str:
        """Algorithm with its parameters: what a user would force."""
        return f"{self.algorithm}:{self.parameters}" if self.parameters else self.algorithm

    def seconds(self) -> list[float]:
        """Times of the valid repetitions."""
        return [each.seconds for each in self.repetitions if each.state == VALID]

    def overlap(self) -> Overlap | None:
        """What the valid repetitions in which the program computed say; None if there are none."""
        found = [each for each in self.repetitions if each.state == VALID and each.computing > 0]
        if not found:
            return None
        columns = ([each.computing, each.overlapped, each.overlap] for each in found)
        return Overlap(*map(statistics.median, zip(*columns, strict=True)))

    def wrong(self) -> int:
        """Repetitions in which at least one rank had a wrong result."""
        return sum(each.wrong > 0 for each in self.repetitions)

    def invalid(self) -> int:
        """Repetitions that do not count."""
        return sum(each.state != VALID for each in self.repetitions)


class Network(msgspec.Struct):
    """What a ping-pong between two nodes says: an n-byte message takes latency + n * seconds_per_byte."""

    latency: float
    """alpha, seconds."""
    seconds_per_byte: float
    """beta."""
    residual: float
    """Largest relative deviation of a measured time from the fitted line."""
    rendezvous: float = 0.0
    """What long messages take in addition, in seconds, where the library asks the receiver first."""


class Emulation(msgspec.Struct):
    """The emulated cluster that was measured, in nominal figures."""

    nodes: int
    ranks_per_node: int
    latency: float
    """Seconds."""
    rate: float
    """Bit/s of a lane."""
    lanes: int
    dropped: int = 0
    """Packets that the switch lost during the measurement."""
    network: str = ""
    """Its shape, as in fat_tree:nodes=4,taper=2; empty: messages shared no links."""


class Machine(msgspec.Struct):
    """Where it was measured, as the ranks see it."""

    library: str
    """Of MPI, as MPI_Get_library_version says, first line."""
    ranks: int
    nodes: int
    ranks_per_node: list[int]
    hosts: list[str]
    """One name a node."""
    kernel: str
    processor: str
    cores: int
    """Of the machine of rank 0."""
    clock: str
    """"shared" (one machine), or "learned" (offsets and drifts measured)."""


class Environment(Machine):
    """Where and how it was measured."""

    date: str
    """ISO 8601, UTC."""
    command: str
    """That repeats it."""
    rondo: str
    """Version."""
    abi: str
    launcher: str
    clock_error: float
    """Bound on the difference between ranks' clocks in seconds; 0 for a shared one."""
    seed: int
    network: Network | None = None
    """None on one node."""
    emulation: Emulation | None = None
    retransmissions: int = 0
    """TCP segments sent again, all nodes."""
    shared_memory: bool = False
    """Rondo's messages inside nodes went through memory that their ranks share."""
    domains: int = 1
    """Of the only node, to which its ranks were bound: caches, NUMA nodes or sockets; 1: to none, or nobody asked."""
    computing: str = ""
    """How programs computed: "loop"; "sleep", where ranks share processors. Empty if they did not."""


class Results(msgspec.Struct):
    """A measurement."""

    environment: Environment
    configurations: list[Configuration]
    complete: bool = True
    """False if it was interrupted: what is there is valid, but there is less of it than was asked for."""
    format: int = FORMAT


def read(path: Path) -> Results:
    """The measurement in a file; Error if it is none."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    return decode(text, path)


def decode(text: bytes, name: str | Path) -> Results:
    """The measurement in the text of a file; Error if it is none."""
    try:
        results = msgspec.json.decode(text, type=Results)
    except msgspec.DecodeError as error:
        raise Error(f"{name} holds no results of rondo bench: {error}") from None
    if not 1 <= results.format <= FORMAT:
        raise Error(
            f"{name} has format {results.format} of results; this version of Rondo reads formats up to {FORMAT}"
        )
    return results


def write_new(results: Results, path: Path) -> bool:
    """Writes a file that is not there yet; False if it is. Error if it cannot be written."""
    try:
        return whole_file.write_new(path, msgspec.json.encode(results) + b"\n")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None


def write(results: Results, path: Path) -> None:
    """Writes a file; Error if it cannot be written."""
    whole_file.write(path, msgspec.json.encode(results) + b"\n")
