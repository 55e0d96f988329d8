# SPDX-License-Identifier: BSD-3-Clause
"""Colours, markers, ticks and numbers, the same wherever they appear."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rondo import _core
from rondo.bench.results import NATIVE
from rondo.bench.statistics import LEAST_FOR_INTERVAL

# Okabe and Ito, Color Universal Design, 2008, without the yellow, which is too light for lines on white; black is
# for the native one. Seven markers to six colours: 42 algorithms differ in one or the other.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot")  # of variants
ALARM = "#c00000"
HOLLOW = f"n < {LEAST_FOR_INTERVAL}, no interval"  # what a hollow marker stands for; short, as legends are
NOTHING = "\N{EN DASH}"

BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
MANTISSAS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))
LINEAR_BELOW = 4.0  # a logarithmic axis that spans less has ticks at equal distances


@dataclass(frozen=True)
class Style:
    """How an algorithm is drawn; its variants differ in their dashes."""

    colour: str
    marker: str


def assign(neighbourhoods: Sequence[Collection[str]]) -> dict[str, Style]:
    """A style for each algorithm. Those that stand in one figure get different colours, as long as there are any.

    An algorithm that Rondo knows begins to look at a place of its own, so that it mostly looks alike in all reports.
    """
    order = _registry_order()
    places: dict[str, int] = {}
    names = {name for each in neighbourhoods for name in each} - {NATIVE}
    for name in sorted(names, key=lambda each: (order.get(each, len(order)), each)):
        around = [{places[other] for other in each if other in places} for each in neighbourhoods if name in each]
        places[name] = _best_place(order.get(name, len(order)), set().union(*around))
    styles = {
        name: Style(COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]) for name, place in places.items()
    }
    return {NATIVE: Style("#000000", "circle"), **styles}


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 node, 2 nodes."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def bytes_text(number: int) -> str:
    """With a binary unit, exact if three digits can be: 64 KiB, 3.91 KiB."""
    exponent = min(max(number.bit_length() - 1, 0) // 10, len(BYTE_UNITS) - 1)
    return f"{digits(number / 1024**exponent, 4 if number < 1024 else 3)} {BYTE_UNITS[exponent]}"


def time_text(seconds: float) -> str:
    """With a unit and three digits: 1.23 ms; NOTHING for NaN."""
    if math.isnan(seconds):
        return NOTHING
    size, unit = unit_of(seconds)
    return f"{digits(seconds / size)} {unit}"


def unit_of(seconds: float) -> tuple[float, str]:
    """The unit, as seconds and by name, in which a time is 1 or more, or -1 or less."""
    return next((each for each in TIME_UNITS if abs(seconds) >= 0.9995 * each[0]), TIME_UNITS[-1])


def digits(number: float, significant: int = 3) -> str:
    """Without exponent, and without decimals that it does not need: 0.0123, 1.2, 1234."""
    if math.isnan(number):
        return NOTHING
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    decimals = max(significant - 1 - math.floor(math.log10(abs(number))), 0)
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def axis_unit(smallest: float) -> tuple[float, str]:
    """The unit, as seconds and by name, in which an axis begins near 1."""
    return next((each for each in TIME_UNITS if smallest >= 0.1 * each[0]), TIME_UNITS[-1])


def byte_ticks(smallest: int, largest: int, most: int = 9) -> list[tuple[float, str]]:
    """Powers of two between two lengths, equally far apart, with their texts."""
    low, high = math.ceil(math.log2(smallest)), math.floor(math.log2(largest))
    step = next(each for each in (1, 2, 3, 5, 10, 20) if (high - low) / each < most)
    ticks = [exponent for exponent in range(low, high + 1) if exponent % step == 0] or [low]
    return [(2.0**exponent, bytes_text(2**exponent) if exponent >= 0 else "") for exponent in ticks]


def log_ticks(low: float, high: float, most: int = 9) -> list[tuple[float, str]]:
    """Round numbers between two positive ones, with their texts: powers of ten, and more if there is room."""
    if not 0 < low < high < math.inf:
        return []
    if high / low < LINEAR_BELOW:
        return _linear_ticks(low, high, most)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    powers = [10.0**power for power in decades if low <= 10.0**power <= high]
    ticks = powers[:: max(1, math.ceil(len(powers) / most))]
    for mantissas in MANTISSAS:
        within = [each for power in decades for m in mantissas if low <= (each := m * 10.0**power) <= high]
        if len(within) > most:
            break
        ticks = within
    return [(each, digits(each)) for each in ticks]


def _linear_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(each * power for each in (1, 2, 5, 10, 20) if (high - low) / (each * power) < most)
    places = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [(place * step, digits(place * step, 6)) for place in places]


def _best_place(wanted: int, taken: Collection[int]) -> int:
    """A free place: with the rarest colour, of these with the rarest marker, of these the next from the wanted one."""
    places = len(COLOURS) * len(MARKERS)

    def cost(place: int) -> tuple[bool, int, int, int]:
        same_colour = sum((place - each) % len(COLOURS) == 0 for each in taken)
        same_marker = sum((place - each) % len(MARKERS) == 0 for each in taken)
        return place in taken, same_colour, same_marker, (place - wanted) % places

    return min(range(places), key=cost)


def _registry_order() -> dict[str, int]:
    names = [each["name"] for one in _core.collectives() for each in _core.algorithms(one["name"])]
    return {name: place for place, name in enumerate(dict.fromkeys(names))}
