# SPDX-License-Identifier: BSD-3-Clause
"""`rondo predict`: what a call, or a whole program, would take on more ranks than are here."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rondo import _core, saying, screens
from rondo.bench import plans
from rondo.errors import Error
from rondo.launching import options
from rondo.machine import machine, networks
from rondo.selection import call_words, choices, learned, native, predicting
from rondo.selection.call import Call
from rondo.selection.candidates import MOST_MESSAGES, MOST_OF_EACH_KIND, Candidate
from rondo.shells import completion

LIBRARY = "mpich"
SUFFIX = ".json"
"""Of profiles."""
OF_ONE_CALL = ("count", "type_name", "root", "over", "least", "library", "measured_files", "output")
"""Options that say nothing of a whole program."""
NO_MACHINE = "a 100 Gbit/s network (`rondo calibrate` measures one, --machine names a file)"


@click.command()
@click.argument("wanted", metavar="COLLECTIVE[/ALGORITHM]|PROFILE.json", shell_complete=completion.collectives)
@options.call
@click.option("--root", type=int, default=0, show_default=True, help="Of collectives that have one.")
@click.option(
    "--over",
    type=click.Choice(predicting.OVER),
    help="Predict a series of calls that grow up to this one, in ranks, in nodes, or in bytes of the vector.",
)
@click.option("--least", metavar="NUMBER", help="Where the series begins. Default: a 1024th of where it ends.")
@click.option(
    "--library",
    default=LIBRARY,
    show_default=True,
    metavar="mpich|openmpi|impi|VERSION",
    shell_complete=completion.one_of(("mpich", "openmpi", "impi")),
    help="MPI library: up to which length its messages wait for no receiver.",
)
@click.option(
    "--native",
    "native_of",
    metavar="mpich|openmpi|VERSION",
    shell_complete=completion.one_of(("mpich", "openmpi")),
    help="Predict the own collective of this MPI library, too. It stands for --library as well.",
)
@click.option(
    "--measured",
    "measured_files",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --native, results of `rondo bench` on the machine of the machine file: what they say of the library's "
    "own calls of this collective corrects the prediction. May be repeated.",
)
@options.machine_file("Of the machine in question. As of `rondo run` if nothing is said.")
@click.option(
    "--network",
    metavar="SHAPE",
    shell_complete=completion.one_of(networks.EXAMPLES),
    help="Whose links messages share, too: fat_tree:nodes=32,taper=2 (leaf switches of 32 nodes, whose up-links carry "
    "half of what these can send), dragonfly:nodes=16,global=4 (groups of 16, joined in pairs by links that carry what "
    "4 nodes send), torus:4x4x8, or flat. Default: that of the machine file, else flat.",
)
@click.option(
    "--placement",
    metavar="block|cyclic|random[:SEED]|NODES",
    shell_complete=completion.one_of(networks.PLACEMENTS),
    help="Where in the network the job's nodes are: next to one another, in one group after the other, anywhere, or by "
    "the numbers in their names, as in node[001-004,010]. Default: block.",
)
@click.option(
    "--messages",
    type=click.IntRange(1),
    help="Of each candidate, that are run to predict it. A million takes a second or two and 100 MB. Default: "
    f"{MOST_MESSAGES}, and for each kind of calls of a profile {MOST_OF_EACH_KIND}.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg|png|pdf",
    help="Also draw the series: a line for each algorithm.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all as a JSON object.")
def command(
    *,
    wanted: str,
    count: str | None,
    type_name: str,
    processes: int | None,
    ppn: int | None,
    nodes: str | None,
    root: int,
    over: str | None,
    least: str | None,
    library: str,
    native_of: str | None,
    measured_files: tuple[Path, ...],
    machine_file: str | None,
    network: str | None,
    placement: str | None,
    messages: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Predict what a COLLECTIVE would take by each algorithm, or all of a program, on up to a million ranks and more.

    Nothing is run but the algorithms' schedules, in virtual time, on the figures of a machine file. With --native, what
    the MPI library's own collective takes is that of the algorithm that is nearest to what it does. Where calls are
    large, one node stands for all, or some segments of a pipeline for all of them; the table says so. The answer does
    not depend on how fast it is found.

    PROFILE.json is what `rondo profile` has written: then all collectives of that program are predicted, by its library
    and by the best of Rondo's algorithms, for the ranks and the machine that are named, else for its own. A call keeps
    its length, or where ranks have parts, the length of a part.

    \b
        rondo predict allreduce --count 128Ki --nodes 1024x64
        rondo predict bcast --count 1 -n 1M --ppn 64 --over nodes --json
        rondo predict allreduce --count 1Mi --nodes 512x32 --machine theirs
        rondo predict scan/two_tree --count 64Ki -n 1024 --over ranks
        rondo predict bcast --count 1Mi -n 64 --native openmpi
        rondo predict alltoall --count 10 -n 512 --over bytes --output all.svg
        rondo predict allreduce --count 1Mi -n 128 --machine hdr
        rondo predict alltoall --count 64 -n 256 --network torus:8x8x4
        rondo predict profile.json --nodes 128x32 --machine ndr
    """
    if wanted.endswith(SUFFIX):
        _predict_program(
            Path(wanted),
            ranks_on=call_words.ranks_on_nodes(processes, ppn, nodes) if processes or ppn or nodes else None,
            native_of=native_of, machine_file=machine_file, network=network, placement=placement, messages=messages,
            as_json=as_json,
        )  # fmt: skip
        return
    messages = messages or MOST_MESSAGES
    collective, _, algorithm = wanted.partition("/")
    traits = call_words.traits_of(collective)
    ranks_on = call_words.ranks_on_nodes(processes, ppn, nodes)
    if not 0 <= root < sum(ranks_on):
        raise Error(f"--root {root}: expected 0 to {sum(ranks_on) - 1}")
    elements = call_words.count_of(traits, count)
    known_in = learned.directory(os.environ.get(learned.VARIABLE), os.environ)
    mpi = call_words.library_of(native_of or library)
    figures = learned.figures(machine_file, os.environ, known_in, mpi["version"])
    known = machine.read(figures) if figures is not None else machine.standard()
    call = Call(
        collective=collective,
        ranks_on=ranks_on,
        elements=elements * sum(ranks_on) if call_words.has_parts(traits) else elements,
        element_bytes=call_words.element_bytes_of(type_name),
        commutative=traits["has_operation"],
        root=root,
        library=mpi["version"],
        shared_memory=False,
        network=networks.checked(network if network is not None else known.network, placement, len(ranks_on)),
        placement=placement or networks.BLOCK,
    )
    _check(collective, algorithm, over, least, output)
    if measured_files and native_of is None:
        raise Error("--measured corrects what --native predicts: say --native, too")
    rules = native.required_rules_of(call.library) if native_of is not None else None
    calls = predicting.series(call, over, _least(least))
    text = figures.read_text(encoding="utf-8") if figures is not None else known.text()
    points = predicting.predicted(
        calls, text, has_parts=call_words.has_parts(traits), algorithm=algorithm or None, most_messages=messages,
        look=_progress(over), own=_own(rules, measured_files, call, text, messages),
    )  # fmt: skip
    title = _title(traits, call, type_name)
    machine_name = str(figures) if figures is not None else None
    assumed = [] if figures is not None else [NO_MACHINE]
    if as_json:
        click.echo(json.dumps(_document(call, over, points) | {"machine": machine_name, "assumed": assumed}, indent=2))
    else:
        _show(points, over, title, assumed)
    if output is not None:
        from rondo.reports import prediction_figures  # noqa: PLC0415

        assert over is not None
        prediction_figures.draw(points, over, title, output)
        click.echo(f"wrote {output}", err=as_json)


