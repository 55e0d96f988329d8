# SPDX-License-Identifier: BSD-3-Clause
"""The machine file: what messages and operations cost here, by which Rondo chooses the segments of pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rondo import _core, whole_file
from rondo.errors import Error
from rondo.launching import installation

VARIABLE = "RONDO_MACHINE"
STANDARD = "standard"
"""In place of a file: the figures of `standard()`."""


@dataclass(frozen=True)
class Machine:
    """The figures of a machine file."""

    alpha: float
    """Seconds that a message takes to arrive."""
    beta: float
    """Seconds per byte of a message."""
    overhead: float
    """Seconds that the processor needs for a message, on either side."""
    gamma: float
    """Seconds per byte that an operator produces."""
    alpha_inside: float | None = None
    """The same of messages inside a node, as are the next two; None: the standard figure."""
    beta_inside: float | None = None
    overhead_inside: float | None = None
    alpha_across: float | None = None
    """The same of messages between domains of a node, as are the next two; None: as inside one."""
    beta_across: float | None = None
    overhead_across: float | None = None
    lanes: int = 1
    """Of a node, through which its messages leave it and come in."""
    eager: int | None = None
    """Bytes of the longest message that the library sends without asking the receiver; None: by the library."""
    rendezvous: float | None = None
    """Seconds that longer messages take in addition; None: two latencies."""
    first_pass: float | None = None
    """Seconds per byte of the first pass of a prefix sum, over an array longer than caches; None: the standard one."""
    second_pass: float | None = None
    network: str | None = None
    """The network's shape, as in fat_tree:nodes=32,taper=2; None: not known. Only predictions use it."""

    def text(self, remarks: str = "") -> str:
        """A machine file, with remarks as comments on top."""
        head = "".join(f"# {line}\n" for line in remarks.splitlines())
        return head + "".join(self.lines(MEANINGS))

    def lines(self, keys: Iterable[str]) -> list[str]:
        """Those of a machine file for these keys."""
        return [f"{key} = {self._value(key)}  # {MEANINGS[key]}\n" for key in keys if getattr(self, key) is not None]

    def _value(self, key: str) -> str:
        value = getattr(self, key)
        if isinstance(value, str):
            return value
        return _core.quantity_text(value) if isinstance(value, int) else f"{value:.4g}"


MEANINGS = {
    "alpha": "seconds that a message takes to arrive",
    "beta": "seconds per byte of a message",
    "overhead": "seconds of the processor per message, on either side",
    "gamma": "seconds per byte that an operator produces",
    "alpha_inside": "the same inside a node",
    "beta_inside": "the same inside a node",
    "overhead_inside": "the same inside a node",
    "alpha_across": "the same between domains of a node",
    "beta_across": "the same between domains of a node",
    "overhead_across": "the same between domains of a node",
    "lanes": "of a node, which its ranks share",
    "eager": "bytes of the longest message that waits for no receiver",
    "rendezvous": "seconds that longer ones take in addition",
    "first_pass": "seconds per byte of the first pass of a prefix sum: the sum of a long array",
    "second_pass": "seconds per byte of the second: its running sums",
    "network": "its shape, for predictions",
}
INSIDE = ("alpha_inside", "beta_inside", "overhead_inside")
ACROSS = ("alpha_across", "beta_across", "overhead_across")


def text_with(text: str, figures: Machine, links: tuple[str, ...]) -> str:
    """The text of a machine file, with these figures of one class of links: INSIDE or ACROSS."""
    kept = [line for line in text.splitlines(keepends=True) if line.partition("=")[0].strip() not in links]
    return "".join([*kept, *figures.lines(links)])


def default_path(environment: Mapping[str, str]) -> Path:
    """Where the file lies unless it is named: rondo/machine in the user's configuration directory."""
    base = environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME") or "~").expanduser() / ".config"
    return Path(base) / "rondo" / "machine"


def known() -> dict[str, Path]:
    """Machines that come with Rondo, by their names: published figures of networks that many have."""
    return {path.stem: path for path in sorted(installation.MACHINES.glob("*.machine"))}


def find(named: str | None, environment: Mapping[str, str]) -> Path | None:
    """The absolute path of the file that is named, else of the default one if it is there; Error if it is malformed.

    None: the standard figures hold, by name or because there is no file. A name of `known` stands for that machine,
    unless there is a file of this name.
    """
    if named == STANDARD:
        return None
    if named is not None:
        return of_name(named)
    path = default_path(environment)
    if not path.is_file():
        return None
    read(path)
    return path.absolute()


def of_name(named: str) -> Path:
    """The absolute path of a file, or of a machine of `known`; Error if it is malformed."""
    path = Path(named)
    if not path.is_file():
        path = known().get(named, path)
    read(path)
    return path.absolute()


def read(path: Path) -> Machine:
    """The figures in a file; Error if it cannot be read, with the line if that is malformed."""
    try:
        figures = _core.read_machine(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        names = ", ".join(known())
        raise Error(
            f"cannot read the machine file {path}: {error.strerror}; `rondo calibrate` makes one, and these come with "
            f"Rondo: {names}"
        ) from None
    except UnicodeDecodeError:
        raise Error(f"cannot read the machine file {path}: not a text file") from None
    except ValueError as error:
        raise Error(str(error)) from None
    return Machine(**figures)


def standard() -> Machine:
    """The figures that are used where there is no file."""
    return Machine(**_core.standard_machine())


def write(path: Path, text: str) -> None:
    """Writes the file, and the directory if that is not there; Error if it cannot be."""
    hint = "; --output names another place"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}{hint}") from None
    whole_file.write(path, text.encode(), hint)
