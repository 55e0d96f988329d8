# SPDX-License-Identifier: BSD-3-Clause
"""rondo.prefix_sum: prefix sums of NumPy arrays with mpi4py's communicators."""

from __future__ import annotations

import subprocess
import sys

import pytest
from mpi_libraries import PROGRAMS, MpiLibrary, preload_library

pytestmark = pytest.mark.parallel

pytest.importorskip("mpi4py", reason="the package mpi4py is not installed: make install")
SCRIPT = PROGRAMS / "prefix_arrays.py"
COMPLAINTS = {
    "no axis": "ValueError: the array has no axis",
    "axis": "ValueError: axis 1 is out of range for an array of 1 dimensions",
    "no whole number": "TypeError: axis is None; a whole number was expected",
    "masked": "TypeError: the array is masked, and masks are not looked at",
    "text": "TypeError: the array's dtype is <U1, of which MPI knows no sums",
    "objects": "TypeError: the array's dtype is object, of which MPI knows no sums",
    "half": "TypeError: the array's dtype is float16, of which MPI knows no sums",
    "byte order": "TypeError: the array's dtype is >i4, in another byte order",
    "truth values": "TypeError: op 'sum' is not defined for bool; array.astype(int) was expected",
    "complex maximum": "TypeError: op 'max' is not defined for complex128",
    "operator": "ValueError: op is 'mean'; one of sum, prod,",
    "null operator": "ValueError: op is MPI.OP_NULL",
    "shape": "ValueError: out has the shape (5,); (6,) was expected",
    "dtype": "TypeError: out has the dtype int64; float64 was expected",
    "list": "TypeError: out is a list; a NumPy array was expected",
    "read-only": "ValueError: out is read-only",
    "overlap": "ValueError: out overlaps the array in part",
    "no communicator": "TypeError: comm is a int; a communicator of mpi4py was expected",
    "null": "ValueError: comm is MPI.COMM_NULL",
    "freed": "ValueError: comm is MPI.COMM_NULL, or has been freed",
    "inter": "ValueError: comm is an inter-communicator",
    "undefined": "Exception: ",  # the library's own words
}


def environment(mpi: MpiLibrary) -> dict[str, str]:
    return {"MPI4PY_LIBMPI": str(mpi.shared_library), "PYTHONDONTWRITEBYTECODE": "1"}


def checked(output: str) -> int:
    return int(output.removesuffix(" right\n"))


@pytest.mark.parametrize("mpi", ["mpich", "impi", "openmpi"], indirect=True)
def test_sums_are_those_of_numpy(mpi: MpiLibrary) -> None:
    run = mpi.run([sys.executable, SCRIPT], 2, environment(mpi)).check()
    assert checked(run.stdout) > 1000


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_sums_are_those_of_numpy_under_rondo_run(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo([sys.executable, SCRIPT], 3, environment=environment(mpi)).check()
    assert checked(run.stdout) > 1000


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_bad_arguments_are_refused_in_words(mpi: MpiLibrary) -> None:
    run = mpi.run([sys.executable, SCRIPT, "bad"], 2, environment(mpi)).check()
    said = dict(line.split(" | ", 1) for line in run.stdout.splitlines())
    assert said.keys() == COMPLAINTS.keys()
    for name, text in said.items():
        assert text.startswith(COMPLAINTS[name]), name


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_library_for_another_mpi_refuses(mpi: MpiLibrary) -> None:
    """One that stands in the place of the right one, as no installation has it."""
    other = preload_library("openmpi").with_name("librondo-prefix-openmpi.so")
    code = (
        "import numpy, rondo, rondo.prefix_sums as calls\n"
        "from mpi4py import MPI\n"
        f"calls.prefix_library = lambda abi: {str(other)!r}\n"
        "try: rondo.prefix_sum(numpy.ones(3))\n"
        "except MPI.Exception: print('refused')\n"
    )
    run = mpi.run([sys.executable, "-c", code], 1, environment(mpi)).check()
    assert run.stdout == "refused\n"
    assert run.stderr == "rondo: no prefix sum: no MPI library is loaded\n"  # none that it knows


def test_importing_rondo_loads_neither_numpy_nor_mpi4py() -> None:
    code = (
        "import sys, rondo; assert 'prefix_sum' in dir(rondo); print({'numpy', 'mpi4py', 'ctypes'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
