# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo report` is given: results of `rondo bench`, profiles, comparisons, reports of `rondo run`.

Files say by their content which.
"""

from __future__ import annotations

import enum
from pathlib import Path

import msgspec

from rondo.errors import Error

EXPECTED = "expected a file of rondo bench, profile, compare or run --report"


class Kind(enum.Enum):
    """Of a file; the value is what people call it."""

    RESULTS = "results of rondo bench"
    PROFILE = "a profile of rondo profile"
    COMPARISON = "a comparison of rondo compare"
    RUN = "a report of rondo run"


SIGNS = {
    Kind.RESULTS: {"environment", "configurations"},
    Kind.PROFILE: {"ranks", "communicators", "lines"},
    Kind.COMPARISON: {"rivals", "verdicts"},
    Kind.RUN: {"ranks", "entries", "cut_short"},
}
"""Members of the JSON object that only files of this kind have."""


def kind(path: Path) -> Kind:
    """What a file holds. Error if it cannot be read, is cut off, or holds something else."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    try:
        members = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise Error(f"{path} holds other JSON; {EXPECTED}") from None
    except msgspec.DecodeError as error:
        if not content:
            raise Error(f"{path} is empty; {EXPECTED}") from None
        ends_in_a_number = f"(byte {len(content)})" in str(error)
        if content.lstrip()[:1] == b"{" and ("truncated" in str(error) or ends_in_a_number):
            raise Error(f"{path} is cut off after {len(content)} bytes: its end is missing") from None
        raise Error(f"{path} holds no JSON ({error}); {EXPECTED}") from None
    for each, signs in SIGNS.items():
        if signs <= members.keys():
            return each
    raise Error(f"{path} holds other JSON; {EXPECTED}")


def one_kind(paths: list[Path]) -> Kind:
    """What all files hold; Error if they differ."""
    kinds = {path: kind(path) for path in paths}
    first, *_ = kinds.items()
    for path, each in kinds.items():
        if each is not first[1]:
            raise Error(
                f"{first[0]} holds {first[1].value}, {path} {each.value}; expected files of one kind: make two pages"
            )
    return first[1]
