# SPDX-License-Identifier: BSD-3-Clause
"""`mpi`: one fixture with a parameter per MPI library. See mpi_libraries.py."""

from __future__ import annotations

import os

import pytest
from mpi_libraries import LIBRARIES, MpiLibrary, reason_to_skip

# Tests are about what the rules choose, and leave nothing behind in the user's directories. Those of the guard say so.
os.environ["RONDO_GUARD"] = "off"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of these folders start a few ranks at most."""
    for item in items:
        if item.path.parent.name in ("packaging", "python"):
            item.add_marker(pytest.mark.parallel)
    leave_most_libraries_to_the_soak(items)


def leave_most_libraries_to_the_soak(items: list[pytest.Item]) -> None:
    """`make test` tries each case with one of the MPI libraries that it names, in turn.

    A case names those libraries alone that can run it: one that skips itself would take the turn of another.
    """
    cases: dict[tuple[object, ...], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and not item.get_closest_marker("soak"):
            parameters = dict(item.callspec.params)
            if parameters.pop("mpi", None) is not None:
                key = (item.path, item.originalname, *map(repr, parameters.items()))
                cases.setdefault(key, []).append(item)
    for number, of_libraries in enumerate(cases.values()):
        for place, item in enumerate(of_libraries):
            if place != number % len(of_libraries):
                item.add_marker(pytest.mark.soak)


@pytest.fixture(scope="session", params=list(LIBRARIES))
def mpi(request: pytest.FixtureRequest) -> MpiLibrary:
    """One MPI library. A module narrows the list with `pytest.mark.parametrize("mpi", [...], indirect=True)`."""
    reason = reason_to_skip(request.param)
    if reason is not None:
        pytest.skip(reason)
    return LIBRARIES[request.param]
