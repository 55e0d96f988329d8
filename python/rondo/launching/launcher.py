# SPDX-License-Identifier: BSD-3-Clause
"""Launchers' command lines: which programs they start, and how to give those programs, and only them, environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from rondo.errors import NOT_EXECUTABLE, NOT_FOUND, Error
from rondo.launching import launcher_options
from rondo.launching.launcher_options import Options
from rondo.launching.wrappers import ASSIGNMENT

LOOKS_LIKE_MPIEXEC = re.compile(r"mpiexec|mpirun")
ASK_VERSION_SECONDS = 30.0


class Kind(Enum):
    """Families of launchers, by how they pass environment."""

    HYDRA = "MPICH or Intel MPI"
    OPENMPI = "Open MPI"
    MPIRUN_RSH = "MVAPICH"
    SRUN = "Slurm"
    FLUX = "Flux"
    JSRUN = "IBM's Job Step Manager"
    APRUN = "Cray's ALPS"
    IBRUN = "TACC"
    NONE = "no launcher"


OPTIONS = {kind: getattr(launcher_options, kind.name) for kind in Kind if kind is not Kind.NONE}
MPI_OF = {Kind.HYDRA: "mpich", Kind.MPIRUN_RSH: "mpich", Kind.OPENMPI: "openmpi"}
"""The family of MPI libraries whose programs a launcher starts; the others start those of any."""
BY_NAME = {
    "aprun": Kind.APRUN,
    "flux": Kind.FLUX,
    "ibrun": Kind.IBRUN,
    "jsrun": Kind.JSRUN,
    "mpirun_rsh": Kind.MPIRUN_RSH,
    "orterun": Kind.OPENMPI,
    "prterun": Kind.OPENMPI,
    "prun": Kind.OPENMPI,
    "srun": Kind.SRUN,
}


@dataclass
class Segment:
    """One program of a command line, with the launcher's options before it. Positions count words."""

    start: int
    program: int | None = None
    end: int = 0
    working_directory: str | None = None


@dataclass
class Passed:
    """An environment variable that the user has the launcher pass on."""

    name: str
    value: str
    position: int
    prefix: str
    """What precedes the value in the word at `position`."""
    segment: int
    everywhere: bool
    """Whether it goes to all programs, not only to the segment's."""


