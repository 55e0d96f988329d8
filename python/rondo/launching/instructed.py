# SPDX-License-Identifier: BSD-3-Clause
"""What Rondo is told in the ranks of a command line, by the options of `rondo run`: checked before anything starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo import _core, saying
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.launching import abi, fitting, installation, launcher, mpi_library, preload, settings
from rondo.launching.options import GUARD
from rondo.machine import machine, placement
from rondo.selection import choices, inspection, learned, rules_file
from rondo.tune import tuned_files

REPORT = "RONDO_REPORT"
SWITCH = "RONDO"
DISABLE = "RONDO_DISABLE"
OFF = ("off", "0", "no", "false")
"""Values that mean no, in capitals as well: rondo/core/switch.hpp has them, too."""


def switched_off(environment: Mapping[str, str]) -> str | None:
    """The assignment by which Rondo does nothing, as the user wrote it; None if there is none."""
    disable, master = environment.get(DISABLE, ""), environment.get(SWITCH, "")
    if disable and disable.lower() not in OFF:
        return f"{DISABLE}={disable}"
    return f"{SWITCH}={master}" if master.lower() in OFF else None


@dataclass(frozen=True)
class Instructed:
    """A command line, and what Rondo is told in its ranks. `instructed` makes it."""

    line: launcher.CommandLine
    library: Path
    """That is preloaded."""
    variables: dict[str, str]
    environment: dict[str, str]
    """Of the launcher, without what the variables say."""
    abi: str
    """Of the programs."""
    tuned: tuned_files.Found
    """The rules of this machine that are used, or why there are none."""

    @property
    def rules(self) -> str:
        """Those that choose, for people."""
        path = self.variables.get(rules_file.VARIABLE)
        return rules_file.shown(Path(path)) if path is not None else rules_file.NO_RULES

    @property
    def uses(self) -> list[str]:
        """What stands above the rules, whoever said it: exscan=doubling_123."""
        names = [each["name"] for each in _core.collectives()]
        given = {name: self.variables.get(choices.variable_of(name)) for name in names}
        return [f"{name}={choice}" for name, choice in given.items() if choice]

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
    learn: bool = False,
    cluster_text: str | None = None,
    wanted_mpi: str | None = None,
    dry_run: bool = False,
    natively: bool = False,
) -> Instructed:
    """What the options say, checked. Error for the first that is wrong. Makes the directory of what is learned.

    `natively`: every call is left to the library, and nothing else of Rondo may be in the programs.
    """
    environment = dict(inherited)
    variables = check_uses(uses, environment)
    for name in (SWITCH, DISABLE, settings.CONFIG, *settings.HANDED_ON):  # for the ranks on all nodes alike
        if name in environment:
            variables[name] = environment[name]
    # A cluster knows its own figures better than the user's file for this machine.
    here = cluster_text is None or machine_file is not None
    figures = machine.find(machine_file, environment) if here else None
    if figures is not None:
        variables[machine.VARIABLE] = str(figures)
    elif machine_file is not None:
        variables[machine.VARIABLE] = machine.STANDARD
    if nodes:
        variables[placement.VARIABLE] = placement.checked(nodes)
    chosen_rules = check_rules(rules) if rules is not None else None

    for name in (rules_file.VARIABLE, machine.VARIABLE, GUARD, learned.VARIABLE):
        environment.pop(name, None)
    line = launcher.read(list(words), environment)
    chosen = choose_abi(line, wanted, environment, natively=natively)
    tuned = tuned_files.for_run(rules, line, cluster_text, wanted_mpi, environment, chosen_abi=chosen)
    if rules is None:
        chosen_rules, tuned = rules_unasked(tuned)
    if chosen_rules is not None:
        variables[rules_file.VARIABLE] = str(chosen_rules)
    if guard != "off" and (chosen_rules is not None or learn):  # what the user has named is not doubted
        variables[GUARD] = guard
        try:
            kept_in = learned.directory(learned_directory, environment, make=not dry_run)
        except Error as error:
            if learned_directory or learn:
                raise
            kept_in = None  # nobody has asked for it
            saying.once(f"warning: {error}; what the guard finds out is lost (--learned DIRECTORY keeps it elsewhere)")
        if kept_in is not None:
            variables[learned.VARIABLE] = str(kept_in)
    library = installation.preload_library(chosen)
    return Instructed(line, library, variables, environment, chosen, tuned)


def rules_unasked(tuned: tuned_files.Found) -> tuple[Path | None, tuned_files.Found]:
    """Of a run whose user has named none: the tuned ones, else those that come with Rondo.

    Another version of Rondo may have written the tuned ones. What cannot be read of them refuses no run.
    """
    try:
        return check_rules(str(tuned.path) if tuned.path is not None else None), tuned
    except Error as error:
        if tuned.path is None:
            raise
        note = f"warning: {error}; the rules that come with Rondo are used"
        return check_rules(None), tuned_files.Found(None, note, warning=True)


def mpi_on_cluster(line: launcher.CommandLine, wanted_mpi: str | None, wanted: str) -> mpi_library.MpiLibrary:
    """The MPI library that starts a program, of the ABI that is wanted, on an emulated cluster.

    Error if the program is a launcher's.
    """
    if line.kind is not launcher.Kind.NONE:
        raise Error(
            f"--cluster starts the program itself; expected the program alone after --, without {line.words[0]}"
        )
    return mpi_library.of_program(line.words, wanted_mpi, os.environ, abi.named(wanted))


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
        variables[name] = choices.everywhere(choices.checked(collective, choice, f"--use {use}"))
    for each in _core.collectives():
        name = choices.variable_of(each["name"])
        if name not in variables and environment.get(name):
            given = f"{name}={environment[name]}"
            variables[name] = choices.everywhere(choices.checked(each["name"], environment[name], given))
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
        saying.once(f"warning: {path}:{line}: {inspection.never_decides(str(path), above)}")
    return path.absolute()


def choose_abi(line: launcher.CommandLine, wanted: str, environment: dict[str, str], *, natively: bool = False) -> str:
    """The ABI of all programs of a command line. Error if it cannot be known, or is not the one that was named.

    Only what a program links contradicts a name. What mpi4py would load does not: the program may do without.
    `natively`: nothing of Rondo may be in them.
    """
    named = abi.named(wanted)
    if line.programs_elsewhere and named is None:
        raise Error(f"with {line.programs_elsewhere}, Rondo does not see the programs; {abi.NAME_IT}")
    programs = [] if line.programs_elsewhere else list(line.programs())
    if not programs and named is None:
        raise Error(f"there is no program in this command line of {line.words[0]}")
    found: dict[str, tuple[str, abi.Mpi]] = {}
    environment_of_programs = line.environment_of_programs(environment)
    if natively:
        preload.refuse_rondo_in(line, environment)
    for words, directory in programs:
        try:
            mpi = abi.of_program(words, directory, environment_of_programs)
        except Error:
            if named is None:
                raise
            continue
        if natively:
            preload.refuse_rondo(mpi.preloaded)
        if mpi.takes_preload is not None:
            raise Error(
                f"{mpi.takes_preload} takes Rondo's LD_PRELOAD away from the program; leave it out, and give variables "
                f"and preloads to rondo run: LD_PRELOAD=... rondo run -- ..."
            )
        if named is not None and mpi.abi != named:
            if not mpi.guessed:
                raise Error(f"--abi {named} contradicts the program: {words[0]} uses {mpi.library}, which is {mpi.abi}")
            saying.once(
                f"warning: --abi {named} holds, although mpi4py of {words[0]} would load {mpi.library}, which is "
                f"{mpi.abi}"
            )
            continue
        found[mpi.abi] = (words[0], mpi)
    if len(found) > 1:
        raise Error("these programs use different MPIs: " + ", ".join(f"{found[each][0]} {each}" for each in found))
    chosen = named or next(iter(found))
    fitting.check(line, chosen, *found.get(chosen, (None, None)), environment)
    return chosen
