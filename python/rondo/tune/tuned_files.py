# SPDX-License-Identifier: BSD-3-Clause
"""Files of tuned rules: what their heads say, where they lie, and which of them is for a machine and an MPI library.

The head of the file decides, not its name: `# machine: ...` and `# library: ...`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rondo import _core, saying
from rondo.cluster import cluster, shapes
from rondo.errors import Error
from rondo.launching import abi, launcher, mpi_library
from rondo.machine import machine
from rondo.selection import rules_file

FIRST_LINE = "# Rules of one machine and one MPI library, measured by rondo tune."
SYSTEM_DIRECTORIES = "/etc/xdg"
SUFFIX = ".rules"
HEAD = re.compile(r"# (machine|library): (.+)")
SECONDS = 20.0
MOST_NAMED = 3
VERSION_PROGRAM = """
import ctypes, sys
text, length = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
library.MPI_Get_library_version(text, ctypes.byref(length))
sys.stdout.write(text.value.decode(errors="replace"))
"""


@dataclass(frozen=True)
class Head:
    """For whom a file is."""

    machine: str
    library: str

    @property
    def text(self) -> str:
        """Lines of the file."""
        return f"# machine: {self.machine}\n# library: {self.library}\n"


@dataclass(frozen=True)
class Found:
    """What there is for a run."""

    path: Path | None
    """The file that is for it."""
    note: str = ""
    """Why others are not, if there are others; or what is wrong with the one that the user named."""
    warning: bool = False
    """Whether the note is worth a line that nobody asked for."""


def head_of(text: str) -> Head | None:
    """Of the text of a rules file; None if `rondo tune` did not write it."""
    if not text.startswith(FIRST_LINE):
        return None
    says = {}
    for line in text.splitlines():
        match = HEAD.fullmatch(line)
        if match:
            says.setdefault(match[1], match[2].strip())
        elif not line.startswith("#"):
            break
    return Head(says["machine"], says["library"]) if len(says) == 2 else None


def machine_here(cluster_text: str | None) -> str:
    """What tuned rules call the machine: the name of hosts like this one, or the network of an emulated cluster."""
    if cluster_text is None:
        return _core.name_of_hosts(socket.gethostname())
    shape = cluster.find(cluster_text).shape if ":" not in cluster_text else shapes.parse(cluster_text)
    return f"emulated:{str(shape).partition(':')[2]}"


def default_path(head: Head, environment: Mapping[str, str]) -> Path:
    """Where the rules go unless a file is named."""
    name = "-".join(re.sub(r"[^a-z0-9.]+", "-", each.lower()).strip("-") for each in (head.machine, head.library))
    return machine.default_path(environment).parent / "tuned" / f"{name}{SUFFIX}"


def directories(environment: Mapping[str, str]) -> list[Path]:
    """Where tuned rules are looked for: the user's first, then those of all users."""
    of_all = (environment.get("XDG_CONFIG_DIRS") or SYSTEM_DIRECTORIES).split(os.pathsep)
    own = machine.default_path(environment).parent / "tuned"
    return [own, *(Path(each) / "rondo" / "tuned" for each in of_all if each)]


def files(environment: Mapping[str, str]) -> Iterator[tuple[Path, Head]]:
    """All that there are; says which cannot be read."""
    for path in itertools.chain.from_iterable(map(_files_in, directories(environment))):
        try:
            head = head_of(rules_file.read(path))
        except Error as error:
            saying.once(f"warning: {error}; passed over")
            continue
        if head is not None:
            yield path, head


def _files_in(directory: Path) -> list[Path]:
    try:
        return sorted(each for each in directory.iterdir() if each.name.endswith(SUFFIX))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:  # root's, say, with a umask that lets nobody else in
        saying.once(f"warning: cannot look for tuned rules in {directory}: {error.strerror}; passed over")
        return []


def for_run(
    named: str | None,
    line: launcher.CommandLine,
    cluster_text: str | None,
    wanted_mpi: str | None,
    environment: Mapping[str, str],
    *,
    chosen_abi: str,
) -> Found:
    """The tuned rules for a run, if there are any for its machine and the MPI library of its program.

    No others where the user has named rules; then a warning if those were tuned for something else.
    """
    if named is not None:
        head = None if named == rules_file.NO_RULES else head_of(rules_file.read(Path(named)))
        known = [(Path(named), head)] if head is not None else []
    else:
        known = list(files(environment))
    if not known:
        return Found(None)
    try:
        wanted = Head(machine_here(cluster_text), library_of(line, cluster_text, wanted_mpi, environment, chosen_abi))
    except Error as error:
        return Found(None, f"{error}, so nobody knows whether rules that were tuned are for it")
    if named is not None:
        different = difference(*known[0], wanted)
        return Found(None, f"warning: {different}", True) if different is not None else Found(None)
    return chosen(known, wanted)


def chosen(known: list[tuple[Path, Head]], wanted: Head) -> Found:
    """The first file for a machine and a library; else a note that names what there is."""
    for path, head in known:
        if head == wanted:
            return Found(path)
    others = "; ".join(f"{path} is for {head.library} on {head.machine}" for path, head in known[:MOST_NAMED])
    if len(known) > MOST_NAMED:
        others += f"; and {len(known) - MOST_NAMED} more"
    return Found(None, f"there are no tuned rules for {wanted.library} on {wanted.machine} ({others})")


def difference(path: Path, head: Head, wanted: Head) -> str | None:
    """What to say of a file that is not for this machine or library; None if it is."""
    if head == wanted:
        return None
    return f"{path} was tuned for {head.library} on {head.machine}; here is {wanted.library} on {wanted.machine}"


def library_of(
    line: launcher.CommandLine,
    cluster_text: str | None,
    wanted_mpi: str | None,
    environment: Mapping[str, str],
    chosen_abi: str,
) -> str:
    """What the MPI library of a command line's program, of this ABI, calls itself; Error if nobody knows."""
    if cluster_text is not None:
        more = mpi_library.of_program(line.words, wanted_mpi, environment, chosen_abi).environment
        where: Mapping[str, str] = {**environment, **more}
        programs = [(line.words, None)]
    else:
        where, programs = line.environment_of_programs(dict(environment)), list(line.programs())
    for words, directory in programs:
        with contextlib.suppress(Error):
            mpi = abi.of_program(words, directory, where)
            if mpi.path is not None and mpi.abi == chosen_abi:
                return version_of(mpi.path, where)
    raise Error("Rondo cannot see which MPI library the program uses")


def version_of(library: Path, environment: Mapping[str, str]) -> str:
    """What a library calls itself, as the benchmark driver writes it: "MPICH Version 5.0.2". Error if it does not say.

    A process of its own loads the library; MPI allows the call before MPI_Init.
    """
    try:
        result = subprocess.run(
            [sys.executable, "-c", VERSION_PROGRAM, str(library)],
            env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Error(f"cannot ask {library} for its version: {error}") from None
    plain = _core.plain_version(result.stdout)
    if result.returncode != 0 or not plain:
        raise Error(f"{library} does not say which version it is")
    return plain
