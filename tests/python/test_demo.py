# SPDX-License-Identifier: BSD-3-Clause
"""What `make demo` says about speed: nothing that its few runs do not show."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/demo.py"

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")


@pytest.mark.parametrize(
    ("native", "rondo", "said"),
    [
        ([3.0, 3.2, 3.1, 3.3], [1.5, 1.6, 1.7, 1.4], "2.0 times as fast"),
        ([1.5, 1.6, 1.7, 1.4], [3.0, 3.2, 3.1, 3.3], "2.0 times as slow"),
        ([3.0, 3.2, 3.1, 1.6], [1.5, 1.6, 1.7, 1.4], "no difference seen"),
        ([3.0, 3.2, 3.1], [1.5, 1.6, 1.7], "too few runs to tell"),
        ([3.0], [1.0], "too few runs to tell"),
    ],
)
def test_speed_is_named_only_if_the_runs_have_no_time_in_common(
    native: list[float], rondo: list[float], said: str
) -> None:
    assert runpy.run_path(str(SCRIPT))["verdict"](native, rondo) == said
