# SPDX-License-Identifier: BSD-3-Clause
"""One preload library for a site: it serves programs of every ABI, and others notice nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mpi_libraries import FORCED, MpiLibrary
from site_preload import compiled_without_mpi, run_on_site, site_library
from test_mpi4py import check as check_mpi4py
from test_profiler import CALLS, RANKS
from test_profiler import check as check_tool

pytestmark = pytest.mark.parallel

TWO_LIBRARIES = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
OWNER, USER = 65534, 1  # nobody, daemon


def run_without_mpi(command: list[object], variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess:
    environment = {**os.environ, "LD_PRELOAD": str(site_library()), **(variables or {})}
    words = [str(word) for word in command]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_programs_of_every_abi_are_served(mpi: MpiLibrary) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, **FORCED).check()
    assert run.stderr == ""
    for collective, calls in CALLS.items():
        assert run.report.calls(collective) == {FORCED[collective]: calls * RANKS}


@TWO_LIBRARIES
@pytest.mark.parametrize("binding", ["-Wl,-z,now,-z,relro", "-Wl,-z,lazy,-z,norelro"])
def test_programs_are_served_however_they_are_bound(mpi: MpiLibrary, binding: str) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c", binding)], RANKS, **FORCED).check()
    assert run.report.calls("exscan") == {FORCED["exscan"]: CALLS["exscan"] * RANKS}


@pytest.mark.parametrize("mpi", ["debian_mpich", "debian_openmpi"], indirect=True)
def test_fortran_programs_are_served(mpi: MpiLibrary) -> None:
    program = mpi.compile("fortran_scan.f90", "-cpp", "-DUSE_MPI_F08")
    run = run_on_site(mpi, [program], 2, exscan="doubling_123").check()
    assert run.stdout == mpi.run([program], 2).check().stdout
    assert set(run.report.calls("exscan")) == {"doubling_123"}


@TWO_LIBRARIES
def test_mpi4py_is_served_and_finds_no_function_that_its_library_lacks(mpi: MpiLibrary, mpi4py: Path) -> None:
    # mpi4py calls functions with large counts wherever it finds them: in Open MPI 5 there are none.
    check_mpi4py(
        mpi, mpi4py, 2, "-k", "*Scan*", "-k", "*Exscan*", forced={"exscan": "doubling_123", "scan": "doubling"},
        LD_PRELOAD=str(site_library()),
    )  # fmt: skip


def test_plugins_that_bring_mpi_are_served(mpi: MpiLibrary) -> None:
    plugin = mpi.compile("late.c", "-DPLUGIN", "-shared", "-fPIC")
    program = compiled_without_mpi("late.c")
    natively = mpi.run([program, plugin], RANKS).check()
    run = run_on_site(mpi, [program, plugin], RANKS, exscan="doubling_123").check()
    assert sorted(run.stdout.splitlines()) == sorted(natively.stdout.splitlines())
    assert run.report.calls("exscan") == {"doubling_123": 3 * RANKS}


@TWO_LIBRARIES
@pytest.mark.parametrize("order", ["{site}:{tool}", "{tool}:{site}"])
def test_tools_see_every_call_once(mpi: MpiLibrary, order: str) -> None:
    tool = mpi.compile("profiler.c", "-shared", "-fPIC")
    preloads = order.replace("{tool}", str(tool))
    check_tool(run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, **FORCED, environment={"LD_PRELOAD": preloads}))


@TWO_LIBRARIES
@pytest.mark.parametrize("order", ["{site}:{rondo}", "{rondo}:{site}"])
def test_the_library_of_one_abi_may_be_preloaded_besides(mpi: MpiLibrary, order: str) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, **FORCED, environment={"LD_PRELOAD": order}).check()
    assert run.report.calls("exscan") == {FORCED["exscan"]: CALLS["exscan"] * RANKS}


@TWO_LIBRARIES
@pytest.mark.parametrize("switch", ["RONDO_DISABLE=1", "RONDO_DISABLE=yes", "RONDO=off"])
def test_switched_off_it_loads_nothing(mpi: MpiLibrary, switch: str) -> None:
    name, _, value = switch.partition("=")
    command = ["env", "LD_DEBUG=files", mpi.compile("profiled.c")]
    run = run_on_site(mpi, command, RANKS, **FORCED, environment={name: value}).check()
    assert "librondo.so" in run.stderr
    assert "librondo_" not in run.stderr
    assert run.report.ranks == []


@TWO_LIBRARIES
def test_rondo_disable_0_switches_nothing_off(mpi: MpiLibrary) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, **FORCED, environment={"RONDO_DISABLE": "0"}).check()
    assert set(run.report.calls("exscan")) == {FORCED["exscan"]}


@TWO_LIBRARIES
def test_without_a_library_for_the_abi_programs_run_natively(mpi: MpiLibrary, tmp_path: Path) -> None:
    alone = shutil.copy(site_library(), tmp_path)
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, **FORCED, environment={"LD_PRELOAD": alone}).check()
    assert (run.stdout, run.stderr, run.report.ranks) == ("", "", [])


@TWO_LIBRARIES
def test_a_library_that_cannot_be_loaded_is_named(mpi: MpiLibrary, tmp_path: Path) -> None:
    alone = shutil.copy(site_library(), tmp_path)
    for abi in ("mpich", "openmpi"):
        (tmp_path / f"librondo_{abi}.so").write_text("no library")
    program = mpi.compile("late_storage.c", "-ldl")
    run = run_on_site(mpi, [program], 1, environment={"LD_PRELOAD": alone}).check()
    expected = rf"rondo: {tmp_path}/librondo_\w+\.so: .*; calls go to the MPI library\n"
    assert re.fullmatch(expected, run.stderr), run.stderr
    assert run.report.ranks == []


def a_copy(folder: Path) -> Path:
    """The library, with those for the ABIs, at another path."""
    for each in site_library().parent.glob("librondo_*.so"):
        (folder / each.name).symlink_to(each)
    return Path(shutil.copy(site_library(), folder))


@TWO_LIBRARIES
@pytest.mark.parametrize("order", ["{site}:{copy}", "{copy}:{site}"])
def test_of_two_copies_one_serves(mpi: MpiLibrary, tmp_path: Path, order: str) -> None:
    preloads = order.replace("{copy}", str(a_copy(tmp_path)))
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, **FORCED, environment={"LD_PRELOAD": preloads}).check()
    assert run.stderr == ""
    assert run.report.calls("exscan") == {FORCED["exscan"]: CALLS["exscan"] * RANKS}


def test_two_copies_do_not_take_each_other_for_an_mpi(tmp_path: Path) -> None:
    preloads = f"{site_library()}:{a_copy(tmp_path)}"
    result = run_without_mpi([compiled_without_mpi("late.c")], {"LD_PRELOAD": preloads})
    assert (result.stdout, result.stderr) == ("found: 0 0 0\n", "")


@TWO_LIBRARIES
def test_plugins_find_room_for_thread_local_memory(mpi: MpiLibrary) -> None:
    plugin = mpi.compile("late_storage.c", "-DPLUGIN", "-shared", "-fPIC")
    program = mpi.compile("late_storage.c", "-ldl")
    if (natively := mpi.run([program, plugin], RANKS).check().stdout) != "":
        pytest.skip(f"natively, there is no room, either: {natively}")
    run = run_on_site(mpi, [program, plugin], RANKS, exscan="doubling_123").check()
    assert run.stdout == ""
    assert run.report.calls("exscan") == {"doubling_123": 3 * RANKS}


@TWO_LIBRARIES
def test_programs_speak_to_rondo_through_it(mpi: MpiLibrary) -> None:
    run = run_on_site(mpi, [mpi.compile("choices.c")], 3)
    assert run.stdout == mpi.run_under_rondo([mpi.compile("choices.c")], 3).stdout


def test_programs_without_mpi_find_no_function_of_mpi() -> None:
    result = run_without_mpi([compiled_without_mpi("late.c")])
    assert (result.stdout, result.stderr) == ("found: 0 0 0\n", "")


def test_programs_without_mpi_have_nothing_else_loaded_or_opened() -> None:
    result = run_without_mpi(["/bin/cat", "/proc/self/maps"])
    assert {Path(name).name for name in re.findall(r"\S*rondo\S*\.so", result.stdout)} == {"librondo.so"}
    assert result.stderr == ""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Where other users may go, too."""
    with tempfile.TemporaryDirectory(prefix="rondo-site-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs away")
