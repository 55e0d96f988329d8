# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that hold virtual time against SimGrid's: times of patterns, and rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from computed_tables import records
from rondo.bench.pages import Page
from rondo.bench.plans import TYPES
from rondo.cluster import shapes
from rondo.reports import style
from table_parts import markdown

from rondo import _core


def virtual_time_of(collective: str, algorithm: str, ranks: int, bytes_: int, machine: str) -> float:
    """Seconds that `rondo predict` says of integers of eight bytes, with one rank on each node."""
    size = TYPES["long"]
    found = _core.predict(
        collective, algorithm, ranks, bytes_ // size, machine, element_bytes=size, nodes=f"{ranks}x1"
    )  # fmt: skip
    return float(found["seconds"])


def machine_of(figures: Mapping[str, str]) -> str:
    """The machine file of what SimGrid simulates: a message that waits for its receiver asks nobody."""
    beta = shapes.BETA_BITS / float(figures["rate"])
    return (
        f"alpha = {figures['latency']}\nbeta = {beta}\noverhead = 0\ngamma = 0\n"
        f"eager = {figures['eager']}\nrendezvous = 0\n"
    )


# ------------------------------------------------------------------------------------------------ kinds of tables


def beside_simgrid(page: Page, file: str) -> str:
    """The patterns of simulated_patterns.py in milliseconds: SimGrid's time, virtual time, and their ratio."""
    del page
    rows = [["pattern", "ranks", "bytes", "eager limit", "SimGrid, ms", "virtual time, ms", "ratio"]]
    for each in records(file):
        ranks, bytes_, seconds = int(each["ranks"]), int(each["bytes"]), float(each["seconds"])
        found = virtual_time_of(each["collective"], each["algorithm"], ranks, bytes_, machine_of(each))
        pattern, eager = f"`{each['collective']}/{each['algorithm']}`", style.bytes_text(int(each["eager"]))
        times = [f"{1e3 * seconds:.2f}", f"{1e3 * found:.2f}", f"{found / seconds:.3f}"]
        rows.append([pattern, each["ranks"], style.bytes_text(bytes_), eager, *times])
    return markdown(rows)


def simulated_rates(page: Page, file: str) -> str:
    """Messages a second of one core, of simulated_rates.py."""
    del page
    rows = [["", "pattern", "ranks", "messages", "messages a second"]]
    for each in records(file):
        rate = int(each["messages"]) / float(each["seconds"])
        pattern = f"`{each['collective']}/{each['algorithm']}`"
        rows.append([each["simulator"], pattern, each["ranks"], each["messages"], f"{rate:,.0f}"])
    return markdown(rows)


KINDS: dict[str, Callable[..., str]] = {each.__name__: each for each in (beside_simgrid, simulated_rates)}
