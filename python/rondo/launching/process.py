# SPDX-License-Identifier: BSD-3-Clause
"""Runs a launcher as if Rondo were not there: its signals, its exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from rondo.errors import NOT_EXECUTABLE, NOT_FOUND, Error

FORWARDED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
IGNORED_BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}  # and else inherited by the command
FROM_KERNEL = 0x80  # SI_KERNEL: a key of the terminal, which the launcher gets as well
INTERVAL = 0.2  # seconds between two looks at the command, and two times of what there is to do meanwhile
OBEYS_WITHIN = 50  # intervals
PATIENCE = 2  # requests to end that the launcher is left to obey by itself


def replace(words: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Becomes the command."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = {number: signal.signal(number, signal.SIG_DFL) for number in IGNORED_BY_PYTHON}
    try:
        os.execvpe(words[0], list(words), dict(environment))
    except OSError as error:
        raise _cannot_run(words, error) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    code: int
    """Its exit code, 128 + n if signal n killed it."""
    request: signal.Signals | None
    """The first signal by which Rondo was asked to end it."""
    seconds: float
    """From just before its start until it had ended."""


def run(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the command to its end and gives its exit code, 128 + n if signal n killed it.

    Signals that ask Rondo to end or tell it something are passed on to the command; when it does not obey, the third
    request to end kills it.
    """
    return supervise(words, environment).code


def supervise(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: int | None = None,
    output: int | None = None,
    errors: int | None = None,
    meanwhile: Callable[[], bool] | None = None,
) -> Ending:
    """As `run`, with other file descriptors for the command's streams, and something to do all the while.

    When that returns true, the command is asked to end, and killed if it does not obey.
    """
    watched = FORWARDED | {signal.SIGCHLD}
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent that ignores it hands that down
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    streams = [(stream, number) for number, stream in enumerate((stdin, output, errors)) if stream is not None]
    started = time.monotonic()
    try:
        child = os.posix_spawnp(
            words[0],
            list(words),
            dict(environment),
            setsigmask=before,
            setsigdef=IGNORED_BY_PYTHON,
            file_actions=[(os.POSIX_SPAWN_DUP2, *each) for each in streams],
        )
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise _cannot_run(words, error) from None
    try:
        code, request = _wait(child, watched, meanwhile)
        return Ending(code, request, time.monotonic() - started)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(
    child: int, watched: set[signal.Signals], meanwhile: Callable[[], bool] | None
) -> tuple[int, signal.Signals | None]:
    requests: list[signal.Signals] = []
    rounds_since_asked = -1
    while True:
        received = signal.sigtimedwait(watched, INTERVAL)
        if meanwhile is not None and meanwhile():
            rounds_since_asked += 1
            if rounds_since_asked in (0, OBEYS_WITHIN):
                os.kill(child, signal.SIGTERM if rounds_since_asked == 0 else signal.SIGKILL)
        if received is None or received.si_signo == signal.SIGCHLD:  # another thread may have swallowed that
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code, requests[0] if requests else None
            continue
        if received.si_signo in ENDING:
            requests.append(signal.Signals(received.si_signo))
        if len(requests) > PATIENCE:
            os.kill(child, signal.SIGKILL)
        elif received.si_code != FROM_KERNEL:
            os.kill(child, received.si_signo)


def _cannot_run(words: Sequence[str], error: OSError) -> Error:
    code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    return Error(f"cannot run {words[0]}: {error.strerror}", code)


@contextlib.contextmanager
def requests_to_end() -> Iterator[list[signal.Signals]]:
    """Signals that ask the command to end: heard meanwhile, not obeyed. What is run gets them all the same.

    A handler is not handed down to what is run. What is ignored (nohup) is, and stays so.
    """
    heard: list[signal.Signals] = []
    caught = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda each, _: heard.append(signal.Signals(each))) for number in caught}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