def test_setuid_programs_run_as_natively(public_folder: Path) -> None:
    library, program = shutil.copy(site_library(), public_folder), shutil.copy("/bin/cat", public_folder)

    def as_user(file: str, **variables: str) -> str:
        command = [program, file]
        result = subprocess.run(
            command, env={**os.environ, **variables}, user=USER, group=USER, extra_groups=[],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert result.stderr == ""
        return result.stdout

    def libraries(**variables: str) -> set[str]:
        return set(re.findall(r"/\S+\.so\S*", as_user("/proc/self/maps", **variables)))

    natively = libraries()
    assert libraries(LD_PRELOAD=library) == natively | {library}
    os.chown(program, OWNER, OWNER)
    Path(program).chmod(0o4755)
    if not re.search(rf"^Uid:\t{USER}\t{OWNER}\t", status := as_user("/proc/self/status"), re.MULTILINE):
        pytest.skip(f"setuid programs have no effect in {public_folder}: {status}")
    assert libraries(LD_PRELOAD=library) == libraries() == natively


BOUND = 'mkdir -p "$2$1" && mount --bind "$1" "$2$1" && exec chroot "$2" "${@:3}"'
"""A program in another root, in which a folder is bound to its own path."""


def test_in_a_container_without_the_library_programs_run_and_the_loader_says_so(public_folder: Path) -> None:
    program, empty, root = shutil.which("cat"), public_folder / "empty", public_folder / "root"
    empty.mkdir()
    for file in (program, *re.findall(r"(/\S+) \(0x", subprocess.check_output(["ldd", program], text=True))):
        inside = root / Path(file).relative_to("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, inside)

    def inside_with(folder: Path, *before: str) -> subprocess.CompletedProcess:
        start = ["unshare", "--map-root-user", "--mount", "bash", "-c", BOUND, "bash", folder, root]
        return run_without_mpi([*before, *start, program, "--version"])

    natively = inside_with(empty, "env", "--unset=LD_PRELOAD")
    if natively.returncode != 0:
        pytest.skip(f"no other root here: {natively.stderr}")
    assert natively.stderr == ""
    without = inside_with(empty)
    assert (without.returncode, without.stdout) == (0, natively.stdout)
    library = re.escape(str(site_library()))
    assert re.fullmatch(
        rf"ERROR: ld.so: object '{library}' from LD_PRELOAD cannot be preloaded \(.*\): ignored.\n", without.stderr
    )
    bound = inside_with(site_library().parent)
    assert (bound.returncode, bound.stdout, bound.stderr) == (0, natively.stdout, "")


SCRIPT = """
set -e
cc -o {folder}/plain {source} -ldl
{folder}/plain
{python} -c 'import subprocess; print(subprocess.check_output(["bash", "-c", "echo from bash"]).decode(), end="")'
{mpich}
{openmpi}
echo done | cat
"""


def test_one_environment_serves_a_script_with_everything_in_it(tmp_path: Path) -> None:
    from mpi_libraries import LIBRARIES, PROGRAMS, reason_to_skip  # noqa: PLC0415

    for name in ("mpich", "openmpi"):
        if (reason := reason_to_skip(name)) is not None:
            pytest.skip(reason)
    commands = {}
    variables = {"RONDO_EXSCAN": "doubling_123", "RONDO_REPORT": str(tmp_path)}
    for name in ("mpich", "openmpi"):
        mpi = LIBRARIES[name]
        words = mpi.command(2, mpi.patience, [mpi.compile("profiled.c")])
        exported = [word for each in (*variables, "LD_PRELOAD") for word in ("-x", each)] if mpi.is_openmpi else []
        variables.update(mpi.environment)
        commands[name] = " ".join(map(str, [words[0], *exported, *words[1:]]))
    script = SCRIPT.format(folder=tmp_path, source=PROGRAMS / "late.c", python=sys.executable, **commands)
    result = run_without_mpi(["bash", "-c", script], variables)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "found: 0 0 0\nfrom bash\ndone\n"
    reports = [path.read_text() for path in tmp_path.glob("*.json")]
    assert len(reports) == 4
    assert all('"algorithm":"doubling_123"' in text for text in reports)
    assert {re.search(r'"abi":"(\w+)"', text)[1] for text in reports} == {"mpich", "openmpi"}
