# SPDX-License-Identifier: BSD-3-Clause
"""What a figure shows, in words: for people who cannot see it, and for those who want the result first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rondo.bench.results import Environment
from rondo.bench.statistics import Comparison, Ratio, Summary, Verdict
from rondo.reports import style
from rondo.reports.sections import Section, Source, library_text, ranks_text

COMPUTING = {"loop": "a loop of arithmetic", "sleep": "sleep for as long, because ranks share processors"}
"""What stood for it."""


def median_text(summary: Summary) -> str:
    """The median with its interval: 1.23 ms [1.2, 1.25]."""
    text = style.time_text(summary.median)
    if math.isnan(summary.low):
        return text
    size, _ = style.unit_of(summary.median)
    return f"{text} [{style.digits(summary.low / size)}, {style.digits(summary.high / size)}]"


def ratio_text(ratio: Ratio | None) -> str:
    """A ratio with its interval: 0.52 [0.51, 0.54]."""
    if ratio is None:
        return style.NOTHING
    interval = f" [{style.digits(ratio.low)}, {style.digits(ratio.high)}]" if math.isfinite(ratio.low) else ""
    return f"{style.digits(ratio.value)}{interval}"


def description(section: Section) -> list[str]:
    """What the section's figures show, a sentence each."""
    lengths = [_bytes(each) for each in section.comparisons]
    repetitions = sorted({each.summary.count for one in section.comparisons for each in one.standings})
    span = "" if lengths[0] == lengths[-1] else f" to {style.bytes_text(lengths[-1])}"
    lines = [
        f"{style.counted(len(section.series), 'candidate')} at {style.counted(len(lengths), 'length')} "
        f"({style.bytes_text(lengths[0])}{span}), {_span(repetitions)} valid repetitions each."
    ]
    outcomes: dict[str, list[int]] = {}
    for place, comparison in enumerate(section.comparisons):
        outcomes.setdefault(_outcome(section, comparison), []).append(place)
    for outcome, places in sorted(outcomes.items(), key=lambda each: -len(each[1])):
        lines.append(
            f"{outcome} at {len(places)}: {_ranges(places, lengths)}{_lack(section, places)}{_gain(section, places)}."
        )
    return lines


def alarms(section: Section) -> list[str]:
    """Wrong results, a line for each candidate and length."""
    return [
        f"{each.label} at {style.bytes_text(each.bytes)}: wrong results in {each.wrong()} of "
        f"{style.counted(len(each.repetitions), 'repetition')}"
        for each in section.configurations
        if each.wrong()
    ]


def cautions(source: Source) -> list[str]:
    """What a reader must know of a measurement before believing it; nothing if all is well."""
    results, environment = source.results, source.results.environment
    lines = []
    if not results.complete:
        lines.append("The measurement was interrupted: what is here is valid, but less than was asked for.")
    invalid = sum(each.invalid() for each in results.configurations)
    made = sum(len(each.repetitions) for each in results.configurations)
    if invalid:
        lines.append(f"{invalid} of {style.counted(made, 'repetition')} invalid (late start or disturbed network).")
    if environment.emulation is not None and environment.emulation.dropped:
        lines.append(f"The emulated network lost {style.counted(environment.emulation.dropped, 'packet')}.")
    if environment.retransmissions:
        lines.append(f"TCP sent {style.counted(environment.retransmissions, 'segment')} again.")
    return lines


def facts(environment: Environment) -> list[tuple[str, str]]:
    """Where and how it was measured, as pairs of a name and a text."""
    network, emulation = environment.network, environment.emulation
    found = [
        ("MPI library", f"{library_text(environment)} (ABI {environment.abi}, launcher {environment.launcher})"),
        ("Ranks", f"{environment.ranks}, on {ranks_text(environment)}"),
        ("Nodes", listed(environment.hosts, most=6)),
    ]
    if network is not None:
        found.append(
            (
                "Network, fitted",
                f"alpha = {style.time_text(network.latency)}, "
                f"beta = {style.digits(network.seconds_per_byte * 1e9)} ns/B ({_rate(8 / network.seconds_per_byte)}), "
                f"largest residual {style.digits(100 * network.residual, 2)}%",
            )
        )
    if emulation is not None:
        found.append(
            (
                "Emulated, nominal",
                f"{style.counted(emulation.nodes, 'node')}, latency {style.time_text(emulation.latency)}, "
                f"{_rate(emulation.rate)} on {'each of ' if emulation.lanes > 1 else ''}"
                f"{style.counted(emulation.lanes, 'lane')}, {emulation.network + ', ' if emulation.network else ''}"
                f"{style.counted(emulation.dropped, 'packet')} lost",
            )
        )
    clock = f"{environment.clock}, error at most {style.time_text(environment.clock_error)}"
    return [
        *found,
        ("Machine", f"{environment.processor}, {style.counted(environment.cores, 'core')}, {environment.kernel}"),
        ("Clock", clock if environment.clock_error else environment.clock),
        *([("Computing", COMPUTING[environment.computing])] if environment.computing else []),
        ("TCP retransmissions", str(environment.retransmissions)),
        ("Date", environment.date),
        ("Rondo", f"{environment.rondo}, seed {environment.seed}"),
        ("Command", environment.command),
    ]


def listed(items: Sequence[str], most: int = 20) -> str:
    """With commas; many are counted."""
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[: most - 1])}, … {items[-1]} ({len(items)})"


def _outcome(section: Section, comparison: Comparison) -> str:
    best = {each.configuration.label for each in comparison.best}
    match comparison.verdict:
        case Verdict.WON:
            assert comparison.winner is not None
            return f"{comparison.winner.configuration.label} wins"
        case Verdict.TIED:
            return f"No single winner among {listed([each.label for each in section.series if each.label in best])}"
        case Verdict.UNDECIDED:
            return "Undecided"
        case Verdict.ALONE:
            return f"{best.pop()} stands alone"
        case Verdict.NOTHING:
            return "Nothing valid"


def _lack(section: Section, places: Sequence[int]) -> str:
    """How many repetitions there are, and how many it takes, where that is why nothing is decided."""
    lacking = [each for place in places if (each := section.comparisons[place]).verdict is Verdict.UNDECIDED]
    if not lacking:
        return ""
    counts = sorted({each.summary.count for one in lacking for each in one.standings})
    needed = max(each.needed for each in lacking)
    return f", with {_span(counts)} valid repetitions each; it takes {needed} of every candidate"


def _gain(section: Section, places: Sequence[int]) -> str:
    """How much these winners are ahead of the native one, where it is most."""
    ratios = []
    for place in places:
        comparison = section.comparisons[place]
        winner = comparison.fastest if comparison.verdict is Verdict.TIED else comparison.winner
        if winner is not None and winner.ratio is not None and winner.ratio.value < 1:
            ratios.append((winner.ratio.value, place))
    if not ratios:
        return ""
    ratio, place = min(ratios)
    where = style.bytes_text(_bytes(section.comparisons[place]))
    return f"; up to {style.digits(1 / ratio)} times as fast as native, at {where}"


def _ranges(places: Sequence[int], lengths: Sequence[int]) -> str:
    """Lengths, neighbours joined."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    texts = [[style.bytes_text(lengths[each]) for each in (run[0], run[-1])] for run in runs]
    return ", ".join(first if first == last else f"{first} to {last}" for first, last in texts)


def _bytes(comparison: Comparison) -> int:
    return comparison.standings[0].configuration.bytes


def _span(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _rate(bits: float) -> str:
    return f"{style.digits(bits / 1e9)} Gbit/s" if bits >= 1e9 else f"{style.digits(bits / 1e6)} Mbit/s"
