# SPDX-License-Identifier: BSD-3-Clause
"""Builds packages that run on every Linux with glibc 2.28 or newer, into dist/.

    python scripts/portable.py wheel                         for x86_64 and aarch64
    python scripts/portable.py tarball --processor x86_64    for machines without pip

Compiled by PyPI's ziglang (cmake/Zig.cmake) with the MPI headers of .toolchain, which are the same for both
processors. `make wheel` and `make tarball` set up what is needed.
"""

from __future__ import annotations

import argparse
import platform as system
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import check_portable
import python_headers
import zig_tools
from packaging.requirements import Requirement
from zig_tools import GLIBC, MPI_LIBRARIES, ROOT

PROCESSORS = ("x86_64", "aarch64")
DIST = ROOT / "dist"
TOOLCHAIN = ROOT / ".toolchain"
PYTHONS = ROOT / "build" / "pythons"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""Of Python, for which the tarball has the packages that the command needs."""
PACKAGES = Path("lib", "rondo", "python")
"""Where the tarball has Python packages (cmake/InstallLayout.cmake)."""


class PackageError(Exception):
    """What is wrong with a package."""


def platform(processor: str) -> str:
    return f"manylinux_{GLIBC.replace('.', '_')}_{processor}"


def build_folder(processor: str) -> Path:
    return ROOT / "build" / f"portable-{processor}"


def definitions(processor: str, headers: dict[str, Path]) -> dict[str, str]:
    """What CMake is told; the tools that this names are written."""
    tools = build_folder(processor) / "tools"
    zig_tools.write_tools(tools, processor)
    for abi in MPI_LIBRARIES:
        zig_tools.write_mpi_stand_in(tools, abi, TOOLCHAIN / abi / "include")
    return {
        "CMAKE_TOOLCHAIN_FILE": str(ROOT / "cmake" / "Zig.cmake"),
        "RONDO_ZIG_TOOLS": str(tools),
        "RONDO_PROCESSOR": processor,
        "CMAKE_INSTALL_LIBDIR": "lib",  # not lib64, wherever this is built
        "RONDO_MPI_STAND_INS": str(tools),
        "RONDO_PYTHON_HEADERS": ";".join(f"{version}={path}" for version, path in headers.items()),
        "RONDO_BUILD_PYTHON": "ON",
        "RONDO_BUILD_TESTS": "OFF",  # tests/packaging/test_aarch64.py builds them, too
        "RONDO_WERROR": "ON",
        "Python_EXECUTABLE": sys.executable,
        "Python3_EXECUTABLE": sys.executable,
    }


def configure(processor: str, headers: dict[str, Path]) -> None:
    words = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build_folder(processor), "-DCMAKE_BUILD_TYPE=Release"]
    run(*words, *(f"-D{name}={value}" for name, value in definitions(processor, headers).items()))


def build(processor: str, headers: dict[str, Path]) -> None:
    configure(processor, headers)
    run("cmake", "--build", build_folder(processor))


def make_wheel(processor: str, headers: dict[str, Path]) -> Path:
    """One wheel for all versions of Python."""
    build(processor, headers)
    settings = {
        "build-dir": build_folder(processor),
        "cmake.build-type": "Release",
        "wheel.tags": f"py3-none-{platform(processor)}",
        **{f"cmake.define.{name}": value for name, value in definitions(processor, headers).items()},
    }
    options = [f"--config-settings={key}={value}" for key, value in settings.items()]
    remove_earlier(f"*-{platform(processor)}.whl")
    pip("wheel", "--no-build-isolation", "--no-deps", f"--wheel-dir={DIST}", *options, ROOT)
    wheel = next(DIST.glob(f"*-{platform(processor)}.whl"))
    check(wheel)
    return wheel


def remove_earlier(names: str) -> None:
    """The packages of earlier versions: dist/ has one of each kind for a processor."""
    for old in DIST.glob(names):
        old.unlink()


def check(wheel: Path) -> None:
    """PackageError if a file of the wheel asks for what some Linux with this glibc may lack."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder)
        check_folder(Path(folder))


