# SPDX-License-Identifier: BSD-3-Clause
"""What the default rules choose today for calls that were measured on emulated clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measurements import ROOT
from rondo.bench.pages import Run
from rondo.bench.plans import TYPES
from rondo.bench.results import BY_THE_MODEL, NATIVE
from rondo.cluster.cluster import machine_of
from rondo.tune.cells import written
from table_parts import labels, parted

from rondo import _core

RULES = ROOT / "tuning" / "default.rules"
PROCESSORS = 2
"""On which all ranks ran."""


def chosen_by_rules(run: Run, bytes_: int, rules: Path = RULES) -> str:
    """What the default rules, or others, give such a call, or what the model proposes to which they leave it.

    As the run labels it: what a label does not name is standard.
    """
    choice = _core.choice_by_rules(
        rules.read_text(), str(rules), run.collective, bytes_, run.shape.ranks, run.shape.per_node, True, run.library,
        nodes=run.shape.nodes, oversubscribed=run.shape.ranks > PROCESSORS,
    )  # fmt: skip
    if choice == BY_THE_MODEL:
        choice = _proposal(run, bytes_)
    name, settings = parted(choice or NATIVE)
    of_label = {each: parted(each) for each in labels(run)}
    fitting = [each for each, (other, named) in of_label.items() if other == name and named <= settings]
    return max(fitting, key=lambda each: len(of_label[each][1]), default=written(run.collective, choice or NATIVE))


def _proposal(run: Run, bytes_: int) -> str | None:
    """What the model proposes on the emulated cluster."""
    size = TYPES[run.experiment.type]
    found: dict[str, Any] = _core.explain(
        f"{run.collective} -> {BY_THE_MODEL}", "the model", run.collective, run.shape.ranks, bytes_ // size,
        machine_of(run.shape, PROCESSORS).text(), element_bytes=size,
        nodes=f"{run.shape.nodes}x{run.shape.per_node}", version=_core.library(run.library)["version"],
    )  # fmt: skip
    return found["proposal"]
