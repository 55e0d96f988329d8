# SPDX-License-Identifier: BSD-3-Clause
"""`rondo explain`: what Rondo does with one call, and why."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from rondo import _core, saying, screens
from rondo.bench import plans
from rondo.launching import instructed, options
from rondo.machine import machine, placement
from rondo.selection import call_words, explanation, learned, native, rules_file, sharing
from rondo.selection.call import Call
from rondo.selection.candidates import MOST_MESSAGES
from rondo.shells import completion
from rondo.tune import rules_text, tuned_files

LIBRARY = "mpich"


@click.command()
@click.argument("collective", shell_complete=completion.collectives)
@options.call
@options.operator
@click.option("--root", type=int, default=0, show_default=True, help="Of collectives that have one.")
@click.option(
    "--library",
    metavar="mpich|openmpi|impi|VERSION",
    help="MPI library, by its name or by what a report of `rondo run` calls it. A name stands for the version of this "
    f"machine, if it is here. What its own collective takes is predicted, too, where it is known what that does. "
    f"Default: {LIBRARY}, and no such prediction.",
    shell_complete=completion.one_of(("mpich", "openmpi", "impi")),
)
@click.option(
    "--shared-memory/--no-shared-memory",
    default=None,
    help="Ranks of a node pass messages through memory that they share, or do not, as with RONDO_SHARED_MEMORY on or "
    "off. Default: as they would do by themselves, with as many processors as this machine has.",
)
@click.option(
    "--oversubscribed",
    is_flag=True,
    help="Some node, or the machine of all nodes, has fewer processors than ranks. Default: there is one for each.",
)
@options.rules(
    "As of `rondo run`. Default: those that `rondo tune` has measured on this machine with this library, else the "
    "rules that come with Rondo."
)
@options.machine_file("As of `rondo run`.")
@options.learned_directory("What earlier runs have found out, as of `rondo run`; `none` leaves it aside.")
@click.option(
    "--messages",
    type=click.IntRange(1),
    default=MOST_MESSAGES,
    show_default=True,
    help="Of each candidate, that are run to predict it. Those that cannot be predicted from so many are left out. A "
    "million takes a second or two and 100 MB.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all as a JSON object.")
def command(
    *,
    collective: str,
    count: str | None,
    type_name: str,
    processes: int | None,
    ppn: int | None,
    nodes: str | None,
    operator: str,
    root: int,
    library: str | None,
    shared_memory: bool | None,
    oversubscribed: bool,
    rules: str | None,
    machine_file: str | None,
    learned_directory: str | None,
    messages: int,
    as_json: bool,
) -> None:
    """Say what Rondo does with a call of this COLLECTIVE, and why.

    Which rule decides, why the rules before it do not match, what the choice is in the end, and what all algorithms
    would take. Nothing is run: times are predicted on the figures of the machine file. What the guard has found out in
    earlier runs on this machine counts, as in `rondo run`.

    \b
        rondo explain allreduce --count 1M --type double -n 64 --ppn 16
        rondo explain reduce --count 4Ki --nodes 4,4,3 --op user --root 2
        rondo explain bcast --count 64Ki -n 8 --library "Open MPI v4.1.4"
        rondo explain exscan --count 100 -n 36 --rules mine.rules --json
        rondo explain allreduce --count 1Mi --nodes domains:2x8

    Where ranks of one node are bound to parts of it (processors with one L3 cache, of one NUMA node, of one socket),
    domains:2x8 says that eight are in each of two.

    A count is that of the call: of reduce_scatter, allgather, alltoall, gather and scatter, of one rank's part; a
    barrier has none. Environment variables such as RONDO_EXSCAN stand above the rules here, too.
    """
    traits = call_words.traits_of(collective)
    ranks_on = call_words.ranks_on_nodes(processes, ppn, nodes, may_be_domains=True)
    are_domains = nodes is not None and placement.are_domains(nodes)
    element_bytes = call_words.element_bytes_of(type_name)
    call_count = call_words.count_of(traits, count)
    mpi = call_words.library_of(library or LIBRARY)
    said = {None: sharing.setting(os.environ), True: "on", False: "off"}[shared_memory]
    on_nodes = (sum(ranks_on),) if are_domains else ranks_on
    shares_memory, assumed_of_sharing = sharing.expected(said, on_nodes, len(os.sched_getaffinity(0)))
    call = Call(
        collective=collective,
        ranks_on=ranks_on,
        elements=call_count * sum(ranks_on) if call_words.has_parts(traits) else call_count,
        element_bytes=element_bytes,
        commutative=traits["has_operation"] and operator != options.USER_OPERATOR,
        root=root,
        library=mpi["version"],
        shared_memory=shares_memory,
        oversubscribed=oversubscribed,
        rounds=_rounds(traits, type_name, operator),
        are_domains=are_domains,
    )
    if (switch := instructed.switched_off(os.environ)) is not None:
        click.echo(f"rondo: warning: {switch} is set: then Rondo does nothing at all", err=True)
    rules_path, rules_note = _rules(rules, mpi["version"])
    is_guarded = os.environ.get(options.GUARD) != "off"
    known_in = learned.directory(learned_directory, os.environ) if is_guarded else None
    figures = learned.figures(machine_file, os.environ, known_in, mpi["version"])
    machine_text = figures.read_text(encoding="utf-8") if figures is not None else machine.standard().text()
    known = learned.about(known_in, mpi["version"], machine_text)
    found = explanation.explain(
        call, rules_path, figures, os.environ, known, most_messages=messages, look=_progress(call)
    )
    if library is not None:
        found = native.added(found, call, machine_text, most_messages=messages)
    measured = None
    if found.decided_by is not None and found.decided_by.line and rules_path is not None:
        text = rules_file.read(rules_path)
        measured = rules_text.nearest_measured(text, found.decided_by.line, call.processes, found.bytes)
    assumed = [
        *([f"{mpi['version']}, {mpi['source']}"] if mpi["source"] else []),
        *([] if ppn or nodes else ["each rank is on a node of its own"]),
        *([assumed_of_sharing] if assumed_of_sharing else []),
        *_assumed_of_machine(figures, found.eager, mpi),
        *rules_note,
    ]
    if as_json:
        document = {
            "collective": collective,
            "processes": call.processes,
            "nodes": call.nodes,
            "elements": call.elements,
            "element_bytes": element_bytes,
            "commutative": call.commutative,
            "root": root,
            "library": mpi["version"],
            "shared_memory": shares_memory,
            "oversubscribed": oversubscribed,
            "rules": str(rules_path) if rules_path is not None else None,
            "machine": str(figures) if figures is not None else None,
            "assumed": assumed,
            **dataclasses.asdict(found),
            "measured": dataclasses.asdict(measured) if measured is not None else None,
        }
        click.echo(json.dumps(document, indent=2))
        return

    from rondo.selection import explanation_table  # noqa: PLC0415

    console = screens.console()
    title = _title(traits, call, count=call_count, type_name=type_name, operator=operator, vector=found.bytes)
    explanation_table.show(
        found, console, title=title, collective=collective, assumed=assumed, rules=rules_path, measured=measured
    )


def _rounds(traits: Mapping[str, Any], type_name: str, operator: str) -> bool | None:
    """Whether the last bits of a result depend on who carries the call out; None for elements of an unknown type."""
    if not traits["has_operation"] or operator == options.USER_OPERATOR:
        return False
    return type_name.startswith(("float", "double")) if type_name in plans.TYPES else None


def _rules(named: str | None, library: str) -> tuple[Path | None, list[str]]:
    """The rules that `rondo run` would take on this machine, and what to say of them."""
    if named is None:
        wanted = tuned_files.Head(tuned_files.machine_here(None), library)
        tuned = next((path for path, head in tuned_files.files(os.environ) if head == wanted), None)
        if tuned is not None:
            return tuned, [f"the rules that were tuned for {wanted.library} on {wanted.machine}"]
    return rules_file.find(named), []


def _progress(call: Call) -> Callable[[str, int, int], None]:
    where = f"on {call.processes} ranks"
    return saying.now_and_then(lambda choice, number, all_: f"predicting {choice} {where} ({number} of {all_})")


def _assumed_of_machine(figures: Path | None, eager: int, mpi: Mapping[str, Any]) -> list[str]:
    """What was taken for figures that nobody gave."""
    assumed = []
    if figures is None:
        assumed.append("a 100 Gbit/s network (`rondo calibrate` measures yours, --machine names a file)")
    if figures is None or machine.read(figures).eager is None:
        assumed.append(
            f"messages of up to {_core.quantity_text(eager)} bytes wait for no receiver, as of {mpi['version']}"
        )
    return assumed


def _title(
    traits: Mapping[str, Any],
    call: Call,
    *,
    count: int,
    type_name: str,
    operator: str,
    vector: int,
) -> str:
    """The call in a line."""
    from rondo.reports.style import bytes_text, counted  # noqa: PLC0415

    words = [f"MPI_{call.collective.capitalize()}"]
    if traits["has_data"]:
        size = type_name if type_name in plans.TYPES else f"{counted(call.element_bytes, 'byte')} each"
        of_part = " a part" if call_words.has_parts(traits) else ""
        words.append(f"{count} x {size}{of_part}" + (f" ({bytes_text(vector)} in all)" if vector else ""))
    if traits["has_operation"]:
        words.append(operator if operator != options.USER_OPERATOR else "an operator that does not commute")
    if traits["has_root"]:
        words.append(f"root {call.root}")
    each = sorted(set(call.ranks_on))
    on_each = f"{each[0]}" if len(each) == 1 else f"{each[0]} to {each[-1]}"
    group = "domain" if call.are_domains else "node"
    where = f"{counted(len(call.ranks_on), group)} of {on_each}" + (" of one node" if call.are_domains else "")
    words.append(f"{counted(call.processes, 'rank')} on {where}")
    return ", ".join([*words, call.library])
