# SPDX-License-Identifier: BSD-3-Clause
"""An installation below a prefix, and programs of others that are asked about it."""

from __future__ import annotations

import fcntl
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mpi_libraries import ROOT

BUILD = Path(os.environ.get("RONDO_BUILD_DIR", ROOT / "build" / "release"))
"""What `make install` and `make test` build."""


@dataclass(frozen=True)
class Prefix:
    """An installation, and what its manifest lists, relative to it."""

    path: Path
    manifest: list[Path]

    @property
    def command(self) -> Path:
        return self.path / "bin" / "rondo"


def outcome(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a program says whose Python finds nothing of the checkout."""
    known = {**os.environ, "PYTHONPATH": "", **environment}
    return subprocess.run(list(map(str, words)), env=known, capture_output=True, text=True, check=False)


def run(*words: object, **environment: str) -> str:
    result = outcome(*words, **environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def is_built() -> bool:
    return (BUILD / "librondo.so").exists() and any(BUILD.glob("_core*.so"))


def cmake_install(prefix: Path, **environment: str) -> list[Path]:
    """Installs what is built, and returns what the manifest lists."""
    with (BUILD / "install.lock").open("w") as lock:  # the manifest lies in the build folder; tests may run at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = outcome("cmake", "--install", BUILD, "--prefix", prefix, **environment)
        assert result.returncode == 0, result.stdout + result.stderr
        assert "Warning" not in result.stderr, result.stderr
        return [Path(os.path.normpath(line)) for line in (BUILD / "install_manifest.txt").read_text().splitlines()]


def install(folder: Path) -> Prefix:
    """Installs below a folder, and moves it to another place, since nothing may depend on the first one."""
    installed, moved = folder / "installed", folder / "moved" / "rondo"
    listed = cmake_install(installed)
    moved.parent.mkdir()
    installed.rename(moved)
    return Prefix(moved, sorted(path.relative_to(installed) for path in listed))
