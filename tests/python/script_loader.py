# SPDX-License-Identifier: BSD-3-Clause
"""The programs of scripts/ as modules, so that tests can call their parts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def script(name: str) -> ModuleType:
    """A new module of scripts/NAME.py."""
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))  # for what the scripts share
    specification = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(specification)  # dataclasses look there
    specification.loader.exec_module(module)
    return module
