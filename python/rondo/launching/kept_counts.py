# SPDX-License-Identifier: BSD-3-Clause
"""What a rank had counted when it was killed: the image that rondo/interposer/kept_tallies.cpp keeps in a file."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from rondo.forms import BLOCKING
from rondo.launching.rank_report import RankClass, RankEntry, RankReport

SUFFIX = ".counts"
MAGIC = b"rondo counts 3\0\0"
HEADER = struct.Struct("=16sQ488s")
NAMES = struct.Struct("=272s")
CLASS = struct.Struct("=5Q")
LIMITS = (64, 1 << 10, 1 << 14, 1 << 18, 1 << 22, None)
RECORD = HEADER.size


class Owner(msgspec.Struct):
    """Whose counts these are."""

    rank: int
    size: int
    host: str
    library: str
    abi: str


def decode(image: bytes) -> RankReport:
    """The report of a rank that could not write it. ValueError if this is not such a file."""
    if len(image) < RECORD or len(image) % RECORD != 0 or not image.startswith(MAGIC):
        raise ValueError("there are no counts in it")
    _, ended, facts = HEADER.unpack_from(image)
    owner = msgspec.json.decode(facts.partition(b"\0")[0], type=Owner)
    return RankReport(
        rank=owner.rank,
        size=owner.size,
        host=owner.host,
        library=owner.library,
        abi=owner.abi,
        ended=ended != 0,
        entries=list(_entries(image)),
    )


def _entries(image: bytes) -> Iterator[RankEntry]:
    for start in range(RECORD, len(image), RECORD):
        classes = list(_classes(image, start + NAMES.size))
        if classes:
            (names,) = NAMES.unpack_from(image, start)
            line, *words = (name.decode(errors="replace") for name in names.split(b"\0")[:5])
            collective, algorithm, reason, form = words
            yield RankEntry(
                collective=collective,
                algorithm=algorithm,
                reason=reason,
                classes=classes,
                line=int(line or 0),
                form=form or BLOCKING,
            )


def _classes(image: bytes, start: int) -> Iterator[RankClass]:
    for index, limit in enumerate(LIMITS):
        calls, total, nanoseconds, smallest, largest = CLASS.unpack_from(image, start + index * CLASS.size)
        if calls > 0:
            yield RankClass(
                up_to=limit,
                calls=calls,
                bytes=total,
                smallest=smallest,
                largest=largest,
                seconds=nanoseconds * 1e-9,
            )
