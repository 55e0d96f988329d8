# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of docs/benchmarks have measured: data/PAGE.jsonl, a line for each file of results.

    python docs/benchmarks/making/measurements.py lanes     writes the files of that page into page-lanes

`rondo report page-lanes/*.json` shows them, and `rondo bench --page docs/benchmarks/lanes.toml --output page-lanes`
measures what is missing there.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
from rondo.bench.results import Results, decode
from rondo.errors import Error

from rondo import whole_file

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs" / "benchmarks" / "data"


class Line(msgspec.Struct):
    """A file of results."""

    file: str
    """Its name."""
    results: msgspec.Raw
    """Its text."""


def texts() -> dict[str, bytes]:
    """The files of all pages, by name."""
    found: dict[str, bytes] = {}
    for path in DATA.glob("*.jsonl"):
        found.update(_texts_of(path, path.stat().st_mtime_ns))
    return dict(sorted(found.items()))


@functools.cache
def _texts_of(path: Path, changed: int) -> dict[str, bytes]:
    del changed  # so that a file that is written again is read again
    return {each.file: bytes(each.results) for each in msgspec.json.Decoder(Line).decode_lines(path.read_bytes())}


def results_in(file: str) -> Results:
    """What a file has. KeyError if no page has it."""
    return decode(texts()[file], file)


def unpack(page: str, directory: Path) -> list[Path]:
    """Writes the files of a page into a directory; what else is there, stays."""
    path = DATA / f"{page}.jsonl"
    if not path.exists():
        return []
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for file, text in _texts_of(path, path.stat().st_mtime_ns).items():
        (directory / file).write_bytes(text + b"\n")
        written.append(directory / file)
    return written


def pack(page: str, files: Iterable[Path]) -> None:
    """Makes these files the page's."""
    lines = [Line(each.name, msgspec.Raw(each.read_bytes().strip())) for each in sorted(files)]
    whole_file.write(DATA / f"{page}.jsonl", b"".join(msgspec.json.encode(each) + b"\n" for each in lines))


def main() -> int:
    pages = sorted(each.stem for each in DATA.glob("*.jsonl"))
    if len(sys.argv) != 2 or sys.argv[1] not in pages:
        print(f"{(__doc__ or '').strip()}\n\nPages: {', '.join(pages)}")
        return 0 if sys.argv[1:] == ["--help"] else 2
    written = unpack(sys.argv[1], Path(f"page-{sys.argv[1]}"))
    print(f"measurements: wrote {len(written)} files into page-{sys.argv[1]}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Error, OSError) as error:
        sys.exit(f"measurements: {error}")
