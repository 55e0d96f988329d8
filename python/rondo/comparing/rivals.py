# SPDX-License-Identifier: BSD-3-Clause
"""The ways to run a program that are compared, as users write them, and the commands that run them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rondo.bench import launches
from rondo.bench.results import NATIVE
from rondo.cluster import cluster
from rondo.commands import run
from rondo.errors import Error
from rondo.launching import abi, instructed, launcher, preload, settings
from rondo.launching.mpi_library import MpiLibrary
from rondo.selection import rules_file

RONDO = "rondo"
NAME = re.compile(r"\w[\w.+-]*")  # also part of the names of files that are kept
EXPECTED = "expected NAME=OPTIONS, as in --rival unguarded='--guard off', or --rival native"
FOR_ALL = "which rondo compare itself has for all"
NOT_FOR_RIVALS = {
    "report_file": f"--report, {FOR_ALL}",
    "cluster_text": f"--cluster, {FOR_ALL}",
    "wanted_mpi": f"--mpi, {FOR_ALL}",
    "dry_run": f"--dry-run, {FOR_ALL}",
    "trace_file": "--trace, which takes time; `rondo run` writes one",
    "learn": "--learn, which would try something else in each run",
}
"""Options of `rondo run` that a rival cannot have, with the reason."""


@dataclass(frozen=True)
class Rival:
    """One way to run a program."""

    name: str
    options: tuple[str, ...] | None
    """Of `rondo run`; None: natively."""
    words: tuple[str, ...]
    """The program with its launcher."""

    @property
    def command(self) -> str:
        """As a user would type it."""
        return shlex.join(self.words if self.options is None else [RONDO, "run", *self.options, "--", *self.words])


@dataclass(frozen=True)
class Launch:
    """How a rival is started."""

    words: list[str]
    environment: dict[str, str]
    is_counted: bool
    """Do its ranks leave reports of their collectives? That takes time; so the wall time of others counts."""


@dataclass(frozen=True)
class Contender:
    """A rival that can be started."""

    rival: Rival
    launches: tuple[Launch, ...]
    """Those of one round."""


def make(texts: Sequence[str], rules: Sequence[str], options: tuple[str, ...], words: Sequence[str]) -> list[Rival]:
    """The rivals of --rival and --rules; with a single one, there is the native one, too. Error if wrong.

    The first is the one with which the others are compared: the native one, if there is any. `options` are of `rondo
    run`, for all under Rondo, and `words` is the command line of those that have none of their own.
    """
    found = [_of_text(text, options, tuple(words)) for text in texts]
    if words and Path(words[0]).name == RONDO:
        raise Error("leave out rondo run after --: rondo compare runs the command with it and without")
    names = ["rondo"] if len(rules) == 1 and not texts else [Path(each).stem for each in rules]
    of_rules = list(zip(names, [("--rules", each, *options) for each in rules], strict=True))
    if not found and not of_rules:
        of_rules = [("rondo", options)]
    if of_rules and not words:
        raise Error("what to compare? Expected a command, as in: rondo compare -- mpiexec -n 8 ./app")
    found += [Rival(name, each, tuple(words)) for name, each in of_rules]
    if len(found) == 1 and found[0].options is not None:
        found.insert(0, Rival(NATIVE, None, found[0].words))
    if options and not any(each.options is not None for each in found):
        raise Error(f"{options[0]} {options[1]}: none of these rivals is under Rondo; leave it out")
    if len(found) == 1:
        raise Error(f"--rival {found[0].name} is the only one; expected another to compare it with")
    twice = next((each.name for place, each in enumerate(found) if each.name in [o.name for o in found[:place]]), None)
    if twice is not None:
        raise Error(f"two rivals are named {twice}; give them names with --rival NAME='--rules FILE'")
    return sorted(found, key=lambda each: each.options is not None or each.words != tuple(words))


def _of_text(text: str, options: tuple[str, ...], words: tuple[str, ...]) -> Rival:
    """What a --rival says: native, options of `rondo run`, or a command of its own."""
    name, equals, rest = text.partition("=")
    if not equals and name == NATIVE:
        rest = NATIVE
    elif not equals or not NAME.fullmatch(name):
        raise Error(f"--rival {text}: {EXPECTED}")
    try:
        said = shlex.split(rest)
    except ValueError as error:
        raise Error(f"--rival {text}: {str(error).lower()}") from None
    if said == [NATIVE]:
        rival = Rival(name, None, words)
    elif said and Path(said[0]).name == RONDO:
        if said[1:2] != ["run"]:
            raise Error(f"--rival {text}: expected rondo run, or its options")
        rival = _under_rondo(name, said[2:], options, words)
    elif not said or said[0].startswith("-"):
        rival = _under_rondo(name, said, options, words)
    else:
        rival = Rival(name, None, tuple(said))
    if not rival.words:
        raise Error(f"--rival {text}: it has no command of its own, and there is none after --")
    return rival


def _under_rondo(name: str, said: list[str], options: tuple[str, ...], words: tuple[str, ...]) -> Rival:
    if "--" not in said:
        return Rival(name, (*options, *said), words)
    place = said.index("--")
    return Rival(name, (*options, *said[:place]), tuple(said[place + 1 :]))


@contextlib.contextmanager
def prepared(
    rivals: Sequence[Rival], *, wanted: str, cluster_text: str | None, wanted_mpi: str | None, reports: Path | None
) -> Iterator[tuple[list[Contender], cluster.Cluster | None]]:
    """The rivals, ready to be started, and the cluster on which all of them run, if any; it is down afterwards.

    The ranks of counted runs leave their reports in a directory; if it is None, there are no such runs. Error for what
    is wrong, before anything has been started.
    """
    libraries: dict[tuple[str, ...], MpiLibrary] = {}
    if cluster_text is not None:
        lines = {each.words: launcher.read(list(each.words), os.environ) for each in rivals}
        libraries = {words: instructed.mpi_on_cluster(line, wanted_mpi, wanted) for words, line in lines.items()}
    told = {each.name: _told(each, wanted, cluster_text, wanted_mpi) for each in rivals if each.options is not None}
    counted = dict(told)
    if reports is not None:
        natively = [each for each in rivals if each.options is None]
        counted.update({each.name: _told_to_count(each, wanted, cluster_text, wanted_mpi) for each in natively})
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(cluster.opened(cluster_text)) if cluster_text is not None else None
        place = Place(running, libraries)
        contenders = []
        for each in rivals:
            started = [place.launch(each, told.get(each.name), None)]
            if reports is not None:
                started.append(place.launch(each, counted[each.name], reports))
            contenders.append(Contender(each, tuple(started)))
        yield contenders, running


@dataclass(frozen=True)
class Place:
    """Where everything runs: on a cluster, or as the user's launcher has it."""

    running: cluster.Cluster | None
    libraries: Mapping[tuple[str, ...], MpiLibrary]
    """On a cluster: what starts the rivals, by their words."""

    def launch(self, rival: Rival, told: instructed.Instructed | None, reports: Path | None) -> Launch:
        """How a rival is started: untouched if Rondo is told nothing; with reports, its collectives are counted."""
        if told is None:
            if self.running is None:
                line = launcher.read(list(rival.words), os.environ)  # refuses what cannot be started
                preload.refuse_rondo_in(line, os.environ)
                return Launch(list(rival.words), {**os.environ, **settings.NATIVELY}, is_counted=False)
            library = self.libraries[rival.words]
            words = self.running.command(library, self.running.shape.ranks, rival.words)
            return Launch(words, {**self.running.environment(library), **settings.NATIVELY}, is_counted=False)
        if reports is not None:
            told = dataclasses.replace(told, variables={**told.variables, instructed.REPORT: str(reports)})
        if self.running is None:
            command = told.under_launcher()
        else:
            command = told.on_cluster(self.running, self.libraries[rival.words])
        return Launch(command.words, {**told.environment, **command.environment}, is_counted=reports is not None)


