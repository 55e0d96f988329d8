# SPDX-License-Identifier: BSD-3-Clause
"""The forms of MPI's collectives, and what their functions are called."""

from __future__ import annotations

BLOCKING, NONBLOCKING, PERSISTENT = "blocking", "nonblocking", "persistent"
LABELS = {BLOCKING: "{}", NONBLOCKING: "i{}", PERSISTENT: "{}_init"}
"""What people call a collective in each form, as in iallreduce."""
FORMS = tuple(LABELS)
SEVERAL = {
    "allgather": ("Allgather", "Allgatherv"),
    "alltoallv": ("Alltoallv", "Alltoallw"),
    "reduce_scatter": ("Reduce_scatter_block", "Reduce_scatter"),
}
"""Functions of collectives that have more than one, without MPI_. `rondo bench` measures the first."""


def functions_of(collective: str, form: str) -> list[str]:
    """The functions of a collective in one of its forms, as MPI calls them."""
    names = SEVERAL.get(collective, (collective,))
    return [f"MPI_{LABELS[form].format(name.lower()).capitalize()}" for name in names]


def name_of(collective: str, form: str) -> str:
    """For titles: the collective, or in another form than the blocking one the function."""
    return collective if form == BLOCKING else functions_of(collective, form)[0]
