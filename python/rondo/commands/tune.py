# SPDX-License-Identifier: BSD-3-Clause
"""`rondo tune`: measures this machine, and writes the rules that are right here."""

from __future__ import annotations

import datetime
import math
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

import rondo
from rondo import optional
from rondo.bench import plans
from rondo.bench.series import WRONG_RESULTS
from rondo.errors import Error
from rondo.launching import installation, options, process
from rondo.machine import machine
from rondo.reports import style
from rondo.selection import inspection, rules_file, sharing
from rondo.shells import completion
from rondo.tune import cells, checking, console, kept, measuring, rules_text, sites, tuned_files
from rondo.tune.cells import Cell, Circumstances
from rondo.tune.kept import Kept, Question
from rondo.tune.measuring import Ending, Race
from rondo.tune.racing import State
from rondo.tune.sites import Asked, Site
from rondo.tune.tuned_files import Head

FAILS = 1
DEFAULT_BYTES = "8:4Mi"
FIGURES = "Above a rule: lengths, median times = times the library's own (valid repetitions)."


@click.command(context_settings={"allow_interspersed_args": True})
@click.option("--minutes", default=10.0, show_default=True, help="Time for everything, about.")
@click.option(
    "--collectives",
    "collective_list",
    metavar="NAME,...",
    shell_complete=completion.some_of(plans.COLLECTIVES),
    help="What to measure, with commas in between. Default: all whose length rules may ask for.",
)
@click.option(
    "--bytes",
    "byte_text",
    default=DEFAULT_BYTES,
    show_default=True,
    metavar="BYTES",
    help="Of whole vectors: 8:4Mi is 8, 32, 128, ... 4Mi; or 8,1Ki,64Ki.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.rules",
    shell_complete=completion.files,
    help="Where the rules go; the measurements go into FILE.measured beside it. Default: a file for this machine and "
    "MPI library in ~/.config/rondo/tuned, where `rondo run` looks.",
)
@click.option(
    "--check",
    "checked_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.rules",
    shell_complete=completion.files,
    help="Write nothing; measure what the lines of this file choose, and say which no longer hold.",
)
@options.for_measurements("Measure on")
@click.option(
    "--processes",
    metavar="NUMBERS",
    help="How many ranks, as 64,32. Under a launcher: for {p} in its words. Default: all, and half of them; those of "
    "one node, and one of each, are measured as well.",
)
@click.argument(
    "launcher",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- LAUNCHER [OPTION]...]",
    shell_complete=completion.command_line,
)
def command(
    *,
    minutes: float,
    collective_list: str | None,
    byte_text: str,
    output: Path | None,
    checked_file: Path | None,
    cluster: str | None,
    mpi: str | None,
    processes: str | None,
    launcher: tuple[str, ...],
) -> None:
    """Measure this machine once, and write the rules that are right here, for `rondo run`.

    What follows -- is a launcher without a program. For each collective and class of length, virtual time says who can
    win; these, the MPI library's own and what the default rules choose are measured in a race. If time is left then,
    the others take part as well. A rule is written where one of Rondo's is faster than the library's own by 5% for
    certain, and where the default rules would choose something slower. All the rest is as by default.

    \b
        rondo tune -- mpiexec -n 64
        rondo tune --minutes 20 --processes 64,32,16 -- srun -n {p}
        rondo tune --collectives bcast,allreduce --bytes 1Ki:1Mi -- mpiexec -n 16
        rondo tune --cluster 8x1:2ms:200Mbit --mpi openmpi --output emulated.rules
        rondo tune --check emulated.rules --cluster 8x1:2ms:200Mbit --mpi openmpi

    Started again, it measures what is missing or undecided. Ctrl-C ends it, and keeps what there is. `rondo run` finds
    the file by itself, and `rondo run --report` says which rules it used.

    With --check, the exit code is 1 if a line no longer holds.
    """
    if not 0 < minutes < math.inf:
        raise Error(f"--minutes {minutes:g}: expected more than 0, and an end")
    collectives = cells.collectives_of(collective_list)
    lengths = cells.lengths_of(byte_text)
    asked = Asked(launcher, cluster, mpi, processes).checked()
    optional.module("scipy.stats")  # of the race; who lacks it should not wait for it
    if checked_file is not None:
        if output is not None:
            raise Error("--check writes nothing; leave out --output")
        rules_file.read(checked_file)
        asked.compile(console.say)
        sys.exit(check(checked_file, asked, collectives, lengths, 60 * minutes))
    if output is not None and output.suffix != tuned_files.SUFFIX:
        raise Error(f"--output {output}: expected a name that ends in {tuned_files.SUFFIX}")
    check_writable(output.absolute().parent if output is not None else tuned_files.directories(os.environ)[0])
    if output is not None:
        refuse_to_replace(output)
    asked.compile(console.say)
    sys.exit(tune(asked, output, collectives, lengths, 60 * minutes))


