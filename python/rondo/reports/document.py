# SPDX-License-Identifier: BSD-3-Clause
"""A page as one HTML file, with style and numbers in it, and its parts.

Plotly, which draws the figures, has almost 5 MB: it is in the page if that shall need nothing else, or else is fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from rondo import optional
from rondo.errors import Error

WHOLE_TABLE = 30
"""Rows of a long table that are in sight."""
Source = TypeVar("Source")
SOURCE = "https://cdn.plot.ly"
WITHOUT_FIGURES = (
    f"The figures are missing: they are drawn by Plotly, which this page fetches from {SOURCE}, and could not. The "
    "tables hold the same numbers. `rondo report --self-contained` makes a page that needs no network."
)


def text(title: str, parts: Iterable[str], *, self_contained: bool = False) -> str:
    """The whole page, of parts that are HTML already."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n"
        + f"<p id=without class=caution hidden>{with_code(WITHOUT_FIGURES)}</p>\n"
        + "\n".join(parts)
        + f"\n{_plotly(self_contained)}\n<script>\n{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def of_all(heading: str, sources: Iterable[Source], of_one: Callable[[Source, int], list[str]], **options: bool) -> str:
    """A page with a part for each source, made of it and its number. `options`: those of `text`."""
    parts = [f"<h1>{escape(heading)}</h1>"]
    for number, each in enumerate(sources, start=1):
        parts += of_one(each, number)
    return text(f"Rondo: {heading[:1].lower()}{heading[1:]}", parts, **options)


def write(path: Path, content: str) -> Path:
    """Writes a page, or a table; Error if that cannot be."""
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
    return path


def _plotly(self_contained: bool) -> str:
    """Its script; a browser takes no other in place of the one that it fetches."""
    plotly = optional.module("plotly.offline")
    script = plotly.get_plotlyjs()
    if self_contained:
        return f"<script>{script}</script>"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    url = f"{SOURCE}/plotly-{plotly.get_plotlyjs_version()}.min.js"
    return f'<script src="{url}" integrity="sha256-{digest}" crossorigin="anonymous"></script>'


def box(kind: str, title: str, lines: Iterable[str]) -> str:
    """What a reader has to know: kind is alarm, caution or fine."""
    items = "".join(f"<li>{escape(each)}</li>" for each in lines)
    return f'<div class={kind} role="alert"><strong>{escape(title)}</strong><ul>{items}</ul></div>'


def facts(rows: Iterable[tuple[str, str]], code: Collection[str] = ()) -> str:
    """Names and what stands for them; of those in `code` as the machine would write it."""
    items = "".join(
        f"<dt>{escape(name)}</dt><dd>{f'<code>{escape(value)}</code>' if name in code else escape(value)}</dd>"
        for name, value in rows
    )
    return f"<dl>{items}</dl>"


def figure(content: dict[str, Any] | None, name: str, title: str, described_by: str) -> str:
    """An interactive figure; nothing if there is none."""
    if content is None:
        return ""
    # "<" could end the script element.
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<div class=chart style="height:{content["layout"]["height"]}px" id="{name}" role="img" '
        f'aria-label="{escape(title)}" aria-describedby="{described_by}" '
        f'data-figure="{name}data"></div><script type="application/json" id="{name}data">{data}</script></figure>\n'
    )


def table(
    caption: str, headings: Sequence[str], texts: Collection[str], rows: Iterable[Sequence[str]], alarming: str = ""
) -> str:
    """A table of cells that are HTML already; the columns in `texts` are set to the left.

    In the alarming column, what is not 0 stands out.
    """

    def cell(tag: str, heading: str, content: str) -> str:
        bad = tag == "td" and heading == alarming and content != "0"
        kind = " class=text" if heading in texts else " class=bad" if bad else ""
        return f"<{tag}{kind}>{content}</{tag}>"

    head = "".join(cell("th", each, each) for each in headings)
    body = "\n".join(
        f"<tr>{''.join(cell('td', *each) for each in zip(headings, row, strict=True))}</tr>" for row in rows
    )
    return (
        f"<div class=scroll><table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
    )


def long_table(caption: str, headings: Sequence[str], texts: Collection[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of which the rows beyond the first WHOLE_TABLE unfold."""
    first = table(caption, headings, texts, rows[:WHOLE_TABLE])
    if len(rows) <= WHOLE_TABLE:
        return first
    rest = table("The others", headings, texts, rows[WHOLE_TABLE:])
    return f"{first}<details><summary>{len(rows) - WHOLE_TABLE} more</summary>{rest}</details>"


def with_code(words: str) -> str:
    """Words as HTML; what stands between backticks as the machine would write it."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(words))


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