@dataclass
class CommandLine:
    """A launcher's command line, read."""

    words: list[str]
    kind: Kind
    segments: list[Segment]
    passed: list[Passed] = field(default_factory=list)
    programs_elsewhere: str | None = None
    """The option by which the programs stand in a file, if one was given."""

    def programs(self) -> Iterator[tuple[list[str], str | None]]:
        """Each program with its arguments, and the directory that it is started in if the launcher is told."""
        for segment in self.segments:
            if segment.program is not None:
                yield self.words[segment.program : segment.end], segment.working_directory

    def environment_of_programs(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment with what the user has the launcher pass on."""
        return {**environment, **{variable.name: variable.value for variable in self.passed}}


def read(words: list[str], environment: Mapping[str, str]) -> CommandLine:
    """Reads a command line. Error if its first word is no program or a launcher of an unknown kind."""
    kind = kind_of(words[0], environment)
    if kind is Kind.NONE:
        return CommandLine(words, kind, [Segment(start=0, program=0, end=len(words))])
    return _Reader(words, kind, environment).read()


def is_launcher(program: str) -> bool:
    """Whether a program looks like one, by its name."""
    name = Path(program).name
    return name in BY_NAME or LOOKS_LIKE_MPIEXEC.search(name) is not None


def kind_of(launcher: str, environment: Mapping[str, str]) -> Kind:
    """The kind of launcher that a command is, by its name and its `--version`; Kind.NONE if it looks like none."""
    path = shutil.which(launcher, path=environment.get("PATH"))
    if path is None:
        raise cannot_start(launcher, None, environment)
    name = Path(launcher).name
    if name in BY_NAME:
        return BY_NAME[name]
    if not LOOKS_LIKE_MPIEXEC.search(name):
        return Kind.NONE
    version = version_text(path, environment)
    if "HYDRA" in version or "Intel(R) MPI Library" in version:
        return Kind.HYDRA
    if "Open MPI" in version or "OpenRTE" in version or "PRRTE" in version or "prterun" in version:
        return Kind.OPENMPI
    if "slurm" in version.lower():
        return Kind.SRUN
    first_line = version.strip().partition("\n")[0] or "nothing"
    raise Error(
        f"{launcher} is a launcher of a kind that Rondo does not know (its --version says: {first_line}); known are "
        f"those of MPICH, Intel MPI, MVAPICH, Open MPI, Slurm, Flux, and jsrun, aprun and ibrun"
    )


def version_text(path: str, environment: Mapping[str, str]) -> str:
    """What a launcher prints for `--version`; Error if it cannot be asked."""
    try:
        result = subprocess.run(
            [path, "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=ASK_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Error(f"cannot ask {path} for its version: {error}") from None
    return result.stdout.decode(errors="replace")


class _Reader:
    """Reads the words of one command line, left to right."""

    def __init__(self, words: list[str], kind: Kind, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.options: Options = OPTIONS[kind]
        self.position = _first_option(words) if kind is Kind.FLUX else 1
        self.line = CommandLine(words, kind, [Segment(start=self.position, end=self.position)])
        self.hosts = 0  # words that mpirun_rsh takes for hosts, if it has no file of them
        self.hosts_elsewhere = False

    def read(self) -> CommandLine:
        words = self.line.words
        uncertain = False  # whether the word before is an option that may take this word as its value
        while self.position < len(words):
            word = words[self.position]
            if word == ":" and self.options.separates:
                self._next_segment()
            elif word == "--":
                self.position += 1
            elif word.startswith("-") and word != "-":
                uncertain = self._option()
                continue
            elif (uncertain and not self._is_executable(word)) or self._is_host_or_variable(word):
                self.position += 1
            else:
                self._program()
            uncertain = False
        return self.line

    def _next_segment(self) -> None:
        self.position += 1
        self.line.segments.append(Segment(start=self.position, end=self.position))

    def _program(self) -> None:
        words, segment = self.line.words, self.line.segments[-1]
        segment.program = self.position
        separated = self.options.separates and ":" in words[self.position :]
        segment.end = words.index(":", self.position) if separated else len(words)
        self.position = segment.end

    def _is_host_or_variable(self, word: str) -> bool:
        """Whether mpirun_rsh takes a word for a host, or for an assignment; both stand before the program."""
        if self.line.kind is not Kind.MPIRUN_RSH:
            return False
        assignment = ASSIGNMENT.match(word)
        if assignment is not None:
            variable, value = assignment.groups()
            segment = len(self.line.segments) - 1
            self.line.passed.append(Passed(variable, value, self.position, f"{variable}=", segment, False))
            return True
        self.hosts -= 1
        return self.hosts >= 0 and not self.hosts_elsewhere

    def _is_executable(self, word: str) -> bool:
        directory = self.line.segments[-1].working_directory
        return find_program(word, directory, self.environment) is not None

    def _option(self) -> bool:
        """Skips an option with its values; whether it is unknown if it takes any."""
        word = self.line.words[self.position]
        name, equals, value = word.lstrip("-").partition("=")
        attached = len(word) - len(value) if equals else 0
        if self.options.one_letter_groups and not word.startswith("--"):
            name, attached = self._last_of_group(word)
        elif name not in self.options.values and name[:1] in self.options.values and name[1:].isdigit():
            name, attached = name[0], word.index(name) + 1  # -n4
        first = self.position + 1
        taken = self.options.values.get(name, 0) - (1 if attached else 0)
        self.position = min(first + max(taken, 0), len(self.line.words))
        values = ([word[attached:]] if attached else []) + self.line.words[first : self.position]
        if name in self.options.programs_elsewhere:
            self.line.programs_elsewhere = word
        if name in self.options.directory and values:
            self.line.segments[-1].working_directory = values[0]
        if name in ("n", "np") and values and values[0].isdigit():
            self.hosts = int(values[0])
        self.hosts_elsewhere |= name == "hostfile"
        self._environment_option(name, attached, first - 1)
        return not attached and name not in self.options.values and name not in self.options.flags

    def _last_of_group(self, word: str) -> tuple[str, int]:
        """The option with a value in `-ln4` or `-ln 4`, and where in the word that begins, 0 for not at all."""
        for index, letter in enumerate(word[1:], start=2):
            if letter in self.options.values:
                return letter, index if index < len(word) else 0
        return word[1:2], 0

    def _environment_option(self, name: str, attached: int, position: int) -> None:
        words, segment = self.line.words, len(self.line.segments) - 1
        following = words[position + 1] if position + 1 < len(words) else ""
        if self.line.kind is Kind.HYDRA and name in ("genv", "env"):
            variable, assigned, value = following.partition("=")
            everywhere = name == "genv"
            if assigned:  # -genv NAME=VALUE takes one word
                self.position = position + 2
                self.line.passed.append(Passed(variable, value, position + 1, f"{variable}=", segment, everywhere))
            elif position + 2 < len(words):
                self.line.passed.append(Passed(variable, words[position + 2], position + 2, "", segment, everywhere))
        elif name in self.options.assigning:
            prefix = words[position][:attached]
            at = position if attached else position + 1
            variable, assigned, value = words[at][len(prefix) :].partition("=") if at < len(words) else ("", "", "")
            if assigned or variable in self.environment:
                value = value if assigned else self.environment[variable]
                self.line.passed.append(Passed(variable, value, at, f"{prefix}{variable}=", segment, False))


def _first_option(words: list[str]) -> int:
    """Where the options of `flux run` begin. Error for another command of Flux."""
    for command in (["run"], ["mini", "run"]):
        if words[1 : 1 + len(command)] == command:
            return 1 + len(command)
    raise Error(f"{' '.join(words[:2])}: expected flux run, which starts a program and waits for its end")


def find_program(name: str, working_directory: str | None, environment: Mapping[str, str]) -> Path | None:
    """The executable file that a launcher would start; None if there is none on this machine."""
    directory = Path(working_directory or ".")
    if "/" not in name:
        found = shutil.which(name, path=environment.get("PATH"))
        if found:
            return Path(found)
    path = directory / name
    return path if path.is_file() and os.access(path, os.X_OK) else None


def cannot_start(name: str, working_directory: str | None, environment: Mapping[str, str]) -> Error:
    """Why there is no executable file of a name, and what to do."""
    path = Path(working_directory or ".") / name
    if "/" in name and path.is_dir():
        return Error(f"cannot run {name}: it is a directory", NOT_EXECUTABLE)
    on_path = [] if "/" in name else [Path(each) / name for each in environment.get("PATH", "").split(os.pathsep)]
    there = next((each for each in [*on_path, path] if each.is_file() and not os.access(each, os.X_OK)), None)
    if there is not None:
        return Error(f"cannot run {name}: {there} is not executable (chmod +x {there})", NOT_EXECUTABLE)
    if "/" in name:
        return Error(f"cannot run {name}: there is no such file", NOT_FOUND)
    return Error(f"cannot run {name}: there is no such program on PATH", NOT_FOUND)
