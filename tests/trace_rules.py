# SPDX-License-Identifier: BSD-3-Clause
"""The rules of Chrome's trace events, which a trace must keep so that Perfetto shows it right."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

Spans = Mapping[tuple[int, int], list[tuple[float, float]]]
Arrows = Mapping[int, Mapping[str, Any]]


def checked(trace: Mapping[str, Any], *, arrows_go_forward: bool = True) -> tuple[Spans, Arrows]:
    """The slices of each track, from when to when in microseconds, and both ends of each arrow."""
    spans, flows, names = defaultdict(list), defaultdict(dict), set()
    for event in trace["traceEvents"]:
        where = event["pid"], event["tid"]
        if event["ph"] == "M":
            names.add((event["name"], *where))
        elif event["ph"] == "X":
            assert event["dur"] >= 0 and event["ts"] >= 0
            assert ("thread_name", *where) in names and ("process_name", event["pid"], 0) in names
            spans[where].append((event["ts"], event["ts"] + event["dur"]))
        else:
            assert event["ph"] not in flows[event["id"]]
            flows[event["id"]][event["ph"]] = event
    for each in spans.values():
        assert all(one[1] <= other[0] * (1 + 1e-12) for one, other in itertools.pairwise(each))
    for ends in flows.values():
        assert set(ends) == {"s", "f"} and ends["f"]["bp"] == "e"
        assert not arrows_go_forward or ends["s"]["ts"] <= ends["f"]["ts"]
        for end in ends.values():  # it binds to the slice in which it is
            assert any(first <= end["ts"] <= last for first, last in spans[end["pid"], end["tid"]])
    return spans, flows
