# SPDX-License-Identifier: BSD-3-Clause
"""What algorithms would take, as a picture: predicted seconds over ranks, nodes or bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rondo import optional
from rondo.errors import Error
from rondo.reports import figures, style
from rondo.selection.predicting import Point


def draw(points: Sequence[Point], over: str, title: str, output: Path) -> None:
    """Writes a figure with a line for each algorithm, both axes logarithmic. Error if it cannot be written."""
    matplotlib = optional.module("matplotlib")
    names = sorted({each.algorithm for point in points for each in point.candidates if each.seconds is not None})
    looks = style.assign([names])
    with matplotlib.rc_context(figures.SETTINGS):
        figure = optional.module("matplotlib.figure").Figure(
            figsize=(figures.WIDTH * 1.4, figures.HEIGHT * 1.4), layout="constrained"
        )
        axes = figure.subplots()
        for name in names:
            found = [
                (point.value, each.seconds)
                for point in points
                for each in point.candidates
                if each.algorithm == name and each.seconds is not None
            ]
            marker, size = figures.MARKERS[looks[name].marker]
            axes.plot(*zip(*found, strict=True), label=name, color=looks[name].colour, marker=marker, markersize=size)
        axes.set(xscale="log", yscale="log", xlabel=over, ylabel="seconds, predicted")
        axes.set_title(title, fontsize=7)
        axes.grid(True, color="#e4e4e4", linewidth=0.5)
        axes.legend(fontsize=6)
        try:
            figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)
        except OSError as error:
            raise Error(f"cannot write {output}: {error.strerror or error}") from None
