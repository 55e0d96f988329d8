# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run`: an unmodified program with Rondo's collectives."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rondo import _core
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.launching import abi, fitting, installation, launcher, mpi_library, preload, process, shared_directory
from rondo.machine import machine, placement
from rondo.selection import choices, inspection, learned, rules_file
from rondo.tune import tuned_files

REPORT_DIRECTORY = ".rondo-report-"
GUARD = "RONDO_GUARD"
REPORT = "RONDO_REPORT"


# Unknown options are let through so that a command without `--` gets a message about that.
@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--use",
    "uses",
    multiple=True,
    metavar="COLLECTIVE=ALGORITHM[:PARAMETER=VALUE,...]",
    help="What to do with every call of this collective; stands above the rules, which still decide about the other "
    "collectives. `native` is the MPI library's own. May be repeated. An environment variable RONDO_<COLLECTIVE> says "
    "the same, and gives way to this.",
)
@click.option(
    "--rules",
    envvar=rules_file.VARIABLE,
    show_envvar=True,
    metavar="FILE|none",
    help="Rules that choose an algorithm for each call. Default: those that `rondo tune` has written for this machine "
    "and MPI library, else those that come with Rondo (tuning/default.rules). `none` leaves native what --use does not "
    "name.",
)
@click.option(
    "--machine",
    "machine_file",
    envvar=machine.VARIABLE,
    show_envvar=True,
    metavar="FILE",
    help="What messages cost here, by which the segments of pipelines are chosen; `rondo calibrate` measures it. "
    "Default: ~/.config/rondo/machine if it is there, else the figures of a 100 Gbit/s network.",
)
@click.option(
    "--report",
    "report_file",
    is_flag=False,
    flag_value="",
    metavar="[FILE.json]",
    help="Afterwards, print what ran instead of what, how often and how long; also into FILE.json if given.",
)
@click.option(
    "--abi",
    "wanted",
    type=click.Choice(["auto", *abi.ABIS]),
    default="auto",
    show_default=True,
    help="Which MPI the program uses: MPICH's family (Intel MPI and MVAPICH as well), Open MPI, or the standard "
    "binary interface of MPI 5. Needed only where Rondo cannot see it, as for a script with loops.",
)
@click.option(
    "--cluster",
    "cluster_text",
    metavar="NODESxRANKS:LATENCY:RATE[:LANES]|NAME",
    help="Run on an emulated cluster of this machine, a new one as 8x1:2ms:200Mbit or one of `rondo cluster up`: what "
    "follows is the program alone, which runs on all nodes.",
)
@click.option(
    "--mpi", "wanted_mpi", metavar="mpich|openmpi|impi|PATH", help="With --cluster, the MPI to start it with."
)
@click.option(
    "--nodes",
    metavar="NODESxRANKS|RANKS,RANKS,...",
    envvar="RONDO_NODES",
    help="Take the ranks to be on these nodes, whatever the MPI library says: 4x8 is four nodes of eight, 4,4,3 three "
    "that differ; ranks fill one after the other. Environment variable: `RONDO_NODES`.",
)
@click.option(
    "--guard",
    envvar=GUARD,
    show_envvar=True,
    type=click.Choice(["off", "exact", "free"]),
    default="exact",
    show_default=True,
    help="While the program runs, compare what the rules have chosen with the library's own collective, a few calls of "
    "each, and take it back where the library is faster. `exact`: at once where the result has the same bits "
    "whoever carries the call out, and from the next run on for floating-point sums. `free`: at once for all; sums "
    "may change in the last bits. `off`: what the rules say stays.",
)
@click.option(
    "--learned",
    "learned_directory",
    envvar=learned.VARIABLE,
    show_envvar=True,
    metavar="DIRECTORY|none",
    help="Where the guard keeps what it found out for the next run. Default: ~/.local/state/rondo/learned; `none` "
    "keeps nothing.",
)
@click.option("--dry-run", is_flag=True, help="Print the command that would run, and stop.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- LAUNCHER ... PROGRAM ...")
def command(
    *,
    uses: tuple[str, ...],
    rules: str | None,
    machine_file: str | None,
    nodes: str | None,
    guard: str,
    learned_directory: str | None,
    report_file: str | None,
    wanted: str,
    cluster_text: str | None,
    wanted_mpi: str | None,
    dry_run: bool,
    words: tuple[str, ...],
) -> None:
    """Run a program with Rondo's collectives. Nothing needs to be compiled or linked again.

    Put it before the command that you have: mpiexec or mpirun of MPICH, Intel MPI or Open MPI, srun, flux run, jsrun,
    aprun, ibrun.
    It ends with the launcher's exit code, and with 2 if Rondo itself refuses, before anything has been started.

    \b
        rondo run -- mpiexec -n 8 ./app input.dat
        rondo run --report -- mpirun -np 8 python3 script.py
        rondo run --use exscan=linear_pipeline:segment=32Ki --rules none -- srun -n 64 ./app
        rondo run -- mpiexec -n 4 numactl --localalloc ./app
        rondo run --abi openmpi -- mpirun -n 4 ./complicated.sh
        rondo run --cluster 8x1:2ms:200Mbit --report -- ./app
    """
    merged_file = check_json_file("--report", report_file, "; put -- before the launcher")
    refuse_unknown_option(words, command)
    if wanted_mpi is not None and cluster_text is None:
        raise Error("--mpi chooses the launcher on an emulated cluster; expected --cluster beside it")
    if dry_run and cluster_text is not None:
        raise Error("--dry-run: with --cluster there is no command before the cluster is up")
    told = instructed(
        words,
        os.environ,
        uses=uses,
        rules=rules,
        machine_file=machine_file,
        nodes=nodes,
        guard=guard,
        learned_directory=learned_directory,
        wanted=wanted,
        cluster_text=cluster_text,
        wanted_mpi=wanted_mpi,
        dry_run=dry_run,
    )
    if told.tuned.warning or (told.tuned.note and (dry_run or report_file is not None)):
        click.echo(f"rondo: {told.tuned.note}", err=True)
    directory = make_report_directory(dry_run) if report_file is not None else None
    if directory is not None:
        told.variables[REPORT] = str(directory)
    with contextlib.ExitStack() as stack:
        if directory is not None and not dry_run:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        if cluster_text is None:
            launch = told.under_launcher()
        else:
            mpi = mpi_on_cluster(told.line, wanted_mpi)
            launch = told.on_cluster(stack.enter_context(cluster.opened(cluster_text)), mpi)
        if dry_run:
            assignments = [f"{name}={shlex.quote(value)}" for name, value in launch.environment.items()]
            click.echo(" ".join([*assignments, shlex.join(launch.words)]))
            return
        environment = {**told.environment, **launch.environment}
        if directory is None and cluster_text is None:
            process.replace(launch.words, environment)
        if directory is None:
            code = process.run(launch.words, environment)
        else:
            with requests_to_end_left_to_the_command():
                code = process.run(launch.words, environment)
                show_report(directory, merged_file)
                click.echo(f"rules: {told.rules}", err=True)
    sys.exit(code)


