# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of Spack, EasyBuild and conda: they say what pyproject.toml and CMake say, and their tools accept them.

The tools come from PyPI, each into an environment of its own below build/. Spack is on no registry of packages: `spack`
on PATH, or a checkout that SPACK_ROOT names, is taken.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
from installed_prefix import BUILD, Prefix
from mpi_libraries import ROOT, TOOLCHAIN

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECIPES = ROOT / "packaging"
SPACK = RECIPES / "spack" / "packages" / "rondo" / "package.py"
CONDA = RECIPES / "conda" / "recipe.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOUND = re.search(r"project\(rondo VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
VERSION = FOUND[1] if FOUND is not None else ""
EASYBUILD = RECIPES / "easybuild" / f"rondo-{VERSION}.eb"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def stated(text: str) -> tuple[str, str, str | None]:
    """Name, least version, and version before which all others are, of a requirement as in pyproject.toml."""
    found = re.match(r"([\w-]+)>=([\d.]+)(?:,<(\d+))?", text)
    assert found is not None, text
    return found[1], found[2], found[3]


NEEDED_TO_RUN = [stated(each) for each in PROJECT["project"]["dependencies"]]
NEEDED_TO_BUILD = [stated(each) for each in PROJECT["build-system"]["requires"]]


def test_every_document_has_the_version_of_the_project() -> None:
    named = re.findall(r"rondo(?:_mpi)?[-@](\d+\.\d+\.\d+)", (ROOT / "docs/how-to/install.md").read_text())
    assert len(named) > 3
    assert set(named) == {VERSION}
    assert f"version: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == VERSION


def test_every_recipe_has_the_version_of_the_project() -> None:
    assert f'version("{VERSION}")' in SPACK.read_text()
    assert f'version: "{VERSION}"' in CONDA.read_text()
    assert f"version = '{VERSION}'" in EASYBUILD.read_text()
    assert [path.name for path in EASYBUILD.parent.glob("*.eb")] == [EASYBUILD.name]


def test_every_file_has_its_licence_line() -> None:
    files = [path for path in RECIPES.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(files) > 10
    # The first line of a Tcl module is its mark, and METADATA is Python's own format.
    without = [path.name for path in files if not any("SPDX" in line for line in path.read_text().splitlines()[:2])]
    assert without == ["METADATA.in"]


def test_recipes_ask_for_what_the_package_asks_for() -> None:
    spack, conda = SPACK.read_text(), CONDA.read_text()
    for name, least, below in [*NEEDED_TO_RUN, *NEEDED_TO_BUILD]:
        in_spack = f'depends_on("py-{name}@{least}:{"" if below is None else int(below) - 1}"'
        in_conda = f"{name} >={least}{'' if below is None else f',<{below}'}\n"
        assert in_conda in conda, name
        if name != "scikit-build-core":  # Spack runs CMake itself
            assert in_spack in spack, name


def test_recipes_ask_for_the_cmake_that_the_build_needs() -> None:
    found = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\.\.\.", (ROOT / "CMakeLists.txt").read_text())
    assert found is not None
    assert f'depends_on("cmake@{found[1]}:", type="build")' in SPACK.read_text()
    assert f"- cmake >={found[1]}\n" in CONDA.read_text()


def run(*words: object, **environment: str) -> str:
    known = {**os.environ, **environment}
    result = subprocess.run(list(map(str, words)), env=known, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def environment_with(*packages: str) -> Path:
    """The folder of programs of a virtual environment with these packages of PyPI; skips where they cannot be had."""
    folder = ROOT / "build" / "tools" / packages[0]
    stamp = folder / "complete"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        words = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
        result = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            pytest.skip(f"{packages[0]} cannot be had from PyPI: {result.stderr.strip()[-300:]}")
        stamp.touch()
    return folder / "bin"


RENDER = """
import sys
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
platform = PlatformConfig(target_platform="linux-64", build_platform="linux-64", host_platform="linux-64")
recipe, variants = Stage0Recipe.from_file(sys.argv[1]), VariantConfig.from_file(sys.argv[2])
for each in recipe.render(variants, RenderConfig(platform=platform)):
    requirements = each.recipe.to_dict()["requirements"]
    print(each.recipe.package.name, each.variant["mpi"], each.variant["python"], *requirements["run"], sep="|")
"""


@pytest.mark.soak
def test_rattler_renders_a_package_for_each_mpi_and_python() -> None:
    tools = environment_with("py-rattler-build")
    lines = run(tools / "python", "-c", RENDER, CONDA, CONDA.with_name("variants.yaml")).splitlines()
    rendered = {tuple(line.split("|")[:3]): line.split("|")[3:] for line in lines}
    assert set(rendered) == {("rondo-mpi", mpi, python) for mpi in ("mpich", "openmpi") for python in PYTHONS}
    for (_, mpi, python), needed in rendered.items():
        assert mpi in needed
        assert ("tomli >=2" in needed) == (python == "3.10")


@pytest.mark.soak
def test_easybuild_likes_the_style(tmp_path: Path) -> None:
    tools = environment_with("easybuild", "pycodestyle")
    shown = easybuild(tools, tmp_path, "--check-style")
    assert "All style checks PASSed" in shown


def easybuild(tools: Path, folder: Path, *words: object) -> str:
    """Runs `eb`, with the Lmod or Environment Modules of this machine, or with those that Debian has."""
    options = ["--allow-use-as-root-and-accept-consequences", f"--prefix={folder}"]
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return run(tools / "eb", *options, *words, EASYBUILD, PATH=path, **module_tool())


def module_tool() -> dict[str, str]:
    """Lmod, which EasyBuild cannot do without."""
    program = Path(os.environ.get("LMOD_CMD", "/usr/share/lmod/lmod/libexec/lmod"))
    if not program.exists():
        pytest.skip("EasyBuild needs Lmod: apt-get install lmod")
    return {"LMOD_CMD": str(program), "EASYBUILD_MODULES_TOOL": "Lmod", "EASYBUILD_MODULE_SYNTAX": "Lua"}


@pytest.mark.soak
def test_easybuild_installs_a_tarball(prefix: Prefix, tmp_path: Path) -> None:
    """One with the layout of `make tarball`. EasyBuild itself runs `rondo list exscan` with its module loaded."""
    tools = environment_with("easybuild", "pycodestyle")
    name = f"rondo-{VERSION}-linux-{os.uname().machine}"
    sources = tmp_path / "sources"
    sources.mkdir()
    with tarfile.open(sources / f"{name}.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(prefix.path, name)
    assert "COMPLETED: Installation ended successfully" in easybuild(tools, tmp_path, f"--sourcepath={sources}")
    root = tmp_path / "software" / "rondo" / VERSION
    assert run(root / "bin" / "rondo", "--version", PYTHONPATH="") == f"rondo {VERSION}\n"
    assert (tmp_path / "modules" / "all" / "rondo" / f"{VERSION}.lua").is_file()


def spack_program() -> Path:
    root = os.environ.get("SPACK_ROOT")
    found = str(Path(root) / "bin" / "spack") if root else shutil.which("spack")
    if not found or not Path(found).exists():
        pytest.skip("no spack on PATH, and SPACK_ROOT names none")
    return Path(found)


def external(spec: str, prefix: object) -> str:
    name = spec.partition("@")[0]
    return f"  {name}: {{buildable: false, externals: [{{spec: '{spec}', prefix: {prefix}}}]}}\n"


def packages() -> str:
    """What Spack shall not build: what this machine and .venv have."""
    known = {"python": f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"}
    known |= {f"py-{name}": version(name) for name in ("nanobind", "click", "rich", "msgspec")}
    text = f"packages:\n  all: {{target: [{os.uname().machine}]}}\n  mpi: {{buildable: false}}\n"
    text += external("mpich@5.0.2", TOOLCHAIN / "mpich")
    text += "".join(external(f"{name}@{found}", sys.prefix) for name, found in known.items())
    for name in ("cmake", "ninja"):
        program = Path(shutil.which(name) or pytest.skip(f"no {name}"))
        found = re.search(r"[\d.]+", run(program, "--version"))
        assert found is not None
        text += external(f"{name}@{found[0]}", program.parent.parent)
    return text


@pytest.fixture
def spack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The beginning of a command of Spack, which knows the recipes, and touches nothing of the user's."""
    for name in ("SPACK_USER_CACHE_PATH", "SPACK_USER_CONFIG_PATH"):
        monkeypatch.setenv(name, str(tmp_path / name))
    folders = "".join(f"  {name}: {tmp_path / name}\n" for name in ("test_stage", "misc_cache"))
    tree = f"  install_tree: {{root: {tmp_path / 'installed'}}}\n  build_stage: [{tmp_path / 'stage'}]\n"
    scope = tmp_path / "scope"
    scope.mkdir()
    (scope / "config.yaml").write_text(f"config:\n{folders}{tree}")
    (scope / "repos.yaml").write_text(f"repos:\n  - {RECIPES / 'spack'}\n")
    (scope / "packages.yaml").write_text(packages())
    return [spack_program(), "-C", scope]


@pytest.mark.soak
def test_spack_reads_the_recipes(spack: list[object]) -> None:
    shown = run(*spack, "info", "rondo")
    for word in (VERSION, "prefix_sums", "py-nanobind", "py-msgspec", "mpi"):
        assert word in shown
    run(*spack, "audit", "packages", "rondo")


INSTALLING = f"""
    def cmake(self, spec, prefix):
        pass

    def build(self, spec, prefix):
        pass

    def install(self, spec, prefix):
        Executable("cmake")("--install", "{BUILD}", "--prefix", prefix)
"""


@pytest.mark.soak
def test_the_tests_of_the_spack_recipe_pass(prefix: Prefix, spack: list[object], tmp_path: Path) -> None:
    """On what is built already, which Spack installs: they preload the library, and look into the reports of ranks."""
    assert prefix.manifest
    repository, sources = tmp_path / "repository", tmp_path / "rondo"
    shutil.copytree(RECIPES / "spack", repository)
    recipe = repository / "packages" / "rondo" / "package.py"
    recipe.write_text(recipe.read_text() + INSTALLING)
    (tmp_path / "scope" / "repos.yaml").write_text(f"repos:\n  - {repository}\n")
    shutil.copytree(ROOT / "examples", sources / "examples")
    run(*spack, "dev-build", "--source-path", sources, f"rondo@{VERSION}", "^mpich")
    run(*spack, "test", "run", "--alias", "rondo", "rondo")
    shown = run(*spack, "test", "results", "rondo")
    assert re.search(r"rondo-\S+ PASSED", shown)
    assert "1 passed of 1 spec" in shown
