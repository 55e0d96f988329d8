# SPDX-License-Identifier: BSD-3-Clause
"""`rondo bench`: Rondo's algorithms and the MPI library's own, measured side by side."""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path
from typing import Any

import click

from rondo import forms, optional
from rondo.bench import console_output, launches, maps, pages, plans, results, series, tables
from rondo.errors import Error
from rondo.launching import options
from rondo.machine import placement
from rondo.shells import completion


@click.command(context_settings={"allow_interspersed_args": True})
@click.option(
    "--algorithms",
    "algorithm_list",
    metavar="NAME[:PARAMETER=VALUE],...",
    help="What to measure, with commas in between; `native` is the MPI library's own. Default: native and all that "
    "`rondo list` shows for the collective.",
    shell_complete=completion.algorithm_list,
)
@click.option(
    "-a", "--algorithm", "single_algorithms", multiple=True, metavar="NAME[:PARAMETER=VALUE,...]",
    help="One more to measure. May be repeated.", shell_complete=completion.algorithms,
)  # fmt: skip
@click.option(
    "--counts",
    default="1:100000",
    show_default=True,
    metavar="COUNTS",
    help="Elements: 1,10,64Ki, or 1:100000 for 1 2 5 10 20 ..., or 1:100000:decades for 1 10 100 ... Of "
    "reduce_scatter, allgather, alltoall(v), gather(v) and scatter(v): of one rank's part; of a map: of the whole "
    "vector.",
)
@click.option(
    "--type",
    "type_",
    default="long",
    show_default=True,
    metavar="|".join(plans.TYPES),
    shell_complete=completion.one_of(plans.TYPES),
    help="Of the elements; those of two names are pairs, for maxloc and minloc.",
)
@click.option(
    "--op",
    default="sum",
    show_default=True,
    metavar="|".join(plans.OPERATORS),
    shell_complete=completion.one_of(plans.OPERATORS),
    help="Of the reduction; nothing to bcast and what only moves parts.",
)
@click.option(
    "--parts",
    default=results.EQUAL,
    show_default=True,
    metavar="|".join(plans.PARTS),
    shell_complete=completion.one_of(plans.PARTS),
    help="Of alltoallv, gatherv and scatterv. skewed: every fifth is empty, the others grow with the distance to the "
    "rank that sends. uniform, normal: lengths are distributed so. heavy: one rank gets ten times as much. sparse: "
    "nine of ten are empty.",
)
@click.option(
    "--form",
    default=forms.BLOCKING,
    show_default=True,
    metavar="|".join(plans.FORMS),
    shell_complete=completion.one_of(plans.FORMS),
    help="Of the call: MPI_Bcast; MPI_Ibcast until MPI_Wait has returned; MPI_Start of what MPI_Bcast_init has made, "
    "until MPI_Wait has returned; or all three in turn.",
)
@click.option(
    "--overlap",
    is_flag=True,
    help="Of calls that are not blocking: measure each once more while the program computes, and say how much of it "
    "that hides.",
)
@click.option(
    "--computing",
    metavar="TIME",
    help="With --overlap: how long the program computes, as 150ms. Default: as long as the call has just taken.",
)
@click.option(
    "--pieces",
    type=int,
    metavar="NUMBER",
    help="With --overlap: of what is computed, with an MPI_Test after each; none is shorter than 1 us.  [default: "
    f"{plans.PIECES}]",
)
@click.option("--repetitions", default=30, show_default=True, help="Of each algorithm with each count, at most.")
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    help="Time for everything, about; of a map, for each number of processes.",
)
@click.option("--warmup", default=2, show_default=True, help="Repetitions that do not count, before those that do.")
@click.option(
    "--start",
    default="clock",
    show_default=True,
    metavar="|".join(plans.STARTS),
    shell_complete=completion.one_of(plans.STARTS),
    help="How ranks start together: at a time on a common clock, after a barrier, or both in turn.",
)
@click.option("--seed", default=1, show_default=True, help="Of the order in which algorithms take turns.")
@click.option(
    "--clock",
    type=click.Choice(["auto", "learned"]),
    default="auto",
    help="`learned` learns the differences between clocks also where ranks share one.",
)
@click.option(
    "--output",
    metavar="NAME",
    help="Write NAME.json and NAME.csv. Default: bench-COLLECTIVE-DATE. Of a map, the directory. Default: "
    "map-COLLECTIVE.",
    shell_complete=completion.files,
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of a table.")
@options.for_measurements("Measure on")
@click.option(
    "--nodes",
    metavar="NODESxRANKS|RANKS,RANKS,...",
    help="Rondo takes the ranks to be on these nodes, whatever the MPI library says, as `rondo run --nodes`.",
)
@click.option(
    "--map",
    "as_map",
    is_flag=True,
    help="Measure with several numbers of processes, and draw who is the fastest where.",
)
@click.option(
    "--processes",
    metavar="NUMBERS",
    help="How many ranks of the cluster, which fill node after node; default: all. Of a map: 2..36, or 2,3,4,8..16, "
    "needed under a launcher; default on an emulated cluster: all that fill whole nodes.",
)
@click.option(
    "--at",
    "bandwidth_at",
    default="32Ki",
    show_default=True,
    metavar="BYTES",
    help="Of a map: the length for the figure of bandwidth; the next one measured is taken.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.toml",
    help="Measure all that a benchmark page asks for, as docs/benchmarks/allreduce.toml.",
)
@click.option(
    "--experiment", "experiments", multiple=True, metavar="NAME", help="Of a page, this one alone. May be repeated."
)
@click.argument("collective", required=False, shell_complete=completion.one_of(plans.MEASURED))
@click.argument(
    "launcher",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- LAUNCHER [OPTION]...]",
    shell_complete=completion.command_line,
)
@click.pass_context
def command(
    context: click.Context,
    *,
    collective: str | None,
    algorithm_list: str | None,
    single_algorithms: tuple[str, ...],
    type_: str,
    op: str,
    clock: str,
    output: str | None,
    as_json: bool,
    cluster: str | None,
    mpi: str | None,
    nodes: str | None,
    as_map: bool,
    processes: str | None,
    bandwidth_at: str,
    page: Path | None,
    experiments: tuple[str, ...],
    launcher: tuple[str, ...],
    **options: Any,
) -> None:
    """Measure a COLLECTIVE: Rondo's algorithms and the MPI library's own, in turn, in the same run.

    What follows -- is a launcher without a program. Every result is checked; the exit code is 3 if one was wrong. What
    has been measured is written also if the run is interrupted. `rondo report` shows it.

    \b
        rondo bench exscan -- mpiexec -n 8
        rondo bench exscan --algorithms native,two_tree --counts 1:1M -- srun -n 8
        rondo bench scan -a linear_pipeline:segment=32Ki --cluster 8x1:5ms:1Gbit
        rondo bench allreduce -a full_lane -a native --nodes 2x4 -- mpiexec -n 8
        rondo bench allreduce --cluster 4x4:2ms:100Mbit --processes 14
        rondo bench bcast --form nonblocking --overlap -- srun -n 8

    COLLECTIVE is exscan, scan, allreduce, reduce_scatter, allgather, alltoall, gather, scatter, reduce, bcast, barrier,
    or alltoallv, gatherv, scatterv, with parts as --parts says; or, to see what a network does, one of the patterns
    ping_pong (between the first and the last rank, one way), incast (all send to rank 0), ring_shift
    and half_shift (all send to the next, or to half of all ranks further). A count is the
    one of the call: of reduce_scatter, allgather, alltoall(v), gather(v) and scatter(v), of one rank's part, in the
    mean; a barrier has none. Bytes are those of the whole vector.

    With --map, the same is measured with several numbers of processes, --seconds for each, and written into a directory
    that --output names: the results (`rondo report` shows them), the cells as map.json, and two figures: fastest.png
    has for each number of processes and length the fastest algorithm and its time relative to the native one's;
    bandwidth.png has the bandwidth of all algorithms at one length. Counts are of the whole vector. Started again with
    the same directory, it measures only what is not there yet.

    \b
        rondo bench --map allreduce --counts 8:256Ki --cluster 36x1:10ms:100Mbit
        rondo bench --map allreduce --processes 2..16 -- mpiexec -n {p}

    With --page, all is measured that a file of a benchmark page asks for, into a directory that --output names, a file
    for each measurement, and only what is not there yet: on the emulated clusters that the file names, with each of its
    MPI libraries or the one of --mpi; or under a launcher of yours, with the library that this is of.

    \b
        rondo bench --page docs/benchmarks/allreduce.toml -- srun -n {p}
    """
    if page is not None:
        # There is no collective, so the first word is the launcher's.
        words = (collective, *launcher) if collective is not None else launcher
        check_page_options(context, words)
        sys.exit(page_command(page, experiments, (None, mpi, words), output))
    if experiments:
        raise Error("--experiment goes with --page")
    if collective is None:
        raise Error("what to measure? Expected a collective, as in: rondo bench exscan -- mpiexec -n 8")
    algorithms = [*plans.split_algorithms(algorithm_list or ""), *single_algorithms]
    plan = plans.make(
        collective, algorithms=algorithms, type_name=type_, operator=op, learned_clock=clock == "learned", **options
    )
    if nodes is not None and as_map:
        raise Error("--nodes says where so many ranks are; a map has several numbers of them")
    if as_map:
        sys.exit(map_command(plan, (cluster, mpi, launcher), processes, bandwidth_at, output=output, as_json=as_json))
    base = output_base(output, collective)
    imposed = placement.checked(nodes) if nodes is not None else None
    place = launches.make(launcher, cluster, mpi, imposed, plans.single_number(processes))
    optional.module("scipy.stats")  # of the comparison; who lacks it should not wait for it
    outcome = console_output.measure(plan, place)
    for what, reason in outcome.refusals.items():
        click.echo(f"rondo: {what} was not measured: {reason}", err=True)
    measured = outcome.results
    if measured is None or not measured.configurations:
        raise Error(console_output.failure(outcome), outcome.exit_code or 2)
    results.write(measured, base.with_name(f"{base.name}.json"))
    write_text(base.with_name(f"{base.name}.csv"), tables.csv_text(measured))
    console_output.show(measured, as_json)
    console_output.tell(measured, base, outcome)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)
    if outcome.wrong_warmups or any(each.wrong() for each in measured.configurations):
        sys.exit(series.WRONG_RESULTS)


