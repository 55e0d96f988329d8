# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that `rondo profile` adds to a call, counted by callgrind (valgrind) in the profiler's own code.

One element on two ranks, by overhead.c. A call may cost at most 150 instructions, and 10 for each count where counts
have to be added up. Counted after some thousands of calls, of which few are sampled, as in a program that makes many.
The exit code says whether that holds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from overhead import HANDED_ON, LIBRARIES, MOST_INSTRUCTIONS_TO_ADD_A_COUNT, ROOT, measure, own_instructions
from rondo.launching.installation import profile_library

REPETITIONS = 500
BEFORE = 5000
MOST_INSTRUCTIONS = 150
FUNCTIONS = [*HANDED_ON, "comm_rank"]
ADDED_UP = {"allgatherv", "alltoallv", "gatherv", "reduce_scatter", "scatterv"}


def most(function: str) -> int:
    """Instructions, for two ranks."""
    return MOST_INSTRUCTIONS + (2 * MOST_INSTRUCTIONS_TO_ADD_A_COUNT if function in ADDED_UP else 0)


def measured(library: str, program: Path, function: str) -> float:
    """Instructions per call in the profiler, of the rank with more of them."""
    variables = {"LD_PRELOAD": str(profile_library(library)), "RONDO_PROFILE": str(program.parent)}
    measure(library, program, function, "handed_on", variables, repetitions=REPETITIONS, before=BEFORE)
    profiles = list(program.parent.glob(f"{program.name}-{function}-handed_on.*"))
    counted = max(own_instructions(profile) for profile in profiles)
    for path in [*profiles, *program.parent.glob("*.profile")]:
        path.unlink()
    return counted / REPETITIONS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(FUNCTIONS)}; default: all")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("profile_overhead: skipped, no valgrind; install the package valgrind")
        return 0
    # Both libraries refuse things that a benchmark on a small machine cannot avoid: root, more ranks than cores.
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    good = True
    for library in LIBRARIES:
        compiler = ROOT / ".toolchain" / library / "bin" / "mpicc"
        if not compiler.exists():
            print(f"profile_overhead: {library} skipped, not in .toolchain")
            continue
        with tempfile.TemporaryDirectory(prefix="rondo-overhead-") as directory:
            program = Path(directory) / "overhead"
            source = Path(__file__).with_name("overhead.c")
            subprocess.run([str(compiler), "-O2", "-g", str(source), "-o", str(program)], check=True)
            for function in arguments.functions or FUNCTIONS:
                instructions = measured(library, program, function)
                good = good and instructions <= most(function)
                if arguments.json:
                    print(json.dumps({"library": library, "function": function, "instructions": instructions}))
                else:
                    print(f"{library:8} {function:20} {instructions:.0f} instructions (at most {most(function)})")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
