# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/setup.py does about missing Debian packages. That they suffice, scripts/fresh_debian.py tries."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from script_loader import script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module whose packages are there if a file of this name is in tmp_path, and whose stamps lie there, too."""
    module = script("setup")
    monkeypatch.setattr(module, "VENV", tmp_path / "venv")
    monkeypatch.setattr(sys, "base_prefix", "/usr")  # whatever Python runs the tests
    for table in (module.NEEDED_PACKAGES, module.KNOWN_DEBIAN_PACKAGES):
        for package in table:
            proof = str(tmp_path / package)
            table[package] = proof if table is module.NEEDED_PACKAGES else (proof, f"what takes {package}")
    return module


@pytest.fixture
def installed(setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The packages of each time that root has apt install some. A release of Debian lacks valgrind."""
    calls: list[tuple[str, ...]] = []

    def apt_get(*words: str) -> bool:
        if words[0] != "install":
            return True
        packages = words[2:]
        calls.append(packages)
        if "valgrind" in packages:
            return False
        for package in packages:
            (tmp_path / package).touch()
        return True

    monkeypatch.setattr(setup, "can_install", lambda: True)
    monkeypatch.setattr(setup, "apt_get", apt_get)
    return calls


def test_who_cannot_install_is_told_all_that_is_missing_at_once(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "can_install", lambda: False)
    (tmp_path / "g++").touch()
    with pytest.raises(setup.SetupError) as raised:
        setup.debian_step(["iproute2", "gfortran"])
    line = str(raised.value)
    assert "apt install python3-dev python3-venv iproute2 gfortran (" in line
    assert line.endswith("(nothing works without python3-dev python3-venv)")
    assert "\n" not in line


def test_what_can_be_done_without_is_skipped(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup, "can_install", lambda: False)
    for package in setup.NEEDED_PACKAGES:
        (tmp_path / package).touch()
    setup.debian_step(["iproute2", "gfortran"])
    assert "skipping what takes gfortran, what takes iproute2" in capsys.readouterr().out


def test_root_installs_everything_at_once(setup: ModuleType, installed: list[tuple[str, ...]]) -> None:
    setup.debian_step(["iproute2"])
    assert installed == [("g++", "python3-dev", "python3-venv", "iproute2")]


def test_a_package_that_debian_lacks_keeps_no_other_away(setup: ModuleType, installed: list[tuple[str, ...]]) -> None:
    for _ in range(2):  # the second time nothing is tried again
        setup.debian_step(["valgrind", "iproute2"])
        assert len(installed) == 6
    assert setup.missing_debian_packages(["valgrind", "iproute2"]) == ["valgrind"]


def test_what_nothing_works_without_is_tried_each_time(
    setup: ModuleType, installed: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "apt_get", lambda *words: installed.append(words) or False)
    for attempt in range(1, 3):
        with pytest.raises(setup.SetupError, match=r"apt install g\+\+ python3-dev python3-venv$"):
            setup.debian_step([])
        assert len(installed) == 5 * attempt


def test_a_python_of_the_users_own_needs_what_apt_does_not_have(
    setup: ModuleType, installed: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/opt/python")
    with pytest.raises(setup.SetupError, match=r"Python in /opt/python lacks .*/python3-dev and .*; take another: "):
        setup.debian_step([])
    assert installed == []


@pytest.mark.parametrize("words", [("demo",), ("debian",), ("environment",), ("mpi", "mpich"), ("lint",)])
def test_every_step_names_what_is_missing_before_anything_else(words: tuple[str, ...], tmp_path: Path) -> None:
    """Where there is no compiler at all, and nobody who could install one."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup.py", tmp_path / "scripts")
    environment = {name: value for name, value in os.environ.items() if name != "CXX"} | {"PATH": str(tmp_path)}
    command = [sys.executable, str(tmp_path / "scripts" / "setup.py"), *words]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "apt install g++" in result.stderr
    assert (result.stdout + result.stderr).count("\n") == 1
    assert not (tmp_path / ".venv").exists()
