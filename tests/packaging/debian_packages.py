# SPDX-License-Identifier: BSD-3-Clause
"""Packages of Debian for one test: unpacked, not installed, so that none of their services starts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest


def _output(packages: str, *words: str, cwd: Path | None = None) -> str:
    try:
        result = subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"Debian's {packages} cannot be had here: {getattr(error, 'stderr', None) or error}")
    return result.stdout


def missing(*packages: str) -> list[str]:
    """What apt would install besides what is installed: these packages, and all that they need."""
    said = _output(" ".join(packages), "apt-get", "--simulate", "--no-install-recommends", "install", *packages)
    return re.findall(r"^Inst (\S+)", said, re.MULTILINE)


def unpacked(folder: Path, *packages: str) -> Path:
    """The folder, with the files of these packages."""
    names = " ".join(packages)
    _output(names, "apt-get", "--quiet", "download", *packages, cwd=folder)
    for each in folder.glob("*.deb"):
        _output(names, "dpkg", "--extract", str(each), str(folder))
    return folder
