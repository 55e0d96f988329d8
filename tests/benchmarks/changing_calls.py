# SPDX-License-Identifier: BSD-3-Clause
"""What calls cost that find nothing prepared, natively and under Rondo, side by side on two ranks.

Communicators that live for a moment: split, four allreduces of 8 bytes, freed; duplicated, one allreduce, freed. Where
the library carries the calls out (rules about longer vectors), at most 1.2 times native; where Rondo does, at most 1.5
times, also by the default rules. Calls that all differ in count: at most 2 microseconds more than calls of one count,
besides what that costs natively. The root is another one in each call, so that no rank runs ahead. All also with the
guard, as `rondo run` has it. Medians of interleaved runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from rondo.launching.installation import DEFAULT_RULES, preload_library

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {
    "mpich": ([], lambda name, value: ["-genv", name, value]),
    "openmpi": (["--oversubscribe"], lambda name, value: ["-x", f"{name}={value}"]),
}
SERVING_RULES = str(Path(__file__).with_name("serving.rules"))
LEAVING_RULES = str(Path(__file__).with_name("leaving.rules"))
WAYS = {
    "native": {},
    "left to the library": {"RONDO_RULES": LEAVING_RULES},
    "left, guarded": {"RONDO_RULES": LEAVING_RULES, "RONDO_GUARD": "exact"},
    "default rules": {"RONDO_RULES": str(DEFAULT_RULES)},
    "default rules, guarded": {"RONDO_RULES": str(DEFAULT_RULES), "RONDO_GUARD": "exact"},
    "served": {"RONDO_ALLREDUCE": "recursive_doubling", "RONDO_BCAST": "binomial"},
    "served, guarded": {"RONDO_RULES": SERVING_RULES, "RONDO_GUARD": "exact"},
    "pipelined": {"RONDO_BCAST": "linear_pipeline"},
}
MOMENTARY = [
    "native",
    "left to the library",
    "left, guarded",
    "default rules",
    "default rules, guarded",
    "served",
    "served, guarded",
]
KINDS = {
    "split": MOMENTARY,
    "dup": MOMENTARY,
    "repeated": ["native", "default rules", "served", "served, guarded", "pipelined"],
    "differing": ["native", "default rules", "served", "served, guarded", "pipelined"],
}

# Of native, on communicators that live for a moment; and microseconds for calls that differ.
MOST_OF_NATIVE = {way: 1.2 if way.startswith("left") else 1.5 for way in MOMENTARY if way != "native"}
MOST_MICROSECONDS = 2.0


def verdict(value: float, most: float) -> str:
    return f"(at most {most}: {'met' if value <= most else 'missed'})"


def command(library: str, program: Path, kind: str, way: str, repetitions: int) -> list[str]:
    options, dialect = LIBRARIES[library]
    words = [str(ROOT / ".toolchain" / library / "bin" / "mpiexec"), *options, "-n", "2"]
    if way != "native":
        for name, value in {**WAYS[way], "LD_PRELOAD": str(preload_library(library))}.items():
            words += dialect(name, value)
    return [*words, str(program), kind, str(repetitions)]


def measure(library: str, program: Path, runs: int, repetitions: int) -> dict[tuple[str, str], float]:
    """Median microseconds by kind and way."""
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        for kind, ways in KINDS.items():
            for way in ways:
                output = subprocess.run(
                    command(library, program, kind, way, repetitions),
                    capture_output=True,
                    text=True,
                    timeout=120,
                    check=True,
                ).stdout
                times.setdefault((kind, way), []).extend(float(line) for line in output.split())
    return {key: statistics.median(values) for key, values in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=3000)
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    for library in LIBRARIES:
        compiler = ROOT / ".toolchain" / library / "bin" / "mpicc"
        if not compiler.exists():
            print(f"changing_calls: {library} skipped, not in .toolchain")
            continue
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "changing_calls"
            source = Path(__file__).with_name("changing_calls.c")
            subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True)
            found = measure(library, program, arguments.runs, arguments.repetitions)
        for (kind, way), microseconds in found.items():
            native = found[kind, "native"]
            row = {"library": library, "kind": kind, "way": way, "us": microseconds, "of_native": microseconds / native}
            if arguments.json:
                print(json.dumps(row))
            else:
                most = MOST_OF_NATIVE.get(way) if kind in ("split", "dup") else None
                judged = f" {verdict(row['of_native'], most)}" if most is not None else ""
                print(
                    f"{library:8} {kind:10} {way:22} {microseconds:9.2f} us  {row['of_native']:6.2f} of native{judged}"
                )
        for way in KINDS["differing"] if not arguments.json else []:
            more = found["differing", way] - found["repeated", way]
            besides = more - (found["differing", "native"] - found["repeated", "native"])
            judged = f" {verdict(besides, MOST_MICROSECONDS)}" if way != "native" else ""
            print(f"{library:8} lengths that differ, {way}: {more:+.2f} us{judged}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
