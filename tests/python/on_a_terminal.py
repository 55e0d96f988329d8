# SPDX-License-Identifier: BSD-3-Clause
"""Commands on a terminal of 80 columns."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Iterator

COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(*words: object, columns: int = COLUMNS) -> list[str]:
    """What a command prints on a terminal."""
    child, descriptor = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.environ.pop("COLUMNS", None)
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-m", "rondo", *map(str, words)])
    text = b"".join(pieces(descriptor)).decode()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text
    return ESCAPE.sub("", text).replace("\r", "").splitlines()


def pieces(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(descriptor, 1 << 16)
        except OSError:  # the other side has ended
            return
        if not piece:
            return
        yield piece
