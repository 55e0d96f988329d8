# SPDX-License-Identifier: BSD-3-Clause
"""Sampled calls of several ranks beside each other: waiting, moving, and the critical path. A tick is a second."""

from __future__ import annotations

import pytest
from rondo.profiling import image, sampled
from rondo.profiling.image import Image, Instance, Line, Moment, Owner, Sample

WORLD, OTHER = 7, 8
"""Communicators."""
FUNCTIONS = ["MPI_Allreduce", "MPI_Bcast", "MPI_Scan"]


def rank(number, *calls, size=2):
    """Its calls: entry, exit, number of the function, of the call; and communicator, if it is another."""
    owner = Owner(number, size, "host", 0, 0, 1, "MPICH", "mpich")
    lines = [Line(each, 0, 0, 4, 0 if each == 1 else -1, True, "", "", 8, 1, 8, 1, 8, 8, 0) for each in range(3)]
    samples = [
        Sample(entry, exit_, more[0] if more else 0, function, count, function)
        for entry, exit_, function, count, *more in calls
    ]
    instances = [Instance(each, 0, number, size) for each in (WORLD, OTHER)]
    functions = [image.Function(each, 0, 0, 0) for each in FUNCTIONS]
    return Image(
        owner, image.FINALIZED, 0, 100, Moment(0, 0), Moment(100, 100), [], 0, 0, 0, 0, functions, lines, [], [],
        instances, samples,
    )  # fmt: skip


def compared(*images):
    return sampled.compared(images, lambda _, tick: float(tick))


def critical(found):
    return {key: each.critical for key, each in found.items() if each.critical}


def test_the_path_is_that_of_the_rank_which_comes_last_to_the_next_call():
    """Rank 0 leaves the first call early and waits in the next one: what it moves there, nobody waits for."""
    found = compared(
        rank(0, (10, 13, 0, 0), (14, 25, 0, 1)),
        rank(1, (10, 18, 0, 0), (20, 24, 0, 1)),
    )
    assert (found[0, 0].waiting, found[1, 0].waiting) == (6, 0)
    assert found[0, 0].seconds - found[0, 0].waiting == 3 + 5
    # The second call ends last on rank 0, which waited in it for rank 1, which came out of the first one after 8.
    assert critical(found) == {(0, 0): 5, (1, 0): 8}


def test_a_root_that_comes_early_is_not_waited_for():
    found = compared(
        rank(0, (1, 2, 1, 0), (3, 30, 0, 0)),
        rank(1, (15, 19, 1, 0), (20, 29, 0, 0)),
    )
    assert critical(found) == {(0, 0): 10, (1, 1): 4}
    late = compared(
        rank(0, (1, 5, 0, 0), (15, 16, 1, 0)),
        rank(1, (1, 3, 0, 0), (4, 20, 1, 0)),
    )
    assert critical(late) == {(1, 1): 5, (0, 0): 4}


def test_a_scan_waits_for_ranks_before_it_alone():
    found = compared(
        rank(0, (1, 4, 0, 0), (10, 12, 2, 0)),
        rank(1, (1, 9, 0, 0), (11, 20, 2, 0)),
    )
    assert critical(found) == {(1, 2): 9, (1, 0): 8}


def test_sampled_calls_stand_for_others_and_those_that_a_rank_did_not_keep_for_none():
    found = compared(
        rank(0, (1, 4, 0, 0), (5, 6, 0, 1), (9, 12, 0, 300)),
        rank(1, (1, 5, 0, 0), (10, 13, 0, 300)),
    )
    assert [(each.calls, each.seconds) for each in found.values()] == [(2, 3 + 2 * 3), (2, 4 + 2 * 3)]
    assert critical(found)[1, 0] == pytest.approx(2 * 3 + 4)


def test_calls_in_another_order_on_each_rank_do_not_lead_in_a_circle():
    """As two threads make them."""
    found = compared(
        rank(0, (10, 30, 0, 0, 0), (20, 40, 0, 0, 1)),
        rank(1, (15, 41, 0, 0, 1), (16, 31, 0, 0, 0)),
    )
    assert sum(critical(found).values()) == 14 + 20


def test_no_calls_have_no_path():
    assert compared(rank(0), rank(1)) == {}
