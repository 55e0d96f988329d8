# SPDX-License-Identifier: BSD-3-Clause
"""Starts the command of an installation below a prefix. Python 3.6 can read this file, to say which one is needed."""

import importlib.util
import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
NEEDED = ("click", "rich", "msgspec")
ANOTHER = "name another with RONDO_PYTHON=/path/to/python3"


def complaint() -> str:
    """Why this Python cannot run the command; nothing if it can."""
    here = f"{sys.executable} (Python {sys.version_info[0]}.{sys.version_info[1]})"
    if sys.version_info < (3, 10):  # noqa: UP036 (that is what this is for)
        return f"{here} is too old, 3.10 or newer is needed: {ANOTHER}"
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        return f"{here} has no {', '.join(missing)}: install them with its pip, or {ANOTHER}"
    if importlib.util.find_spec("rondo._core") is None:
        return f"{here} is not the Python that this installation is for: {ANOTHER}"
    return ""


if HERE not in sys.path:  # Python puts it there itself, but for PYTHONSAFEPATH
    sys.path.insert(0, HERE)
trouble = complaint()
if trouble:
    sys.exit(f"rondo: {trouble}")

from rondo.commands import main  # noqa: E402

main(prog_name="rondo")
