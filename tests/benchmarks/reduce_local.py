# SPDX-License-Identifier: BSD-3-Clause
"""The reduction kernels beside MPI_Reduce_local of each MPI library in .toolchain, and beside STREAM's add.

One rank, in place, in L2 and in memory. GB/s counts three operands. The last lines say the smallest and the largest
ratio to MPI_Reduce_local for the two kinds of operators: those as fast as memory, and those of pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "build/release/librondo_kernels.a"  # that of `make bench`
SOURCE = Path(__file__).with_suffix(".cpp")
LIBRARIES = {"mpich": [], "openmpi": ["--oversubscribe"]}
PAIRS = ("maxloc", "minloc")
SECONDS = 400


def measure(library: str, options: list[str]) -> list[dict]:
    """A row for each case, as reduce_local.cpp prints it."""
    binaries = ROOT / ".toolchain" / library / "bin"
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "reduce_local"
        compiler = [binaries / "mpicxx", "-std=c++20", "-O3", "-DNDEBUG", f"-I{ROOT}"]
        subprocess.run([*map(str, compiler), str(SOURCE), str(KERNELS), "-o", str(program)], check=True)
        command = [str(binaries / "mpiexec"), *LIBRARIES[library], "-n", "1", str(program), *options]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True)
    return [{"library": library, **json.loads(line)} for line in result.stdout.splitlines()]


def show(rows: list[dict]) -> None:
    """A table for each place, and the extremes."""
    for place in dict.fromkeys(row["place"] for row in rows):
        here = [row for row in rows if row["place"] == place]
        print(f"\n{here[0]['library']}, {place}, {here[0]['bytes'] >> 10} KiB per operand")
        print(f"{'':18} {'GB/s':>8} {'/ add':>8} {'MPI, GB/s':>10} {'/ MPI':>8}")
        for row in here:
            print(
                f"{row['operation']:7} {row['element']:10} {row['gb_per_s']:8.1f} {row['ratio_to_stream_add']:8.2f} "
                f"{row['mpi_gb_per_s']:10.1f} {row['ratio_to_mpi']:8.2f}"
            )
        for name, pairs in (("pairs", True), ("others", False)):
            ratios = [row["ratio_to_mpi"] for row in here if (row["operation"] in PAIRS) == pairs]
            print(f"{name}: {min(ratios):.2f} to {max(ratios):.2f} times MPI_Reduce_local")


def main() -> int:
    """Measures, with the options that reduce_local.cpp knows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    arguments, options = parser.parse_known_args()
    if not KERNELS.exists():
        print(f"reduce_local: skipped, there is no {KERNELS.relative_to(ROOT)}: make bench")
        return 0
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    for library in LIBRARIES:
        if not (ROOT / ".toolchain" / library / "bin" / "mpicxx").exists():
            print(f"reduce_local: {library} skipped, not in .toolchain")
            continue
        rows = measure(library, options)
        if arguments.json:
            print("\n".join(map(json.dumps, rows)))
        else:
            show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
