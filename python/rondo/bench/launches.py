# SPDX-License-Identifier: BSD-3-Clause
"""Where `rondo bench` measures: under a launcher of the user's, or on an emulated cluster; and the driver for it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.bench import prebuilt
from rondo.bench.results import Emulation
from rondo.cluster import cluster, shapes
from rondo.errors import Error
from rondo.launching import abi, installation, launcher, mpi_library, preload, settings
from rondo.launching.mpi_library import MpiLibrary
from rondo.machine import machine, placement
from rondo.selection import sharing

DRIVER = "bench"
KEPT = (machine.VARIABLE, sharing.VARIABLE)
"""Variables of the user's that hold of all algorithms."""


@dataclass(frozen=True)
class Place:
    """An MPI library, with a launcher's words or an emulated cluster. `make` makes it."""

    library: MpiLibrary
    launcher_words: tuple[str, ...] = ()
    cluster_text: str | None = None
    nodes: str | None = None
    """On which Rondo takes the ranks to be, whatever the MPI library says."""
    processes: int | None = None
    """Of the cluster's, which fill node after node; None: all."""
    part: str | None = None
    """Of the launcher's ranks that measure: half, node (that of rank 0) or leaders (one of each); None: all."""

    @property
    def abi(self) -> str:
        """Binary interface of the library."""
        return mpi_library.ABI_OF[self.library.name]


@dataclass(frozen=True)
class Launch:
    """What to run, and on what."""

    words: list[str]
    environment: dict[str, str]
    emulation: Emulation | None = None


def make(
    launcher_words: Sequence[str],
    cluster_text: str | None,
    wanted: str | None,
    nodes: str | None = None,
    processes: int | None = None,
) -> Place:
    """A place from what users write: a launcher without a program, or a cluster. Error for what is wrong in it.

    Rondo must not be preloaded there: what it does would be taken for the MPI library's own.
    """
    if processes is not None and cluster_text is None:
        raise Error("--processes without --map goes with --cluster; a launcher says itself how many there are")
    preload.refuse_rondo(os.environ.get(preload.PRELOAD))
    if cluster_text is not None:
        if launcher_words:
            raise Error(f"--cluster starts the ranks itself; leave out the launcher: {' '.join(launcher_words)}")
        if ":" in cluster_text:
            most = shapes.parse(cluster_text).ranks
            if processes is not None and processes > most:
                raise Error(f"--processes {processes}: {cluster_text} has {most}")
        else:
            cluster.find(cluster_text)
        return Place(mpi_library.find(wanted or "mpich", os.environ), (), cluster_text, nodes, processes)
    if not launcher_words:
        raise Error(
            "where to measure? Expected a launcher, as in: rondo bench exscan -- mpiexec -n 8; or an emulated cluster: "
            "--cluster 8x1:2ms:200Mbit"
        )
    line = launcher.read(list(launcher_words), os.environ)
    preload.refuse_rondo_in(line, os.environ)
    program = next((words[0] for words, _ in line.programs()), line.programs_elsewhere)
    if program is not None:
        raise Error(f"{program}: expected a launcher with its options and no program; the benchmark is the program")
    if wanted is None and line.kind not in launcher.MPI_OF:
        raise Error(f"{launcher_words[0]} starts programs of any MPI; name one: --mpi mpich|openmpi|impi|PATH")
    return Place(mpi_library.find(wanted or launcher_words[0], os.environ), tuple(launcher_words), nodes=nodes)


def driver_for(library: MpiLibrary, before: Callable[[], None] = lambda: None) -> Path:
    """The driver for this library: the one that came with the package if it fits, else compiled.

    `before` is called if that is still to be done.
    """
    return prebuilt.driver_for(library) or _compiled_driver(library, before)


def _compiled_driver(library: MpiLibrary, before: Callable[[], None]) -> Path:
    sources = sorted(installation.BENCH_SOURCES.glob("*.cpp"))
    headers = sorted(installation.BENCH_SOURCES.rglob("*.hpp"))
    if not sources:
        raise Error(f"this installation of Rondo is incomplete: there are no sources in {installation.BENCH_SOURCES}")
    prefix = installation.LIBRARIES / f"librondo-prefix-{mpi_library.ABI_OF[library.name]}.so"
    flags = [f"-I{installation.BENCH_SOURCES}", f'-DRONDO_PREFIX_LIBRARY="{prefix}"', "-Wl,--no-as-needed", "-ldl"]
    driver = mpi_library.compile_program(library, DRIVER, sources, headers, flags, before=before)
    found = abi.of_program([str(driver)], None, {**os.environ, **library.environment})
    if found.abi != mpi_library.ABI_OF[library.name]:
        raise Error(
            f"{library.compiler} compiles for another MPI ({found.library}) than {library.launcher} starts; name one "
            f"whose launcher and compiler belong together: --mpi PATH"
        )
    return driver


@contextlib.contextmanager
def prepared(place: Place, words: Sequence[str], instructions: Mapping[str, str] | None) -> Iterator[Launch]:
    """The command that runs `words` on all ranks, with Rondo preloaded if there are variables to instruct it, or none.

    A cluster lives as long.
    """
    library = installation.preload_library(place.abi) if instructions is not None else None
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    told = {**(instructions if instructions is not None else settings.NATIVELY), **kept, **settings.UNCONFIGURED}
    if place.cluster_text is None:
        yield _under_launcher(place, words, library, told)
        return
    with cluster.opened(place.cluster_text) as running:
        told |= {placement.VARIABLE: place.nodes} if place.nodes else {}
        variables = {**told, preload.PRELOAD: str(library)} if library is not None else told
        shape = running.shape
        ranks = place.processes or shape.ranks
        emulation = Emulation(
            shape.of_ranks(ranks).nodes,
            shape.per_node,
            shape.latency,
            shape.rate,
            shape.lanes,
            network=shape.network,
        )
        line = running.command(place.library, ranks, words, variables)
        yield Launch(line, without_instructions(running.environment(place.library)), emulation)


def _under_launcher(place: Place, words: Sequence[str], library: Path | None, told: Mapping[str, str]) -> Launch:
    environment = without_instructions({**os.environ, **place.library.environment})
    line = launcher.read([*place.launcher_words, *words], environment)
    if library is None:
        return Launch(line.words, {**environment, **told})
    figures = machine.find(environment.get(machine.VARIABLE), environment)
    told |= {machine.VARIABLE: str(figures) if figures else machine.STANDARD}
    told |= {placement.VARIABLE: place.nodes} if place.nodes else {}
    command = preload.inject(line, library, told, environment)
    return Launch(command.words, {**environment, **command.environment})


def without_instructions(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what RONDO_ variables and the site's configuration tell Rondo: the plan says what is measured.

    What holds of all algorithms stays.
    """
    kept = ("RONDO_CLUSTER", "RONDO_PATIENCE", *KEPT)
    inherited = {
        name: value for name, value in environment.items() if not name.startswith("RONDO_") or name.startswith(kept)
    }
    return {**inherited, **settings.UNCONFIGURED}
