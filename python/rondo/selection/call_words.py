# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls as people describe them on the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rondo import _core
from rondo.bench import plans
from rondo.errors import Error
from rondo.launching import mpi_library
from rondo.machine import placement

MOST_ELEMENT_BYTES = 1 << 30


def traits_of(collective: str) -> dict[str, Any]:
    """Of a collective; Error with the nearest names if there is no such one."""
    try:
        _core.algorithms(collective)
    except ValueError as error:
        raise Error(str(error)) from None
    traits: dict[str, Any] = next(each for each in _core.collectives() if each["name"] == collective)
    return traits


def has_parts(traits: Mapping[str, Any]) -> bool:
    """Whether the count of a call is of one rank's part."""
    return traits["name"] in plans.DIVIDED or traits["all_to_all"] or traits["local_lengths"]


def ranks_on_nodes(
    processes: int | None, ppn: int | None, nodes: str | None, *, may_be_domains: bool = False
) -> tuple[int, ...]:
    """Of each node; Error if nothing was said, or things that contradict each other.

    `may_be_domains`: the nodes may be domains of one, then it is the ranks of each of these.
    """
    if nodes is not None:
        if ppn is not None:
            raise Error("--nodes says how many ranks there are on each node, or in each domain; leave out --ppn")
        ranks_on = placement.ranks_in(nodes) if may_be_domains else placement.ranks_on(nodes)
        if processes not in (None, sum(ranks_on)):
            raise Error(
                f"--nodes {nodes} has {sum(ranks_on)} ranks, not the {processes} of -n; leave out one of the two"
            )
        return ranks_on
    if processes is None:
        raise Error("how many ranks? Expected -n, as in -n 64 --ppn 16, or --nodes, as in --nodes 4x16")
    if not 1 <= processes <= plans.MOST_PROCESSES:
        raise Error(f"-n {processes}: expected 1 to {plans.MOST_PROCESSES} ranks")
    each = min(ppn or 1, processes)
    full, rest = divmod(processes, each)
    return (each,) * full + ((rest,) if rest else ())


def element_bytes_of(type_name: str) -> int:
    """Of a type by its name, or as many as it says; Error for an unknown one."""
    if type_name in plans.TYPES:
        return plans.TYPES[type_name]
    if type_name.isdecimal() and 0 < int(type_name) <= MOST_ELEMENT_BYTES:
        return int(type_name)
    raise Error(f"unknown type {type_name!r}; {plans.suggestion(type_name, plans.TYPES)}, or a number of bytes")


def count_of(traits: Mapping[str, Any], count: str | None) -> int:
    """Of the call; Error if it says nothing, or says something of a call without data."""
    if not traits["has_data"]:
        if count is not None:
            raise Error(f"{traits['name']} has no data; leave out --count")
        return 1
    if count is None:
        raise Error("how long is the vector? Expected --count, as in --count 64Ki")
    try:
        elements: int = _core.quantity(count)
    except ValueError as error:
        raise Error(f"--count: {error}") from None
    return elements


def library_of(text: str) -> dict[str, Any]:
    """Name, version and eager limit of an MPI library, and where the version is from; Error for an unknown name."""
    try:
        mpi: dict[str, Any] = _core.library(text)
        if text != mpi["name"]:
            return {**mpi, "source": ""}
        number = mpi_library.version_here(text, os.environ)
        version = mpi_library.NUMBER.sub(number, mpi["version"]) if number is not None else mpi["version"]
        if version == mpi["version"]:
            return {**mpi, "source": "the newest that was measured"}
        return {**_core.library(version), "source": "which is here"}
    except ValueError as error:
        raise Error(f"--library: {error}, or a version as in 'Open MPI v4.1.4'") from None
