# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as one HTML file that needs nothing else: where the time goes, what could be saved, and what to do.

Several profiles of one program, as before and after a change, stand side by side at the top.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rondo.profiling import advice, bounds, charts, page_tables, summary, terminal
from rondo.profiling.profile import Profile
from rondo.profiling.savings import VISIBLE, Outlook
from rondo.reports import document, style
from rondo.selection import rules_file

METHOD = """
A rank <em>waits</em> in a collective until the last rank of the call has come; from then on it <em>moves data</em>.
Times are means over all ranks of the run unless it says otherwise. <em>rondo run</em> is what the rules would choose,
<em>at best</em> is the fastest algorithm of all. Native is what was measured; the others are predicted: from what
messages cost on the machine, or from what rondo tune measured. What is <em>saved</em> is what the critical path of the
run no longer moves: a rank that leaves a call early waits in the next one, so that faster calls shorten waiting, too.
"""


@dataclass(frozen=True)
class Source:
    """A profile from a file, with what there is to gain."""

    path: Path
    outlook: Outlook

    @property
    def profile(self) -> Profile:
        """That of the file."""
        return self.outlook.profile


def text(sources: Sequence[Source], *, self_contained: bool = False) -> str:
    """The whole page."""
    names = _names(sources)
    marks = charts.looks(each.outlook for each in sources)
    several = len(sources) > 1
    parts = [f"<h1>{'Profiles, side by side' if several else 'Where the time goes'}</h1>"]
    if several:
        parts.append(_beside(sources, names, marks))
    for number, (source, name) in enumerate(zip(sources, names, strict=True), start=1):
        heading = f"{name}: {shlex.join(source.profile.command)}" if several else shlex.join(source.profile.command)
        parts += [f"<h2>{escape(heading)}</h2>", *_of_one(source, number, marks)]
    parts.append(f"<p>{' '.join(METHOD.split())}</p>")
    return document.text(
        f"Rondo: profile of {shlex.join(sources[0].profile.command)}", parts, self_contained=self_contained
    )


def _names(sources: Sequence[Source]) -> list[str]:
    """Of the files, as short as they can be told apart."""
    stems = [each.path.stem for each in sources]
    return stems if len(set(stems)) == len(stems) else [str(each.path) for each in sources]


def _of_one(source: Source, number: int, marks: Mapping[str, Any]) -> list[str]:
    found, profile = source.outlook, source.profile
    missing = terminal.missing(profile)
    parts = [document.box("caution", "What is missing", missing)] if missing else []
    parts += [
        f"<p class=headline>{escape(advice.sentence(found))}.</p>",
        f'<div class=fine><strong>What to do</strong><ul id="advice{number}">'
        + "".join(f"<li>{document.with_code(each)}</li>" for each in advice.what_to_do(found))
        + "</ul></div>",
        document.facts(_facts(source), code={"Command"}),
        "<noscript><p class=caution>The figures need JavaScript; the tables hold the same numbers.</p></noscript>",
        _section(
            number, "glance", "The run at a glance",
            _wide(charts.glance([("", found)]), f"glance{number}", "Where the time of the mean rank goes"),
            page_tables.glance(found),
        ),
    ]  # fmt: skip
    if profile.lines:
        parts += _of_collectives(source, number, marks)
    parts.append(
        _section(
            number, "ranks", "Ranks",
            _wide(charts.ranks(found), f"ranks{number}", "Where the time of each rank goes"),
            page_tables.ranks(found),
        )
    )  # fmt: skip
    if profile.functions:
        parts.append(_section(number, "functions", "Other MPI functions", "", page_tables.functions(found)))
    return parts


def _of_collectives(source: Source, number: int, marks: Mapping[str, Any]) -> list[str]:
    found = source.outlook
    benefit = charts.benefit([("", found)], marks)
    figures = [
        document.figure(
            benefit, f"benefit{number}", "Moving data: measured, and with Rondo", f"collectives{number}table"
        ),
        document.figure(
            charts.waiting(found),
            f"waiting{number}",
            "Waiting for late ranks, and moving data",
            f"collectives{number}table",
        ),
    ]
    histograms = [
        document.figure(
            charts.sizes(found, marks, by_calls=False), f"sizes{number}", "Time by the length of vectors",
            f"calls{number}table",
        ),
        document.figure(
            charts.sizes(found, marks, by_calls=True), f"counts{number}", "Calls by the length of vectors",
            f"calls{number}table",
        ),
    ]  # fmt: skip
    parts = [
        _section(number, "collectives", "Collectives", _grid(figures), page_tables.collectives(found)),
        _section(number, "sizes", "Lengths", _grid(histograms), ""),
        _section(number, "calls", "Where they are called", "", page_tables.sites(found)),
    ]
    plotted = document.figure(
        charts.predictions(found), f"predicted{number}", "A call with Rondo, beside native: below the line is faster",
        f"predictions{number}table",
    )  # fmt: skip
    parts.append(
        _section(number, "predictions", "Predicted beside measured", _grid([plotted]), page_tables.predictions(found))
    )
    if len(found.profile.communicators) > 1:
        parts.append(_section(number, "communicators", "Communicators", "", page_tables.communicators(found)))
    return parts


