# SPDX-License-Identifier: BSD-3-Clause
"""The promise of the default rules, held against every measurement of docs/benchmarks: never below 0.95 of native."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from script_loader import script

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.bench import pages
from rondo.bench.pages import Run
from rondo.bench.plans import DIVIDED, TYPES
from rondo.bench.results import NATIVE
from rondo.bench.statistics import SIGNIFICANCE, Change, differences

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "benchmarks").glob("*.toml"))
LANES = ROOT / "docs" / "benchmarks" / "lanes.toml"
DEFAULT_RULES = ROOT / "tuning" / "default.rules"
LARGEST_RATIO = 1 / 0.95


def compared(page: Path, rules: Path) -> Iterator[tuple[str, bool]]:
    """The calls of a page of which the rules choose something else than native, and whether that loses.

    Those alone whose repetitions can decide. Pages show minima and medians: one of them is to be the larger by what
    counts, and the rank-sum test to say that this is no chance.
    """
    tables = script("benchmark_tables")
    tables.RULES = rules
    for run in pages.read(page).runs:
        if not (tables.DATA / run.file).exists():
            continue  # asked for, and not measured yet
        results = tables.results_of(run)
        for count in run.counts:
            found = tables.by_label(results, count)
            chosen = tables.chosen_by_rules(run, bytes_of(run, count))
            if chosen == NATIVE or chosen not in found or NATIVE not in found:
                continue
            native, ours = found[NATIVE].seconds(), found[chosen].seconds()
            difference = differences(native, {chosen: ours})[chosen]
            if difference.change is Change.UNDECIDED:
                continue
            ratios = (difference.ratio.value, min(ours) / min(native))
            said = (
                f"{run.collective} of {bytes_of(run, count)} bytes on {run.cluster} with {run.library}: {chosen} takes "
                f"{ratios[0]:.2f} of native's median and {ratios[1]:.2f} of its minimum, p = {difference.p_value:.3f}"
            )
            yield said, max(ratios) > LARGEST_RATIO and difference.p_value < SIGNIFICANCE


def bytes_of(run: Run, count: int) -> int:
    """As rules mean them."""
    return TYPES[run.experiment.type] * count * (run.shape.ranks if run.collective in DIVIDED else 1)


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.stem)
def test_default_rules_never_lose_what_the_data_can_tell(page: Path) -> None:
    assert [said for said, loses in compared(page, DEFAULT_RULES) if loses] == []


def test_the_data_decide_about_many_choices() -> None:
    """So that the promise is not kept by comparing nothing."""
    assert len(list(compared(LANES, DEFAULT_RULES))) > 30


@pytest.mark.parametrize("rule", ["bcast bytes <= 4Ki -> full_lane", "scatter library = impi -> full_lane"])
def test_a_bad_rule_is_found_out(tmp_path: Path, rule: str) -> None:
    bad = tmp_path / "bad.rules"
    bad.write_text(f"{rule}\n{DEFAULT_RULES.read_text()}")
    said = [said for said, loses in compared(LANES, bad) if loses]
    collective = rule.partition(" ")[0]
    assert said
    assert all(each.startswith(f"{collective} ") and ": full_lane takes" in each for each in said)
