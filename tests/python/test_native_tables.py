# SPDX-License-Identifier: BSD-3-Clause
"""The tables that compare native times with predictions: who corrects whom, and what counts as near."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from recorded_results import recorded
from script_loader import script_of_its_own

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.bench.pages import Page
from rondo.bench.results import Configuration, read, write

ROOT = Path(__file__).resolve().parents[2]
RECORDED = "bandwidth-bcast-8x1-mpich.json"
LENGTHS = [8, 1024, 8192, 65536, 524288]
PAGE = Page(file="{name}", title="{name}", candidates={}, experiment=[])


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """With one file of data, which tests may change."""
    with script_of_its_own("native_tables") as module:
        path = recorded(RECORDED, tmp_path)
        monkeypatch.setattr(module.measurements, "DATA", tmp_path)
        module.measurements.pack("page", [path])
        yield module


def slow_down(tables: ModuleType, path: Path, factor: float, lengths: list[int]) -> None:
    """Native takes so much longer for these lengths."""

    def changed(each: Configuration) -> Configuration:
        if each.algorithm != "native" or each.bytes not in lengths:
            return each
        times = [msgspec.structs.replace(one, seconds=factor * one.seconds) for one in each.repetitions]
        return msgspec.structs.replace(each, repetitions=times)

    results = read(path)
    write(msgspec.structs.replace(results, configurations=list(map(changed, results.configurations))), path)
    tables.measurements.pack("page", [path])


def test_a_cell_is_a_native_call_with_what_its_rule_predicts(tables):
    found = tables.all_cells()
    assert [each.bytes for each in found] == LENGTHS
    assert {(each.collective, each.library, str(each.shape)) for each in found} == {
        ("bcast", "mpich", "8x1:2ms:200Mbit")
    }
    assert [each.like.split()[1] for each in found] == [
        "binomial", "binomial", "binomial", "scatter_allgather:doubling=1", "scatter_allgather:doubling=1",
    ]  # fmt: skip
    for each in found:
        assert each.ratio == each.predicted / each.measured
        assert each.near


def test_the_middle_one_corrects_the_others_and_is_not_judged(tables, tmp_path):
    slow_down(tables, tmp_path / RECORDED, 2, LENGTHS)
    (row,) = tables.rows(tables.predicted())
    assert tables.middle_of(row).bytes == 8192
    judged = tables.judged()
    assert [each.bytes for each in judged] == [8, 1024, 65536, 524288]
    by_length = {each.bytes: each for each in row}
    for each in judged:
        assert by_length[each.bytes].ratio < 0.6  # as predicted
        assert not by_length[each.bytes].near
        assert 1 < each.correction < 2.2
    # Three doublings away it counts for enough, six and ten doublings away it does not.
    assert [each.near for each in judged] == [False, True, True, False]
    shares = tables.native_shares(PAGE, by=["library"]).splitlines()
    assert shares[2].startswith("| all | 5 | 0 | 0% |")
    assert shares[2].endswith("| 4 | 50% |")
    assert shares[3].startswith("| MPICH | 5 |")


def test_what_is_off_is_shown_with_its_algorithm(tables, tmp_path):
    slow_down(tables, tmp_path / RECORDED, 3, [524288])
    (row,) = tables.native_wrong(PAGE, least=1.5).splitlines()[2:]
    assert row.startswith("| MPICH | bcast | 8x1:2ms:200Mbit | 512 KiB | `scatter_allgather:doubling=1` |")
    (ratios,) = tables.native_ratios(PAGE, library="mpich").splitlines()[2:]
    assert "; **8 KiB " in ratios
    assert tables.native_ratios(PAGE, library="openmpi").count("\n") == 1  # a head alone