def check_folder(folder: Path) -> None:
    found = check_portable.problems(folder)
    if found:
        raise PackageError("\n".join(found))


def make_tarball(processor: str, headers: dict[str, Path]) -> Path:
    """What `cmake --install` installs, and the packages that the command needs."""
    build(processor, headers)
    stage = build_folder(processor) / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    name = f"rondo-{version_of(build_folder(processor))}-linux-{processor}"
    root = stage / name
    run("cmake", "--install", build_folder(processor), "--prefix", root)
    check_folder(root)
    write_pages(root, core_for_this_python(headers))
    for version in VERSIONS:
        install_for(version, processor, stage / version)
        shutil.copytree(stage / version, root / PACKAGES, dirs_exist_ok=True)
    shutil.rmtree(root / PACKAGES / "bin", ignore_errors=True)  # commands of the Python that builds
    DIST.mkdir(exist_ok=True)
    remove_earlier(f"rondo-*-linux-{processor}.tar.gz")
    return Path(shutil.make_archive(str(DIST / name), "gztar", stage, name))


def version_of(folder: Path) -> str:
    """What project() in CMakeLists.txt says."""
    lines = (folder / "CMakeCache.txt").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("CMAKE_PROJECT_VERSION:"))


def core_for_this_python(headers: dict[str, Path]) -> Path:
    """The C++ core for the Python that runs this, on this machine, whatever the package is for."""
    here = system.machine()
    configure(here, headers)
    minor = min(sys.version_info.minor, 12)  # from 3.12 on, all have one
    run("cmake", "--build", build_folder(here), "--target", f"_core_3{minor}")
    names = f"_core.cpython-3{minor}-*.so" if minor < 12 else "_core.abi3.so"
    return next(build_folder(here).glob(names))


def write_pages(root: Path, core: Path) -> None:
    """Manual pages and completion, which the command writes itself, with a core that runs here."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "prefix"  # as a whole: what the command says depends on what lies beside it
        shutil.copytree(root, copy, symlinks=True)
        packages = copy / PACKAGES
        for foreign in packages.glob("rondo/_core*.so"):
            foreign.unlink()
        shutil.copy2(core, packages / "rondo")
        run(sys.executable, packages / "start_rondo.py", "shell", "--install", "--prefix", root)


def install_for(version: str, processor: str, target: Path, extra: str | None = None) -> None:
    """What the command needs, as for a version of Python on another machine; with `extra`, what that names."""
    tags = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    platforms = [f"--platform={tag}_{processor}" for tag in tags]
    where = [f"--target={target}", f"--python-version={version}", *platforms]
    pip("install", "--only-binary=:all:", "--no-compile", *where, *requirements(version, extra))


def requirements(version: str, extra: str | None = None) -> list[str]:
    """Of the command, or of an extra, with a version of Python: pip would ask the one that builds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    return [
        f"{each.name}{each.specifier}"
        for each in map(Requirement, named)
        if each.marker is None or each.marker.evaluate({"python_version": version})
    ]


def pip(*words: object) -> None:
    run(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words)


def run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", choices=("wheel", "tarball"))
    parser.add_argument("--processor", action="append", choices=PROCESSORS, help="one of these; without, all")
    parser.add_argument(
        "--headers",
        action="append",
        default=[],
        metavar="VERSION=FOLDER",
        help="where a Python.h is",
    )
    arguments = parser.parse_args()
    named = {version: Path(path) for version, _, path in (each.partition("=") for each in arguments.headers)}
    make = make_wheel if arguments.package == "wheel" else make_tarball
    try:
        headers = python_headers.headers(PYTHONS, named)
        for processor in arguments.processor or PROCESSORS:
            package = make(processor, headers)
            print(f"{package.relative_to(ROOT)}: {package.stat().st_size / 2**20:.1f} MiB", flush=True)
    except (PackageError, python_headers.HeadersError) as error:
        print(f"portable: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"portable: failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
