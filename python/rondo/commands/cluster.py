# SPDX-License-Identifier: BSD-3-Clause
"""`rondo cluster`: MPI programs on a cluster that exists only in network namespaces of this machine."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
import msgspec

from rondo import screens
from rondo.bench.results import Network
from rondo.cluster import cluster, shapes
from rondo.commands import SuggestingGroup
from rondo.errors import Error
from rondo.launching import abi, mpi_library, options, process
from rondo.machine import networks
from rondo.shells import completion

if TYPE_CHECKING:
    from rich.table import Table

    from rondo.cluster import check

DEFAULT_NAME = "default"


class Quantity(click.ParamType):
    """A number with a unit."""

    def __init__(self, name: str, read: Callable[[str], float]) -> None:
        """A type of option whose texts `read` understands."""
        self.name = name
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number in the base unit."""
        return value if isinstance(value, float) else self.read(value)


LATENCY = Quantity("time", shapes.latency)
RATE = Quantity("rate", shapes.rate)


def shaped(function: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that describe a cluster."""
    options = [
        click.option("--nodes", type=int, default=8, show_default=True, help="Nodes of the cluster."),
        click.option("--per-node", type=int, default=1, show_default=True, help="Ranks on each node."),
        click.option(
            "--latency", type=LATENCY, default="2ms", show_default=True, help="Of a message between nodes: us, ms, s."
        ),
        click.option(
            "--rate",
            type=RATE,
            default="200Mbit",
            show_default=True,
            help="Of each lane, in and out: kbit, Mbit, Gbit.",
        ),
        click.option(
            "--lanes",
            type=int,
            default=1,
            show_default=True,
            help="Of each node; its connections share them, each uses one at a time.",
        ),
        click.option(
            "--network",
            metavar="SHAPE",
            default="",
            shell_complete=completion.one_of(networks.EXAMPLES),
            help="Whose links messages share, too, as of `rondo predict`: fat_tree:nodes=4,taper=2 has up-links that "
            "carry half of what their 4 nodes can send. Default: none.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def shape_of(options: Mapping[str, Any]) -> shapes.Shape:
    """The shape that the options of `shaped` describe; Error if it is impossible."""
    return shapes.checked(shapes.Shape(**options))


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Run MPI programs on an emulated cluster: real MPI, on nodes that exist only in namespaces of this machine.

    The nodes have their own names, shared memory and network interfaces; a switch in user space gives the network
    between them a latency and a rate, slow enough that this machine's cores are idle most of the time. Then the number
    of rounds and the sizes of messages decide, as on a real cluster. No root is needed, and nothing is left behind.

    \b
        rondo cluster run --nodes 36 --latency 5ms --rate 100Mbit -- ./program
        rondo cluster check                        does it keep what it promises?
        rondo cluster up && rondo cluster exec node3 -- bash
    """


@command.command()
@shaped
@click.option(
    "--mpi",
    "wanted_mpi",
    metavar=options.MPI,
    shell_complete=options.MPI_WORDS,
    help="MPI library to start it with. Default: the program's own.",
)
@options.of_abi
@click.option("--ranks", "-n", type=int, help="Ranks. Default: all that the nodes take.")
@click.option(
    "--name",
    help="Use this running cluster (of `rondo cluster up`) instead of a new one.",
    shell_complete=completion.clusters,
)
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="-- PROGRAM [ARGUMENT]...",
    shell_complete=completion.command_line,
)
def run(
    wanted_mpi: str | None, wanted: str, ranks: int | None, name: str | None, words: tuple[str, ...], **shape: Any
) -> None:
    """Run an MPI program on a cluster of its own.

    It ends with the launcher's exit code. `rondo run --cluster` does the same with Rondo's collectives.
    """
    where = name or str(shape_of(shape))
    library = mpi_library.of_program(words, wanted_mpi, os.environ, abi.named(wanted))
    with cluster.opened(where) as running:
        line = running.command(library, ranks or running.shape.ranks, words)
        code = running.run(line, running.environment(library))
    sys.exit(code)


@command.command()
@shaped
@click.argument("name", default=DEFAULT_NAME)
def up(name: str, **shape: Any) -> None:
    """Start a cluster that stays until `rondo cluster down`."""
    running = cluster.start(shape_of(shape), name, detached=True)
    click.echo(
        f"{running.name} is up: {running.shape}, nodes node0 to node{running.shape.nodes - 1} and head, "
        f"in {running.directory}"
    )


