# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a profile's page."""

from __future__ import annotations

import math
from html import escape

from rondo.profiling import advice, summary, terminal
from rondo.profiling.profile import Communicator
from rondo.profiling.savings import PREDICTED, VISIBLE, Estimate, Outlook, Prediction
from rondo.reports import document, style


def glance(found: Outlook) -> str:
    """The run at a glance: the mean rank's time, and what could be saved of it."""
    times = found.times
    rows = [
        [escape(name), style.time_text(seconds), advice.percent(times.share(seconds)), ""]
        if seconds is not None
        else [escape(name), style.NOTHING, style.NOTHING, ""]
        for name, seconds in terminal.at_a_glance(found)
    ]
    for name, seconds in (
        ("saved by rondo run", found.by_rules),
        ("saved at best", found.at_best),
        ("collectives, with rondo run", found.collectives),
    ):
        if seconds is None:
            rows.append([name, "nobody knows", "", ""])
            continue
        between = f"{style.time_text(seconds.low)} and {style.time_text(seconds.high)}"
        rows.append([name, style.time_text(seconds.value), advice.percent(times.share(seconds.value)), between])
    for name, seconds in (("with rondo run", found.open_by_rules), ("at best", found.open_at_best)):
        if times.share(seconds) >= VISIBLE:
            what = f"calls of which nobody knows what they take {name}"
            rows.append([what, style.time_text(seconds), advice.percent(times.share(seconds)), ""])
    return document.table("Mean of the ranks", ["", "Time", "Of the run", "Between"], {""}, rows)


def _in_wait(found: Outlook) -> list[str]:
    """A heading, if there is anything below it."""
    return ["In MPI_Wait"] if found.times.completing > 0 else []


def collectives(found: Outlook) -> str:
    """Each function that is a collective: waiting, moving, and what Rondo would make of it."""
    rows, in_wait = [], _in_wait(found)
    for name, group in summary.grouped(found.profile, lambda line: line.function).items():
        own = [each for each in found.predictions if each.line.function == name]
        by_rules, best = terminal.moving_with_rondo(found, own)
        rows.append(
            [
                escape(name),
                str(group.calls),
                style.bytes_text(group.bytes),
                style.time_text(group.seconds),
                advice.percent(found.times.share(group.seconds)),
                *(time_text(group.completing) for _ in in_wait),
                time_text(group.waiting),
                time_text(group.moving),
                by_rules.text(time_text),
                best.text(time_text),
            ]
        )
    headings = ["Function", "Calls", "Bytes", "Time", "Of the run", *in_wait, "Waiting", "Moving"]
    headings += ["With rondo run", "At best"]
    return document.table("Calls and bytes: of the rank with the most", headings, {"Function"}, rows)


def sites(found: Outlook) -> str:
    """Each place in the program that calls collectives."""
    profile = found.profile
    rows, in_wait = [], _in_wait(found)
    for (site, name), group in summary.grouped(profile, lambda line: (line.site, line.function)).items():
        place = profile.sites[site]
        own = [each for each in found.predictions if each.line.site == site and each.line.function == name]
        by_rules, best = terminal.moving_with_rondo(found, own)
        frames = "".join(f"<br>{escape(each)}" for each in place.frames[1:4])
        whole = f'<span title="{escape(place.file or place.module)}">{escape(summary.site_text(place))}</span>{frames}'
        rows.append(
            [
                whole,
                escape(name),
                terminal.bytes_text(group.smallest, group.largest),
                str(group.calls),
                style.time_text(group.seconds),
                advice.percent(found.times.share(group.seconds)),
                *(time_text(group.completing) for _ in in_wait),
                time_text(group.waiting),
                time_text(group.moving),
                by_rules.text(time_text),
                best.text(time_text),
            ]
        )
    headings = ["Called at", "Function", "Bytes a call", "Calls", "Time", "Of the run", *in_wait, "Waiting", "Moving"]
    return document.long_table(
        "Those that take the longest first", [*headings, "With rondo run", "At best"], {"Called at", "Function"}, rows
    )


