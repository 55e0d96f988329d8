# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only some commands need: imported when needed, with a message that says how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from rondo.errors import Error


def module(name: str) -> Any:
    """A module of the extra `bench`; Error if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise Error(
            f"the Python package {package} is missing; benchmarks and their reports need it: "
            "pip install 'rondo-mpi[bench]'"
        ) from None
