# SPDX-License-Identifier: BSD-3-Clause
"""How a command line is started with the profiler in its ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.cluster import cluster
from rondo.launching import installation, launcher, mpi_library, preload
from rondo.launching.instructed import choose_abi

VARIABLE = "RONDO_PROFILE"
"""The directory for the ranks' files."""


@dataclass(frozen=True)
class Profiled:
    """A command line, and the library that is preloaded. `prepare` makes it."""

    line: launcher.CommandLine
    library: Path
    environment: dict[str, str]

    def under_launcher(self, directory: Path) -> preload.Command:
        """The command that starts the programs by the user's launcher."""
        return preload.inject(self.line, self.library, {VARIABLE: str(directory)}, self.environment)

    def on_cluster(self, running: cluster.Cluster, mpi: mpi_library.MpiLibrary, directory: Path) -> preload.Command:
        """The command that starts the program on all of an emulated cluster."""
        first = preload.with_library_first(self.library, self.environment.get(preload.PRELOAD))
        variables = {VARIABLE: str(directory), preload.PRELOAD: first}
        words = running.command(mpi, running.shape.ranks, self.line.words, variables)
        return preload.Command(words, running.environment(mpi, self.environment))


def prepare(words: Sequence[str], inherited: Mapping[str, str], wanted: str) -> Profiled:
    """What a command line is started with, checked. Error if it is none, or of no MPI that is known.

    Rondo must not be in it: what it does would be taken for the MPI library's own.
    """
    environment = dict(inherited)
    environment.pop(VARIABLE, None)
    line = launcher.read(list(words), environment)
    abi = choose_abi(line, wanted, environment, natively=True)
    return Profiled(line, installation.profile_library(abi), environment)
