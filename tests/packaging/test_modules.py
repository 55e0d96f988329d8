# SPDX-License-Identifier: BSD-3-Clause
"""Environment modules of a prefix, as Lmod and Environment Modules load them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_packages import unpacked
from installed_prefix import Prefix
from mpi_libraries import MpiLibrary

pytestmark = pytest.mark.soak
# Package of Debian -> its program, and the packages that this needs. The two exclude each other, so they are unpacked.
TOOLS = {
    "lmod": ("usr/share/lmod/lmod/libexec/lmod", "lua5.3 lua-filesystem lua-json lua-posix lua-term"),
    "environment-modules": ("usr/lib/*/modulecmd.tcl", "tcl"),
}
KNOWN = ("PATH", "MANPATH", "LD_PRELOAD", "RONDO_RULES", "RONDO_GUARD", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")
FORGOTTEN = {*KNOWN, "RONDO_CONFIG", "LOADEDMODULES", "_LMFILES_"} - {"PATH"}


@dataclass(frozen=True)
class Tool:
    """A module tool for bash."""

    program: Path
    modules: Path

    def outcome(self, *lines: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs lines of bash, in which `module` is the tool's, in an environment that has no modules yet."""
        define = f'module() {{ eval "$({self.program} bash "$@")"; }}'
        kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
        path = os.pathsep.join(dict.fromkeys(os.get_exec_path()))  # Lmod takes out what stands there twice
        known = {**kept, "PATH": path, "MODULEPATH": str(self.modules), **environment}
        script = "\n".join([define, *lines])
        return subprocess.run(["bash", "-c", script], env=known, capture_output=True, text=True, check=False)

    def after(self, *lines: str, **environment: str) -> dict[str, str]:
        """The variables that have a value afterwards, of those that modules set."""
        shown = "; ".join(f'echo "{name}=${{{name}-}}"' for name in KNOWN)
        result = self.outcome(*lines, shown, **environment)
        assert result.returncode == 0, result.stderr
        pairs = (line.partition("=") for line in result.stdout.splitlines())
        return {name: value for name, _, value in pairs if value}


@pytest.fixture(scope="module", params=list(TOOLS))
def tool(request: pytest.FixtureRequest, prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    program, needed = TOOLS[request.param]
    folder = unpacked(tmp_path_factory.mktemp(request.param), request.param)
    tool = Tool(next(folder.glob(program)), prefix.path / "share" / "modulefiles")
    result = tool.outcome("module -t avail")
    if not result.stderr.strip() or "not found" in result.stderr:
        pytest.skip(f"{request.param} does not start here: apt-get install {needed}: {result.stderr.strip()[-300:]}")
    return tool


def test_both_modules_are_there(tool: Tool) -> None:
    listed = tool.outcome("module -t avail").stderr.split()
    both = [f"rondo-preload/{version_of(tool)}", f"rondo/{version_of(tool)}"]
    # Lmod lists "rondo/" besides, and each tool the folder.
    assert [word for word in listed if word.startswith("rondo") and not word.endswith("/")] == both


def version_of(tool: Tool) -> str:
    (version,) = {path.name.removesuffix(".lua") for path in (tool.modules / "rondo").iterdir()}
    return version


def test_the_module_brings_the_command_alone(tool: Tool, prefix: Prefix) -> None:
    before, after = tool.after(), tool.after("module load rondo")
    assert after["PATH"] == f"{prefix.path}/bin{os.pathsep}{before['PATH']}"
    assert {name for name in after if after[name] != before.get(name)} == {
        "PATH", "MANPATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH"
    }  # fmt: skip
    result = tool.outcome("module load rondo", "command -v rondo python3", "rondo --version")
    command, python, version = result.stdout.splitlines()
    assert command == str(prefix.command)
    assert python == shutil.which("python3")
    assert version == f"rondo {version_of(tool)}"


@pytest.mark.parametrize("before", ["", "/usr/share/man", "/usr/share/man:"])
def test_unloading_takes_everything_back(tool: Tool, before: str) -> None:
    environment = {"MANPATH": before} if before else {}
    both = ("module load rondo", "module load rondo-preload", "module unload rondo-preload", "module unload rondo")
    found = tool.after(*both, **environment)
    # Lmod writes an empty last entry as two colons, which is the same to man.
    if "MANPATH" in found:
        found["MANPATH"] = found["MANPATH"].replace("::", ":")
    assert found == tool.after(**environment)


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
@pytest.mark.parametrize("before", [None, "/usr/share/man"])
def test_manual_pages_are_found_beside_those_of_the_system(tool: Tool, prefix: Prefix, before: str | None) -> None:
    environment = {"MANPATH": before} if before else {}
    others = tool.outcome("man -w man", **environment).stdout
    found = tool.outcome("module load rondo", "man -w rondo-run", "man -w man", **environment).stdout.splitlines()
    assert found[0] == f"{prefix.path}/share/man/man1/rondo-run.1"
    assert found[1:] == others.splitlines()


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_the_second_module_preloads(tool: Tool, prefix: Prefix, mpi: MpiLibrary, tmp_path: Path) -> None:
    if Path("/etc/rondo/config").exists():
        pytest.skip("this machine has a configuration of its site, which decides")
    after = tool.after("module load rondo-preload", LD_PRELOAD="")
    assert after["LD_PRELOAD"] == f"{prefix.path}/lib/librondo.so"
    assert after["RONDO_RULES"] == f"{prefix.path}/share/rondo/tuning/default.rules"
    assert after["RONDO_GUARD"] == "exact"
    words = [str(mpi.prefix / mpi.launcher), "-n", "2", str(mpi.compile("random_calls.cpp")), "1", "20"]
    report = {"RONDO_REPORT": str(tmp_path), "RONDO_EXSCAN": "doubling_123", **mpi.environment}
    result = tool.outcome("module load rondo-preload", " ".join(words), **report)
    assert "failures 0" in result.stdout, result.stderr
    reports = [path.read_text() for path in tmp_path.glob("*.json")]
    assert len(reports) == 2
    assert all(re.search(r'"collective":"exscan","algorithm":"doubling_123"', text) for text in reports)


def test_what_the_user_or_the_site_says_stays(tool: Tool, tmp_path: Path) -> None:
    after = tool.after("module load rondo-preload", RONDO_RULES="none")
    assert after["RONDO_RULES"] == "none"
    configured = tool.after("module load rondo-preload", RONDO_CONFIG=str(tmp_path / "config"))
    assert not {"RONDO_RULES", "RONDO_GUARD"} & set(configured)
    kept = tool.after("module load rondo-preload", "module unload rondo-preload", RONDO_RULES="none")
    assert kept == tool.after(RONDO_RULES="none")


@pytest.mark.parametrize("module", ["rondo", "rondo-preload"])
def test_a_copy_of_a_module_says_what_it_lacks(tool: Tool, module: str, tmp_path: Path) -> None:
    copied = Tool(tool.program, tmp_path / "modulefiles")
    shutil.copytree(tool.modules, copied.modules)
    result = copied.outcome(f"module load {module}")
    assert f"There is no Rondo above {copied.modules}" in " ".join(result.stderr.split())