def _predict_program(
    path: Path,
    *,
    ranks_on: tuple[int, ...] | None,
    native_of: str | None,
    machine_file: str | None,
    network: str | None,
    placement: str | None,
    messages: int | None,
    as_json: bool,
) -> None:
    """Predicts all collectives of a profile. Error for options that are about one call."""
    from rondo.profiling import calls, elsewhere, elsewhere_table, profile  # noqa: PLC0415

    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") == ParameterSource.COMMANDLINE
        if option.name in OF_ONE_CALL and given:
            raise Error(f"{option.opts[0]}: the profile says what the program calls; leave it out")
    program = profile.read(path)
    if not program.ranks:
        raise Error(f"{path}: no rank has left anything in this profile")
    figures = learned.figures(machine_file, os.environ, None, program.library) if machine_file else None
    text = figures.read_text(encoding="utf-8") if figures is not None else program.machine or machine.standard().text()
    shape = _core.read_machine(text, str(path))["network"]
    where = ranks_on or calls.all_ranks_on(program)
    library = (
        call_words.library_of(native_of)["version"] if native_of is not None else _core.plain_version(program.library)
    )
    shape = networks.checked(network if network is not None else shape, placement, len(where))
    job = elsewhere.Job(where, library, text, shape, placement or networks.BLOCK)
    rules = native.required_rules_of(library) if native_of is not None else native.rules_of(library)
    most = messages or MOST_OF_EACH_KIND
    found = elsewhere.predicted(
        program, job, rules, most_messages=most, look=saying.now_and_then("predicting kind {} of {}".format)
    )
    machine_name = str(figures) if figures is not None else "that of the profile" if program.machine else None
    assumed = [] if machine_name is not None else [NO_MACHINE]
    title = f"{shlex.join(program.command)}, {sum(where)} ranks on {len(where)} nodes, {library}"
    if as_json:
        more = {"profile": str(path), "processes": sum(where), "machine": machine_name, "assumed": assumed}
        click.echo(json.dumps(more | elsewhere_table.document(found), indent=2))
        return
    console = screens.console()
    console.print(title, soft_wrap=True)
    for each in assumed:
        console.print(f"  assumed: {each}", soft_wrap=True)
    elsewhere_table.show(found, console)


