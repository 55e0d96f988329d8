# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark driver that comes with a package: its copy knows where the libraries are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rondo.bench import prebuilt
from rondo.launching import installation
from rondo.launching.mpi_library import MpiLibrary
from script_loader import ROOT


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MpiLibrary:
    """MPICH in a folder, and a package whose driver has room for two paths."""
    (tmp_path / "mpi/lib").mkdir(parents=True)
    (tmp_path / "mpi/lib/libmpi.so.12").touch()
    (tmp_path / "bin").mkdir()
    rooms = prebuilt.ROOM_FOR_RUN_PATH + b"\0" + prebuilt.ROOM_FOR_PREFIX_LIBRARY + b"\0"
    (tmp_path / "bin/rondo-bench-mpich").write_bytes(b"before" + rooms + b"after")
    monkeypatch.setattr(installation, "PROGRAMS", tmp_path / "bin")
    monkeypatch.setattr(installation, "LIBRARIES", tmp_path / "lib")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return MpiLibrary("mpich", tmp_path / "mpi/bin/mpiexec")


def test_the_copy_has_the_paths(library: MpiLibrary, tmp_path: Path) -> None:
    driver = prebuilt.driver_for(library)
    assert driver is not None
    content = driver.read_bytes()
    assert len(content) == len((tmp_path / "bin/rondo-bench-mpich").read_bytes())
    assert content.startswith(b"before" + bytes(tmp_path / "mpi/lib") + b"\0")
    assert bytes(tmp_path / "lib/librondo-prefix-mpich.so") + b"\0" in content
    assert content.endswith(b"\0after")
    assert driver.stat().st_mode & 0o111
    assert prebuilt.driver_for(library) == driver


def test_debians_mpich_is_found_by_its_own_name(library: MpiLibrary, tmp_path: Path) -> None:
    there = (tmp_path / "mpi/lib/libmpi.so.12").rename(tmp_path / "mpi/lib/libmpich.so.12")
    driver = prebuilt.driver_for(library)
    assert driver is not None
    folder = Path(driver.read_bytes().removeprefix(b"before").partition(b"\0")[0].decode())
    assert folder.is_relative_to(tmp_path / "cache")
    assert (folder / "libmpi.so.12").resolve() == there.resolve()
    assert prebuilt.driver_for(library) == driver


def test_a_library_elsewhere_has_its_driver_compiled(library: MpiLibrary, tmp_path: Path) -> None:
    (tmp_path / "mpi/lib").rename(tmp_path / "mpi/elsewhere")
    assert prebuilt.driver_for(library) is None


def test_a_package_without_drivers_compiles_them(library: MpiLibrary, tmp_path: Path) -> None:
    (tmp_path / "bin/rondo-bench-mpich").unlink()
    assert prebuilt.driver_for(library) is None


def test_the_build_leaves_the_room_that_is_filled() -> None:
    text = (ROOT / "cmake" / "BenchDriver.cmake").read_text()
    rooms = [(part * int(times)).encode() for part, times in re.findall(r'string\(REPEAT "(\S+)" (\d+)', text)]
    assert rooms == [prebuilt.ROOM_FOR_RUN_PATH, prebuilt.ROOM_FOR_PREFIX_LIBRARY]