def _section(number: int, name: str, title: str, figures: str, tables: str) -> str:
    described = f'<div id="{name}{number}table">{tables}</div>' if tables else ""
    return f'<section id="{name}{number}section">\n<h3>{escape(title)}</h3>\n{figures}{described}\n</section>'


def _grid(figures: Sequence[str]) -> str:
    shown = "".join(figures)
    return f"<div class=figures>{shown}</div>" if shown else ""


def _wide(figure: dict[str, Any] | None, name: str, title: str) -> str:
    return f"<div class=wide>{document.figure(figure, name, title, f'{name}table')}</div>"


def _facts(source: Source) -> list[tuple[str, str]]:
    profile, where = source.profile, source.outlook.circumstances
    hosts = profile.hosts if len(profile.hosts) <= 6 else [*profile.hosts[:5], f"… {profile.hosts[-1]}"]
    rules = "none" if where.rules is None else f"{rules_file.shown(where.rules)}{' (tuned)' if where.is_tuned else ''}"
    clock = [("Clocks", f"differ by at most {style.time_text(profile.clock_error)}")] if profile.clock_error else []
    figures = "a standard 100 Gbit/s network: nobody has measured this one (rondo calibrate does)"
    if not where.is_standard:
        figures = ", ".join(
            f"{name} = {value}" for name, value in advice.figures_text(bounds.machine_figures(where.machine))
        )
    return [
        ("File", str(source.path)),
        ("Command", shlex.join(profile.command)),
        ("MPI library", f"{profile.library} (ABI {profile.abi})"),
        ("Ranks", f"{len(profile.ranks)} on {style.counted(len(profile.hosts), 'node')} ({', '.join(hosts)})"),
        *([("Emulated cluster", profile.cluster)] if profile.cluster else []),
        ("Run", f"{style.time_text(source.outlook.times.run)}, mean of the ranks, from MPI_Init to MPI_Finalize"),
        *clock,
        ("Rules of rondo run", rules),
        ("What messages cost", figures),
        ("Date", profile.date),
        ("Rondo", profile.rondo),
    ]


def _beside(sources: Sequence[Source], names: Sequence[str], marks: Mapping[str, Any]) -> str:
    """All profiles in one table, a column each, and in one figure."""
    outlooks = list(zip(names, (each.outlook for each in sources), strict=True))
    figures = _wide(charts.glance(outlooks), "glance0", "Where the time of the mean rank goes")
    figures += _wide(charts.benefit(outlooks, marks), "benefit0", "Moving data: measured, and with Rondo")
    functions = [summary.grouped(each.profile, lambda line: line.function) for each in sources]
    rows: list[tuple[str, Sequence[float | None]]] = [("run", [each.outlook.times.run for each in sources])]
    glances = [dict(terminal.at_a_glance(each.outlook)) for each in sources]
    names_of_parts = [name for name in terminal.PARTS if any(name in each for each in glances)]
    rows += [(name, [each.get(name, 0.0) for each in glances]) for name in names_of_parts]
    for name in marks:
        rows.append((f"{name}: waiting", [each[name].waiting if name in each else 0.0 for each in functions]))
        rows.append((f"{name}: moving", [each[name].moving if name in each else 0.0 for each in functions]))
    sites = [_by_place(each.profile) for each in sources]
    places = sorted(
        {each for one in sites for each in one}, key=lambda place: -max(one.get(place, 0.0) for one in sites)
    )
    least = VISIBLE * max(each.outlook.times.run for each in sources)
    table = _beside_table("Mean of the ranks", names, rows, least)
    table += _beside_table(
        "Time in collectives, by place in the program", names,
        [(each, [one.get(each, 0.0) for one in sites]) for each in places[: document.WHOLE_TABLE]], least,
    )  # fmt: skip
    shapes = {(len(each.profile.ranks), len(each.profile.hosts), each.profile.library) for each in sources}
    differ = document.box("caution", "To be known before reading", [
        "These profiles are of different numbers of ranks or nodes, or of different MPI libraries."
    ]) if len(shapes) > 1 else ""  # fmt: skip
    return f'{differ}{figures}<div id="benefit0table"></div><div id="glance0table">{table}</div>'


def _by_place(profile: Profile) -> dict[str, float]:
    """Seconds of the mean rank, by call site and function."""
    found: dict[str, float] = {}
    for (site, name), group in summary.grouped(profile, lambda line: (line.site, line.function)).items():
        place = f"{summary.site_text(profile.sites[site])}: {name}"
        found[place] = found.get(place, 0.0) + group.seconds
    return found


def _beside_table(
    caption: str, names: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]], least: float
) -> str:
    """Times with a column for each profile; of two profiles also their ratio, if the first is at least so long."""
    ratio = [f"{names[1]} / {names[0]}"] if len(names) == 2 else []
    body = [
        [
            escape(title),
            *(page_tables.time_text(each) for each in seconds),
            *([_ratio(seconds[1], seconds[0], least)] if ratio else []),
        ]
        for title, seconds in rows
        if any(seconds)
    ]
    return document.table(caption, ["", *map(escape, names), *map(escape, ratio)], {""}, body)


def _ratio(second: float | None, first: float | None, least: float) -> str:
    known = second is not None and first is not None and first >= least
    return style.digits(second / first) if known else style.NOTHING  # type: ignore[operator]
