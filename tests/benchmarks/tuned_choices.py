# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo tune` chooses, against an exhaustive measurement: how much longer than the best of all it takes.

Tunes for one shape, unless --rules names a file that `rondo tune` has written. Then `rondo bench` measures all
algorithms of Rondo's, all that the rules name, and the library's own, in a launch of its own for each collective. Shown
are, of the tuned rules, of the default rules and of the library: the mean and the worst of the time relative to the
best choice's, less one. Wanted of the tuned rules: a mean of at most 3%, none above 10%, none slower than the library.
--csv keeps the cells for docs/benchmarks/tuning.md.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.bench import plans, results
from rondo.bench import statistics as judging
from rondo.bench.results import NATIVE, Configuration
from rondo.cluster import shapes
from rondo.launching import mpi_library
from rondo.launching.installation import DEFAULT_RULES
from rondo.launching.mpi_library import MpiLibrary
from rondo.tune import rules_text
from rondo.tune.cells import has_operation

from rondo import _core

COLLECTIVES = "bcast,allreduce,exscan,reduce"
BYTES = (8, 128, 2 << 10, 32 << 10, 512 << 10, 4 << 20)
DOUBLE = 8
FEWEST = 3
"""Valid repetitions of a choice whose time counts."""
CHOICE = re.compile(r"^(\w+)\s.*->\s*([^#\s]+)", re.MULTILINE)


@dataclass(frozen=True)
class Loss:
    """One cell: how much longer than the best a choice takes."""

    collective: str
    bytes: int
    choices: tuple[str, str, str]
    """Of the tuned rules, of the default rules; and native."""
    losses: tuple[float, float, float]
    best: str
    slower: bool
    """Than native, for certain: the tuned rules' choice."""


def choices_of(rules: str, collective: str) -> list[str]:
    """What a rules file names for a collective."""
    return [choice for name, choice in CHOICE.findall(rules) if name == collective and choice != NATIVE]


def written(collective: str, choice: str) -> str:
    """A choice in the one form that can be compared."""
    return choice if choice == NATIVE else _core.check_choice(collective, choice)


def candidates(collective: str, rules: Sequence[str]) -> list[str]:
    """All that is measured: each once."""
    names = [each["name"] for each in _core.algorithms(collective)]
    names += [choice for text in rules for choice in choices_of(text, collective)]
    return [NATIVE, *{written(collective, each): each for each in reversed(names)}.values()]


def losses(groups: list[list[Configuration]], chosen: tuple[str, str], facts: dict[str, object]) -> Iterator[Loss]:
    """Of each cell in which all three choices have enough repetitions."""
    for group in groups:
        some = {written(each.collective, each.label): each for each in group if each.wrong() == 0}
        some = {choice: each for choice, each in some.items() if len(each.seconds()) >= FEWEST}
        collective, length = group[0].collective, group[0].bytes
        commutative = has_operation(collective)
        picked = [
            _core.choice_by_rules(each, "rules", collective, length, commutative=commutative, **facts) or NATIVE
            for each in chosen
        ]
        wanted = [written(collective, each) for each in (*picked, NATIVE)]
        if any(each not in some for each in wanted):
            print(f"{collective} of {length} bytes: too few valid repetitions of {', '.join(wanted)}", file=sys.stderr)
            continue
        medians = {choice: judging.summary(each.seconds()).median for choice, each in some.items()}
        best = min(medians, key=medians.__getitem__)
        ratio = judging.ratio(some[wanted[0]].seconds(), some[NATIVE].seconds())
        yield Loss(
            collective,
            length,
            (picked[0], picked[1], NATIVE),
            tuple(medians[each] / medians[best] - 1 for each in wanted),  # type: ignore[arg-type]
            best,
            wanted[0] != NATIVE and ratio.low > 1,
        )


def command(arguments: argparse.Namespace, library: MpiLibrary) -> list[str]:
    """How `rondo tune` and `rondo bench` start ranks."""
    if arguments.cluster != "none":
        return ["--cluster", arguments.cluster, "--mpi", arguments.mpi]
    return ["--", str(library.launcher), "-n", str(arguments.ranks)]


def facts_of(arguments: argparse.Namespace, library: MpiLibrary) -> dict[str, object]:
    """What the rules ask of the shape."""
    shape = shapes.parse(arguments.cluster) if arguments.cluster != "none" else None
    nodes, per_node = (shape.nodes, shape.per_node) if shape is not None else (1, arguments.ranks)
    return {
        "processes": nodes * per_node,
        "ranks_per_node": per_node,
        "nodes": nodes,
        "library": library.name,
        "eager": _core.library(library.name)["eager"],
        "shared_memory": nodes == 1,
        "oversubscribed": nodes * per_node > len(os.sched_getaffinity(0)),
    }


