# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program uses, found out without starting it."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path

import pytest
from rondo.errors import Error
from rondo.launching import abi


def of(program: object, *words: str, **environment: str) -> abi.Mpi:
    return abi.of_program([str(program), *words], None, {**os.environ, **environment})


@pytest.fixture
def python_with_mpi4py(tmp_path, stand_in_program) -> dict[str, str]:
    """The environment in which this interpreter's mpi4py loads a library called $STAND_IN_LIBRARY."""
    for library in ("libmpi.so.12", "libmpi.so.40"):
        stand_in_program(library, name=f"python_{library}")
    package = tmp_path / "packages" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class rc: initialize = True\nprint('a chatty package: libmpi.so.40')\n")
    (package / "MPI.py").write_text(
        "import ctypes, os, mpi4py\nassert not mpi4py.rc.initialize\nctypes.CDLL(os.environ['STAND_IN_LIBRARY'])\n"
    )
    library = tmp_path / "python_libmpi.so.12_files" / "libmpi.so.12"
    return {"PYTHONPATH": str(package.parent), "STAND_IN_LIBRARY": str(library)}


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpi.so.12.1.8", "mpich"),
        ("libmpi_gnu_123.so.12", "mpich"),
        ("libmpi.so.40", "openmpi"),
        ("libmpi.so.40.30.4", "openmpi"),
        ("libmpi_abi.so.1", "mpiabi"),
        ("libmpi_abi.so", "mpiabi"),
        ("libmpi.so.20", ""),
        ("libmpich.so.10", ""),
        ("libmpi_mpifh.so.40", None),
        ("libmpicxx.so.12", None),
        ("libmpifort.so.12", None),
        ("libopen-pal.so.40", None),
        ("libm.so.6", None),
    ],
)
def test_the_name_of_a_library_tells_its_abi(library, expected):
    assert abi.abi_of_library(library) == expected


@pytest.mark.parametrize(
    ("library", "expected"), [("libmpi.so.12", "mpich"), ("libmpi.so.40", "openmpi"), ("libmpi_abi.so.1", "mpiabi")]
)
@pytest.mark.parametrize("indirectly", [False, True], ids=["directly", "indirectly"])
def test_a_binary_uses_what_it_links(stand_in_program, library, expected, indirectly):
    found = of(stand_in_program(library, indirectly=indirectly))
    assert (found.abi, found.library) == (expected, library)
    if not indirectly:
        assert found.path is not None
        assert found.path.name == library


def test_a_library_that_is_missing_here_still_tells(stand_in_program, tmp_path):
    program = stand_in_program("libmpi.so.40")
    (tmp_path / "program_files" / "libmpi.so.40").unlink()
    assert of(program).abi == "openmpi"


def test_a_program_without_mpi_is_refused(stand_in_program):
    program = stand_in_program(None)
    with pytest.raises(Error, match=rf"{program} does not use MPI \(no libmpi among its libraries\)") as failure:
        of(program)
    assert failure.value.exit_code == 2


@pytest.mark.parametrize("before", [["timeout", "20"], ["env", "-C", "/tmp", "nice"]])
def test_what_stands_before_a_launcher_belongs_before_rondo(before):
    with pytest.raises(Error) as failure:
        abi.of_program([*before, "mpiexec", "-n", "2", "./app"], None, os.environ)
    assert re.search(
        r"^`.*(timeout 20|nice)` stands before the launcher mpiexec; put it before rondo$", str(failure.value)
    )


def test_an_mpi_of_unknown_abi_is_refused(stand_in_program):
    with pytest.raises(Error, match=r"binary interface Rondo does not know: libmpi.so.20"):
        of(stand_in_program("libmpi.so.20"))


def test_a_program_that_does_not_exist_is_an_error():
    with pytest.raises(Error, match=r"^cannot run \./missing: there is no such file$") as failure:
        of("./missing")
    assert failure.value.exit_code == 127


@pytest.mark.parametrize("before", [(), ("nice", "-n", "5"), ("env", "-C", "elsewhere"), ("sh", "-c")])
def test_a_program_that_is_not_executable_is_not_missing(tmp_path, monkeypatch, before):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    program = tmp_path / ("elsewhere/app" if "elsewhere" in before else "app")
    program.write_text("#!/bin/sh\n")
    with pytest.raises(Error) as failure:
        of(*before, "./app")
    file = "elsewhere/app" if "elsewhere" in before else "app"
    assert str(failure.value) == f"cannot run ./app: {file} is not executable (chmod +x {file})"
    assert failure.value.exit_code == 126
    with pytest.raises(Error, match=r"^cannot run \./elsewhere: it is a directory$"):
        of("./elsewhere")


def test_a_program_that_nobody_may_read_is_an_error(tmp_path, monkeypatch):
    program = tmp_path / "app"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(program))

    monkeypatch.setattr(Path, "open", refuse)  # root may read all files
    with pytest.raises(Error, match=rf"^cannot read {program}: Permission denied; say which MPI that is"):
        of(program)


def test_python_is_asked_what_mpi4py_loads(python_with_mpi4py, tmp_path):
    library = Path(python_with_mpi4py["STAND_IN_LIBRARY"])
    found = of(sys.executable, "script.py", **python_with_mpi4py)
    assert found == abi.Mpi("mpich", "libmpi.so.12", library, guessed=True)
    other = str(tmp_path / "python_libmpi.so.40_files" / "libmpi.so.40")
    assert of(sys.executable, "-m", "module", **{**python_with_mpi4py, "STAND_IN_LIBRARY": other}).abi == "openmpi"


@pytest.mark.parametrize(
    "first_line", ["#!{python}", "#!{python} -u", "#!/usr/bin/env python3", "#!/usr/bin/env -S A=1 python3 -u"]
)
def test_a_script_for_python_is_python(python_with_mpi4py, tmp_path, first_line):
    script = tmp_path / "script"
    script.write_text(first_line.format(python=sys.executable) + "\n")
    script.chmod(0o755)
    search = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    assert of(script, PATH=search, **python_with_mpi4py).abi == "mpich"


def test_python_without_mpi4py_is_refused(tmp_path):
    (tmp_path / "mpi4py.py").write_text("raise ImportError('not here')\n")
    with pytest.raises(Error, match=r"cannot load mpi4py \(ImportError: not here\).*--abi"):
        of(sys.executable, "script.py", PYTHONPATH=str(tmp_path))


def test_a_program_of_a_real_mpi_is_seen(mpi):
    program = mpi.compile("hello.c")
    found = abi.of_program([str(program)], None, {**os.environ, **mpi.environment})
    assert found.abi == mpi.abi
