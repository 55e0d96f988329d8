# SPDX-License-Identifier: BSD-3-Clause
"""What all pictures share: a sheet on which places are inches, colours, titles, and how it becomes a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rondo import optional
from rondo.cluster import shapes
from rondo.drawing.trace import LOCK_STEP, ROUNDS, Trace
from rondo.errors import Error
from rondo.reports import figures, style

FORMATS = figures.FORMATS
SETTINGS = {**figures.SETTINGS, "lines.solid_capstyle": "round"}
INK, FAINT, PALE = "#222222", "#9a9a9a", "#e4e4e4"
GROUND = "#e3edf5"  # of a node
INSIDE: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (3, 1.5))}  # messages inside a node
SMALL, TINY = 7, 6  # letters, in points
POINT = 1 / 72  # inch
TOP = 0.5  # inches above the drawing, for the title
LEGEND = 0.24
MARGIN = 0.15
TITLE: tuple[dict[str, Any], ...] = ({"fontsize": 9, "fontweight": "bold"}, {"fontsize": SMALL})
LETTER = (0.08, 0.052)  # inches, about, of these
Point = tuple[float, float]


class Sheet:
    """A figure whose coordinates are inches from the top left corner of the drawing, right and down."""

    def __init__(self, title: tuple[str, str], width: float, height: float, *, left: float, bottom: float) -> None:
        """A drawing of this size below two lines of title, with margins."""
        across, up = max(left + width, MARGIN + width_of(title)) + MARGIN, TOP + height + bottom
        self.figure = optional.module("matplotlib.figure").Figure(figsize=(across, up))
        self.axes = self.figure.add_axes((left / across, bottom / up, width / across, height / up))
        self.axes.set(xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")
        for line, y, options in zip(title, (0.08, 0.27), TITLE, strict=True):
            self.figure.text(MARGIN / across, 1 - y / up, line, ha="left", va="top", color=INK, **options)

    def text(self, x: float, y: float, text: str, **options: Any) -> None:
        """Centred, unless the options say otherwise."""
        defaults = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "clip_on": False}
        self.axes.text(x, y, text, **{**defaults, **options})

    def line(self, xs: Sequence[float], ys: Sequence[float], **options: Any) -> None:
        """Through these places."""
        self.axes.plot(xs, ys, **{"color": FAINT, "linewidth": 0.6, "clip_on": False, **options})

    def arrow(self, start: Point, end: Point, name: str, **options: Any) -> None:
        """A message. In an SVG file its group is called `name`."""
        patches = optional.module("matplotlib.patches")
        defaults = {"arrowstyle": "-|>", "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0, "linewidth": 0.9}
        arrow = patches.FancyArrowPatch(start, end, **{**defaults, "clip_on": False, **options})
        arrow.set_gid(name)
        self.axes.add_patch(arrow)

    def ground(self, left: float, top: float, width: float, height: float, name: str) -> None:
        """That of a node, behind everything. In an SVG file its group is called `name`."""
        patches = optional.module("matplotlib.patches")
        box = patches.Rectangle((left, top), width, height, facecolor=GROUND, linewidth=0, zorder=-1, clip_on=False)
        box.set_gid(name)
        self.axes.add_patch(box)

    def label(self, x: float, y: float, text: str, colour: str) -> None:
        """A few letters beside or on an arrow."""
        halo = optional.module("matplotlib.patheffects").Stroke(linewidth=2.4, foreground="white")
        self.text(x, y, text, fontsize=TINY, path_effects=[halo], zorder=6)
        self.text(x, y, text, fontsize=TINY, color=colour, zorder=6)

    def legend(self, entries: Mapping[str, Any], note: str = "") -> None:
        """What marks and colours stand for, in one line: texts, with what is drawn beside them. Below it, the note."""
        if entries:
            drawn = self._legend(entries, LEGEND if note else 0)
            inches = drawn.get_window_extent().x1 / self.figure.dpi + MARGIN
            if inches > self.figure.get_figwidth():
                drawn.remove()
                self._widen(inches)
                self._legend(entries, LEGEND if note else 0)
        if note:
            across, up = self.figure.get_size_inches()
            self.figure.text(MARGIN / across, 0.06 / up, note, fontsize=SMALL, color=INK)

    def _legend(self, entries: Mapping[str, Any], level: float) -> Any:
        across, up = self.figure.get_size_inches()
        together = optional.module("matplotlib.legend_handler").HandlerTuple(ndivide=1)
        return self.figure.legend(
            entries.values(),
            entries.keys(),
            handler_map={tuple: together},
            loc="lower left",
            bbox_to_anchor=(MARGIN / across, level / up),
            ncols=len(entries),
            fontsize=SMALL,
            frameon=False,
            borderaxespad=0.2,
            borderpad=0,
        )

    def _widen(self, inches: float) -> None:
        """What is there keeps its size and its distance from the left."""
        factor = self.figure.get_figwidth() / inches
        self.figure.set_figwidth(inches)
        left, bottom, width, height = self.axes.get_position().bounds
        self.axes.set_position((left * factor, bottom, width * factor, height))
        for text in self.figure.texts:
            text.set_x(text.get_position()[0] * factor)

    def save(self, path: Path) -> None:
        """In the format that the suffix names; Error if the file cannot be written."""
        suffix = path.suffix[1:].lower()
        date = {"svg": "Date", "pdf": "CreationDate"}.get(suffix)
        try:
            self.figure.savefig(path, format=suffix, metadata={date: None} if date else None)
        except OSError as error:
            raise Error(f"cannot write {path}: {error.strerror or error}") from None


def width_of(title: tuple[str, str]) -> float:
    """Inches, about."""
    return max(len(line) * each for line, each in zip(title, LETTER, strict=True))


def title_of(trace: Trace) -> tuple[str, str]:
    """What was drawn, and its figures."""
    problem, events = trace.problem, trace.events
    facts = [f"p = {problem.processes}"]
    facts += [nodes_text(problem.nodes)] if problem.nodes else []
    facts += [f"root {problem.root}"] if problem.root else []
    facts += ["commutative operator"] if problem.commutative else []
    facts += ["in place"] if problem.in_place else []
    figures_ = [style.counted(problem.count, "element") + f" of {style.counted(problem.element_bytes, 'byte')}"]
    figures_ += [style.counted(trace.blocks, "block")] if trace.blocks > 1 else []
    figures_ += [time_text(trace), style.counted(len(events.messages), "message")]
    operations = max((rank.operations for rank in events.ranks), default=0)
    figures_ += [f"at most {style.counted(operations, 'operation')} on a rank"] if operations else []
    return ", ".join([f"{problem.collective}/{events.choice}", *facts]), ", ".join(figures_)


def nodes_text(nodes: Sequence[int]) -> str:
    """Nodes, and the ranks on them."""
    each = str(nodes[0]) if len(set(nodes)) == 1 else ", ".join(map(str, nodes))
    return f"{style.counted(len(nodes), 'node')} of {each} {'rank' if each == '1' else 'ranks'}"


def time_text(trace: Trace) -> str:
    """How long it took, and under which costs."""
    problem, time = trace.problem, trace.events.time
    if problem.timing == ROUNDS or problem.costs is None:
        return style.counted(round(time), "round")
    how = "in lock step" if problem.timing == LOCK_STEP else "overlapped"
    costs = _costs_text(problem.costs.alpha, problem.costs.beta)
    if problem.costs.alpha_inside is not None and problem.costs.beta_inside is not None:
        costs += f"; inside {_costs_text(problem.costs.alpha_inside, problem.costs.beta_inside)}"
    costs += f"; {style.counted(problem.costs.lanes, 'lane')}" if problem.costs.lanes > 1 else ""
    if problem.costs.eager is not None:
        wait = style.time_text(problem.costs.rendezvous)
        costs += f"; {wait} more beyond {style.counted(problem.costs.eager, 'byte')}"
    return f"{style.time_text(time)} {how} ({costs})"


def _costs_text(alpha: float, beta: float) -> str:
    rate = shapes.rate_text(shapes.BETA_BITS / beta)
    return f"\N{GREEK SMALL LETTER ALPHA} = {style.time_text(alpha)}, {rate[:-4]} {rate[-4:]}/s"