@command.command()
@shaped
@click.option(
    "--mpi",
    "wanted",
    metavar=options.MPI,
    shell_complete=options.MPI_WORDS,
    default="mpich",
    show_default=True,
    help="With which MPI library to check.",
)
@click.option("--name", help="Check this running cluster instead of a new one.", shell_complete=completion.clusters)
@click.option(
    "--limit", type=float, default=5.0, show_default=True, help="Largest deviation from the model, in percent."
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def check(wanted: str, name: str | None, limit: float, as_json: bool, **shape: Any) -> None:
    """Measure the cluster's network, and compare it with the model.

    \b
    ping_pong   one message between two nodes takes latency + bytes / rate
    ring_shift  all send to the next at once: the same, for links are full-duplex
    half_shift  all send half of all ranks further: the same, or what the
                busiest link of the network takes
    incast      all send to the first: its lanes take one message at a time

    Latency and rate are fitted to a ping-pong. The exit code is 1 if they are further from the nominal figures than
    the limit, or a time from the model, or if a packet was lost. A round of short messages between all ranks shows
    what the processor adds; it is not judged.
    """
    # Loaded only now: numerical libraries take their time.
    from rondo.cluster import check  # noqa: PLC0415

    where = name or str(shape_of(shape))
    library = mpi_library.find(wanted, os.environ)
    with cluster.opened(where) as running:
        checked = check.check(running, library, lambda text: click.echo(text, err=True))
    faults = checked.faults(limit / 100)
    if as_json:
        click.echo(
            json.dumps(
                {**dataclasses.asdict(checked), "network": network_of(checked.network), "faults": faults}, indent=2
            )
        )
    else:
        show_check(checked)
        click.echo("\n".join(faults) or f"all within {limit:g}%")
    sys.exit(1 if faults else 0)


@command.command("exec")
@click.option(
    "--name", default=DEFAULT_NAME, show_default=True, help="Which cluster.", shell_complete=completion.clusters
)
@click.argument("node")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="-- COMMAND [ARGUMENT]...",
    shell_complete=completion.command_line,
)
def execute(name: str, node: str, words: tuple[str, ...]) -> None:
    """Run a command on a NODE: node0, node1, ..., or head."""
    process.replace(cluster.find(name).enter(node, words), os.environ)


@command.command("set")
@click.argument("name", default=DEFAULT_NAME, shell_complete=completion.clusters)
@click.option("--latency", type=LATENCY, help="New latency between nodes.")
@click.option("--rate", type=RATE, help="New rate of each lane.")
def change(name: str, latency: float | None, rate: float | None) -> None:
    """Change the network of a running cluster, at once."""
    if latency is None and rate is None:
        raise Error("nothing to set: expected --latency, --rate or both")
    cluster.find(name).set(latency, rate)


@command.command()
@click.argument("name", default=DEFAULT_NAME, shell_complete=completion.clusters)
@click.option("--reset", is_flag=True, help="Start counting again.")
def stat(name: str, reset: bool) -> None:
    """Print the network's figures, and what the switch counted, as JSON."""
    click.echo(json.dumps(cluster.find(name).statistics(reset=reset), indent=2))


@command.command("list")
def list_running() -> None:
    """Show the clusters that are up."""
    for running in cluster.running_clusters():
        click.echo(f"{running.name}\t{running.shape}\t{running.directory}")


@command.command()
@click.argument("names", nargs=-1, shell_complete=completion.clusters)
@click.option("--all", "everything", is_flag=True, help="All clusters of this user.")
def down(names: tuple[str, ...], everything: bool) -> None:
    """End clusters, and whatever runs on them."""
    for running in (
        cluster.running_clusters() if everything else [cluster.find(each) for each in names or (DEFAULT_NAME,)]
    ):
        running.stop()


def show_check(checked: check.Check) -> None:
    """Prints what was measured beside the model."""
    click.echo(f"{checked.library}, {checked.shape}")
    if checked.network is not None:
        fitted = checked.network
        beta, nominal = 1e9 * fitted.seconds_per_byte, 1e9 * checked.shape.seconds_per_byte
        click.echo(
            f"fitted: latency {1e3 * fitted.latency:.3f} ms (nominal {1e3 * checked.shape.latency:g}), ", nl=False
        )
        click.echo(f"{beta:.2f} ns a byte (nominal {nominal:g}), residual {fitted.residual:.1%}")
    screens.show(_check_table(checked), screens.console())
    overhead = checked.start_overhead
    if math.isnan(overhead):
        said = "no repetition was undisturbed"
    else:
        of_latency = overhead / checked.shape.latency
        said = f"{1e3 * overhead:.2f} ms beyond the latency ({of_latency:.0%}), which is the processor's"
    click.echo(f"short messages between all ranks at once: {said}")


def _check_table(checked: check.Check) -> Table:
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    table.add_column("pattern")
    for heading in ("bytes", "measured, ms", "model, ms", "deviation", "repetitions", "invalid"):
        table.add_column(heading, justify="right")
    for row in checked.rows:
        if row.judged:
            times = f"{1e3 * row.measured:.3f}", f"{1e3 * row.model:.3f}", f"{row.deviation:+.1%}"
            table.add_row(row.pattern, str(row.bytes), *times, str(row.repetitions), str(row.invalid))
    return table


def network_of(network: Network | None) -> Any:
    """The fitted figures as JSON has them."""
    return None if network is None else msgspec.to_builtins(network)
