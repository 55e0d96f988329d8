# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that a call costs through Rondo, beside the same algorithm written by hand with plain MPI calls.

Counted by callgrind (valgrind), so repeatable: one algorithm of each collective on two ranks, one element. A call must
not allocate, and may cost at most 400 instructions more than by hand. The same where the rules have chosen and the
guard has found out who is faster, with 5 instructions to count the calls until it looks again, and where calls of two
types are made in turn, with 60 to find what is known of them. Then, for each function,
the instructions that Rondo itself executes in a call that the rules leave to the library: at most 60, and 10 for each
count where counts have to be added up, because the rules do so for some lengths only. The same of calls that were lost
in a trial: at most 60. The exit code says whether all that holds.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from rondo.bench.plans import DIVIDED
from rondo.launching.installation import preload_library
from rondo.machine import machine
from rondo.tune import tuned_files

from rondo import _core
from rondo.selection import learned

ROOT = Path(__file__).resolve().parents[2]
REPETITIONS = 300
HANDED_ON_REPETITIONS = 100  # ranks poll for each other under valgrind
SUBJECTS = {"bcast": "binomial", "exscan": "doubling_123", "reduce": "binomial"}
GUARDED = SUBJECTS | {
    "allgather": "ring",
    "allreduce": "recursive_doubling",
    "alltoall": "pairwise",
    "barrier": "dissemination",
    "gather": "binomial",
    "reduce_scatter": "pairwise",
    "scan": "doubling",
    "scatter": "binomial",
}
MOST_INSTRUCTIONS = 400
MOST_INSTRUCTIONS_TO_COUNT = 5
MOST_INSTRUCTIONS_IN_TURN = 60
CALLS_BEFORE = 60  # behind a trial, and behind what Open MPI allocates once
HANDED_ON = [
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
]
LOST = "lost in a trial"
MOST_INSTRUCTIONS_HANDED_ON = 60
MOST_INSTRUCTIONS_TO_ADD_A_COUNT = 10
WITH_COUNTS_OF_EACH_RANK = {"allgatherv", "reduce_scatter"}  # which are added up for each call, where lengths matter
# Whose lengths all ranks know.
COLLECTIVES = (
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "reduce",
    "reduce_scatter",
    "scan",
    "scatter",
)
RULES = {
    "any length": "\n".join(f"{each} processes <= 2 -> native" for each in (*COLLECTIVES, "alltoallv")),
    "some lengths": "\n".join(f"{collective} processes <= 2, bytes < 1Gi -> native" for collective in COLLECTIVES),
}

LIBRARIES = {
    "mpich": {"options": [], "variable": lambda name, value: ["-genv", name, value]},
    "openmpi": {"options": ["--oversubscribe"], "variable": lambda name, value: ["-x", f"{name}={value}"]},
}


def measure(
    library: str,
    program: Path,
    collective: str,
    mode: str,
    variables: dict[str, str],
    *,
    repetitions: int = REPETITIONS,
    before: int = 10,
) -> dict:
    """Instructions and allocations per call, the larger of both ranks. `before`: so many calls are not counted."""
    prefix, dialect = ROOT / ".toolchain" / library, LIBRARIES[library]
    command = [prefix / "bin" / "mpiexec", *dialect["options"], "-n", "2"]
    for name, value in variables.items():
        command += dialect["variable"](name, value)
    command += ["valgrind", "--tool=callgrind", "--collect-atstart=no"]
    command += [
        f"--callgrind-out-file={program}-{collective}-{mode}.%p",
        program,
        collective,
        mode,
        str(repetitions),
        before,
    ]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=400, check=False)
    counts = [int(count) for count in re.findall(r"Collected : (\d+)", result.stderr)]
    allocations = [int(count) for count in re.findall(r"allocations (\d+)", result.stdout)]
    if result.returncode != 0 or len(counts) != 2 or len(allocations) != 2:
        raise SystemExit(f"overhead: {library} {collective} {mode} failed\n{result.stdout}{result.stderr[-3000:]}")
    return {"instructions": max(counts) / repetitions, "allocations": max(allocations) / repetitions}


def own_instructions(profile: Path) -> int:
    """What was executed in Rondo's own code, by callgrind's profile of a rank."""
    command = ["callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", str(profile)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in output.splitlines() if "librondo_" in line]
    return sum(int(words[0].replace(",", "")) for words in lines if words[0][0].isdigit())


def measure_handed_on(library: str, program: Path, lengths: str) -> list[dict]:
    """Instructions per call that Rondo executes itself, a row for each function that they depend on."""
    rules = program.parent / "native.rules"
    rules.write_text(RULES[lengths])
    functions = WITH_COUNTS_OF_EACH_RANK if lengths == "some lengths" else HANDED_ON
    variables = variables_of(library, rules)
    return instructions_handed_on(library, program, lengths, functions, variables)


def variables_of(library: str, rules: Path) -> dict[str, str]:
    """Of a run under Rondo with messages of the library, as by hand."""
    return {"LD_PRELOAD": str(preload_library(library)), "RONDO_RULES": str(rules), "RONDO_SHARED_MEMORY": "off"}


