# SPDX-License-Identifier: BSD-3-Clause
"""Programs of others that link with the installed package: by CMake, by pkg-config, in C, C++ and Fortran. And what
`make test` builds without the packages that only tests need.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_libraries import PROGRAMS, ROOT, MpiLibrary

import rondo

PACKAGE = Path(rondo.__path__[0])
HERE = Path(__file__).parent
TOTALS = "rank 0: 0 0.5 1.5, of 4\nrank 1: 2.5 3 4, of 4\n"


def run(*command: object, **environment: str) -> str:
    result = subprocess.run(
        list(map(str, command)), env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.soak)], indirect=True)
def test_cmake_finds_the_package(mpi: MpiLibrary, tmp_path: Path) -> None:
    compilers = [f"-DMPI_C_COMPILER={mpi.prefix / 'mpicc'}", f"-DMPI_CXX_COMPILER={mpi.prefix / 'mpicxx'}"]
    run("cmake", "-S", HERE, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={PACKAGE}", *compilers)
    run("cmake", "--build", tmp_path)
    assert mpi.run([tmp_path / "in_c"], 2).check().stdout == TOTALS
    assert mpi.run([tmp_path / "in_cpp"], 3).check().stdout == "spans right\n"


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=pytest.mark.soak)], indirect=True)
def test_pkg_config_finds_the_library(mpi: MpiLibrary, tmp_path: Path) -> None:
    path = str(PACKAGE / "lib" / "pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", f"rondo-prefix-{mpi.abi}", PKG_CONFIG_PATH=path).split()
    program = tmp_path / "totals"
    run(mpi.prefix / "mpicc", PROGRAMS / "prefix_totals.c", *flags, "-o", program)
    assert mpi.run([program], 2).check().stdout == TOTALS


@pytest.mark.parametrize("mpi", ["debian_mpich", "debian_openmpi"], indirect=True)
def test_fortran_arrays_have_prefix_sums(mpi: MpiLibrary, tmp_path: Path) -> None:
    sources = [PACKAGE / "include" / "rondo_prefix.f90", HERE / "arrays.f90"]
    library = [f"-L{PACKAGE / 'lib'}", f"-lrondo-prefix-{mpi.abi}", f"-Wl,-rpath,{PACKAGE / 'lib'}"]
    run(mpi.prefix / mpi.compilers[".f90"], "-J", tmp_path, *sources, *library, "-o", tmp_path / "arrays")
    assert mpi.run([tmp_path / "arrays"], 3).check().stdout == "arrays right\n"


@pytest.mark.parametrize(
    "preset", ["sanitize", *(pytest.param(each, marks=pytest.mark.soak) for each in ("release", "threads"))]
)
def test_the_targets_of_a_preset_are_there_without_googletest(preset: str, tmp_path: Path) -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["buildPresets"]
    targets = next(each["targets"] for each in presets if each["name"] == preset)
    run("cmake", "-S", ROOT, "--preset", preset, "-B", tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON")
    run("cmake", "--build", tmp_path, "--", "-t", "query", *targets)