def map_command(
    plan: plans.Plan, where: series.Where, processes: str | None, at: str, *, output: str | None, as_json: bool
) -> int:
    """Measures and draws a map; the exit code."""
    from rondo.reports import map_figures  # noqa: PLC0415

    cluster, mpi, launcher = where
    directory = Path(output or f"map-{plan.collective}").absolute()
    asked = maps.question(plan, cluster=cluster, launcher=launcher, mpi=mpi)
    (wanted_bytes, *more) = plans.counts_of(at)
    if more:
        raise Error(f"--at {at}: expected one number of bytes")
    launches.make(launcher, cluster, mpi)  # refuses what is wrong before anything starts
    numbers = maps.processes_for(processes, cluster)
    for package in ("matplotlib", "scipy.stats"):
        optional.module(package)
    maps.open_directory(directory, asked)
    code = series.measure(series.of_map(plan, numbers, directory, where), "numbers of processes")
    found = maps.read(directory, asked)
    if found is None:
        raise Error("nothing was measured, so there is no map", code or 2)
    written = [maps.write(found, directory)]
    written += map_figures.draw(found, directory, maps.bandwidth_count(found, wanted_bytes))
    console_output.show_map(found, as_json, written[0])
    click.echo(f"wrote into {directory}: {', '.join(each.name for each in written)}", err=True)
    return code