def refuse_to_replace(path: Path) -> None:
    """Error if there are rules in the file that `rondo tune` did not write."""
    if path.exists() and tuned_files.head_of(rules_file.read(path)) is None:
        raise Error(f"{path}: these rules are not from rondo tune, and would be lost; name another file")


def tune(asked: Asked, output: Path | None, collectives: Sequence[str], lengths: Sequence[int], seconds: float) -> int:
    """Measures and writes; the exit code."""
    deadline = time.monotonic() + seconds
    with sites.opened(asked, console.say) as (found, left_out):
        if not found:
            raise Error("there is nothing to measure: one rank has nobody to communicate with; expected two or more")
        head = Head(tuned_files.machine_here(asked.cluster), found[0].library)
        path = (output or tuned_files.default_path(head, os.environ)).absolute()
        refuse_to_replace(path)
        known = kept.opened(path.with_suffix(".measured"), question(head, found[0], asked))
        field = [(each, cells.of_shape(each.shape, collectives, lengths, circumstances(each))) for each in found]
        candidates = sum(len(each.seconds) for _, some in field for each in some)
        console.say(f"{sum(len(some) for _, some in field)} cells, in which {candidates} candidates can win")
        with console.progress(deadline - time.monotonic()) as progress:
            race = Race(field, known, deadline - time.monotonic(), progress, shlex.join(["rondo", *sys.argv[1:]]))
            ending = race.run()
        states = all_states(known, circumstances(found[0]), [each for _, some in field for each in some])
        figures = str(found[0].figures) if asked.cluster is None else f"that of the emulated cluster {asked.cluster}"
    console.tell(ending, left_out)
    if not any(each.certain for each in states):
        raise Error(f"nothing was measured often enough for a rule{of_launcher(ending)}", ending.exit_code or 2)
    lines = rules_text.lines_of(states)
    remarks = remarks_of(known, ending, left_out, figures)
    text = rules_text.file_text(head, remarks, lines, rules_file.read(installation.DEFAULT_RULES))
    machine.write(path, text)
    for each in inspection.remarks(text, path.name):
        if each.is_finding:
            console.say(f"warning: {path}:{each.line}: {each.text}")
    console.show(states)
    rules = style.counted(len(lines), "rule")
    console.say(f"wrote {path}: {rules}, and those that come with Rondo below them{of_launcher(ending)}")
    for each in known.wrong:
        click.secho(f"rondo: WRONG RESULTS of {each}; no rule chooses it there", err=True, fg="red")
    return ending.exit_code or (WRONG_RESULTS if known.wrong else 0)


