# SPDX-License-Identifier: BSD-3-Clause
"""Where `rondo tune` measures: all ranks that a launcher or an emulated cluster starts, and parts of them.

Programs split communicators. So half of the ranks, those of one node, and one of each node are measured as well. Under
a launcher the others sleep meanwhile; on a cluster only these are started.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.bench import bench, launches, plans
from rondo.bench.launches import Place
from rondo.bench.maps import PLACEHOLDER
from rondo.bench.results import NATIVE
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.machine import calibrate, machine
from rondo.tune.cells import Shape
from rondo.tune.kept import shape_of

Say = Callable[[str], None]


@dataclass(frozen=True)
class Site:
    """Ranks that can be started."""

    place: Place
    shape: Shape
    library: str
    """What MPI_Get_library_version says."""
    figures: Path
    """The machine file, by which times are predicted."""
    start_seconds: float
    """That it takes to start them."""


@dataclass(frozen=True)
class Asked:
    """What users write."""

    launcher: tuple[str, ...]
    cluster: str | None
    mpi: str | None
    processes: str | None

    def checked(self) -> Asked:
        """Itself; Error for what is wrong in it, before anything starts."""
        holds_place = any(PLACEHOLDER in each for each in self.launcher)
        if self.launcher and self.processes is not None and not holds_place:
            raise Error(
                f"--processes: the launcher says how many ranks there are; write {PLACEHOLDER} in place of that "
                f"number, as in: rondo tune --processes 64,32 -- mpiexec -n {PLACEHOLDER}"
            )
        if holds_place and self.processes is None:
            raise Error(f"how many are {PLACEHOLDER}? Expected --processes, as in --processes 64,32")
        if not self.launcher and self.cluster is None:
            raise Error(
                "where to measure? Expected a launcher, as in: rondo tune -- mpiexec -n 64; or an emulated cluster: "
                "--cluster 8x1:2ms:200Mbit"
            )
        return self

    def compile(self, say: Say) -> None:
        """The benchmark driver, if it is not there. Error if there is no such MPI library."""
        library = launches.make(self._words(2), self.cluster, self.mpi).library
        launches.driver_for(library, lambda: say("compiling the benchmark driver, once for this MPI"))

    def _words(self, processes: int) -> tuple[str, ...]:
        return tuple(each.replace(PLACEHOLDER, str(processes)) for each in self.launcher)

    def places(self) -> list[Place]:
        """Under the launcher, the most ranks first."""
        numbers = plans.processes_of(self.processes) if self.processes is not None else (0,)
        return [launches.make(self._words(each), None, self.mpi) for each in sorted(numbers, reverse=True)]


@contextlib.contextmanager
def opened(asked: Asked, say: Say) -> Iterator[tuple[list[Site], list[str]]]:
    """What can be measured, the most ranks first, and what cannot. Error if no ranks can be started."""
    with contextlib.ExitStack() as stack:
        if asked.cluster is not None:
            yield _of_cluster(asked, stack, say)
        else:
            yield _of_launcher(asked, say)


def _of_launcher(asked: Asked, say: Say) -> tuple[list[Site], list[str]]:
    places = asked.places()
    named = os.environ.get(machine.VARIABLE) or None
    if named == machine.STANDARD:
        raise Error(
            f"{machine.VARIABLE}={named}: rondo tune goes by figures of this machine; leave the variable out, and they "
            "are measured"
        )
    figures = machine.find(named, os.environ) or calibrated(places[0], say)
    sites = [_visit(each, figures, say) for each in places]
    halves = ["half"] if asked.processes is None else []
    for part in _parts(sites[0].shape.ranks_on, halves):
        site = _visit(dataclasses.replace(places[0], part=part), figures, say)
        if site.shape not in {each.shape for each in sites}:
            sites.append(site)
    return sorted(sites, key=lambda each: -each.shape.processes), []


def _parts(ranks_on: Sequence[int], halves: list[str]) -> list[str]:
    """Of ranks on these nodes, the parts that are not the whole and have two or more."""
    found = halves if sum(ranks_on) // 2 >= 2 else []
    if len(ranks_on) > 1 and ranks_on[0] > 1:
        found = [*found, "node"]
    return [*found, "leaders"] if len(ranks_on) > 1 and max(ranks_on) > 1 else found


def _of_cluster(asked: Asked, stack: contextlib.ExitStack, say: Say) -> tuple[list[Site], list[str]]:
    assert asked.cluster is not None
    running = stack.enter_context(cluster.opened(asked.cluster))
    shape = running.shape
    wanted = {shape.ranks, shape.ranks // 2, *([shape.per_node] if shape.nodes > 1 else [])}
    if asked.processes is not None:
        wanted = set(plans.processes_of(asked.processes))
    numbers = sorted((each for each in wanted if each >= 2), reverse=True)
    places = [launches.make((), running.name, asked.mpi, None, each) for each in numbers]
    sites = [_visit(each, running.directory / "machine", say) for each in places]
    left_out = []
    if shape.nodes > 1 and shape.per_node > 1:
        if ":" in asked.cluster and asked.processes is None:
            thin = stack.enter_context(cluster.start(dataclasses.replace(shape, per_node=1)))
            sites.append(_visit(launches.make((), thin.name, asked.mpi), thin.directory / "machine", say))
        else:
            left_out.append("one rank of each node")
    return sites, left_out


def _visit(place: Place, figures: Path, say: Say) -> Site:
    """Starts the ranks once, to learn where they are. Error if they cannot be started."""
    began = time.monotonic()
    plan = plans.make("barrier", algorithms=[NATIVE, "dissemination"], repetitions=1, warmup=0, seconds=1)
    outcome = bench.run(plan, place)
    found = outcome.results
    if found is None or outcome.exit_code:
        raise Error(
            f"nothing was measured: the launcher ended with {outcome.exit_code} before the ranks had started",
            outcome.exit_code or 2,
        )
    environment = found.environment
    seconds = time.monotonic() - began
    site = Site(place, shape_of(found), environment.library, figures, seconds)
    say(f"{site.shape.text}, {site.library}; starting them takes {site.start_seconds:.1f} s")
    return site


def calibrated(place: Place, say: Say) -> Path:
    """A machine file for the launcher's ranks, where `rondo run` finds it. Error if it cannot be made."""
    path = machine.default_path(os.environ)
    say(f"there is no machine file: measuring what messages cost, as rondo calibrate does, into {path}")
    mpi = str(place.library.launcher)
    measured = calibrate.measure(place.launcher_words, None, mpi, lambda stage: say(f"measuring {stage}"))
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    remarks = f"Measured by rondo tune, {date}\n{' '.join(place.launcher_words)}\n{measured.library}"
    machine.write(path, measured.machine.text(remarks))
    return path