def _own(
    rules: Path | None, measured_files: Sequence[Path], call: Call, machine_text: str, messages: int
) -> Callable[[Call], Candidate] | None:
    """What predicts the library's own collective; None if it was not asked for."""
    if rules is None:
        return None
    measured = [
        each
        for path in measured_files
        for each in native.measured_in(path, call, rules, machine_text, most_messages=messages)
    ]
    return lambda of_ranks: native.candidate(
        of_ranks, rules, machine_text, most_messages=messages, measured=measured
    )  # fmt: skip


def _check(collective: str, algorithm: str, over: str | None, least: str | None, output: Path | None) -> None:
    """Error for what makes no sense, before anything is predicted."""
    known = [each["name"] for each in _core.algorithms(collective)]
    if algorithm.startswith(choices.OF_A_FILE):
        choices.of_algorithm(f"{collective}/{algorithm}")
    elif algorithm and algorithm not in known:
        raise Error(f"{collective} has no algorithm '{algorithm}'; {plans.suggestion(algorithm, known)}")
    if over is None and (least is not None or output is not None):
        raise Error(
            f"{'--least' if least is not None else '--output'} is for a series: say --over ranks, nodes or bytes"
        )
    if over == "bytes" and not next(each for each in _core.collectives() if each["name"] == collective)["has_data"]:
        raise Error(f"{collective} has no data; --over ranks or nodes")
    if output is not None:
        from rondo.reports.figures import FORMATS  # noqa: PLC0415

        if output.suffix[1:].lower() not in FORMATS:
            raise Error(f"--output {output}: expected a name that ends in {', '.join(f'.{each}' for each in FORMATS)}")


def _least(least: str | None) -> int | None:
    if least is None:
        return None
    try:
        number: int = _core.quantity(least)
    except ValueError as error:
        raise Error(f"--least: {error}") from None
    return number


def _progress(over: str | None) -> Callable[[int, str], None]:
    where = f" at {{}} {over}" if over is not None else ""
    return saying.now_and_then(lambda value, choice: f"predicting {choice}{where.format(value)}")


def _title(traits: dict[str, Any], call: Call, type_name: str) -> str:
    from rondo.reports.style import bytes_text, counted  # noqa: PLC0415

    words = [f"MPI_{call.collective.capitalize()}"]
    if traits["has_data"]:
        words.append(f"{bytes_text(call.elements * call.element_bytes)} of {type_name}")
    each = sorted(set(call.ranks_on))
    on_each = f"{each[0]}" if len(each) == 1 else f"{each[0]} to {each[-1]}"
    words.append(f"{counted(call.processes, 'rank')} on {counted(len(call.ranks_on), 'node')} of {on_each}")
    if call.network:
        words.append(f"placed {call.placement} in {call.network}")
    return ", ".join(words)


def _document(call: Call, over: str | None, points: list[predicting.Point]) -> dict[str, Any]:
    return {
        "collective": call.collective,
        "processes": call.processes,
        "nodes": call.nodes,
        "elements": call.elements,
        "element_bytes": call.element_bytes,
        "root": call.root,
        "library": call.library,
        "network": call.network or None,
        "placement": call.placement if call.network else None,
        "over": over,
        "points": [
            {
                "value": point.value,
                "processes": point.call.processes,
                "bytes": point.call.elements * point.call.element_bytes,
                "candidates": [dataclasses.asdict(each) for each in point.candidates],
            }
            for point in points
        ],
    }


def _show(points: list[predicting.Point], over: str | None, title: str, assumed: list[str]) -> None:
    from rondo.selection import explanation_table, prediction_table  # noqa: PLC0415

    console = screens.console()
    console.print(title, soft_wrap=True)
    for each in assumed:
        console.print(f"  assumed: {each}", soft_wrap=True)
    if over is None:
        explanation_table.show_candidates(points[0].candidates, console)
    else:
        prediction_table.show(points, over, console)
