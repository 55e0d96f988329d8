# SPDX-License-Identifier: BSD-3-Clause
"""Measures what pages of docs/benchmarks lack, and writes their tables and figures.

    python docs/benchmarks/making/page.py allreduce                      measure what is not there yet, then as `--show`
    python docs/benchmarks/making/page.py allreduce --experiment map-sum measure one experiment anew, or several
    python docs/benchmarks/making/page.py --show                         tables and figures of all, from results

docs/benchmarks/PAGE.toml says what a page measures and shows; the results are in data/PAGE.jsonl. A page is
PAGE.md, and tables/PAGE.md with what is long; each table stands between its marks in one of the two. It needs what
`make install` sets up, and to measure, a machine that does nothing else (`rondo cluster check` says if it is fit).
Interrupted, it goes on where it was.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import benchmark_figures
import benchmark_tables
import choice_tables
import computed_tables
import distribution_tables
import form_tables
import measurements
import native_tables
import paper_tables
import predicted_tables
import simulated_tables
from measurements import DATA, ROOT
from rondo.bench import pages
from rondo.bench.pages import Page, Table
from rondo.errors import Error
from rondo.launching.mpi_library import NAMES

PAGES = DATA.parent
TOOLCHAIN = ROOT / ".toolchain"
KINDS = {
    **benchmark_tables.KINDS,
    **computed_tables.KINDS,
    **predicted_tables.KINDS,
    **simulated_tables.KINDS,
    **native_tables.KINDS,
    **distribution_tables.KINDS,
    **form_tables.KINDS,
    **paper_tables.KINDS,
    **choice_tables.KINDS,
}
"""Of tables: functions that take the page and the options."""


def names() -> list[str]:
    """Of all pages."""
    return sorted(each.stem for each in PAGES.glob("*.toml"))


def blocks(page: Page) -> dict[str, Callable[[], str]]:
    """All tables of a page by the names of their marks."""
    found = {}
    for table in page.table:
        for fields in _fields(table, page):
            name = table.name.format(**fields)
            found[name] = lambda table=table, fields=fields: KINDS[table.kind](page, **_filled(table.options, fields))
    return found


def _fields(table: Table, page: Page) -> Iterator[dict[str, str]]:
    """For each block what stands for {library} and {collective} in it: the collectives of its experiments."""
    collectives = [""]
    if "{collective}" in table.name:
        beginnings = tuple(each.partition("{")[0] for each in table.options.get("experiments", [""]))
        collectives = list(dict.fromkeys(each.collective for each in page.runs if each.name.startswith(beginnings)))
    libraries = NAMES if "{library}" in table.name else [""]
    for library, collective in itertools.product(libraries, collectives):
        named = {"library": library, "collective": collective}
        yield {name: value for name, value in named.items() if value}


def _filled(options: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    filled = {
        name: [each.format(**fields) if isinstance(each, str) else each for each in value]
        if fields and isinstance(value, list)
        else value
        for name, value in options.items()
    }
    return {**filled, **({"collective": fields["collective"]} if "collective" in fields else {})}


def filled(texts: Mapping[Path, str], made: Mapping[str, Callable[[], str]]) -> dict[Path, str]:
    """The texts with every block between its marks made anew; the marks stand in one of them."""
    for name, block in made.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        table = block()
        replaced = {
            path: pattern.subn(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text)
            for path, text in texts.items()
        }
        found = sum(count for _, count in replaced.values())
        if found != 1:
            where = " and ".join(map(str, texts))
            raise Error(f"{where}: expected one block {name} between its marks, found {found}")
        texts = {path: text for path, (text, _) in replaced.items()}
    return dict(texts)


def page_texts(name: str) -> dict[Path, str]:
    """What the files of the page have to be, as its data are: PAGE.md, and tables/PAGE.md if there is one."""
    paths = [PAGES / f"{name}.md", PAGES / "tables" / f"{name}.md"]
    texts = {path: path.read_text() for path in paths if path.exists()}
    return filled(texts, blocks(pages.read(PAGES / f"{name}.toml")))


def measure(name: str, experiments: Sequence[str]) -> None:
    """Measures with the MPI libraries in .toolchain; CalledProcessError if that fails."""
    page = pages.read(PAGES / f"{name}.toml")
    directory = ROOT / "build" / "pages" / name
    measurements.unpack(name, directory)
    for run in [run for each in experiments for run in page.runs_of(each)]:
        (directory / run.file).unlink(missing_ok=True)
    binaries = [str(TOOLCHAIN / each / "bin") for each in NAMES]
    path = os.pathsep.join([*binaries, os.environ.get("PATH", "")])
    words = [Path(sys.executable).with_name("rondo"), "bench", "--page", PAGES / f"{name}.toml", "--output", directory]
    try:
        subprocess.run(words, env={**os.environ, "PATH": path}, check=True)
    finally:
        measured = [file for run in page.runs if (file := directory / run.file).exists()]
        for file in measured:
            file.write_text(file.read_text().replace(f"{ROOT}/", ""))  # the checkout may lie anywhere
        if page.runs:  # some pages show what others have measured
            measurements.pack(name, measured)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", choices=[*names(), []], metavar="page", help=f"{', '.join(names())}; all")
    parser.add_argument("--experiment", action="append", default=[], help="measure this anew; may be repeated")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    if arguments.experiment and (arguments.show or len(arguments.pages) != 1):
        parser.error("--experiment goes with one page, and not with --show")
    try:
        for name in arguments.pages or names():
            if not arguments.show:
                measure(name, arguments.experiment)
            for path, text in page_texts(name).items():
                path.write_text(text)
            benchmark_figures.draw(pages.read(PAGES / f"{name}.toml"), name)
    except Error as error:
        print(f"page: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
