# SPDX-License-Identifier: BSD-3-Clause
"""What a rank that is profiled leaves in its file, as rondo/profiler/image.hpp lays it out."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

SUFFIX = ".profile"
MAGIC = b"rondo profile 2\0"
KIND = b"rondo profile "
NONE = 0xFFFFFFFF
RUNNING, FINALIZED, ABORTED = range(3)
BLOCK = 65536
"""The first part of the file is padded to a multiple of this."""
ALL_SAMPLED = 256

HEADER = struct.Struct("=16sII QQ QQQQ qQQqQQ 8I 4Q 840s")
FUNCTION = struct.Struct("=56sQQQ")
LINE = struct.Struct("=IIIIiI32s24sqQQQQQ")
SITE = struct.Struct("=QIIII8x")
COMMUNICATOR = struct.Struct("=IIiiiI8x")
INSTANCE = struct.Struct("=QIii12x")
COMPLETING = struct.Struct("=Q")
SAMPLE = struct.Struct("=QQIIII")
FUNCTIONS, LINES, SITES, COMMUNICATORS, INSTANCES, TEXTS = 768, 1024, 1024, 512, 2048, 128 * 1024


class Owner(msgspec.Struct):
    """Whose file it is. Nodes and machines are numbered by their first ranks."""

    rank: int
    size: int
    host: str
    node: int
    machine: int
    world: int
    """The same for all ranks of an MPI_COMM_WORLD, and for no others."""
    library: str
    abi: str


class Moment(NamedTuple):
    """A tick of the rank's clock, and the same on its machine's."""

    ticks: int
    nanoseconds: int


class Offset(NamedTuple):
    """What the clock of rank 0 is ahead of the machine's, nanoseconds."""

    nanoseconds: int
    error: int
    when: int


class Function(NamedTuple):
    """A function; of a collective, its calls that belong to no line."""

    name: str
    calls: int
    ticks: int
    bytes: int


class Line(NamedTuple):
    """Calls that are alike."""

    function: int
    site: int
    communicator: int
    size_class: int
    """0: ranks may have different lengths."""
    root: int
    commutative: bool
    datatype: str
    op: str
    element: int
    calls: int
    bytes: int
    ticks: int
    smallest: int
    largest: int
    completing: int
    """Ticks in MPI_Wait and its like, of calls that do not block."""


class Site(NamedTuple):
    """From where MPI is called."""

    offset: int
    module: str
    build_id: str
    frames: tuple[str, ...]
    symbol: str


class Communicator(NamedTuple):
    """Communicators that are alike."""

    name: str
    made_by: str
    size: int
    nodes: int
    ranks_per_node: int
    number: int


class Instance(NamedTuple):
    """A communicator whose calls are sampled."""

    id: int
    communicator: int
    rank: int
    size: int


class Sample(NamedTuple):
    """A call whose times were kept."""

    entry: int
    exit: int
    instance: int
    line: int
    number: int
    counter: int

    @property
    def stands_for(self) -> int:
        """Calls, since they are sampled more rarely the more there are."""
        return 1 << (self.number // ALL_SAMPLED).bit_length()


@dataclass(frozen=True)
class Image:
    """A file."""

    owner: Owner
    state: int
    begin: int
    last: int
    first_moment: Moment
    later_moment: Moment
    offsets: list[Offset]
    calls_without_line: int
    texts_without_place: int
    instances_without_place: int
    samples_without_place: int
    functions: list[Function]
    lines: list[Line]
    sites: list[Site]
    communicators: list[Communicator]
    instances: list[Instance]
    samples: list[Sample]


def decode(data: bytes) -> Image:
    """The image in a file. ValueError, which says why, if there is none."""
    if len(data) < HEADER.size or not data.startswith(KIND):
        raise ValueError("there is no profile in it" if any(data[:16]) else "it was never begun")
    if not data.startswith(MAGIC):
        version = data[len(KIND) : 16].partition(b"\0")[0].decode(errors="replace")
        raise ValueError(f"it was written by another version of Rondo (format {version})")
    (_, state, clocks, begin, last, *rest) = HEADER.unpack_from(data)
    moments, offsets, counts, lost, owner = rest[:4], rest[4:10], rest[10:18], rest[18:22], rest[22]
    functions, lines, sites, communicators, instances, _, samples, _ = counts
    starts = [HEADER.size]
    for record, number in (
        (FUNCTION, FUNCTIONS),
        (LINE, LINES),
        (SITE, SITES),
        (COMMUNICATOR, COMMUNICATORS),
        (INSTANCE, INSTANCES),
        (COMPLETING, LINES),
    ):
        starts.append(starts[-1] + record.size * number)
    texts = starts[-1]
    first_sample = -(-(texts + TEXTS) // BLOCK) * BLOCK
    if len(data) < first_sample:
        raise ValueError(f"it is cut off: {len(data)} of {first_sample} bytes")
    samples = min(samples, (len(data) - first_sample) // SAMPLE.size)

    def text(place: int) -> str:
        return data[texts + place : data.index(b"\0", texts + place)].decode(errors="replace") if place else ""

    return Image(
        owner=msgspec.json.decode(_until_zero(owner), type=Owner),
        state=state,
        begin=begin,
        last=last,
        first_moment=Moment(*moments[:2]),
        later_moment=Moment(*moments[2:]),
        offsets=[Offset(*offsets[:3]), Offset(*offsets[3:])][:clocks],
        calls_without_line=lost[0],
        texts_without_place=lost[1],
        instances_without_place=lost[2],
        samples_without_place=lost[3],
        functions=[
            Function(_text(name), *numbers) for name, *numbers in _records(FUNCTION, data, starts[0], functions)
        ],
        lines=[
            _line(record, ticks)
            for record, (ticks,) in zip(
                _records(LINE, data, starts[1], lines), _records(COMPLETING, data, starts[5], lines), strict=True
            )
        ],
        sites=[
            Site(offset, text(module), text(build_id), tuple(text(frames).splitlines()), text(symbol))
            for offset, module, build_id, frames, symbol in _records(SITE, data, starts[2], sites)
        ],
        communicators=[
            Communicator(text(name), text(made_by), *numbers)
            for name, made_by, *numbers in _records(COMMUNICATOR, data, starts[3], communicators)
        ],
        instances=[Instance(*record) for record in _records(INSTANCE, data, starts[4], instances)],
        samples=[Sample(*record) for record in _records(SAMPLE, data, first_sample, samples)],
    )


def _records(record: struct.Struct, data: bytes, start: int, number: int) -> Iterator[tuple]:
    return record.iter_unpack(data[start : start + record.size * number])


def _line(record: tuple, completing: int) -> Line:
    function, site, communicator, size_class, root, commutative, datatype, op, *numbers = record
    kind = (function, site, communicator, size_class, root, bool(commutative), _text(datatype), _text(op))
    return Line(*kind, *numbers, completing)


def _until_zero(data: bytes) -> bytes:
    return data.partition(b"\0")[0]


def _text(data: bytes) -> str:
    return _until_zero(data).decode(errors="replace")
