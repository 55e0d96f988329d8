# SPDX-License-Identifier: BSD-3-Clause
"""Emulated clusters: real MPI libraries on nodes that exist only in namespaces, behind a network of a given speed.

The engine is the program rondo-testbed (testbed/ in the sources); here are its directories and its life.
How each MPI library is started on it stands in launch_options.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rondo.cluster import launch_options
from rondo.cluster.shapes import Shape, parse
from rondo.errors import Error
from rondo.launching import installation, process
from rondo.launching.mpi_library import MpiLibrary
from rondo.machine import machine

START_SECONDS = 60.0
STOP_SECONDS = 30.0
SECONDS_PER_MESSAGE = 40e-6  # of some tens of KiB, on its way through a sender, the switch and a receiver
"""Of one processor, on either side of a message, with what the switch does for it."""
FIRST_NODE = "node0"  # the host name of ranks there; testbed/addresses.cpp
ONLY_NODES = re.compile(r"\d+x\d+")
"""A shape of which the network is missing."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


class Cluster:
    """A cluster that is up. As a context manager, it is down afterwards."""

    def __init__(self, directory: Path, shape: Shape, engine: subprocess.Popen[bytes] | None = None) -> None:
        """A handle; `start` and `find` make them."""
        self.directory = directory
        self.shape = shape
        self._engine = engine

    @property
    def name(self) -> str:
        """By which `find` knows it."""
        return self.directory.name

    def __enter__(self) -> Cluster:
        """Itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Ends the cluster and all that runs on it."""
        self.stop()

    def enter(self, node: str, words: Sequence[str]) -> list[str]:
        """The command that runs `words` on a node: node0, node1, ..., or head, where launchers run."""
        return [str(program()), "enter", str(self.directory), node, "--", *words]

    def command(
        self, library: MpiLibrary, ranks: int, words: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> list[str]:
        """The command that starts an MPI program on the nodes; the ranks, and only they, get the variables.

        Rondo, if it is preloaded, knows the figures of the cluster, unless the variables name other ones. Ranks fill
        node after node. Error if there are more than the nodes take.
        """
        if not 1 <= ranks <= self.shape.ranks:
            raise Error(f"{ranks} ranks on a cluster of {self.shape.ranks}: expected 1 to {self.shape.ranks}")
        line = launch_options.words(
            library,
            self.directory,
            self.shape.per_node,
            ranks,
            words,
            variables={machine.VARIABLE: str(self.directory / "machine"), **(variables or {})},
            shim=installation.patience_library(),
        )
        return self.enter("head", line)

    def environment(self, library: MpiLibrary, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment for `command`, beyond what is inherited."""
        return {**inherited, **library.environment, **launch_options.environment(library)}

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> int:
        """Runs a command (of `command` or `enter`) to its end, passing signals on. Its exit code."""
        return process.run(words, environment)

    def set(self, latency: float | None = None, rate: float | None = None) -> None:
        """Changes the network's latency (seconds) and rate (bit/s) while it runs."""
        settings = []
        if latency is not None:
            settings.append(f"latency-us={latency * 1e6:.12g}")
        if rate is not None:
            settings.append(f"rate-mbit={rate / 1e6:.12g}")
        _ask("set", str(self.directory), *settings)

    def statistics(self, *, reset: bool = False) -> dict[str, Any]:
        """What the switch counted, and its present figures; `reset` has the counters start again."""
        answer = _ask("stat", str(self.directory), *(["--reset"] if reset else []))
        statistics: dict[str, Any] = msgspec.json.decode(answer)
        return statistics

    def stop(self) -> None:
        """Ends the cluster and all that runs on it; nothing of it is left."""
        try:
            _ask("down", str(self.directory))
        finally:
            if self._engine is not None:
                _end(self._engine)
            shutil.rmtree(self.directory, ignore_errors=True)


def start(shape: Shape, name: str | None = None, *, detached: bool = False) -> Cluster:
    """A new cluster. It ends with this process, unless it is detached. Error if it cannot be: the message says why."""
    engine = program()
    remove_remains()
    directory = _new_directory(name)
    words = [str(engine), "up", "--directory", str(directory), "--nodes", str(shape.nodes)]
    words += ["--per-node", str(shape.per_node)]
    words += ["--latency-us", f"{shape.latency * 1e6:.12g}", "--rate-mbit", f"{shape.rate / 1e6:.12g}"]
    words += ["--lanes", str(shape.lanes), *(["--detached"] if detached else [])]
    words += ["--network", shape.network] if shape.network else []
    (directory / "shape").write_text(str(shape))
    (directory / "machine").write_text(machine_of(shape, os.cpu_count() or 1).text(f"emulated cluster {shape}"))
    # A file takes the messages: a pipe would keep whoever reads ours waiting for a detached engine.
    with (directory / "log").open("wb") as log:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_until_ready(child, directory)
    except BaseException:
        _end(child)
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return Cluster(directory, shape, child)


def machine_of(shape: Shape, processors: int) -> machine.Machine:
    """The figures by which segments are chosen. All ranks, and the switch, share the processors of one machine."""
    return dataclasses.replace(
        machine.standard(),
        alpha=shape.latency,
        beta=shape.seconds_per_byte,
        overhead=SECONDS_PER_MESSAGE * shape.ranks / processors,
        lanes=shape.lanes,
        network=shape.network or None,
    )


def find(name: str) -> Cluster:
    """The running cluster with this name. Error if there is none."""
    remove_remains()
    directory = clusters_directory() / name
    if not NAME.fullmatch(name) or not directory.is_dir():
        if ONLY_NODES.fullmatch(name):
            raise Error(f"{name} says nothing of the network; expected latency and rate as well: {name}:2ms:200Mbit")
        running = ", ".join(each.name for each in running_clusters()) or "none"
        raise Error(f"no cluster named {name} is running (running: {running}); start one with: rondo cluster up")
    return Cluster(directory, parse((directory / "shape").read_text()))


def running_clusters() -> list[Cluster]:
    """All clusters of this user, by name."""
    directories = [
        each for each in sorted(clusters_directory().iterdir()) if (each / "ready").exists() and is_alive(each)
    ]
    return [Cluster(each, parse((each / "shape").read_text())) for each in directories]


def is_alive(directory: Path) -> bool:
    """Whether the engine of a cluster's directory lives: it holds the lock."""
    try:
        with (directory / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def remove_remains() -> None:
    """Removes the directories that killed clusters left; nothing else is ever left of one."""
    for directory in clusters_directory().iterdir():
        # One that is just being started has no lock yet.
        with contextlib.suppress(OSError):
            if not is_alive(directory) and time.time() - directory.stat().st_mtime > START_SECONDS:
                shutil.rmtree(directory, ignore_errors=True)


def clusters_directory() -> Path:
    """Where the directories of this user's clusters lie. Paths are short: launchers put sockets there."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base and Path(base).is_dir():
        directory = Path(base) / "rondo"
    else:
        directory = Path(tempfile.gettempdir()) / f"rondo-{os.getuid()}"
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        owner = directory.stat().st_uid
    except OSError as error:
        raise Error(f"cannot make {directory} for the clusters' directories: {error.strerror}") from None
    if owner != os.getuid():
        raise Error(f"{directory} belongs to another user; set XDG_RUNTIME_DIR to a directory of your own")
    return directory


def program() -> Path:
    """The engine; Error if this installation has none."""
    return installation.testbed_program()


@contextlib.contextmanager
def opened(text: str) -> Iterator[Cluster]:
    """The running cluster with this name, or, if it is a shape, a new cluster that is down afterwards."""
    if ":" not in text:
        yield find(text)
        return
    with start(parse(text)) as cluster:
        yield cluster


def _new_directory(name: str | None) -> Path:
    if name is None:
        name = f"{os.getpid()}-{secrets.token_hex(3)}"
    elif not NAME.fullmatch(name):
        raise Error(f"cluster name {name!r}: expected letters, digits, '_', '-' and '.', at most 32")
    directory = clusters_directory() / name
    if directory.is_dir() and not is_alive(directory):
        shutil.rmtree(directory, ignore_errors=True)
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        raise Error(f"a cluster named {name} is running; end it with: rondo cluster down {name}") from None
    except OSError as error:
        raise Error(f"cannot make {directory}: {error.strerror}") from None
    return directory


def _wait_until_ready(engine: subprocess.Popen[bytes], directory: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not (directory / "ready").exists():
        if engine.poll() is not None:
            text = (directory / "log").read_text(errors="replace").strip()
            raise Error(text.removeprefix("rondo-testbed: ") or _end_of(engine.returncode))
        if time.monotonic() > deadline:
            raise Error(f"the emulated cluster was not up after {START_SECONDS:.0f} s")
        time.sleep(0.01)


def _end_of(code: int) -> str:
    how = f"by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"with exit code {code}"
    return f"the emulated cluster ended while it started, {how}; if this was not you, memory may have run out (dmesg)"


def _end(engine: subprocess.Popen[bytes]) -> None:
    engine.terminate()
    try:
        engine.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        engine.kill()
        engine.wait()


def _ask(*words: str) -> bytes:
    result = subprocess.run([str(program()), *words], capture_output=True, check=False, timeout=STOP_SECONDS)
    if result.returncode != 0:
        raise Error(result.stderr.decode(errors="replace").strip().removeprefix("rondo-testbed: "))
    return result.stdout
