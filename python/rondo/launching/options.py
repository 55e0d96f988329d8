# SPDX-License-Identifier: BSD-3-Clause
"""Options that commands have in common: where programs run, and where is measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from rondo.launching import abi
from rondo.machine import machine
from rondo.selection import learned, rules_file

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SHAPE = "NODESxRANKS:LATENCY:RATE[:LANES]|NAME"
MPI = "mpich|openmpi|impi|PATH"
A_CLUSTER = "an emulated cluster of this machine, a new one as 8x1:2ms:200Mbit or one of `rondo cluster up`"


def rules(text: str) -> Decorator:
    """--rules, or what the environment says: rules."""
    return click.option("--rules", envvar=rules_file.VARIABLE, show_envvar=True, metavar="FILE|none", help=text)


def machine_file(text: str) -> Decorator:
    """--machine, or what the environment says: machine_file."""
    default = "Default: ~/.config/rondo/machine if it is there, else the figures of a 100 Gbit/s network."
    return click.option(
        "--machine",
        "machine_file",
        envvar=machine.VARIABLE,
        show_envvar=True,
        metavar="FILE",
        help=f"{text} {default}",
    )


def learned_directory(text: str) -> Decorator:
    """--learned, or what the environment says: learned_directory."""
    return click.option(
        "--learned",
        "learned_directory",
        envvar=learned.VARIABLE,
        show_envvar=True,
        metavar="DIRECTORY|none",
        help=f"{text} Default: ~/.local/state/rondo/learned.",
    )


def for_programs(function: Callable[..., Any]) -> Callable[..., Any]:
    """--abi, --cluster and --mpi of commands that start the user's programs: wanted, cluster_text, wanted_mpi."""
    for option in (
        click.option("--mpi", "wanted_mpi", metavar=MPI, help="With --cluster, the MPI to start it with."),
        click.option(
            "--cluster",
            "cluster_text",
            metavar=SHAPE,
            help=f"Run on {A_CLUSTER}: what follows is the program alone, which runs on all nodes.",
        ),
        click.option(
            "--abi",
            "wanted",
            type=click.Choice(["auto", *abi.ABIS]),
            default="auto",
            show_default=True,
            help="Which MPI the program uses: MPICH's family (Intel MPI and MVAPICH as well), Open MPI, or the "
            "standard binary interface of MPI 5. Needed only where Rondo cannot see it, as for a script with loops.",
        ),
    ):
        function = option(function)
    return function


def for_measurements(verb: str) -> Decorator:
    """--cluster and --mpi of commands that start a benchmark. The verb says what they do there."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        mpi = click.option(
            "--mpi", metavar=MPI, help="MPI library. Default: the launcher's, on an emulated cluster MPICH."
        )
        return click.option("--cluster", metavar=SHAPE, help=f"{verb} {A_CLUSTER}.")(mpi(function))

    return decorate
