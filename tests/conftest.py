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


@pytest.fixture(scope="session", params=list(LIBRARIES))
def mpi(request: pytest.FixtureRequest) -> MpiLibrary:
    """One MPI library. A module narrows the list with `pytest.mark.parametrize("mpi", [...], indirect=True)`."""
    reason = reason_to_skip(request.param)
    if reason is not None:
        pytest.skip(reason)
    return LIBRARIES[request.param]
