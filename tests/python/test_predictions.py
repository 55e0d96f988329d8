# SPDX-License-Identifier: BSD-3-Clause
"""The tables that compare virtual time with measurements: what counts as best, and how a wrong prediction shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from recorded_results import EXSCAN, recorded
from script_loader import script_of_its_own

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.bench.pages import Page
from rondo.bench.results import Configuration, read, write

ROOT = Path(__file__).resolve().parents[2]
PAGE = Page(file="{name}", title="{name}", candidates={}, experiment=[])
BYTES = 64 << 10


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """With one file of data, which tests may change."""
    with script_of_its_own("predicted_tables") as module:
        path = recorded(EXSCAN, tmp_path)
        monkeypatch.setattr(module.measurements, "DATA", tmp_path)
        module.measurements.pack("page", [path])
        yield module


def rewrite(tables: ModuleType, path: Path, factors: dict[str, float], most: int | None = None) -> None:
    """Multiplies the times of one cell's candidates; and leaves out all but so many repetitions of all."""
    results = read(path)

    def changed(each: Configuration) -> Configuration:
        factor = factors.get(each.algorithm, 1.0) if each.bytes == BYTES else 1.0
        kept = each.repetitions[:most]
        times = [msgspec.structs.replace(repetition, seconds=factor * repetition.seconds) for repetition in kept]
        return msgspec.structs.replace(each, repetitions=times)

    write(msgspec.structs.replace(results, configurations=[changed(each) for each in results.configurations]), path)
    tables.measurements.pack("page", [path])


def cell(tables: ModuleType) -> object:
    return next(each for each in tables.all_cells() if each.bytes == BYTES)


def test_a_cell_has_all_of_rondos_candidates_as_they_are_predicted(tables):
    found = tables.all_cells()
    assert [each.bytes for each in found] == [8, 1024, 8192, 65536, 524288]
    assert {(each.collective, each.library, str(each.shape)) for each in found} == {
        ("exscan", "mpich", "8x1:2ms:200Mbit")
    }
    assert [each.decided for each in found] == [True, True, True, True, False]  # of the last one there are too few
    for each in found:
        assert "native" not in [candidate.label for candidate in each.candidates]
        assert len(each.candidates) == 6
        predictions = [candidate.predicted for candidate in each.candidates]
        assert predictions == sorted(predictions)
        assert each.fastest.good
        assert each.loss >= 0
        assert each.factor >= 1


def test_the_machine_is_the_emulated_cluster_with_the_librarys_eager_limit(tables):
    environment, _ = tables.comparisons(EXSCAN)
    lines = dict(line.split("#")[0].split(" = ") for line in tables.figures_of(environment).splitlines())
    figures = {key: value.strip() for key, value in lines.items()}
    assert (float(figures["alpha"]), float(figures["beta"])) == pytest.approx((2e-3, 4e-8))
    assert float(figures["overhead"]) == pytest.approx(160e-6)  # 40 us, eight ranks on two processors
    assert figures["eager"] == str(512 << 10)


def test_the_model_is_right_where_it_was_measured(tables):
    found = cell(tables)
    assert found.place == 1
    for each in found.candidates:
        assert each.predicted == pytest.approx(each.measured, rel=0.25), each.label


def test_what_the_model_does_not_see_is_a_loss(tables, tmp_path):
    right = cell(tables)
    first = right.candidates[0].label
    assert first in ("cyclic_doubling", "two_tree")
    rewrite(tables, tmp_path / EXSCAN, {first: 3.0})
    tables.comparisons.cache_clear()
    tables.cells.cache_clear()
    wrong = cell(tables)
    assert wrong.candidates[0].label == first  # predictions know nothing of measurements
    assert not wrong.candidates[0].good
    assert wrong.place > 1
    assert wrong.loss == pytest.approx(3 * right.candidates[0].measured / wrong.fastest.measured - 1)
    table = tables.predicted_wrongly(PAGE, least=0.5).splitlines()
    assert len(table) == 3  # a head of two lines, and this cell
    assert f"| 64 KiB | {100 * wrong.loss:.0f}% | `{first}` " in table[2]
    shares = tables.predicted_order(PAGE, by=["bytes"])
    assert "| bytes: up to 4 KiB | 2 | 6.0 | 100% |" in shares
    others = next(each for each in tables.all_cells() if each.bytes == 8192)
    assert f"| bytes: up to 64 KiB | 2 | 6.0 | {50 if others.place == 1 else 0}% |" in shares


def test_few_repetitions_decide_nothing_and_medians_count_alone(tables, tmp_path):
    rewrite(tables, tmp_path / EXSCAN, {}, most=2)
    tables.comparisons.cache_clear()
    tables.cells.cache_clear()
    found = cell(tables)
    assert not found.decided
    for each in found.candidates:
        assert each.good == (each.measured <= 1.05 * found.fastest.measured)
    rows = tables.predicted_by_models(PAGE).splitlines()
    assert sum(row.startswith("| all | ") for row in rows) == 2
    assert sum(row.startswith("| decided | as fluids | 0 | - |") for row in rows) == 1


def test_ratios_are_of_groups_that_are_large_enough(tables):
    rows = tables.predicted_ratios(PAGE, by=["bytes", "algorithm"], least=6).splitlines()
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| all", "| bytes: up to 4 KiB", "| bytes: up to 64 KiB",
                                                          "| bytes: up to 1 MiB"]  # fmt: skip
    assert rows[2].split(" | ")[1] == "30"