@dataclass(frozen=True)
class Instructed:
    """A command line, and what Rondo is told in its ranks. `instructed` makes it."""

    line: launcher.CommandLine
    library: Path
    """That is preloaded."""
    variables: dict[str, str]
    environment: dict[str, str]
    """Of the launcher, without what the variables say."""
    tuned: tuned_files.Found
    """The rules of this machine that are used, or why there are none."""

    @property
    def rules(self) -> str:
        """Those that choose, for people."""
        path = self.variables.get(rules_file.VARIABLE)
        return rules_file.shown(Path(path)) if path is not None else rules_file.NO_RULES

    def under_launcher(self) -> preload.Command:
        """The command that starts the programs by the user's launcher."""
        return preload.inject(self.line, self.library, self.variables, self.environment)

    def on_cluster(self, running: cluster.Cluster, mpi: mpi_library.MpiLibrary) -> preload.Command:
        """The command that starts the program on all of an emulated cluster."""
        first = preload.with_library_first(self.library, self.environment.get(preload.PRELOAD))
        variables = {**self.variables, preload.PRELOAD: first}
        words = running.command(mpi, running.shape.ranks, self.line.words, variables)
        return preload.Command(words, running.environment(mpi, self.environment))


def instructed(
    words: Sequence[str],
    inherited: Mapping[str, str],
    *,
    uses: tuple[str, ...],
    rules: str | None,
    machine_file: str | None,
    nodes: str | None,
    guard: str,
    learned_directory: str | None,
    wanted: str,
    cluster_text: str | None = None,
    wanted_mpi: str | None = None,
    dry_run: bool = False,
) -> Instructed:
    """What the options say, checked. Error for the first that is wrong. Makes the directory of what is learned."""
    environment = dict(inherited)
    variables = check_uses(uses, environment)
    if "RONDO" in environment:  # "off": for the ranks on all nodes alike
        variables["RONDO"] = environment["RONDO"]
    # A cluster knows its own figures better than the user's file for this machine.
    here = cluster_text is None or machine_file is not None
    figures = machine.find(machine_file, environment) if here else None
    if figures is not None:
        variables[machine.VARIABLE] = str(figures)
    if nodes:
        variables[placement.VARIABLE] = placement.checked(nodes)
    chosen_rules = check_rules(rules)

    for name in (rules_file.VARIABLE, machine.VARIABLE, GUARD, learned.VARIABLE):
        environment.pop(name, None)
    line = launcher.read(list(words), environment)
    chosen = choose_abi(line, wanted, environment)
    tuned = tuned_files.for_run(rules, line, cluster_text, wanted_mpi, environment)
    if tuned.path is not None:
        chosen_rules = check_rules(str(tuned.path))
    if chosen_rules is not None:
        variables[rules_file.VARIABLE] = str(chosen_rules)
    if guard != "off" and chosen_rules is not None:  # what the user has named is not doubted
        variables[GUARD] = guard
        kept_in = learned.directory(learned_directory, environment, make=not dry_run)
        if kept_in is not None:
            variables[learned.VARIABLE] = str(kept_in)
    library = installation.preload_library(chosen)
    return Instructed(line, library, variables, environment, tuned)


