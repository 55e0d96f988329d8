# SPDX-License-Identifier: BSD-3-Clause
"""Files that say what a benchmark page measures and shows: docs/benchmarks/*.toml.

`rondo bench --page FILE` measures it, here or on a cluster of the reader's; docs/benchmarks/making/page.py makes the
tables and figures of the page from it.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from rondo.bench import plans
from rondo.bench.maps import call_count
from rondo.bench.plans import Plan
from rondo.bench.results import EQUAL, NATIVE
from rondo.cluster import shapes
from rondo.errors import Error
from rondo.forms import BLOCKING
from rondo.launching.mpi_library import NAMES


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Measurements that differ in the library, the collective and the number of processes alone."""

    name: str
    """With {library}, if it has a name of its own with each."""
    cluster: str
    """Shape of the emulated one; {p} stands for the number of nodes."""
    candidates: str
    """Which of the page's lists, besides native."""
    counts: list[int]
    """Elements of the whole vector."""
    seconds: float
    """For each measurement."""
    repetitions: int
    libraries: tuple[str, ...] = tuple(NAMES)
    processes: tuple[int, ...] = (0,)
    """Where {p} stands in the shape."""
    type: str = "long"
    operator: str = "sum"
    warmup: int = 2
    parts: str = EQUAL
    """How the vector is divided, as `rondo bench --parts` says."""
    start: str = "clock"
    """How ranks start together, as `rondo bench --start` says."""
    form: str = BLOCKING
    """As `rondo bench --form` says; so do the next three."""
    overlap: bool = False
    computing: str | None = None
    pieces: int | None = None


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One block of the page. Its kind is a function of scripts/*_tables.py, which takes the options."""

    name: str
    """Of the block's marks; with {library} or {collective}, a block for each, whose options may have them too."""
    kind: str
    options: dict[str, Any] = {}


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figures of one kind, a function of docs/benchmarks/making/benchmark_figures.py, for each of some experiments."""

    kind: str
    experiments: list[str]


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page measures and shows."""

    file: str
    """Name of a measurement's file, with fields of {name}, {library}, {collective} and {processes}."""
    title: str
    """Of a measurement in the table that says how it went, with the same fields."""
    candidates: dict[str, dict[str, list[str]]]
    """Lists of algorithms by collective, by the name that experiments call them."""
    experiment: list[Experiment]
    table: list[Table] = []
    figure: list[Figure] = []

    @property
    def runs(self) -> list[Run]:
        """All measurements, in the order of the file."""
        return [
            Run(self, each, *facts)
            for each in self.experiment
            for facts in itertools.product(each.libraries, self.candidates[each.candidates], each.processes)
        ]

    def runs_of(self, name: str) -> list[Run]:
        """Those of an experiment; Error if there is none of this name."""
        found = [each for each in self.runs if name in (each.name, each.experiment.name)]
        if not found:
            names = dict.fromkeys(each.name for each in self.runs)
            raise Error(f"unknown experiment {name}; {plans.suggestion(name, names)}")
        return found


@dataclass(frozen=True)
class Run:
    """One measurement: what one `rondo bench` does, and one file of results holds."""

    page: Page
    experiment: Experiment
    library: str
    collective: str
    processes: int

    @property
    def name(self) -> str:
        """Of the experiment, with the library if it has one of its own with each."""
        return self.experiment.name.format(library=self.library)

    @property
    def file(self) -> str:
        """Name of the file of results."""
        return f"{self.page.file.format(**self._fields)}.json"

    @property
    def title(self) -> str:
        """What the page calls it."""
        return self.page.title.format(**self._fields)

    @property
    def cluster(self) -> str:
        """Shape of the emulated cluster."""
        return self.experiment.cluster.format(p=self.processes)

    @property
    def shape(self) -> shapes.Shape:
        """The same, read."""
        return shapes.parse(self.cluster)

    @property
    def algorithms(self) -> list[str]:
        """All candidates but native."""
        return self.page.candidates[self.experiment.candidates][self.collective]

    @property
    def counts(self) -> list[int]:
        """As in calls, in the order of the experiment's."""
        return [call_count(self.collective, each, self.shape.ranks) for each in self.experiment.counts]

    @property
    def plan(self) -> Plan:
        """What is measured; Error for what cannot be."""
        asked = self.experiment
        return plans.make(
            self.collective,
            algorithms=[NATIVE, *self.algorithms],
            counts=",".join(map(str, self.counts)),
            type_name=asked.type,
            operator=asked.operator,
            repetitions=asked.repetitions,
            warmup=asked.warmup,
            seconds=asked.seconds,
            start=asked.start,
            parts=asked.parts,
            form=asked.form,
            overlap=asked.overlap,
            computing=asked.computing,
            pieces=asked.pieces,
        )

    def command(self, where: list[str]) -> str:
        """The command that measures this alone; `where` says on what."""
        asked = self.experiment
        candidates = [word for each in (NATIVE, *self.algorithms) for word in ("--algorithm", each)]
        parts = ["--parts", asked.parts] if asked.parts != EQUAL else []
        form = ["--form", asked.form] if asked.form != BLOCKING else []
        form += ["--overlap"] if asked.overlap else []
        form += ["--computing", asked.computing] if asked.computing else []
        form += ["--pieces", str(asked.pieces)] if asked.pieces else []
        return shlex.join([
            "rondo", "bench", self.collective, *candidates, "--type", asked.type, "--op", asked.operator, *parts, *form,
            "--counts", ",".join(map(str, self.counts)), "--repetitions", str(asked.repetitions),
            "--warmup", str(asked.warmup), "--seconds", f"{asked.seconds:g}", "--start", asked.start, *where,
        ])  # fmt: skip

    @property
    def _fields(self) -> dict[str, Any]:
        names = {"name": self.name, "library": self.library, "collective": self.collective}
        return {**names, "processes": self.processes}


def read(path: Path) -> Page:
    """The page that a file describes; Error for what is wrong in it."""
    try:
        page = msgspec.toml.decode(path.read_bytes(), type=Page)
        for each in _offences(page):
            raise Error(f"{path}: {each}")
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, IndexError) as error:  # of TOML, of types, of braces in names
        raise Error(f"{path} describes no benchmark page: {error}") from None
    return page


def _offences(page: Page) -> Iterator[str]:
    for each in page.experiment:
        if each.candidates not in page.candidates:
            yield f"experiment {each.name}: there are no candidates {each.candidates!r}"
            return
        for library in each.libraries:
            if library not in NAMES:
                yield f"experiment {each.name}: unknown library {library!r}; expected {', '.join(NAMES)}"
                return
    files = [each.file for each in page.runs]
    for each in files:
        if files.count(each) > 1:
            yield f"two measurements have the file {each}"
    for each in page.runs:
        try:
            assert each.plan
        except Error as error:
            yield f"experiment {each.name}: {error}"
