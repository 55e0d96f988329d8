# SPDX-License-Identifier: BSD-3-Clause
"""A colour for each block of a picture: no two alike, all of them legible on white."""

from __future__ import annotations

import functools
import itertools
import math

from rondo.reports import style

MOST = 32  # that can be told apart
STEPS = range(0, 256, 17)  # of red, green and blue, among the candidates
LIGHTNESS = (25.0, 72.0)  # of candidates, in CIE L*: neither black nor too light for lines
LEAST_CHROMA = 28.0  # of candidates: grey is for what is not a message
Lab = tuple[float, float, float]


def of_blocks(number: int) -> tuple[str, ...]:
    """For so many blocks. Those of all reports first. Where there are more than can be told apart, one for all."""
    return _palette()[:number] if number <= MOST else style.COLOURS[:1] * number


def lab(colour: str) -> Lab:
    """Of #rrggbb in CIE L*a*b* (D65), where distances are those that eyes see."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    x = _root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505)
    y = _root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = _root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@functools.cache
def _palette() -> tuple[str, ...]:
    """Each next one is the candidate farthest from all before it."""
    chosen = list(style.COLOURS)
    candidates = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in itertools.product(STEPS, repeat=3)]
    places = {each: lab(each) for each in candidates}
    places = {
        each: place
        for each, place in places.items()
        if LIGHTNESS[0] <= place[0] <= LIGHTNESS[1] and math.hypot(*place[1:]) >= LEAST_CHROMA
    }
    nearest = {each: min(math.dist(place, lab(other)) for other in chosen) for each, place in places.items()}
    while len(chosen) < MOST:
        farthest = max(nearest, key=lambda each: nearest[each])
        chosen.append(farthest)
        nearest = {each: min(far, math.dist(places[each], places[farthest])) for each, far in nearest.items()}
    return tuple(chosen)


def _linear(part: float) -> float:
    """Light, of what sRGB says."""
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)


def _root(part: float) -> float:
    return math.cbrt(part) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116