def check(file: Path, asked: Asked, collectives: Sequence[str], lengths: Sequence[int], seconds: float) -> int:
    """Measures the lines of a file again; the exit code."""
    text = rules_file.read(file)
    malformed = [each for each in inspection.remarks(text, str(file)) if each.kind == "malformed"]
    if malformed:
        raise Error(f"{file}:{malformed[0].line}: {malformed[0].text}")
    deadline = time.monotonic() + seconds
    with sites.opened(asked, console.say) as (found, _), tempfile.TemporaryDirectory() as scratch:
        head, here = tuned_files.head_of(text), Head(tuned_files.machine_here(asked.cluster), found[0].library)
        other = tuned_files.difference(file, head, here) if head is not None else None
        if other is not None:
            console.say(f"warning: {other}")
        known = kept.opened(Path(scratch), question(here, found[0], asked))
        lines = [
            (site, checking.lines_that_decide(file, site.shape, collectives, lengths, circumstances(site)))
            for site in found
        ]
        field = [(site, [cell for line in some for cell in line.cells]) for site, some in lines]
        if not any(some for _, some in field):
            raise Error(f"no rule of {file} decides a call of these collectives, lengths and ranks")
        with console.progress(deadline - time.monotonic()) as progress:
            ending = Race(field, known, deadline - time.monotonic(), progress).run(confirm=False)
        judged = [
            checking.judged(line, measuring.states_of(known, site.shape, line.cells), known.wrong)
            for site, some in lines
            for line in some
        ]
    for each in sorted(judged, key=lambda each: each.line.number):
        click.echo(f"{file}:{each.line.number}: {each.verdict.value}: {each.line.text}\n    {each.reason}")
    failing = sum(each.verdict is checking.Verdict.FAILS for each in judged)
    measured = sum(each.verdict is not checking.Verdict.UNMEASURED for each in judged)
    lines = style.counted(len(judged), "line")
    click.secho(f"{file}: {measured} of {lines} measured, {failing} no longer hold{of_launcher(ending)}", bold=True)
    if failing:
        console.say(f"before you tune again, remove what was measured then: {file.with_suffix('.measured')}")
    return WRONG_RESULTS if known.wrong else ending.exit_code or (FAILS if failing else 0)


def circumstances(site: Site) -> Circumstances:
    """By what times on a site are predicted."""
    return Circumstances(site.library, site.figures, installation.DEFAULT_RULES)


def question(head: Head, site: Site, asked: Asked) -> Question:
    """What all measurements of a directory have in common; a cluster's figures follow from its name."""
    figures = "".join(machine.read(site.figures).lines(machine.MEANINGS)) if asked.cluster is None else ""
    return Question(head.machine, head.library, rondo.__version__, figures, sharing.setting(os.environ))


def all_states(known: Kept, where: Circumstances, asked: Sequence[Cell]) -> list[State]:
    """Of all cells of which anything is kept, also from earlier runs, and of those that were asked for."""
    found = {(each.shape, each.collective, each.count): each for each in asked}
    for shape in known.shapes:
        for collective in cells.collectives_of(None):
            for count, configurations in known.configurations(shape, collective).items():
                key = (shape, collective, count)
                cell = found.get(key) or cells.of_count(shape, collective, count, where)
                found[key] = cell.with_choices(configurations)
    ordered = sorted(found.values(), key=lambda each: (each.collective, each.shape.processes, each.count))
    return [
        state for shape in dict.fromkeys(each.shape for each in ordered)
        for state in measuring.states_of(known, shape, [each for each in ordered if each.shape == shape])
    ]  # fmt: skip


def remarks_of(known: Kept, ending: Ending, left_out: Sequence[str], figures: str) -> list[str]:
    """What the head of the file says beside machine and library."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    open_cells = {
        "measured too little": ending.missing,
        "no rule yet": ending.undecided,
        "rule may not be the fastest": ending.improvable,
    }
    return [
        f"rondo: {rondo.__version__}",
        f"date: {date}",
        f"command: {shlex.join(['rondo', *sys.argv[1:]])}",
        f"ranks: {'; '.join(each.text for each in known.shapes)}",
        f"machine file: {figures}",
        *(f"not measured: {each}" for each in left_out),
        *(f"{what}: {', '.join(each.text for each in some)}" for what, some in open_cells.items() if some),
        "",
        FIGURES,
    ]


def of_launcher(ending: Ending) -> str:
    """That it did not come to its end."""
    if ending.problem:
        return f"; it ended before all was measured: {ending.problem}"
    if ending.exit_code - 128 in process.ENDING:
        return "; it was interrupted before all was measured"
    return f"; the launcher ended with {ending.exit_code} before all was measured" if ending.exit_code else ""


def check_writable(directory: Path) -> None:
    """Error if no file can be written into a directory, or into the nearest one above that is there."""
    there = next((each for each in (directory, *directory.parents) if each.exists()), directory)
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise Error(f"cannot write into {directory}; --output names another place")
