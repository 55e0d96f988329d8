# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts behind docs/benchmarks share: where results lie, and pages whose tables are made from them."""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rondo.bench import statistics
from rondo.bench.results import Configuration, Results
from rondo.errors import Error

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "benchmarks"
DATA = PAGES / "data"
RONDO = Path(sys.executable).with_name("rondo")
LIBRARIES = {"mpich": "MPICH", "openmpi": "Open MPI", "impi": "Intel MPI"}


def minimum(configuration: Configuration) -> float:
    """Milliseconds; the papers report minima as well."""
    return 1e3 * statistics.summary(configuration.seconds()).minimum


def number(value: float, digits: int) -> str:
    """A dash if no repetition was valid."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def by_label(results: Results, count: int) -> dict[str, Configuration]:
    """The configurations with this count that started by the clock."""
    return {each.label: each for each in results.configurations if each.count == count and each.start == "clock"}


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table; the first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(rows[0]) - 1), *lines[1:]])


def environment_row(name: str, results: Results) -> list[str]:
    """Library, fitted network, and how many repetitions were invalid and wrong."""
    network, configurations = results.environment.network, results.configurations
    figures = [f"{1e3 * network.latency:.2f}", f"{1e9 * network.seconds_per_byte:.1f}"] if network else ["", ""]
    invalid = sum(each.invalid() for each in configurations)
    total = sum(len(each.repetitions) for each in configurations)
    wrong = sum(each.wrong() for each in configurations)
    return [name, results.environment.library, *figures, f"{invalid} of {total}", str(wrong)]


ENVIRONMENT_HEAD = ["experiment", "library", "fitted alpha, ms", "fitted beta, ns a byte", "invalid", "wrong"]


def filled(page: str, blocks: Mapping[str, Callable[[], str]], path: Path) -> str:
    """The page with every block between its marks made anew."""
    for name, block in blocks.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text = block()
        page, replaced = pattern.subn(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)
        if replaced != 1:
            raise Error(f"{path}: expected one block {name} between its marks, found {replaced}")
    return page


def main(
    script: str,
    description: str,
    experiments: Sequence[str],
    measure: Callable[[Sequence[str]], None],
    write_page: Callable[[], None],
) -> int:
    """The command line of a script: measure all or some experiments, write the page, or both. The exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step")
    measuring = steps.add_parser("measure", help="measure")
    measuring.add_argument("names", nargs="*", choices=[*experiments, []], metavar="experiment")
    steps.add_parser("page", help="write tables and figures")
    arguments = parser.parse_args()
    try:
        if arguments.step != "page":
            measure(getattr(arguments, "names", None) or list(experiments))
        if arguments.step != "measure":
            write_page()
    except Error as error:
        print(f"{script}: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    return 0
