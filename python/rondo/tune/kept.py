# SPDX-License-Identifier: BSD-3-Clause
"""The directory of what was measured: a file of results for each launch, so that nothing is measured twice."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec

from rondo import whole_file
from rondo.bench import results
from rondo.bench.results import Configuration, Results
from rondo.errors import Error
from rondo.selection import sharing
from rondo.tune import racing
from rondo.tune.cells import Shape

QUESTION_FILE = "tune.json"
FORMAT = 1


class Question(msgspec.Struct, frozen=True):
    """What has to be the same in all measurements of a directory."""

    machine: str
    library: str
    """What MPI_Get_library_version says."""
    rondo: str
    """Version."""
    figures: str
    """Of the machine file, without comments: segments follow from it."""
    shared_memory: str
    """Whether ranks of a node share memory: on, off, or where each has a processor (auto)."""
    format: int = FORMAT


MEANINGS = {
    "machine": "the machine",
    "library": "the MPI library",
    "rondo": "the version of Rondo",
    "figures": "the machine file",
    "shared_memory": sharing.VARIABLE,
    "format": "the format",
}


class Kept:
    """What was measured, by shape and collective."""

    def __init__(self, directory: Path) -> None:
        """Of a directory that `opened` has made."""
        self.directory = directory
        self.by_launch: list[Results] = [results.read(each) for each in sorted(directory.glob("[0-9]*.json"))]

    def add(self, measured: Results) -> None:
        """Keeps what a launch measured. Error if it cannot be written."""
        if not measured.configurations:
            return
        shape = str(shape_of(measured))
        subject = f"{shape.replace(',', '_').replace(':', '-')}-{measured.configurations[0].collective}"
        # Another rondo tune may measure at the same time.
        numbers = itertools.count(len(self.by_launch))
        while not results.write_new(measured, self.directory / f"{next(numbers):04d}-{subject}.json"):
            pass
        self.by_launch.append(measured)

    @property
    def shapes(self) -> list[Shape]:
        """Of which there is anything, the fewest ranks first."""
        return sorted(
            {shape_of(each) for each in self.by_launch},
            key=lambda each: (each.processes, each.ranks_on, each.shared_memory, each.domains),
        )

    def configurations(self, shape: Shape, collective: str) -> dict[int, dict[str, Configuration]]:
        """All repetitions there are: by count, by choice."""
        parts: dict[tuple[int, str], list[Configuration]] = {}
        for measured in self.by_launch:
            if shape_of(measured) == shape:
                for each in measured.configurations:
                    if each.collective == collective:
                        parts.setdefault((each.count, each.label), []).append(each)
        found: dict[int, dict[str, Configuration]] = {}
        for (count, label), each in parts.items():
            found.setdefault(count, {})[label] = racing.merged(each)
        return found

    def clock_error(self, shape: Shape) -> float:
        """The largest of all launches."""
        return max((each.environment.clock_error for each in self.by_launch if shape_of(each) == shape), default=0.0)

    @property
    def wrong(self) -> list[str]:
        """Candidates that delivered a wrong result."""
        return sorted(
            {f"{each.collective} {each.label}" for one in self.by_launch for each in one.configurations if each.wrong()}
        )


def opened(directory: Path, asked: Question) -> Kept:
    """What was measured in a directory, which is made if it is not there. Error if something else was asked there."""
    path = directory / QUESTION_FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists() and whole_file.write_new(path, msgspec.json.format(msgspec.json.encode(asked)) + b"\n"):
            return Kept(directory)
        before = msgspec.json.decode(path.read_bytes(), type=Question)
    except OSError as error:
        raise Error(f"cannot write into {directory}: {error.strerror}; --output names another place") from None
    except msgspec.DecodeError as error:
        raise Error(f"{path} is not what rondo tune writes: {error}") from None
    for name in Question.__struct_fields__:
        old, new = getattr(before, name), getattr(asked, name)
        if old != new:
            was = "" if name == "figures" else f" {old}, not {new}"
            raise Error(
                f"{directory} holds measurements of another kind: {MEANINGS[name]} was{was or ' another'}; remove the "
                f"directory, or name another file with --output"
            )
    return Kept(directory)


def shape_of(measured: Results) -> Shape:
    """Where its ranks were, and whether they shared memory: unasked, that depends on the processors that they got."""
    where = measured.environment
    return Shape(tuple(where.ranks_per_node), where.shared_memory, where.domains)
