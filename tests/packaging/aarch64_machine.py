# SPDX-License-Identifier: BSD-3-Clause
"""An aarch64 that qemu emulates for one program at a time, with Debian's MPI libraries, and this machine's launchers.

A launcher of x86-64 starts qemu once for each rank. What it says to them is text, or looks alike on both processors, so
it serves a library of the same version.
"""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_packages import unpacked, unpacked_with_needs
from launching import Run, launch
from mpi_libraries import LIBRARIES, ROOT, MpiLibrary

sys.path.append(str(ROOT / "scripts"))
import portable

PROCESSOR = "aarch64"
ARCHITECTURE = "arm64"  # Debian's name for it
PACKAGES = ("libmpich-dev", "libopenmpi-dev", "python3", "libgcc-s1")
EMULATOR_PACKAGES = ("qemu-user-static", "qemu-user")  # of Debian 12, of Debian 13
EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")
LIBRARY_DIRECTORY = Path("usr/lib/aarch64-linux-gnu")
# Where Debian has them: headers, and what programs are linked with.
DEVELOPMENT = {
    "debian_mpich": ("usr/include/aarch64-linux-gnu/mpich", LIBRARY_DIRECTORY / "libmpich.so"),
    "debian_openmpi": (LIBRARY_DIRECTORY / "openmpi/include", LIBRARY_DIRECTORY / "libmpi.so.40"),
}
# Through TCP, UCX does not come to the end of MPI_Finalize in the emulator.
WITHOUT_TCP = {"UCX_TLS": "self,posix"}


@dataclass(frozen=True)
class EmulatedLibrary(MpiLibrary):
    """Its ranks are programs of another processor; what is preloaded is for them, and not for the emulator."""

    emulator: tuple[object, ...] = ()

    def command(self, ranks: int, variables: Mapping[str, str], command: Sequence[object]) -> list[object]:
        of_launcher = {name: value for name, value in variables.items() if name != "LD_PRELOAD"}
        preload = variables.get("LD_PRELOAD")
        of_rank = ["-E", f"LD_PRELOAD={preload}"] if preload else []
        return super().command(ranks, of_launcher, [*self.emulator, *of_rank, *command])


@dataclass(frozen=True)
class Machine:
    """Where its files are, and what runs its programs."""

    folder: Path
    root: Path
    qemu: Path

    @property
    def emulator(self) -> tuple[object, ...]:
        """Before the words of a command."""
        return (self.qemu, "-L", self.root)

    def run(
        self, command: Sequence[object], variables: Mapping[str, str], *, folder: Path = ROOT, seconds: float = 60
    ) -> Run:
        return launch(["env", "-C", folder, *self.emulator, *command], variables, seconds)

    def library(self, name: str) -> EmulatedLibrary:
        """One of Debian's MPI libraries; programs for it are compiled by PyPI's ziglang."""
        native = LIBRARIES[name]
        if (reason := native.missing()) is not None:
            pytest.skip(f"the launcher and the headers of this machine: {reason}")
        headers, library = (self.root / part for part in DEVELOPMENT[name])
        tools = self.folder / name
        tools.mkdir()
        for compiler, flags in (("cc", ""), ("c++", portable.build_folder(PROCESSOR) / "tools" / "libgcc_s.so.1")):
            # The library last: programs that need nothing of it are not linked with it.
            words = f'"{portable.build_folder(PROCESSOR) / "tools" / compiler}" -I"{headers}" "$@" {flags}'
            (tools / compiler).write_text(f'#!/bin/sh\nexec {words} -Wl,--as-needed "{library}"\n')
            (tools / compiler).chmod(0o755)
        own = {each: getattr(native, each) for each in ("name", "abi", "prefix", "launcher", "is_openmpi")}
        return EmulatedLibrary(
            **own,
            environment={**native.environment, **WITHOUT_TCP},
            patience=native.patience,
            is_made_patient=native.is_made_patient,
            compilers={".c": str(tools / "cc"), ".cpp": str(tools / "c++")},
            build=self.folder / "programs",
            emulator=self.emulator,
        )


def emulated(folder: Path) -> Machine:
    """In this folder. Skips where it cannot be had."""
    if platform.machine() == PROCESSOR:
        pytest.skip("this machine needs no emulated aarch64")
    found = next(filter(None, map(shutil.which, EMULATORS)), None)
    if found is None:
        packages = folder / "qemu"
        packages.mkdir()
        unpacked(packages, *EMULATOR_PACKAGES)
        found = next((path for name in EMULATORS for path in packages.glob(f"usr/bin/{name}")), None)
    if found is None:
        pytest.skip(f"there is no {' and no '.join(EMULATORS)}")
    return Machine(folder, unpacked_with_needs(folder, ARCHITECTURE, *PACKAGES), Path(found))
