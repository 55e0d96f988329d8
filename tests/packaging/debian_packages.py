# SPDX-License-Identifier: BSD-3-Clause
"""Packages of Debian for one test: unpacked, not installed, so that none of their services starts."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_libraries import ROOT

sys.path.append(str(ROOT / "scripts"))
from fresh_debian import KEYRING, mirror


def _output(packages: str, *words: str, cwd: Path | None = None, seconds: int = 120) -> str:
    try:
        result = subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True, timeout=seconds)
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


def unpacked_with_needs(folder: Path, architecture: str, *packages: str) -> Path:
    """A folder with these packages of this Debian for another processor, and with all that they need.

    An apt that knows of nothing else looks them up: this machine's own knows nothing of that processor afterwards.
    """
    names, state, root = " ".join(packages), folder / "apt", folder / "root"
    for each in (state / "lists" / "partial", state / "archives" / "partial", root):
        each.mkdir(parents=True)
    (state / "status").touch()
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    (state / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {release} main\n")
    settings = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "",  # downloads into a folder that others may not enter
        "Dir::Cache": state,
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Etc::SourceList": state / "sources.list",
        "Dir::Etc::SourceParts": "-",
    }
    apt = ["apt-get", "--quiet", "--yes", *(f"--option={name}={value}" for name, value in settings.items())]
    _output(names, *apt, "update")
    _output(names, *apt, "--no-install-recommends", "--download-only", "install", *packages, seconds=600)
    for each in (state / "archives").glob("*.deb"):
        _output(names, "dpkg", "--extract", str(each), str(root))
        each.unlink()
    return root
