# SPDX-License-Identifier: BSD-3-Clause
"""The list of MPI functions, and what is generated from it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from script_loader import ROOT, script

LIST = ROOT / "rondo" / "mpi_functions.txt"
FORMS = "form blocking {name} - repeated all\nform persistent {name}_init info,request once some"
GOOD_LINE = "Allreduce  allreduce  everywhere  yes  blocking  input output count datatype op comm"
BAD_LINES = {
    "Scan  scan  everywhere": "3 columns, where there are 6",
    "MPI_Scan  scan  everywhere  yes  blocking  comm": "'MPI_Scan' is no function's name without MPI_",
    "Scan  scan  nowhere  yes  blocking  comm": "output 'nowhere' is none of everywhere, after_rank_0",
    "Scan  scan  everywhere  perhaps  blocking  comm": "large 'perhaps' is neither yes nor no",
    "Scan  scan  everywhere  yes  blocking,slow  comm": "form 'slow' is none of blocking, persistent, by_hand, -",
    "Scan  scan  everywhere  yes  blocking  input displs comm": "argument 'displs' is none of input, input_count",
    "Scan  scan  everywhere  yes  blocking  input input comm": "argument 'input' stands there twice",
    "Scan  scan  everywhere  yes  blocking  input output": "the last argument of Scan is not comm",
    "Scan  -  everywhere  yes  blocking  comm": "Scan has a form, but no collective or output",
    GOOD_LINE: "Allreduce stands in line 4",
    "form begun": "2 columns, where there are 6: form, word, name, besides, calls, libraries",
    "form Begun  {name}  -  once  all": "'Begun' is no word for a form",
    "form begun  {other}  -  once  all": "'{other}' makes no name of a function of {name} or {lower}",
    "form begun  B{lower}  status  once  all": "argument 'status' of a form is none of info, request",
    "form begun  B{lower}  -  twice  all": "calls 'twice' is neither repeated nor once",
    "form begun  B{lower}  -  once  few": "libraries 'few' is neither all nor some",
    "form blocking  B{lower}  -  once  all": "blocking stands in line 2",
}


@pytest.fixture(scope="module")
def mpi_functions() -> ModuleType:
    return script("mpi_functions")


def generate(path: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "scripts" / "generate_entries.py", "--list", path, "--output", output]
    return subprocess.run(command, capture_output=True, text=True, check=False)


HEADER = """
int MPI_Init(int *argc, char ***argv);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Initialized(int *flag);
"""


def generate_profiled(header: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Of a library whose <mpi.h> says so."""
    (directory / "mpi.h").write_text(header)
    script = [sys.executable, ROOT / "scripts" / "profiled_functions.py", "--compiler", shutil.which("c++")]
    written = ["--output", directory / "profiled.cpp", "--exports", directory / "exports.map"]
    command = [*script, "--include", directory, "--list", LIST, *written]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("line", "problem"), BAD_LINES.items())
def test_a_bad_line_is_named_by_its_number(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"# a comment\n{FORMS}\n{GOOD_LINE}\n{line}\n")
    result = generate(path, tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"generate_entries: {path}:5: {problem}")
    assert result.stderr.count("\n") == 1


def test_each_served_function_has_its_symbols_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(
        f"{FORMS}\n{GOOD_LINE}\n"
        "Barrier     barrier  everywhere  no   blocking  comm\n"
        "Init        -        -           no   by_hand   argument_count argument_vector\n"
        "Alltoallw   -        everywhere  yes  -         input types comm\n"
    )
    assert generate(path, tmp_path).returncode == 0
    of_allreduce = {"MPI_Allreduce", "PMPI_Allreduce", "MPI_Allreduce_c", "PMPI_Allreduce_c"}
    served = of_allreduce | {"MPI_Barrier", "PMPI_Barrier"}
    exported = (tmp_path / "exported_names.txt").read_text().split()
    assert sorted(exported) == sorted(served | {"MPI_Init", "PMPI_Init"})
    defined = re.findall(r"int (P?MPI_\w+)\(", (tmp_path / "rondo/interposer/entries.cpp").read_text())
    assert sorted(defined) == sorted(served)


