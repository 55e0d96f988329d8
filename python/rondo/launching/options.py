# SPDX-License-Identifier: BSD-3-Clause
"""Options that commands have in common: where programs run, and where is measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from rondo import _core
from rondo.bench import plans
from rondo.launching import abi
from rondo.machine import machine, placement
from rondo.selection import learned, rules_file
from rondo.shells import completion

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SHAPE = "NODESxRANKS:LATENCY:RATE[:LANES][:NETWORK]|NAME"
MPI = "mpich|openmpi|impi|PATH"
MPI_WORDS = completion.file_or("mpich", "openmpi", "impi")
GUARD = "RONDO_GUARD"
USER_OPERATOR = "user"
A_CLUSTER = "an emulated cluster of this machine, a new one as 8x1:2ms:200Mbit or one of `rondo cluster up`"


def rules(text: str) -> Decorator:
    """--rules, or what the environment says: rules."""
    return click.option(
        "--rules",
        envvar=rules_file.VARIABLE,
        show_envvar=True,
        metavar="FILE|none",
        help=text,
        shell_complete=completion.file_or("none"),
    )


class Quantity(click.ParamType):
    """A whole number, which may have a prefix behind it, as in 64Ki or 1M."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; a usage error says what is wrong."""
        try:
            return value if isinstance(value, int) else int(_core.quantity(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class GuardWord(click.Choice):
    """off, exact or free, and what else people write for yes and no."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word; a usage error says what is wrong."""
        lower = str(value).lower()
        value = "exact" if lower in ("on", "1", "yes", "true") else "off" if lower in ("0", "no", "false") else value
        return super().convert(value, param, ctx)


def call(command: Callable[..., Any]) -> Callable[..., Any]:
    """--count, --type, -n, --ppn, --nodes: count, type_name, processes, ppn, nodes. call_words says what they mean."""
    for option in (
        click.option(
            "--nodes",
            metavar="NODESxRANKS|RANKS,RANKS,...",
            help="Where the ranks are, instead of --ppn: 4x16 is four nodes of sixteen, 4,4,3 three that differ.",
        ),
        click.option(
            "--ppn", type=click.IntRange(1), help="Ranks on each node; the last one may have fewer. Default: 1."
        ),
        click.option(
            "-n", "--processes", type=Quantity(), help="Ranks of the communicator. Default: those of --nodes."
        ),
        click.option(
            "--type",
            "type_name",
            default="double",
            show_default=True,
            metavar="TYPE|BYTES",
            help=f"Of an element: {', '.join(plans.TYPES)}; or its size.",
            shell_complete=completion.one_of(plans.TYPES),
        ),
        click.option("--count", metavar="ELEMENTS", help="Of the call, as in 64Ki; of a part where ranks have parts."),
    ):
        command = option(command)
    return command


def operator(command: Callable[..., Any]) -> Callable[..., Any]:
    """--op: operator."""
    return click.option(
        "--op",
        "operator",
        type=click.Choice((*plans.OPERATORS, USER_OPERATOR)),
        default="sum",
        show_default=True,
        help=f"Of a reduction. All of MPI's own commute; `{USER_OPERATOR}` is one of the program's own that does not.",
    )(command)


def machine_file(text: str, *, of_programs: bool = True) -> Decorator:
    """--machine, or what the environment says: machine_file. `of_programs`: else what these have measured."""
    names = ", ".join([machine.STANDARD, *machine.known()])
    measured = "what the first program on several nodes has measured, else " if of_programs else ""
    default = (
        f"Some come with Rondo: {names}. Default: ~/.config/rondo/machine if it is there, else {measured}the figures "
        f"of a 100 Gbit/s network, which are those of {machine.STANDARD}."
    )
    return click.option(
        "--machine",
        "machine_file",
        envvar=machine.VARIABLE,
        show_envvar=True,
        metavar="FILE|NAME",
        help=f"{text} {default}",
        shell_complete=completion.one_of((machine.STANDARD, *machine.known()), or_files=True),
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
        shell_complete=completion.directories,
    )


_OF_RONDO = {
    "uses": click.option(
        "--use",
        "uses",
        multiple=True,
        metavar="COLLECTIVE=ALGORITHM[:PARAMETER=VALUE,...]",
        help="What to do with every call of this collective; stands above the rules, which still decide about the "
        "other collectives. `native` is the MPI library's own. May be repeated. An environment variable "
        "RONDO_<COLLECTIVE> says the same, and gives way to this.",
        shell_complete=completion.assignments,
    ),
    "machine_file": machine_file(
        "What messages cost here, by which the segments of pipelines are chosen; `rondo calibrate` measures it."
    ),
    "nodes": click.option(
        "--nodes",
        metavar="NODESxRANKS|RANKS,RANKS,...|domains:...",
        envvar=placement.VARIABLE,
        help="Take the ranks to be on these nodes, whatever the MPI library says: 4x8 is four nodes of eight, 4,4,3 "
        "three that differ; ranks fill one after the other. domains:2x8 is one node, with eight ranks in each of two "
        "domains (L3 caches, NUMA nodes or sockets to which they are bound). Environment variable: `RONDO_NODES`.",
    ),
    "guard": click.option(
        "--guard",
        envvar=GUARD,
        show_envvar=True,
        type=GuardWord(["off", "exact", "free"]),
        default="exact",
        show_default=True,
        help="While the program runs, compare what the rules have chosen with the library's own collective, a few "
        "calls of each, and take it back where the library is faster. `exact`: at once where the result has the same "
        "bits whoever carries the call out, and from the next run on for floating-point sums. `free`: at once for all; "
        "sums may change in the last bits. `off`: what the rules say stays.",
    ),
    "learned_directory": learned_directory(
        "Where the guard keeps what it found out for the next run; `none` keeps nothing."
    ),
}


def of_rondo(function: Callable[..., Any]) -> Callable[..., Any]:
    """What Rondo is told beside rules: uses, machine_file, nodes, guard, learned_directory."""
    for option in reversed(_OF_RONDO.values()):
        function = option(function)
    return function


def given_of_rondo(context: click.Context) -> tuple[str, ...]:
    """Those of them that stand in the command line of a command that has them, as words."""
    words: list[str] = []
    for option in context.command.params:
        name = str(option.name)
        if name in _OF_RONDO and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            values = context.params[name] if option.multiple else [context.params[name]]
            words += [word for value in values for word in (option.opts[0], str(value))]
    return tuple(words)


def of_abi(function: Callable[..., Any]) -> Callable[..., Any]:
    """--abi of commands that start the user's programs: wanted."""
    return click.option(
        "--abi",
        "wanted",
        type=click.Choice([abi.AUTO, *abi.ABIS]),
        default=abi.AUTO,
        show_default=True,
        help="Which MPI the program uses: MPICH's family (Intel MPI and MVAPICH as well), Open MPI, or the standard "
        "binary interface of MPI 5. Needed only where Rondo cannot see it, as for a script with loops, or where a "
        "Python program loads another one than mpi4py does.",
    )(function)


def for_programs(function: Callable[..., Any]) -> Callable[..., Any]:
    """--abi, --cluster and --mpi of commands that start the user's programs: wanted, cluster_text, wanted_mpi."""
    for option in (
        click.option(
            "--mpi",
            "wanted_mpi",
            metavar=MPI,
            help="With --cluster, the MPI to start it with.",
            shell_complete=MPI_WORDS,
        ),
        click.option(
            "--cluster",
            "cluster_text",
            metavar=SHAPE,
            help=f"Run on {A_CLUSTER}: what follows is the program alone, which runs on all nodes.",
            shell_complete=completion.clusters,
        ),
        of_abi,
    ):
        function = option(function)
    return function


def for_measurements(verb: str) -> Decorator:
    """--cluster and --mpi of commands that start a benchmark. The verb says what they do there."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        mpi = click.option(
            "--mpi",
            metavar=MPI,
            help="MPI library. Default: the launcher's, on an emulated cluster MPICH.",
            shell_complete=MPI_WORDS,
        )
        cluster = click.option(
            "--cluster", metavar=SHAPE, help=f"{verb} {A_CLUSTER}.", shell_complete=completion.clusters
        )
        return cluster(mpi(function))

    return decorate
