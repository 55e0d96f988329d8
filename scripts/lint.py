# SPDX-License-Identifier: BSD-3-Clause
"""Formatting and static checks: clang-format, clang-tidy, ruff. `make lint` runs this inside .venv.

    python3 scripts/lint.py           every check
    python3 scripts/lint.py --fix     rewrite what can be rewritten: clang-format, ruff
    python3 scripts/lint.py --only clang-tidy

clang-tidy reads the compile commands of build/release, which `make install` writes; every source is checked once,
with the first MPI ABI that compiles it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPP_FOLDERS = ("rondo", "include", "apps", "python", "tests", "examples", "testbed")
CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
PYTHON_FOLDERS = [
    name
    for name in ("python", "scripts", "tests", "testbed", "examples", "docs/benchmarks/making")
    if (ROOT / name).is_dir()
]
COMPILE_COMMANDS = ROOT / "build" / "release" / "compile_commands.json"


def cpp_files() -> list[Path]:
    found = (path for folder in CPP_FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in CPP_SUFFIXES)
    return sorted(found)


def run(*command: object) -> bool:
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode == 0


def clang_format(fix: bool) -> bool:
    files = cpp_files()
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return not files or run("clang-format", *mode, *files)


def tidy_one(directory: Path, source: Path) -> tuple[bool, str]:
    # GoogleTest's macros are slow to analyse, and tests have no paths worth it.
    options = ["--checks=-clang-analyzer-*"] if source.is_relative_to(ROOT / "tests") else []
    options.append("--extra-arg=-Wno-unknown-warning-option")  # the commands are GCC's
    command = ["clang-tidy", "--quiet", *options, "-p", str(directory), str(source)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.returncode == 0, result.stdout


def clang_tidy(jobs: int) -> bool:
    if not COMPILE_COMMANDS.is_file():
        print(f"lint: {COMPILE_COMMANDS.relative_to(ROOT)} is missing; run make install", file=sys.stderr)
        return False
    first_command_of: dict[str, dict[str, str]] = {}
    for command in json.loads(COMPILE_COMMANDS.read_text()):
        source = Path(command["file"])
        is_ours = any(source.is_relative_to(ROOT / folder) for folder in CPP_FOLDERS)
        if is_ours and source.is_file():
            # Warnings are the compiler's task, and Clang does not know all of GCC's.
            command["command"] = re.sub(r" -W[^l]\S*", "", command["command"])
            # Every source includes what it needs.
            command["command"] = re.sub(r" -include \S*cmake_pch\.hxx", "", command["command"])
            first_command_of.setdefault(command["file"], command)
    directory = COMPILE_COMMANDS.parent / "lint"
    directory.mkdir(exist_ok=True)
    (directory / COMPILE_COMMANDS.name).write_text(json.dumps(list(first_command_of.values())))
    passed = True
    seen: set[str] = set()  # a finding in a header comes with every source that includes it
    with ThreadPoolExecutor(jobs) as pool:
        for succeeded, output in pool.map(lambda source: tidy_one(directory, Path(source)), sorted(first_command_of)):
            passed = passed and succeeded
            for finding in re.split(r"^(?=\S+:\d+:\d+: (?:warning|error): )", output, flags=re.MULTILINE):
                if not succeeded and finding not in seen:
                    seen.add(finding)
                    print(finding, end="")
    return passed


def ruff(fix: bool) -> bool:
    if fix:
        return all([run("ruff", "check", "--fix", *PYTHON_FOLDERS), run("ruff", "format", *PYTHON_FOLDERS)])
    return all([run("ruff", "check", *PYTHON_FOLDERS), run("ruff", "format", "--check", *PYTHON_FOLDERS)])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", os.cpu_count() or 1)))
    checks = {
        "clang-format": lambda options: clang_format(options.fix),
        "clang-tidy": lambda options: clang_tidy(options.jobs),
        "ruff": lambda options: ruff(options.fix),
    }
    parser.add_argument("--only", choices=checks)
    options = parser.parse_args(arguments)
    # The tools lie beside the interpreter of .venv.
    os.environ["PATH"] = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
    verdicts = {name: check(options) for name, check in checks.items() if options.only in (None, name)}
    print("lint: " + ", ".join(f"{name} {'passed' if passed else 'FAILED'}" for name, passed in verdicts.items()))
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