def test_arguments_keep_the_order_of_the_list(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"{FORMS}\nBcast  bcast  is_the_input  yes  blocking  buffer count datatype root comm\n")
    assert generate(path, tmp_path).returncode == 0
    entries = (tmp_path / "rondo/interposer/entries.cpp").read_text()
    assert "int MPI_Bcast(Word buffer, Word count, Word datatype, Word root, Word comm) {" in entries
    natives = (tmp_path / "rondo/interposer/native_functions.cpp").read_text()
    assert "return library.Bcast(of.buffer, of.count, of.datatype, of.root, of.comm);" in natives


def test_what_is_generated_is_formatted(tmp_path: Path) -> None:
    program = shutil.which("clang-format", path=f"{Path(sys.executable).parent}:/usr/bin")
    if program is None:
        pytest.skip("no clang-format")
    assert generate(LIST, tmp_path).returncode == 0
    assert generate_profiled(HEADER, tmp_path).returncode == 0
    style = f"--style=file:{ROOT / '.clang-format'}"
    for path in [*tmp_path.rglob("*.cpp"), *tmp_path.rglob("*.hpp")]:
        text = path.read_text()
        result = subprocess.run([program, style, path], capture_output=True, text=True, check=True)
        assert result.stdout == text, path.name


def test_rondo_knows_the_collectives_of_the_list(mpi_functions: ModuleType) -> None:
    core = pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
    named = {each.collective for each in mpi_functions.read(LIST).functions if each.is_served}
    assert named == {each["name"] for each in core.collectives()}


def test_the_profiler_knows_what_arguments_say_of_lengths(mpi_functions: ModuleType) -> None:
    profiled = script("profiled_functions")
    lengths = {each.name: profiled.lengths(each) for each in mpi_functions.read(LIST).functions}
    assert lengths["Allreduce"] == "Lengths{Lengths::Of::count}"
    assert lengths["Allgatherv"] == "Lengths{Lengths::Of::counts}"
    assert lengths["Scatter"] == "Lengths{Lengths::Of::count, true}"
    assert lengths["Gatherv"] == "Lengths{Lengths::Of::counts, true}"
    assert lengths["Barrier"] == lengths["Alltoallw"] == "Lengths{Lengths::Of::nothing}"


def test_the_profiler_has_a_symbol_for_each_function_that_is_declared(tmp_path: Path) -> None:
    assert generate_profiled(HEADER, tmp_path).returncode == 0
    text = (tmp_path / "profiled.cpp").read_text()
    defined = re.findall(r"int (\w+)\(Word", text)
    c = {prefix + name for name in ("Send", "Bcast", "Ibcast", "Wait") for prefix in ("MPI_", "PMPI_")}
    assert {name for name in defined if "mpi_" not in name} == c
    assert {"mpi_bcast_", "mpi_ibcast_f08_"} <= set(defined)
    arguments = re.search(r"int MPI_Ibcast\(([^)]*)\)", text)
    assert arguments is not None
    names = [each.split()[1] for each in arguments[1].split(",")]
    assert names == ["buffer", "count", "datatype", "root", "comm", "request"]
    exported = re.findall(r"^ +(\w+);", (tmp_path / "exports.map").read_text(), re.MULTILINE)
    by_hand = {prefix + name for name in ("Init", "Init_thread", "Finalize", "Abort") for prefix in ("MPI_", "PMPI_")}
    assert sorted(exported) == sorted({*defined, *by_hand})


def test_a_header_without_functions_is_refused(tmp_path: Path) -> None:
    result = generate_profiled("int MPI_Initialized(int *flag);", tmp_path)
    assert result.returncode == 1
    assert "declares no MPI_Send" in result.stderr
    assert not (tmp_path / "profiled.cpp").exists()
