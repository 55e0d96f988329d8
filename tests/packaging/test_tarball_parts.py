# SPDX-License-Identifier: BSD-3-Clause
"""What makes a tarball of a prefix (scripts/portable.py), on the prefix of this machine's own build."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from installed_prefix import BUILD, Prefix, outcome, run
from mpi_libraries import ROOT

sys.path.append(str(ROOT / "scripts"))
import portable

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def root(prefix: Prefix, tmp_path: Path) -> Path:
    """A copy that tests may change."""
    return Path(shutil.copytree(prefix.path, tmp_path / "root", symlinks=True))


def test_pages_are_written_with_a_core_of_this_machine(root: Path, prefix: Prefix) -> None:
    """As for another processor, whose core cannot be loaded here."""
    for folder in ("man", "bash-completion", "zsh", "fish"):
        shutil.rmtree(root / "share" / folder)
    for core in (root / portable.PACKAGES).glob("rondo/_core*.so"):
        core.write_bytes(b"of another processor")
    portable.write_pages(root, next(BUILD.glob("_core*.so")))
    written = {path.relative_to(root): path.read_bytes() for path in (root / "share").rglob("*") if path.is_file()}
    expected = {path.relative_to(prefix.path) for path in (prefix.path / "share").rglob("*") if path.is_file()}
    assert set(written) == expected
    assert [name for name, content in written.items() if (prefix.path / name).read_bytes() != content] == []
    assert next((root / portable.PACKAGES).glob("rondo/_core*.so")).read_bytes() == b"of another processor"


def test_requirements_are_those_of_the_version() -> None:
    old, new = portable.requirements("3.10"), portable.requirements("3.11")
    assert [each for each in old if each not in new] == ["tomli>=2"]
    assert {each.partition(">=")[0] for each in new} == {"click", "rich", "msgspec"}


def test_the_version_is_that_of_the_project(prefix: Prefix) -> None:
    assert run(prefix.command, "--version") == f"rondo {portable.version_of(BUILD)}\n"


@pytest.mark.soak
def test_packages_beside_the_command_serve_a_python_without_any(root: Path, tmp_path: Path) -> None:
    """They come from PyPI."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare")
    python = str(tmp_path / "bare" / "bin" / "python")
    assert outcome(root / "bin" / "rondo", "list", RONDO_PYTHON=python).returncode == 1
    portable.install_for(HERE, "x86_64", tmp_path / "packages")
    shutil.copytree(tmp_path / "packages", root / portable.PACKAGES, dirs_exist_ok=True)
    assert "doubling_123" in run(root / "bin" / "rondo", "list", "exscan", RONDO_PYTHON=python)
