# SPDX-License-Identifier: BSD-3-Clause
"""Packages that run on other machines: what they ask for, and that they work."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from mpi_libraries import ROOT, MpiLibrary

pytestmark = pytest.mark.soak
sys.path.append(str(ROOT / "scripts"))
import portable  # noqa: E402
import python_headers  # noqa: E402

MPIS = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
FORCED = {"allreduce": "ring", "bcast": "binomial", "exscan": "doubling_123"}
BUILD_SECONDS = 5400
UNTRIABLE = 77


def run(*words: object, **environment: str) -> str:
    known = {**os.environ, **environment}
    result = subprocess.run(list(map(str, words)), env=known, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel for this machine. Building it checks each file (scripts/check_portable.py)."""
    subprocess.run(["make", "wheel", "PROCESSORS=x86_64"], cwd=ROOT, check=True, timeout=BUILD_SECONDS)
    (found,) = portable.DIST.glob(f"*-{portable.platform('x86_64')}.whl")
    return found


@pytest.fixture(scope="module")
def tarball(wheel: Path) -> Path:
    """The tarball for this machine."""
    subprocess.run(["make", "tarball", "PROCESSORS=x86_64"], cwd=ROOT, check=True, timeout=BUILD_SECONDS)
    (found,) = portable.DIST.glob("*-linux-x86_64.tar.gz")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, installed without network."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    run(*pip, "--target", folder, wheel)
    return folder


@pytest.fixture
def from_the_wheel(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is run takes the installed wheel for Rondo."""
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("RONDO_LIBRARY_DIR", str(installed / "rondo" / "lib"))
    return installed


def test_a_folder_of_wheels_serves_a_machine_without_network(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", tmp_path / "wheels", wheel)
    run(sys.executable, "-m", "venv", tmp_path / "there")
    pip = [tmp_path / "there" / "bin" / "pip", "install", "--quiet", "--no-index"]
    run(*pip, "--find-links", tmp_path / "wheels", "rondo-mpi", PYTHONPATH="")
    assert "doubling_123" in run(tmp_path / "there" / "bin" / "rondo", "list", "exscan", PYTHONPATH="")


def test_auditwheel_agrees(wheel: Path, tmp_path: Path) -> None:
    """It refuses a wheel that does not keep to the platform. The MPI of the benchmark drivers is the user's."""
    excluded = [f"--exclude={name}" for name in portable.MPI_LIBRARIES.values()]
    where = [f"--plat={portable.platform('x86_64')}", f"--wheel-dir={tmp_path}"]
    run(sys.executable, "-m", "auditwheel", "repair", *excluded, *where, wheel)
    assert [path.name for path in tmp_path.iterdir()] == [wheel.name]


@pytest.mark.parametrize("version", python_headers.ARTIFACTS)
def test_every_python_finds_the_core(installed: Path, version: str) -> None:
    python = python_headers.interpreter(portable.PYTHONS, version)
    program = "from rondo import _core; print(len(_core.collectives()), _core.__file__)"
    count, file = run(python, "-c", program, PYTHONPATH=str(installed)).split()
    assert int(count) > 10
    assert ("abi3" in file) == (version == "3.12")


@MPIS
def test_a_program_runs_under_the_command(mpi: MpiLibrary, from_the_wheel: Path) -> None:
    options = ["--report", "--use", "exscan=doubling_123", "--use", "bcast=binomial"]
    launcher = [str(mpi.prefix / mpi.launcher), "-n", "2"]
    program = [mpi.compile("random_calls.cpp"), "1", "20"]
    text = run(sys.executable, "-m", "rondo", "run", *options, "--", *launcher, *program, **mpi.environment)
    assert "failures 0" in text
    assert "doubling_123" in text


@MPIS
@pytest.mark.parametrize("thrower", [[], ["operator"]], ids=["error handler", "operator"])
def test_programs_catch_what_they_throw(mpi: MpiLibrary, from_the_wheel: Path, thrower: list[str]) -> None:
    """The library has LLVM's C++ runtime, and the program GNU's."""
    command = [mpi.compile("exceptions.cpp"), *thrower]
    native = mpi.run(command, 2)
    under_rondo = mpi.run_under_rondo(command, 2, **FORCED)
    assert "of the error handler, 1 destroyed" in native.stdout
    assert (under_rondo.stdout, under_rondo.returncode) == (native.stdout, native.returncode)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "debian_mpich"], indirect=True)
def test_the_benchmark_driver_is_not_compiled(mpi: MpiLibrary, from_the_wheel: Path, tmp_path: Path) -> None:
    words = ["exscan", "--counts", "1", "--algorithms", "doubling_123", "--seconds", "5"]
    words += ["--output", str(tmp_path / "found.json")]
    launcher = [str(mpi.prefix / mpi.launcher), "-n", "2"]
    known = {**mpi.environment, "XDG_CACHE_HOME": str(tmp_path)}
    text = run(sys.executable, "-m", "rondo", "bench", *words, "--", *launcher, **known)
    assert "compiling" not in text
    (driver,) = (tmp_path / "rondo").glob("bench-*")
    assert driver.stat().st_size == (from_the_wheel / "rondo/bin" / f"rondo-bench-{mpi.abi}").stat().st_size


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_the_emulated_cluster_runs(mpi: MpiLibrary, from_the_wheel: Path) -> None:
    text = run(sys.executable, "-m", "rondo", "doctor", "--", mpi.prefix / mpi.launcher)
    if "nodes in namespaces of this machine can be made" not in " ".join(text.split()):
        pytest.skip("this machine has no emulated cluster")
    words = [sys.executable, "-m", "rondo", "cluster", "run", "--nodes", "2", "--latency", "1ms"]
    assert run(*words, "--mpi", mpi.prefix.parent, "--", mpi.compile("hello.c"))


def test_the_tarball_runs_where_it_is_unpacked(tarball: Path, tmp_path: Path) -> None:
    with tarfile.open(tarball) as packed:
        packed.extractall(tmp_path)
    (root,) = tmp_path.iterdir()
    assert {path.name for path in root.iterdir()} == {"bin", "include", "lib", "share"}
    assert [path.name for path in (root / "bin").iterdir()] == ["rondo"]
    for page in ("man/man1/rondo-run.1", "bash-completion/completions/rondo", "modulefiles/rondo"):
        assert (root / "share" / page).exists()
    for version in python_headers.ARTIFACTS:
        python = python_headers.interpreter(portable.PYTHONS, version)
        assert "doubling_123" in run(root / "bin/rondo", "list", "exscan", RONDO_PYTHON=str(python), PYTHONPATH="")


@pytest.mark.parametrize("suite", ["bullseye", "bookworm", "trixie"])
def test_an_ordinary_user_has_it_on_another_debian(tarball: Path, suite: str) -> None:
    script = ROOT / "scripts" / "packages_on_debian.py"
    result = subprocess.run([sys.executable, script, suite], capture_output=True, text=True, check=False)
    if result.returncode == UNTRIABLE:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stdout + result.stderr
