# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that a call costs through Rondo, beside the same algorithm written by hand with plain MPI calls.

Counted by callgrind (valgrind), so repeatable: exscan/doubling_123 on two ranks, one element. A call may cost at most
600 instructions more than by hand, and must not allocate; the exit code says whether that holds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rondo.installation import preload_library

ROOT = Path(__file__).resolve().parents[2]
REPETITIONS = 1000
MOST_INSTRUCTIONS = 600

LIBRARIES = {
    "mpich": {"options": [], "variable": lambda name, value: ["-genv", name, value]},
    "openmpi": {"options": ["--oversubscribe"], "variable": lambda name, value: ["-x", f"{name}={value}"]},
}


def measure(library: str, program: Path, mode: str, variables: dict[str, str], directory: Path) -> dict:
    """Instructions and allocations per call, the larger of both ranks."""
    prefix, dialect = ROOT / ".toolchain" / library, LIBRARIES[library]
    command = [prefix / "bin" / "mpiexec", *dialect["options"], "-n", "2"]
    for name, value in variables.items():
        command += dialect["variable"](name, value)
    command += ["valgrind", "--tool=callgrind", "--collect-atstart=no"]
    command += [f"--callgrind-out-file={directory}/{mode}.%p", program, mode, str(REPETITIONS)]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=400, check=False)
    counts = [int(count) for count in re.findall(r"Collected : (\d+)", result.stderr)]
    allocations = [int(count) for count in re.findall(r"allocations (\d+)", result.stdout)]
    if result.returncode != 0 or len(counts) != 2 or len(allocations) != 2:
        raise SystemExit(f"overhead: {library} {mode} failed\n{result.stdout}{result.stderr[-3000:]}")
    return {"instructions": max(counts) / REPETITIONS, "allocations": max(allocations) / REPETITIONS}


def measure_library(library: str) -> dict:
    """By hand and through Rondo."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        program = directory / "overhead_exscan"
        compiler = ROOT / ".toolchain" / library / "bin" / "mpicc"
        source = Path(__file__).with_name("overhead_exscan.c")
        subprocess.run([str(compiler), "-O2", "-g", str(source), "-o", str(program)], check=True)
        rondo = {"LD_PRELOAD": str(preload_library(library)), "RONDO_EXSCAN": "doubling_123"}
        by_hand = measure(library, program, "by_hand", {}, directory)
        collective = measure(library, program, "collective", rondo, directory)
    more = collective["instructions"] - by_hand["instructions"]
    return {"library": library, "by_hand": by_hand, "rondo": collective, "more_instructions": more}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a library")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("overhead: skipped, no valgrind; install the package valgrind")
        return 0
    # Both libraries refuse things that a benchmark on a small machine cannot avoid: root, more ranks than cores.
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    good = True
    for library in LIBRARIES:
        if not (ROOT / ".toolchain" / library / "bin" / "mpicc").exists():
            print(f"overhead: {library} skipped, not in .toolchain")
            continue
        row = measure_library(library)
        extra_allocations = row["rondo"]["allocations"] - row["by_hand"]["allocations"]
        good = good and row["more_instructions"] <= MOST_INSTRUCTIONS and extra_allocations <= 0
        if arguments.json:
            print(json.dumps(row))
        else:
            print(
                f"{library:8} instructions per call: by hand {row['by_hand']['instructions']:.0f}, Rondo "
                f"{row['rondo']['instructions']:.0f}, {row['more_instructions']:+.0f} (at most +{MOST_INSTRUCTIONS}); "
                f"allocations per call: by hand {row['by_hand']['allocations']:.2f}, Rondo "
                f"{row['rondo']['allocations']:.2f}"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