def page_command(file: Path, experiments: tuple[str, ...], where: series.Where, output: str | None) -> int:
    """Measures what a page lacks; the exit code."""
    page = pages.read(file)
    directory = Path(output or f"page-{file.stem}").absolute()
    parts = series.of_page(page, experiments, directory, where)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot write into {directory}: {error.strerror}") from None
    code = series.measure(parts, "measurements")
    click.echo(f"the results are in {directory}; rondo report {directory}/*.json shows them", err=True)
    return code


def check_page_options(context: click.Context, words: tuple[str, ...]) -> None:
    """Error for what the file of a page says already."""
    given = [
        each.opts[0]
        for each in context.command.params
        if isinstance(each, click.Option)
        and each.name not in ("page", "experiments", "output", "mpi")
        and context.get_parameter_source(str(each.name)) is click.core.ParameterSource.COMMANDLINE
    ]
    given += [each for each in words[:1] if each in plans.MEASURED]
    if given:
        raise Error(f"--page FILE says what is measured and how; leave out {', '.join(given)}")


def output_base(name: str | None, collective: str) -> Path:
    """Where results go, without suffix; Error if they cannot."""
    if name is None:
        name = f"bench-{collective}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    path = Path(name.removesuffix(".json").removesuffix(".csv")).absolute()
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise Error(f"--output {name}: cannot write into {path.parent}")
    return path


def write_text(path: Path, text: str) -> None:
    """Writes a file; Error if it cannot be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