def with_verdicts(library: str, program: Path, rules: Path, times: str) -> dict[str, str]:
    """Of a run that knows the times of a trial about each collective. They are made up: noise decides nothing."""
    directory = Path(tempfile.mkdtemp(dir=program.parent))
    variables = {**variables_of(library, rules), "RONDO_GUARD": "exact", "RONDO_LEARNED": str(directory)}
    (loaded,) = (ROOT / ".toolchain" / library / "lib").glob("libmpi.so.*")
    version = tuned_files.version_of(loaded, os.environ)
    known = "".join(verdict_about(function, times) for function in GUARDED)
    learned.change(directory / learned.file_name(version, machine.standard().text()), add=known)
    return variables


def verdict_about(collective: str, times: str) -> str:
    """As history.hpp has it: calls of one int64 for each rank's part, or for the whole vector.

    About calls in a row (alone=), which the guard does not watch once more while they are counted.
    """
    described = next(each for each in _core.collectives() if each["name"] == collective)
    divided = collective in DIVIDED
    size = 8 * (2 if divided else 1) if described["has_data"] else 0
    commutative = "yes" if described["has_operation"] else "no"
    choice = _core.check_choice(collective, GUARDED[collective])
    where = "processes=2 nodes=1 fewest_on_node=2 most_on_node=2 in_rank_order=yes shared_memory=no"
    return (
        f"{collective} bytes={size} commutative={commutative} rounding=no {where} choice={choice} {times} calls=16 "
        f"alone=2 day={datetime.date.today()}\n"
    )


def instructions_handed_on(
    library: str, program: Path, lengths: str, functions: Collection[str], variables: dict[str, str]
) -> list[dict]:
    rows = []
    for function in sorted(functions):
        measure(library, program, function, "handed_on", variables, repetitions=HANDED_ON_REPETITIONS)
        profiles = list(program.parent.glob(f"{program.name}-{function}-handed_on.*"))
        most = max(own_instructions(profile) for profile in profiles)
        for profile in profiles:
            profile.unlink()
        instructions = most / HANDED_ON_REPETITIONS
        rows.append({"library": library, "function": function, "lengths": lengths, "handed_on": instructions})
    return rows


def measure_library(library: str) -> list[dict]:
    """By hand and through Rondo, a row for each collective."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "overhead"
        compiler = ROOT / ".toolchain" / library / "bin" / "mpicc"
        source = Path(__file__).with_name("overhead.c")
        subprocess.run([str(compiler), "-O2", "-g", str(source), "-o", str(program)], check=True)
        rules = Path(directory) / "served.rules"
        rules.write_text("".join(f"{collective} -> {algorithm}\n" for collective, algorithm in GUARDED.items()))
        guarded = with_verdicts(library, program, rules, "rondo=1 library=2")
        for collective, algorithm in SUBJECTS.items():
            by_hand = measure(library, program, collective, "by_hand", {})
            named = {f"RONDO_{collective.upper()}": algorithm}
            for mode, variables in (("collective", named), ("collective", guarded), ("in_turn", named)):
                # By hand there are messages, too.
                ways = {"LD_PRELOAD": str(preload_library(library)), "RONDO_SHARED_MEMORY": "off"}
                found = measure(library, program, collective, mode, ways | variables, before=CALLS_BEFORE)
                rows.append(
                    {
                        "library": library,
                        "collective": collective,
                        "guarded": variables is guarded,
                        "in_turn": mode == "in_turn",
                        "by_hand": by_hand,
                        "rondo": found,
                        "more_instructions": found["instructions"] - by_hand["instructions"],
                    }
                )
        for lengths in RULES:
            rows += measure_handed_on(library, program, lengths)
        lost = with_verdicts(library, program, rules, "rondo=2 library=1")
        rows += instructions_handed_on(library, program, LOST, {*GUARDED, "allgatherv"}, lost)
    return rows


def most_handed_on(row: dict) -> int:
    """Instructions, for two ranks."""
    adds = row["lengths"] != "any length" and row["function"] in WITH_COUNTS_OF_EACH_RANK
    return MOST_INSTRUCTIONS_HANDED_ON + (2 * MOST_INSTRUCTIONS_TO_ADD_A_COUNT if adds else 0)


def most_served(row: dict) -> int:
    """Instructions."""
    more = MOST_INSTRUCTIONS_TO_COUNT if row["guarded"] else MOST_INSTRUCTIONS_IN_TURN if row["in_turn"] else 0
    return MOST_INSTRUCTIONS + more


def is_good(row: dict) -> bool:
    if "handed_on" in row:
        return row["handed_on"] <= most_handed_on(row)
    extra_allocations = row["rondo"]["allocations"] - row["by_hand"]["allocations"]
    return row["more_instructions"] <= most_served(row) and extra_allocations <= 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
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
        for row in measure_library(library):
            good = good and is_good(row)
            if arguments.json:
                print(json.dumps(row))
                continue
            if "handed_on" in row:
                print(
                    f"{library:8} {row['function']:20} left to the library, {row['lengths']}: {row['handed_on']:.0f} "
                    f"instructions (at most {most_handed_on(row)})"
                )
                continue
            by_hand, rondo, most = row["by_hand"], row["rondo"], most_served(row)
            how = "guarded, " if row["guarded"] else "in turn, " if row["in_turn"] else ""
            print(
                f"{library:8} {row['collective']:7} {how}instructions per call: by hand {by_hand['instructions']:.0f}, "
                f"Rondo {rondo['instructions']:.0f}, {row['more_instructions']:+.0f} (at most +{most}); "
                f"allocations per call: by hand {by_hand['allocations']:.2f}, Rondo {rondo['allocations']:.2f}"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
