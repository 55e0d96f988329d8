# SPDX-License-Identifier: BSD-3-Clause
"""Traces that ranks leave, merged. tests/mpi/test_trace.py has real ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trace_rules
from rondo.launching import run_trace

TREATMENTS = [{"collective": "bcast", "algorithm": "binomial", "reason": "", "form": ""}]
SECOND = 10**9


def leave(directory: Path, rank: int, lines: list[str], *, boot: str = "one", epoch: int = 0, lost: int = 0) -> None:
    head = {"rank": rank, "size": 2, "host": "n", "library": "MPICH", "abi": "mpich", "boot": boot, "epoch": epoch}
    text = json.dumps(head | {"lost": lost, "treatments": TREATMENTS})
    (directory / f"{rank}-n-7.trace").write_text("\n".join([text, *lines]) + "\n")


def test_messages_are_matched_in_their_order(tmp_path):
    # kind, treatment, peer, tag, step, bytes, start, end
    leave(tmp_path, 0, ["0 0 -1 0 0 8 100 900", "2 0 1 5 0 8 200 300", "2 0 1 5 1 16 350 400", "2 0 1 6 0 8 500 600"])
    leave(tmp_path, 1, ["1 0 0 5 1 16 310 700", "1 0 0 5 0 8 150 320", "1 0 0 6 0 8 480 650", "3 0 -1 5 1 8 700 710"])
    found = run_trace.read(tmp_path)
    trace = json.loads(found.text())
    _, arrows = trace_rules.checked(trace)
    assert len(arrows) == 3
    sizes = {(each["pid"], each["ts"]): each["args"]["bytes"] for each in trace["traceEvents"] if each["ph"] == "X"}
    for ends in arrows.values():
        sent = sizes[0, ends["s"]["ts"]]
        received = [each for each in trace["traceEvents"] if each["ph"] == "X" and each["cat"] == "receives"]
        (receive,) = (each for each in received if each["ts"] <= ends["f"]["ts"] <= each["ts"] + each["dur"] and
                      each["tid"] == ends["f"]["tid"])  # fmt: skip
        assert receive["args"]["bytes"] == sent
    assert found.summary() == ["1 calls and 3 messages of 2 ranks"]


# Rank 1 is on another machine, whose clock began a second later.
def test_clocks_of_several_machines_are_brought_together(tmp_path):
    leave(tmp_path, 0, [f"0 0 -1 0 0 8 {SECOND} {SECOND + 500}"], epoch=SECOND)
    leave(tmp_path, 1, ["0 0 -1 0 0 8 100 600"], boot="other", epoch=2 * SECOND)
    events = json.loads(run_trace.read(tmp_path).text())["traceEvents"]
    assert {each["pid"]: each["ts"] for each in events if each["ph"] == "X"} == {0: 0, 1: pytest.approx(0.1)}


def test_what_is_missing_is_said(tmp_path):
    leave(tmp_path, 0, [], lost=12)
    (tmp_path / "1-n-8.trace").write_text("{}\n1 2\n")
    found = run_trace.read(tmp_path)
    _, missing, full, unreadable = found.summary()
    assert "no trace of ranks 1" in missing
    assert "no room for their last 12 to 12 events" in full
    assert "1-n-8.trace" in unreadable
    assert json.loads(found.text())["traceEvents"]


def test_nothing_at_all_is_said_too(tmp_path):
    assert "no trace of any rank" in run_trace.read(tmp_path).summary()[1]