def _told_to_count(
    rival: Rival, wanted: str, cluster_text: str | None, wanted_mpi: str | None
) -> instructed.Instructed:
    """What Rondo is told where it only counts, and leaves every call to the library."""
    return instructed.instructed(
        rival.words,
        launches.without_instructions(os.environ),
        uses=(),
        rules=rules_file.NO_RULES,
        machine_file=None,
        nodes=None,
        guard="off",
        learned_directory=None,
        wanted=wanted,
        cluster_text=cluster_text,
        wanted_mpi=wanted_mpi,
        natively=True,
    )


def _told(rival: Rival, wanted: str, cluster_text: str | None, wanted_mpi: str | None) -> instructed.Instructed:
    """What a rival has Rondo told by its options. Error for those that `rondo run` does not have."""
    assert rival.options is not None
    try:
        parent = click.get_current_context(silent=True)  # whose names of the help option click keeps for the command
        with run.command.make_context("rondo run", [*rival.options, "--", *rival.words], parent) as context:
            asked: dict[str, Any] = dict(context.params)
        run.refuse_unknown_option(asked.pop("words"), run.command)
    except click.UsageError as error:
        raise Error(f"rival {rival.name}: {error.format_message()}") from None
    for name, option_and_reason in NOT_FOR_RIVALS.items():
        if asked.pop(name) not in (None, False):
            raise Error(f"rival {rival.name}: leave out {option_and_reason}")
    if abi.named(wanted) is not None:
        asked["wanted"] = wanted
    return instructed.instructed(rival.words, os.environ, **asked, cluster_text=cluster_text, wanted_mpi=wanted_mpi)
