# SPDX-License-Identifier: BSD-3-Clause
"""`cmake --install`: a prefix as everybody expects it, which works wherever it is moved to."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_prefix import Prefix, cmake_install, outcome, run
from mpi_libraries import ROOT, MpiLibrary

HERE = Path(__file__).parent
PROJECT = re.search(r"project\(rondo VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
MPIS = pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.soak)], indirect=True)


def test_folders_are_those_of_every_prefix(prefix: Prefix) -> None:
    assert {path.name for path in prefix.path.iterdir()} == {"bin", "include", "lib", "share"}
    assert [path.name for path in (prefix.path / "bin").iterdir()] == ["rondo"]


def test_the_manifest_lists_all_that_is_there(prefix: Prefix) -> None:
    """So `xargs rm < install_manifest.txt` takes everything away."""
    there = [path for path in prefix.path.rglob("*") if path.is_symlink() or not path.is_dir()]
    assert prefix.manifest == sorted(path.relative_to(prefix.path) for path in there)


def test_a_stage_is_heeded(prefix: Prefix, tmp_path: Path) -> None:
    """As those who make packages of a distribution install."""
    listed = cmake_install(Path("/opt/rondo"), DESTDIR=str(tmp_path))
    assert sorted(path.relative_to("/opt/rondo") for path in listed) == prefix.manifest
    assert all((tmp_path / path.relative_to("/")).exists() for path in listed)


def configured(folder: Path, library_folder: str) -> subprocess.CompletedProcess[str]:
    """A build of nothing but what programs need that link with Rondo."""
    without = [f"-DRONDO_BUILD_{part}=OFF" for part in ("INTERPOSER", "TESTBED", "PYTHON", "TESTS")]
    return outcome("cmake", "-S", ROOT, "-B", folder, f"-DCMAKE_INSTALL_LIBDIR={library_folder}", *without)


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
@pytest.mark.parametrize("library_folder", ["lib64", "lib/x86_64-linux-gnu"])
def test_folders_of_libraries_differ_among_systems(library_folder: str, tmp_path: Path) -> None:
    assert configured(tmp_path / "build", library_folder).returncode == 0
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "prefix")
    libraries = tmp_path / "prefix" / library_folder
    flags = run("pkg-config", "--cflags", "rondo", PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
    assert Path(flags.strip().removeprefix("-I")).samefile(tmp_path / "prefix" / "include")
    assert "rondo_RULES" in (libraries / "cmake" / "rondo" / "rondo-config.cmake").read_text()
    assert not (tmp_path / "prefix" / "bin").exists()


def test_a_folder_outside_the_prefix_is_refused(tmp_path: Path) -> None:
    result = configured(tmp_path, "/usr/lib64")
    assert result.returncode != 0
    assert "CMAKE_INSTALL_LIBDIR is /usr/lib64: expected a path below the prefix" in " ".join(result.stderr.split())


def test_the_command_runs_without_the_checkout(prefix: Prefix, tmp_path: Path) -> None:
    assert PROJECT is not None
    link = tmp_path / "rondo"
    link.symlink_to(prefix.command)
    for command in (prefix.command, link):
        assert run(command, "--version").strip() == f"rondo {PROJECT[1]}"
    assert "doubling_123" in run(prefix.command, "list", "exscan", PYTHONSAFEPATH="1")


@MPIS
def test_a_program_runs_under_the_command(prefix: Prefix, mpi: MpiLibrary) -> None:
    options = ["--report", "--use", "exscan=doubling_123"]
    launcher = [mpi.prefix / mpi.launcher, "-n", "2"]
    program = [mpi.compile("random_calls.cpp"), "1", "20"]
    result = outcome(prefix.command, "run", *options, "--", *launcher, *program, **mpi.environment)
    assert result.returncode == 0, result.stderr
    assert "failures 0" in result.stdout
    assert "doubling_123" in result.stdout + result.stderr
    assert "rules: default.rules" in result.stdout + result.stderr
    shown = run(prefix.command, "run", "--dry-run", *options, "--", *launcher, *program, **mpi.environment)
    assert f"{prefix.path}/lib/librondo_{mpi.abi}.so" in shown


@MPIS
def test_programs_link_by_cmake(prefix: Prefix, mpi: MpiLibrary, tmp_path: Path) -> None:
    compilers = [f"-DMPI_C_COMPILER={mpi.prefix / 'mpicc'}", f"-DMPI_CXX_COMPILER={mpi.prefix / 'mpicxx'}"]
    run("cmake", "-S", HERE, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix.path}", *compilers)
    assert f"rondo_DIR:PATH={prefix.path}/lib/cmake/rondo" in (tmp_path / "CMakeCache.txt").read_text()
    run("cmake", "--build", tmp_path, "--target", "row_pointers", "speaks")
    assert "non-zeros" in mpi.run([tmp_path / "row_pointers", "1000"], 2).check().stdout
    assert run(tmp_path / "speaks") == "no Rondo\n"
    assert run(tmp_path / "speaks", LD_PRELOAD=f"{prefix.path}/lib/librondo_{mpi.abi}.so") == "0 served again\n"


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
@MPIS
def test_programs_link_by_pkg_config(prefix: Prefix, mpi: MpiLibrary, tmp_path: Path) -> None:
    known = {"PKG_CONFIG_PATH": f"{prefix.path}/lib/pkgconfig"}
    flags = run("pkg-config", "--cflags", "--libs", f"rondo-prefix-{mpi.abi}", **known).split()
    program = tmp_path / "row_pointers"
    run(mpi.prefix / "mpicc", ROOT / "examples" / "row_pointers.c", *flags, "-o", program)
    assert "non-zeros" in mpi.run([program, "1000"], 2).check().stdout
    flags = run("pkg-config", "--cflags", "--libs", "rondo", **known).split()
    run("cc", HERE / "speaks.c", *flags, "-o", tmp_path / "speaks")
    assert run(tmp_path / "speaks") == "no Rondo\n"
    for name in ("preload", "rules"):
        assert Path(run("pkg-config", f"--variable={name}", "rondo", **known).strip()).is_file()


def test_every_command_has_its_manual_page(prefix: Prefix) -> None:
    pages = {path.name for path in (prefix.path / "share" / "man" / "man1").iterdir()}
    commands = {path.stem for path in (ROOT / "python" / "rondo" / "commands").glob("[a-z]*.py")}
    assert {f"rondo-{command}.1" for command in commands} <= pages
    assert "rondo.1" in pages


def test_shells_find_what_completes_words(prefix: Prefix) -> None:
    bash = prefix.path / "share" / "bash-completion" / "completions" / "rondo"
    path = f"{prefix.path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    typed = 'compopt() { :; }; COMP_LINE="rondo do" COMP_POINT=8 COMP_WORDS=(rondo do) COMP_CWORD=1'
    asked = f'. {bash}; {typed}; _rondo_completion rondo; echo "${{COMPREPLY[@]}}"'
    assert run("bash", "-c", asked, PATH=path).split() == ["doctor"]
    assert (prefix.path / "share" / "zsh" / "site-functions" / "_rondo").is_file()
    assert (prefix.path / "share" / "fish" / "vendor_completions.d" / "rondo.fish").is_file()


def test_a_python_without_the_packages_is_told_so(prefix: Prefix, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path)
    result = outcome(prefix.command, "list", RONDO_PYTHON=str(tmp_path / "bin" / "python"))
    assert result.returncode == 1
    assert re.fullmatch(
        r"rondo: \S+/bin/python \(Python [\d.]+\) has no click, rich, msgspec: install them .*\n", result.stderr
    )


def test_a_core_for_another_python_is_named(prefix: Prefix, tmp_path: Path) -> None:
    packages = tmp_path / "python"
    shutil.copytree(prefix.path / "lib" / "rondo" / "python", packages, symlinks=True)
    for core in packages.glob("rondo/_core*.so"):
        core.unlink()
    result = outcome(sys.executable, packages / "start_rondo.py", "list")
    assert result.returncode == 1
    assert "is not the Python that this installation is for" in result.stderr


def test_an_old_python_is_told_which_one_is_needed(prefix: Prefix) -> None:
    starter = prefix.path / "lib" / "rondo" / "python" / "start_rondo.py"
    ast.parse(starter.read_text(), feature_version=(3, 6))
    found = filter(None, (shutil.which(f"python3.{minor}") for minor in (9, 8, 7, 6)))
    old = next((each for each in found if outcome(each, "-c", "").returncode == 0), None)  # pyenv's may not run
    if old is None:
        pytest.skip("no Python older than 3.10 on PATH")
    result = outcome(prefix.command, "list", RONDO_PYTHON=old)
    assert result.returncode == 1
    assert "is too old, 3.10 or newer is needed: name another with RONDO_PYTHON" in result.stderr
