# SPDX-License-Identifier: BSD-3-Clause
"""The shapes of networks, and where the nodes of a job are in them: words that rondo._core reads."""

from __future__ import annotations

from rondo import _core
from rondo.errors import Error

FLAT = "flat"
BLOCK = "block"
EXAMPLES = ("fat_tree:nodes=32,taper=2", "dragonfly:nodes=16,global=4", "torus:4x4x8", FLAT)
PLACEMENTS = (BLOCK, "cyclic", "random", "random:")


def checked(network: str | None, placement: str | None, nodes: int) -> str:
    """The shape in which a job of so many nodes is; empty if there is none.

    Error if the nodes cannot be there, or have a placement where there is no shape.
    """
    if network in (None, FLAT):
        if placement is not None:
            raise Error(
                f"--placement {placement}: the network has no shape in which nodes could be placed; say --network, "
                f"too, as in {EXAMPLES[0]}"
            )
        return ""
    assert network is not None
    try:
        _core.network_places(network, placement or BLOCK, nodes)
    except ValueError as error:
        raise Error(str(error)) from None
    return network