def predictions(found: Outlook) -> str:
    """Each kind of call: what it takes natively, with Rondo, and at best."""
    profile = found.profile
    rows = []
    for each in sorted(found.predictions, key=lambda one: -terminal.seconds_of(profile, one)):
        line = each.line
        extra = f", root {line.root}" if line.root is not None else ""
        operation = f", {line.operator}" if line.operator else ""
        saved = each.saved(each.best)
        rows.append(
            [
                escape(f"{line.function}{operation}{extra}"),
                terminal.bytes_text(line.smallest, line.largest),
                _communicator(profile.communicators[line.communicator]),
                str(line.calls),
                style.time_text(each.native),
                _estimate(each.rules, each.rules_judged),
                "the same" if each.best is not None and each.best == each.rules else _estimate(each.best, each.judged),
                time_text(saved.value) if each.judged else terminal.UNKNOWN,
                escape(_remark(each)),
            ]
        )
    headings = ["Call", "Bytes", "Communicator", "Calls", "Native", "rondo run", "At best", "Saved at best", "Remark"]
    caption = "One call, of the rank that moves data the longest; in brackets what it may be. Saved: by all calls"
    return document.long_table(caption, headings, {"Call", "Communicator", "rondo run", "At best", "Remark"}, rows)


def _remark(each: Prediction) -> str:
    bases = {one.basis for one in (each.rules, each.best) if one is not None} - {PREDICTED}
    return "; ".join(filter(None, [*sorted(bases), each.reason]))


def _estimate(estimate: Estimate | None, is_known: bool) -> str:
    if estimate is None:
        return terminal.estimate_text(None, is_known)
    takes = estimate.seconds
    size, _ = style.unit_of(takes.value)
    high = style.digits(takes.high / size) if math.isfinite(takes.high) else "?"
    return (
        f"{style.time_text(takes.value)} [{style.digits(takes.low / size)}, {high}]<br>"
        f"<code>{escape(estimate.choice)}</code>"
    )


def ranks(found: Outlook) -> str:
    """The ranks that wait the least first: others wait for them."""
    profile, times = found.profile, summary.of_ranks(found.profile)
    named = set(summary.waited_for(profile))
    order = sorted(range(len(times)), key=lambda each: times[each].waiting)
    in_wait = _in_wait(found)
    rows = [
        [
            str(rank),
            escape(profile.hosts[profile.ranks[rank].node]) if profile.ranks[rank].node < len(profile.hosts) else "",
            style.time_text(times[rank].run),
            time_text(times[rank].computing),
            time_text(times[rank].other),
            *(time_text(times[rank].completing) for _ in in_wait),
            time_text(times[rank].waiting),
            time_text(times[rank].moving),
            ("others wait for it" if rank in named else "") + _end(profile.ranks[rank].ended),
        ]
        for rank in order
    ]
    headings = ["Rank", "Node", "Run", "Computing", "Other MPI", *in_wait, "Waiting", "Moving", "Remark"]
    return document.long_table(
        "Those that wait the least first: others wait for them", headings, {"Node", "Remark"}, rows
    )


def _end(ended: str) -> str:
    return "" if ended == "finalized" else f" {escape(ended)}"


def functions(found: Outlook) -> str:
    """All other functions of MPI."""
    ranks = summary.recorded(found.profile)
    ordered = sorted(found.profile.functions, key=lambda each: -sum(each.seconds))
    rows = [
        [
            escape(each.name),
            str(each.calls),
            style.bytes_text(each.bytes) if each.bytes else style.NOTHING,
            time_text(sum(each.seconds) / ranks),
            advice.percent(found.times.share(sum(each.seconds) / ranks)),
            time_text(max(each.seconds, default=0.0)),
        ]
        for each in ordered
    ]
    headings = ["Function", "Calls", "Bytes sent", "Time, mean", "Of the run", "Time, longest"]
    return document.long_table("Calls and bytes: of all ranks", headings, {"Function"}, rows)


def communicators(found: Outlook) -> str:
    """The communicators, of which those alike are one."""
    groups = summary.grouped(found.profile, lambda line: line.communicator)
    rows = [
        [
            escape(each.name) or style.NOTHING,
            escape(each.made_by),
            str(each.size),
            f"{each.nodes} of {'up to ' if each.nodes * each.ranks_per_node != each.size else ''}{each.ranks_per_node}",
            str(each.number),
            str(group.calls),
            style.time_text(group.seconds),
            advice.percent(found.times.share(group.seconds)),
        ]
        for number, group in groups.items()
        for each in (found.profile.communicators[number],)
    ]
    headings = ["Name", "Made by", "Ranks", "Nodes", "How many", "Calls", "Time", "Of the run"]
    return document.long_table("Those alike are one", headings, {"Name", "Made by"}, rows)


def _communicator(each: Communicator) -> str:
    size = f"{style.counted(each.size, 'rank')} on {style.counted(each.nodes, 'node')}"
    return f"{escape(each.name or each.made_by)}<br>{size}"


def time_text(seconds: float | None) -> str:
    """NOTHING for what nobody knows."""
    if seconds is None:
        return style.NOTHING
    return style.time_text(seconds) if seconds > 0 else "0"
