# SPDX-License-Identifier: BSD-3-Clause
"""The promise of the default rules, held against every measurement of docs/benchmarks: never below 0.95 of native."""

from __future__ import annotations

import statistics
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

from rondo import _core

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "benchmarks").glob("*.toml"))
LANES = ROOT / "docs" / "benchmarks" / "lanes.toml"
DEFAULT_RULES = ROOT / "tuning" / "default.rules"
LARGEST_RATIO = 1 / 0.95
WITHOUT_BYTES = {"alltoallv", "gatherv", "scatterv", "barrier"}  # rules see none


def compared(page: Path, rules: Path) -> Iterator[tuple[str, bool]]:
    """The calls of a page of which the rules choose something else than native, and whether that loses.

    Those alone whose repetitions can decide. Pages show minima and medians: one of them is to be the larger by what
    counts, and the rank-sum test to say that this is no chance.
    """
    parts, today = script("table_parts"), script("chosen_today")
    for run in pages.read(page).runs:
        if not parts.is_measured(run):
            continue
        results = parts.results_of(run)
        for count in run.counts:
            found = parts.by_label(results, count)
            chosen = today.chosen_by_rules(run, bytes_of(run, count), rules)
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


def on_one_node(rules: str) -> Iterator[tuple[str, float]]:
    """Each call of whole_node.py that the rules do not leave to the library, and its time as a part of native's."""
    times: dict[tuple[str, ...], dict[str, float]] = {}
    for each in script("computed_tables").records("whole-node-choices.csv"):
        call = tuple(each[name] for name in ("collective", "library", "ranks", "bytes", "start"))
        times.setdefault(call, {})[each["choice"]] = float(each["microseconds"])
    for (collective, library, ranks, size, start), found in times.items():
        processes = int(ranks)
        elements = int(size) // 4
        if collective in DIVIDED and collective != "reduce_scatter":  # equal parts, and none empty
            elements = max(elements // processes, 1) * processes
        asked = 0 if collective in WITHOUT_BYTES else 4 * elements
        choice = _core.choice_by_rules(
            rules, "rules", collective, asked, processes, processes, True, library, nodes=1, shared_memory=True
        )  # fmt: skip
        ours = [each for each in found if choice and choice.split(",")[0].removesuffix(":radix=2") == each]
        if ours and ours != [NATIVE]:
            yield f"{collective} of {size} bytes on {ranks} ranks, {library}, {start}", found[ours[0]] / found[NATIVE]


def test_default_rules_gain_on_whole_nodes_and_never_lose() -> None:
    """Medians of three rounds: a few cells of thousands may be slower by chance, and none by much."""
    found = dict(on_one_node(DEFAULT_RULES.read_text()))
    assert len(found) > 1500
    assert statistics.geometric_mean(found.values()) < 0.5
    assert {call: ratio for call, ratio in found.items() if ratio > 1.1} == {}
    assert sum(ratio > LARGEST_RATIO for ratio in found.values()) < len(found) / 100


def test_a_rule_that_loses_on_a_whole_node_is_found_out() -> None:
    rule = "bcast nodes = 1, library = mpich, bytes >= 4Ki -> binomial\n"
    assert max(dict(on_one_node(rule)).values()) > 2


@pytest.mark.parametrize("rule", ["bcast bytes <= 4Ki -> full_lane", "scatter library = impi -> full_lane"])
def test_a_bad_rule_is_found_out(tmp_path: Path, rule: str) -> None:
    bad = tmp_path / "bad.rules"
    bad.write_text(f"{rule}\n{DEFAULT_RULES.read_text()}")
    said = [said for said, loses in compared(LANES, bad) if loses]
    collective = rule.partition(" ")[0]
    assert said
    assert all(each.startswith(f"{collective} ") and ": full_lane takes" in each for each in said)


@pytest.mark.soak
def test_default_choices_are_near_the_best_that_was_measured() -> None:
    cells = script("choice_tables").cells()
    assert len(cells) > 300
    assert statistics.fmean(each.loss for each in cells) <= 0.05
    assert statistics.geometric_mean(each.of_native for each in cells) < 0.75
    assert sum(each.of_native > LARGEST_RATIO for each in cells) <= 2  # whose repetitions do not decide
