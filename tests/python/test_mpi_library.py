# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library a name stands for."""

from __future__ import annotations

import os
import sys

import pytest
from rondo.errors import Error
from rondo.launching import abi, mpi_library


@pytest.fixture
def places(stand_in_launcher, tmp_path, monkeypatch):
    """Puts a launcher where it is asked to; neither PATH nor this Python has one."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "no" / ".venv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no" / "python"))
    monkeypatch.setenv("PATH", "/bin")

    def put(kind: str, directory: str, name: str = "mpiexec"):
        path = tmp_path / directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return stand_in_launcher(kind).rename(path)

    return put


def test_the_library_of_the_checkout_comes_before_the_system_s(places, tmp_path, monkeypatch, capsys):
    system = places("hydra", "system")
    monkeypatch.setenv("PATH", f"{system.parent}:/bin")
    assert mpi_library.find("mpich", os.environ).launcher == system
    ours = places("hydra", "checkout/.toolchain/mpich/bin")
    (tmp_path / "checkout" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "checkout" / "deep")
    assert mpi_library.find("mpich", os.environ).launcher == ours
    assert capsys.readouterr().err == f"rondo: MPICH 5.0.2, {system}\nrondo: MPICH 5.0.2, {ours}\n"


def test_the_python_of_a_checkout_has_its_library_everywhere(places, tmp_path, monkeypatch):
    ours = places("openmpi4", "checkout/.toolchain/openmpi/bin")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "checkout" / ".venv"))
    assert mpi_library.find("openmpi", os.environ).launcher == ours


def test_a_launcher_of_another_kind_is_passed_over(places, monkeypatch):
    wrong = places("openmpi", "system")
    right = places("intel", "system", "mpiexec.hydra")
    monkeypatch.setenv("PATH", f"{wrong.parent}:/bin")
    assert mpi_library.find("impi", os.environ).launcher == right


def test_a_path_is_taken_without_a_word(places, capsys):
    path = places("hydra", "opt/bin")
    assert mpi_library.find(str(path.parent.parent), os.environ).launcher == path
    assert mpi_library.find(str(path), os.environ).name == "mpich"
    assert capsys.readouterr().err == ""


def test_a_program_of_another_mpi_than_wanted_is_refused(places, stand_in_program):
    path = places("hydra", "opt/bin")
    assert mpi_library.of_program([str(stand_in_program("libmpi.so.12"))], str(path), os.environ).launcher == path
    assert mpi_library.of_program(["true"], str(path), os.environ).launcher == path
    with pytest.raises(Error, match=r"--mpi .* is MPICH, but .* uses another MPI \(libmpi.so.40\): every rank would"):
        mpi_library.of_program([str(stand_in_program("libmpi.so.40", "other"))], str(path), os.environ)


def test_a_guess_that_contradicts_the_wanted_mpi_can_be_overruled(places, monkeypatch):
    path = places("hydra", "opt/bin")
    guess = abi.Mpi("openmpi", "libmpi.so.40", guessed=True)
    monkeypatch.setattr(abi, "of_program", lambda *_: guess)
    with pytest.raises(
        Error, match=r"but mpi4py of python3 loads another MPI .*, or say .* uses this one: --abi mpich$"
    ):
        mpi_library.of_program(["python3", "script.py"], str(path), os.environ)
    assert mpi_library.of_program(["python3", "script.py"], str(path), os.environ, "mpich").launcher == path


def test_the_abi_that_is_named_decides_which_library_starts_a_program(places, monkeypatch):
    mpich, openmpi = places("hydra", "mpich/bin"), places("openmpi", "openmpi/bin")
    monkeypatch.setenv("PATH", f"{openmpi.parent}:{mpich.parent}:/bin")
    # Nobody knows what these start.
    assert mpi_library.of_program(["./complicated"], None, os.environ, "mpich").launcher == mpich
    assert mpi_library.of_program(["./complicated"], None, os.environ, "openmpi").launcher == openmpi
    assert mpi_library.of_program(["./complicated"], str(mpich), os.environ, "mpiabi").launcher == mpich
    with pytest.raises(Error, match=r"--mpi mpich is MPICH, but --abi names openmpi: every rank would run alone"):
        mpi_library.of_program(["./complicated"], "mpich", os.environ, "openmpi")
