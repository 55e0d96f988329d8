# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for what tests of the command line need: preload libraries, launchers, MPI libraries without MPI."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

try:
    from click.testing import CliRunner
    from rondo.commands import main
    from rondo.launching import installation

    INSTALLED = True
except ImportError:
    INSTALLED = False

collect_ignore = [
    path.name
    for path in Path(__file__).parent.glob("test_*.py")
    if not INSTALLED and re.search(r"^from rondo", path.read_text(), re.MULTILINE)
]


def pytest_report_header() -> str | None:
    return (
        f"skipped, for rondo is not installed (make install): {', '.join(collect_ignore)}" if collect_ignore else None
    )


VERSIONS = {
    "hydra": "HYDRA build details:\n    Version: 5.0.2\n",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.19.0\n",
    "openmpi": "mpiexec (Open MPI) 5.0.11\n",
    "openmpi4": "mpirun (OpenRTE) 4.1.4\n",
    "srun": "slurm 24.05.1\n",
    "unknown": "Acme launcher 1.0\n",
}


@pytest.fixture(autouse=True)
def no_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name == "LD_PRELOAD" or (name.startswith("RONDO_") and name != "RONDO_LIBRARY_DIR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/no/such/directory")  # where a machine file of the user's may lie
    monkeypatch.setenv("RONDO_GUARD", "off")  # as for all tests


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a preload library for every ABI (libraries in name only) and the default rules."""
    directory = tmp_path / "installed"
    directory.mkdir()
    for abi in ("mpich", "openmpi", "mpiabi"):
        (directory / f"librondo_{abi}.so").touch()
    rules = directory / "default.rules"
    rules.write_text("exscan -> doubling_123\n")
    monkeypatch.setattr(installation, "LIBRARIES", directory)
    monkeypatch.setattr(installation, "DEFAULT_RULES", rules)
    return directory


@pytest.fixture
def rondo() -> Callable[..., object]:
    """Runs the command line in this process."""
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words], prog_name="rondo")


@pytest.fixture
def stand_in_launcher(tmp_path: Path) -> Callable[..., Path]:
    """Writes a launcher that only knows its version, and the words that it is given."""

    def write(kind: str, name: str = "mpiexec") -> Path:
        path = tmp_path / kind / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'#!/bin/sh\nif [ "$1" = --version ]; then cat <<"END"\n{VERSIONS[kind]}END\nexit 0; fi\n'
            'printf "%s\\n" "$@"\nexit 7\n'
        )
        path.chmod(0o755)
        return path

    return write


def build(command: Sequence[object]) -> None:
    try:
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no C compiler")


@pytest.fixture
def stand_in_program(tmp_path: Path) -> Callable[..., Path]:
    """Compiles a program that links a library of this name, directly or by way of another, or none."""

    def write(library: str | None, name: str = "program", indirectly: bool = False) -> Path:
        directory = tmp_path / f"{name}_files"
        directory.mkdir()
        empty, source = directory / "empty.c", directory / "main.c"
        empty.write_text("int nothing;\n")
        source.write_text("int main(void) { return 0; }\n")
        libraries: list[Path] = []
        if library is not None:
            libraries = [directory / library]
            build(["cc", "-shared", "-fPIC", empty, f"-Wl,-soname,{library}", "-o", libraries[0]])
        if indirectly:
            libraries = [directory / "libsolver.so", *libraries]
            build(["cc", "-shared", "-fPIC", empty, "-Wl,--no-as-needed", libraries[1], "-o", libraries[0]])
        program = tmp_path / name
        linked = [str(path) for path in libraries[:1]]
        build(
            [
                "cc",
                source,
                "-Wl,--no-as-needed",
                *linked,
                f"-Wl,-rpath,{directory}",
                f"-Wl,-rpath-link,{directory}",
                "-o",
                program,
            ]
        )
        return program

    return write