def run(words: list[str], environment: dict[str, str]) -> None:
    """A command of Rondo's; its progress goes to stderr."""
    subprocess.run([sys.executable, "-m", "rondo", *words], check=True, env=environment, stdout=sys.stderr)


CSV = [
    "cluster",
    "mpi",
    "minutes",
    "collective",
    "bytes",
    "tuned",
    "best",
    "tuned_loss",
    "default_loss",
    "native_loss",
    "slower",
]


def keep(found: list[Loss], arguments: argparse.Namespace) -> None:
    """In the place of what the file says of this cluster and library."""
    file: Path = arguments.csv
    facts = {"cluster": arguments.cluster, "mpi": arguments.mpi}
    with file.open(newline="") if file.exists() else io.StringIO() as source:
        rows = [each for each in csv.DictReader(source) if facts.items() - each.items()]
    for each in found:
        losses = dict(
            zip(("tuned_loss", "default_loss", "native_loss"), map("{:.4f}".format, each.losses), strict=True)
        )
        of_cell = {"collective": each.collective, "bytes": each.bytes, "tuned": each.choices[0], "best": each.best}
        rows.append({**facts, "minutes": f"{arguments.minutes:g}", **of_cell, **losses, "slower": int(each.slower)})
    with file.open("w", newline="") as target:
        writer = csv.DictWriter(target, CSV, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda each: (each["cluster"], each["mpi"])))


def show(found: list[Loss], as_json: bool) -> None:
    """A line for each cell, then the sums."""
    for each in found:
        row = {
            "collective": each.collective,
            "bytes": each.bytes,
            "tuned": each.choices[0],
            "default": each.choices[1],
            "best": each.best,
            "losses": each.losses,
            "slower": each.slower,
        }
        percent = "".join(f"{loss:8.1%}" for loss in each.losses)
        line = f"{each.collective:14} {each.bytes:8} {percent}  {each.choices[0]:40} best {each.best}"
        print(json.dumps(row) if as_json else line + ("  slower than native" if each.slower else ""))
    for at, name in enumerate(("tuned", "default rules", "the library")):
        some = [each.losses[at] for each in found]
        if not as_json:
            print(f"{name:14} mean {statistics.mean(some):.1%}, worst {max(some):.1%} of {len(some)} cells")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a cell")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--cluster", default="8x1:1ms:200Mbit", help="a shape, or `none` for this node")
    parser.add_argument("--ranks", type=int, default=2, help="without a cluster")
    parser.add_argument("--collectives", default=COLLECTIVES)
    parser.add_argument("--minutes", type=float, default=6.0, help="for tuning")
    parser.add_argument("--seconds", type=float, default=120.0, help="of the exhaustive measurement, a collective")
    parser.add_argument("--repetitions", type=int, default=10, help="the same")
    parser.add_argument("--rules", type=Path, help="what `rondo tune --output` has written before")
    parser.add_argument(
        "--csv", type=Path, help="a file of cells, of which those of this cluster and library are replaced"
    )
    parser.add_argument("--results", type=Path, help="a directory; what is there is not measured again")
    arguments = parser.parse_args()
    library = mpi_library.find(arguments.mpi, os.environ)
    environment = {**os.environ, **library.environment}
    with tempfile.TemporaryDirectory() as scratch:
        directory = arguments.results or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        rules = arguments.rules or directory / "tuned.rules"
        where = command(arguments, library)
        facts = facts_of(arguments, library)
        if arguments.rules is None:
            words = ["--minutes", str(arguments.minutes), "--collectives", arguments.collectives]
            words += ["--processes", str(facts["processes"])] if arguments.cluster != "none" else []
            run(["tune", *words, "--output", str(rules), *where], environment)
        texts = (rules.read_text(), DEFAULT_RULES.read_text())
        found = []
        for collective in arguments.collectives.split(","):
            # Below the tuned rules stand the default ones.
            tried = [rules_text.tuned_lines(texts[0]), texts[1]]
            parts = facts["processes"] if collective in plans.DIVIDED else 1
            counts = ",".join(str(each) for each in dict.fromkeys(-(-each // (DOUBLE * parts)) for each in BYTES))
            output = directory / collective
            if not output.with_suffix(".json").exists():
                words = [word for each in candidates(collective, tried) for word in ("-a", each)]
                words += [
                    "--counts",
                    counts,
                    "--type",
                    "double",
                    "--repetitions",
                    str(arguments.repetitions),
                    "--warmup",
                    "1",
                ]
                words += ["--seconds", str(arguments.seconds), "--output", str(output)]
                run(["bench", collective, *words, *where], environment)
            groups = judging.groups(results.read(output.with_suffix(".json")).configurations)
            found += list(losses(groups, texts, facts))
    show(found, arguments.json)
    if arguments.csv is not None:
        keep(found, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
