# SPDX-License-Identifier: BSD-3-Clause
"""Builds packages that run on every Linux with glibc 2.28 or newer, into dist/.

    python scripts/portable.py wheel                         for x86_64 and aarch64
    python scripts/portable.py tarball --processor x86_64    for machines without pip

Compiled by PyPI's ziglang (cmake/Zig.cmake) with the MPI headers of .toolchain, which are the same for both
processors. `make wheel` and `make tarball` set up what is needed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import check_portable
import python_headers
import zig_tools
from zig_tools import GLIBC, MPI_LIBRARIES, ROOT

PROCESSORS = ("x86_64", "aarch64")
DIST = ROOT / "dist"
TOOLCHAIN = ROOT / ".toolchain"
PYTHONS = ROOT / "build" / "pythons"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""Of Python, for which the tarball has the packages that the command needs."""
MOVED = {
    "lib": "lib",
    "bin": "bin",
    "include": "include",
    "tuning": "share/rondo/tuning",
    "driver": "share/rondo/driver",
}
"""Folders of the package, and where the tarball has them."""
STARTER = """\
#!/bin/sh
# The command, with the packages beside it; RONDO_PYTHON names a Python from 3.10 on.
here=$(dirname "$(readlink -f "$0")")
exec "${RONDO_PYTHON:-python3}" "$here/../lib/python/start_rondo.py" "$@"
"""
START = 'from rondo.commands import main\n\nmain(prog_name="rondo")\n'


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
        "RONDO_MPI_STAND_INS": str(tools),
        "RONDO_PYTHON_HEADERS": ";".join(f"{version}={path}" for version, path in headers.items()),
        "RONDO_BUILD_PYTHON": "ON",
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
    for old in DIST.glob(f"*-{platform(processor)}.whl"):
        old.unlink()
    pip("wheel", "--no-build-isolation", "--no-deps", f"--wheel-dir={DIST}", *options, ROOT)
    wheel = next(DIST.glob(f"*-{platform(processor)}.whl"))
    check(wheel)
    return wheel


def check(wheel: Path) -> None:
    """PackageError if a file of the wheel asks for what some Linux with this glibc may lack."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder)
        found = check_portable.problems(Path(folder))
    if found:
        raise PackageError("\n".join(found))


def make_tarball(processor: str, headers: dict[str, Path]) -> Path:
    """The wheel, and packages that the command needs, as bin, lib, include and share."""
    wheel = make_wheel(processor, headers)
    stage = build_folder(processor) / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    packages = stage / "python"
    for version in VERSIONS:
        install_for(version, processor, wheel, stage / version)
        shutil.copytree(stage / version, packages, dirs_exist_ok=True)
    shutil.rmtree(packages / "bin")  # commands of the Python that builds
    name = f"rondo-{wheel.name.split('-')[1]}-linux-{processor}"
    root, package = stage / name, packages / "rondo"
    for old, new in MOVED.items():
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        (package / old).rename(root / new)
        (package / old).symlink_to(Path("../../..") / new)
    packages.rename(root / "lib" / "python")
    (root / "lib" / "python" / "start_rondo.py").write_text(START)
    starter = root / "bin" / "rondo"
    starter.write_text(STARTER)
    starter.chmod(0o755)
    shutil.copy2(ROOT / "LICENSE", root / "share" / "rondo")
    DIST.mkdir(exist_ok=True)
    return Path(shutil.make_archive(str(DIST / name), "gztar", stage, name))


def install_for(version: str, processor: str, wheel: Path, target: Path) -> None:
    """A wheel with what it needs, as for a version of Python on another machine."""
    tags = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    platforms = [f"--platform={tag}_{processor}" for tag in tags]
    # pip asks the Python that builds which requirements there are, not the one that it installs for.
    more = ["tomli"] if version == "3.10" else []
    where = [f"--target={target}", f"--python-version={version}", *platforms]
    pip("install", "--only-binary=:all:", "--no-compile", *where, wheel, *more)


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
