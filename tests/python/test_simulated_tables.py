# SPDX-License-Identifier: BSD-3-Clause
"""Virtual time against SimGrid's, as docs/benchmarks shows both."""

from __future__ import annotations

import pytest
from script_loader import script

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.bench.pages import Page

PAGE = Page(file="{name}", title="{name}", candidates={}, experiment=[])


def rows(file: str) -> list[list[str]]:
    lines = script("simulated_tables").beside_simgrid(PAGE, file).splitlines()[2:]
    return [line.strip("| ").split(" | ") for line in lines]


def test_both_agree_within_a_twentieth_where_they_share_links_alike():
    found = rows("simulated-patterns.csv")
    assert len({pattern for pattern, *_ in found}) == 10
    assert {int(ranks) for _, ranks, *_ in found} == {36, 128, 1152}
    for *call, ratio in found:
        assert float(ratio) == pytest.approx(1, abs=0.05), call


def test_in_pipelines_virtual_time_shares_no_link_among_messages_of_one_pair():
    for *call, ratio in rows("simulated-pipelines.csv"):
        assert float(ratio) <= 1, call