def refuse_unknown_option(words: Sequence[str], known: click.Command) -> None:
    """Error if the first word of a command line is none of a launcher, but an option that a command does not know."""
    if words[0].startswith("-"):
        options = [name for option in known.params for name in option.opts if name.startswith("-")]
        raise click.NoSuchOption(words[0].partition("=")[0], possibilities=options)


def mpi_on_cluster(line: launcher.CommandLine, wanted_mpi: str | None) -> mpi_library.MpiLibrary:
    """The MPI library that starts a program on an emulated cluster. Error if the program is a launcher's."""
    if line.kind is not launcher.Kind.NONE:
        raise Error(
            f"--cluster starts the program itself; expected the program alone after --, without {line.words[0]}"
        )
    return mpi_library.of_program(line.words, wanted_mpi, os.environ)


def check_uses(uses: tuple[str, ...], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of each --use, and of what the user's own environment says about other collectives.

    Error for the first that is wrong.
    """
    variables: dict[str, str] = {}
    for use in uses:
        collective, equals, choice = use.partition("=")
        if not equals:
            raise Error(f"--use {use}: expected COLLECTIVE=ALGORITHM, as in exscan=doubling_123")
        name = choices.variable_of(collective)
        if name in variables:
            raise Error(f"--use {use}: {collective} was named before; expected each collective at most once")
        variables[name] = choices.checked(collective, choice, f"--use {use}")
    for each in _core.collectives():
        name = choices.variable_of(each["name"])
        if name not in variables and environment.get(name):
            variables[name] = choices.checked(each["name"], environment[name], f"{name}={environment[name]}")
    return variables


def check_rules(rules: str | None) -> Path | None:
    """The absolute path of the rules, None for none; Error if they are malformed. Warns of rules that never decide."""
    path = rules_file.find(rules)
    if path is None:
        return None
    text = rules_file.read(path)
    try:
        unreachable = _core.check_rules(text, str(path))
    except ValueError as error:
        raise Error(str(error)) from None
    for line, above in unreachable:
        click.echo(f"rondo: warning: {path}:{line}: {inspection.never_decides(str(path), above)}", err=True)
    return path.absolute()


def check_json_file(option: str, name: str | None, hint: str = "") -> Path | None:
    """Where the file of an option goes, None for nowhere; Error if it cannot."""
    if not name:
        return None
    path = Path(name).absolute()
    if path.suffix != ".json":
        raise Error(f"{option} {name}: expected a file that ends in .json{hint}")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise Error(f"{option} {name}: cannot write into {path.parent}")
    return path


def make_report_directory(dry_run: bool) -> Path:
    """A new directory for the ranks' reports."""
    if dry_run:
        return Path.cwd() / f"{REPORT_DIRECTORY}XXXXXXXX"
    return shared_directory.new(REPORT_DIRECTORY, "the ranks' reports")


def choose_abi(line: launcher.CommandLine, wanted: str, environment: dict[str, str]) -> str:
    """The ABI of all programs of a command line. Error if it cannot be known, or is not the one that was named."""
    named = None if wanted == "auto" else wanted
    if line.programs_elsewhere and named is None:
        raise Error(f"with {line.programs_elsewhere}, Rondo does not see the programs; {abi.NAME_IT}")
    programs = [] if line.programs_elsewhere else list(line.programs())
    if not programs and named is None:
        raise Error(f"there is no program in this command line of {line.words[0]}")
    found: dict[str, tuple[str, abi.Mpi]] = {}
    for words, directory in programs:
        try:
            mpi = abi.of_program(words, directory, line.environment_of_programs(environment))
        except Error:
            if named is None:
                raise
            continue
        if mpi.takes_preload is not None:
            raise Error(
                f"{mpi.takes_preload} takes Rondo's LD_PRELOAD away from the program; leave it out, and give variables "
                f"and preloads to rondo run: LD_PRELOAD=... rondo run -- ..."
            )
        if named is not None and mpi.abi != named:
            raise Error(f"--abi {named} contradicts the program: {words[0]} uses {mpi.library}, which is {mpi.abi}")
        found[mpi.abi] = (words[0], mpi)
    if len(found) > 1:
        raise Error("these programs use different MPIs: " + ", ".join(f"{found[each][0]} {each}" for each in found))
    chosen = named or next(iter(found))
    fitting.check(line, chosen, *found.get(chosen, (None, None)), environment)
    return chosen


@contextlib.contextmanager
def requests_to_end_left_to_the_command() -> Iterator[None]:
    """Whoever interrupts the command more than once shall get its report all the same."""
    # A handler is not handed down to the command. What is ignored (nohup) is, and stays so.
    heard = [number for number in process.ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda *_: None) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def show_report(directory: Path, merged_file: Path | None) -> None:
    """Prints the merged report of the ranks on stderr, and writes it if asked."""
    # Loaded only now: most runs do without.
    from rich.console import Console  # noqa: PLC0415

    from rondo.launching import run_report, run_table  # noqa: PLC0415

    merged = run_report.read(directory)
    with contextlib.suppress(OSError):  # the terminal is gone
        run_table.show(merged, Console(stderr=True, highlight=False))
    if merged_file is not None:
        try:
            run_report.write(merged, merged_file)
        except OSError as error:
            click.echo(f"rondo: cannot write the report {merged_file}: {error.strerror}", err=True)
