# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run --trace`: what ranks of a real run did when."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trace_rules
from launching import Run, launch
from mpi_libraries import MpiLibrary, preload_library

pytestmark = pytest.mark.parallel
BOTH = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
RANKS = 4
Slices = list[dict[str, Any]]


def traced(mpi: MpiLibrary, file: Path, options: list[object], program: list[object], **variables: str) -> Run:
    preload_library(mpi.abi)
    words = ["run", "--guard", "off", "--rules", "none", "--trace", file, *options, "--"]
    command = [sys.executable, "-m", "rondo", *words, *mpi.command(RANKS, mpi.patience, program)]
    return launch(command, {**os.environ, **mpi.environment, **variables}, 60)


def slices_of(trace: Mapping[str, Any]) -> Slices:
    return [each for each in trace["traceEvents"] if each["ph"] == "X"]


@BOTH
@pytest.mark.parametrize("memory", ["on", "off"])
def test_calls_and_messages_of_all_ranks_are_there(mpi: MpiLibrary, tmp_path: Path, memory: str) -> None:
    file = tmp_path / "run.json"
    options = ["--use", "allreduce=recursive_doubling", "--use", "bcast=binomial", "--report"]
    run = traced(mpi, file, options, [mpi.compile("calls_in_turn.c")], RONDO_SHARED_MEMORY=memory).check()
    assert "ui.perfetto.dev opens it" in run.stderr
    trace = json.loads(file.read_text())
    _, arrows = trace_rules.checked(trace)
    slices = slices_of(trace)
    names = Counter(each["name"] for each in slices if each["cat"] == "calls")
    assert {"allreduce/recursive_doubling", "bcast/binomial", "exscan/native"} <= names.keys()
    sends, receives = ([each for each in slices if each["cat"] == kind] for kind in ("sends", "receives"))
    assert len(arrows) == len(sends) == len(receives) > 0
    assert any(each["name"] == "combine" for each in slices)
    # A message is part of a call. Sums of times are not exact: they may differ by less than a nanosecond.
    spans = [(each["pid"], each["ts"], each["ts"] + each["dur"] + 1e-3) for each in slices if each["cat"] == "calls"]
    for each in sends[:50]:
        end = each["ts"] + each["dur"]
        assert any(rank == each["pid"] and first <= each["ts"] and end <= last for rank, first, last in spans)


@BOTH
def test_nonblocking_calls_are_there_until_they_are_over(mpi: MpiLibrary, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    run = traced(mpi, file, ["--use", "allreduce=recursive_doubling"], [mpi.compile("many_requests.c"), 10, 10])
    assert run.returncode == 0, run.stderr
    trace = json.loads(file.read_text())
    trace_rules.checked(trace)
    names = Counter(each["name"] for each in slices_of(trace) if each["cat"] == "calls")
    assert any(name.startswith(("iallreduce", "allreduce_init")) for name in names), names


@MPICH
def test_a_file_that_cannot_be_is_refused_before_anything_runs(mpi: MpiLibrary, tmp_path: Path) -> None:
    run = traced(mpi, tmp_path / "no" / "run.json", [], [mpi.compile("hello.c")])
    assert run.returncode == 2
    assert "cannot write into" in run.stderr
    assert "expected a file that ends in .json" in traced(mpi, tmp_path / "run", [], ["true"]).stderr
