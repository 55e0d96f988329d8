# SPDX-License-Identifier: BSD-3-Clause
"""What the profiler has seen of one run, all ranks together. A file holds one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rondo import whole_file
from rondo.errors import Error

FORMAT = 1

# How a rank ended.
FINALIZED = "finalized"
ABORTED = "aborted"
"""By MPI_Abort."""
CUT_OFF = "cut off"
"""Killed, exited or replaced by exec without MPI_Finalize: times end with the last call that it recorded."""


class Rank(msgspec.Struct):
    """One process of MPI_COMM_WORLD. Seconds."""

    node: int
    """Index into Profile.hosts."""
    run: float
    """From the end of MPI_Init to the begin of MPI_Finalize, or to the last call that is recorded."""
    in_mpi: float
    """In all MPI functions in that time."""
    ended: str


class Communicator(msgspec.Struct):
    """Communicators alike: made by the same function, of the same size and placement, of the same name."""

    name: str
    """That MPI_Comm_set_name gave, or MPI's own; may be empty."""
    made_by: str
    """"MPI_COMM_WORLD", "MPI_Comm_split", ..."""
    size: int
    nodes: int
    ranks_per_node: int
    """On the fullest node."""
    number: int
    """How many there were, counted once each."""


class Site(msgspec.Struct):
    """A place in the program from which MPI is called."""

    function: str
    """Of the caller; empty if nobody knows."""
    file: str
    """Of its source; empty if there is no debug information."""
    line: int
    """0 if unknown."""
    module: str
    """Base name of the executable or library."""
    offset: int
    """Of the return address in it, bytes."""
    frames: list[str] = []
    """Of Python, innermost first, "file.py:12 in step"; empty if the caller is none."""


class Function(msgspec.Struct):
    """An MPI function that is none of `lines`: point-to-point, waiting, making communicators, files and so on."""

    name: str
    calls: int
    """All ranks together."""
    seconds: list[float]
    """Of each rank of MPI_COMM_WORLD."""
    bytes: int = 0
    """Sent, all ranks together; 0 where that has no meaning."""


class Share(msgspec.Struct, array_like=True):
    """What one rank spent in the calls of a line. Seconds."""

    rank: int
    """In MPI_COMM_WORLD."""
    calls: int
    seconds: float
    """In the calls, altogether; in `completing` as well."""
    waiting: float | None
    """Of these, before the last rank of the call came: extrapolated from the calls that were sampled. None: nobody
    knows, for no call was compared with the other ranks'."""
    moving: float | None
    """After it had come."""
    sampled: int
    """Calls that were compared with the other ranks'."""
    critical: float | None = None
    """Of `moving`: on the critical path of the run (profiling/sampled.py). None: nobody knows."""
    completing: float = 0.0
    """Of `seconds`: in MPI_Wait and its like, for calls that do not block."""


class Line(msgspec.Struct):
    """Calls of a collective that are alike: function, class of size, communicator, root, operator, datatype, site."""

    function: str
    """"MPI_Allreduce"; "MPI_Iallreduce" and such have lines too."""
    collective: str
    """As `rondo list` names it, "allreduce"; empty if Rondo has no algorithm for it."""
    communicator: int
    """Index into Profile.communicators."""
    site: int
    """Index into Profile.sites."""
    root: int | None
    operator: str
    """"MPI_SUM", "user function"; empty where nothing is reduced."""
    commutative: bool
    datatype: str
    """"MPI_DOUBLE", "derived"."""
    element: int
    """Bytes of an element."""
    smallest: int
    largest: int
    """Bytes of the whole vector in these calls: as `Configuration.bytes` of rondo.bench.results."""
    bytes: int
    """The same, sum over the calls of the rank that made the most."""
    calls: int
    """Of the rank that made the most; calls of all communicators alike are added."""
    shares: list[Share]
    """Of each rank that took part."""


class Profile(msgspec.Struct):
    """A profile."""

    rondo: str
    """Version."""
    date: str
    """ISO 8601, UTC."""
    command: list[str]
    library: str
    """First line of MPI_Get_library_version."""
    abi: str
    hosts: list[str]
    """One name a node."""
    ranks: list[Rank]
    communicators: list[Communicator]
    sites: list[Site]
    functions: list[Function]
    lines: list[Line]
    clock_error: float = 0.0
    """Bound on what the ranks' clocks differ by, seconds; 0 on one machine."""
    missing: list[str] = []
    """Sentences for people: what is not in this profile, and why ("rank 3 was killed after 12 s")."""
    cluster: str = ""
    """The emulated one, as its shape; empty: none."""
    machine: str = ""
    """The text of the machine file that `rondo run` has there; empty: there is none."""
    format: int = FORMAT


class _Version(msgspec.Struct):
    """Of a profile of any format."""

    format: int = FORMAT


def read(path: Path) -> Profile:
    """The profile in a file; Error if it is none."""
    try:
        return decoded(path.read_bytes(), path)
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None


def decoded(content: bytes, path: Path) -> Profile:
    """The profile that is the content of a file; Error if it is none."""
    try:
        version = msgspec.json.decode(content, type=_Version).format
        if version != FORMAT:
            raise Error(f"{path} has format {version} of profiles; this version of Rondo reads format {FORMAT}")
        profile = msgspec.json.decode(content, type=Profile)
    except msgspec.DecodeError as error:
        raise Error(f"{path} holds no profile of rondo profile: {error}") from None
    for number, line in enumerate(profile.lines):
        for share in line.shares:
            if share.sampled == 0:  # older versions say 0
                share.waiting = share.moving = share.critical = None
        if not (0 <= line.communicator < len(profile.communicators) and 0 <= line.site < len(profile.sites)):
            raise Error(f"{path} holds no whole profile: line {number} speaks of what is not there")
    return profile


def write(profile: Profile, path: Path) -> None:
    """Writes a file; Error if it cannot be written."""
    whole_file.write(path, msgspec.json.encode(profile) + b"\n")
