# SPDX-License-Identifier: BSD-3-Clause
"""Which compiler and launcher scripts/demo.py takes, and what it shows without an emulated cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from mpi_libraries import ROOT, MpiLibrary
from script_loader import script

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    return script("demo")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on PATH with two libraries, as Debian has them."""
    for name in ("mpicc", "mpicc.mpich", "mpiicc", "mpiexec", "mpiexec.mpich"):
        (tmp_path / name).write_text("#!/bin/sh\necho mpich\n")  # what preprocessing tells of its mpi.h
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("named", "taken", "launcher"),
    [
        (None, "mpicc", "mpiexec"),
        ("mpicc.mpich", "mpicc.mpich", "mpiexec.mpich"),
        ("mpiicc", "mpiicc", "mpiexec"),
    ],
)
def test_the_launcher_is_that_of_the_compiler(
    demo: ModuleType, programs: Path, named: str | None, taken: str, launcher: str
) -> None:
    compiler = demo.compiler(named)
    assert compiler == programs / taken
    assert demo.setup.launcher_of(compiler) == programs / launcher


@pytest.mark.parametrize(
    ("script_text", "why"),
    [
        ("#!/bin/sh\nexit 1\n", "compiles nothing: the headers of its MPI are missing"),
        (
            '#!/bin/sh\n[ "$1" = -v ] && echo mpicc for MPICH version 4.0.2 || echo mpich\n',
            "hangs on emulated clusters",
        ),
    ],
)
def test_an_mpi_that_is_no_use_gives_way_to_the_one_of_the_checkout(
    demo: ModuleType, programs: Path, capsys: pytest.CaptureFixture[str], script_text: str, why: str
) -> None:
    (programs / "mpicc").write_text(script_text)
    own = ROOT / ".toolchain" / "mpich" / "bin" / "mpicc"
    if not own.exists():
        pytest.skip("this checkout has set up no MPICH")
    assert demo.compiler(None) == own
    assert f"{why}" in capsys.readouterr().out
    assert demo.compiler("mpicc") == programs / "mpicc"  # who names one gets it


def test_a_compiler_that_is_not_there_is_named(demo: ModuleType, programs: Path) -> None:
    with pytest.raises(demo.DemoError, match="there is no /nowhere/mpicc"):
        demo.compiler("/nowhere/mpicc")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")
@pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.soak)], indirect=True)
def test_one_node_shows_what_rondo_serves(mpi: MpiLibrary) -> None:
    words = ["--cluster", "none", "--runs", "1", "--mpicc", mpi.prefix / "mpicc"]
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / "demo.py", *words], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "on 2 ranks of this machine" in result.stdout
    for collective, algorithm in (("exscan", "cyclic_doubling"), ("bcast", "binomial")):
        assert f"400 of 400 by {algorithm}" in next(
            line for line in result.stdout.splitlines() if line.split()[:1] == [collective]
        )
