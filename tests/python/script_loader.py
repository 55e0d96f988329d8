# SPDX-License-Identifier: BSD-3-Clause
"""The programs of scripts/ and docs/benchmarks/making as modules, so that tests can call their parts."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "scripts", ROOT / "docs/benchmarks/making"]


def script(name: str) -> ModuleType:
    """A new module of NAME.py in one of them."""
    (folder,) = (each for each in FOLDERS if (each / f"{name}.py").exists())
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # for what the programs share
    specification = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(specification)  # dataclasses look there
    specification.loader.exec_module(module)
    return module


def _take_away() -> dict[str, ModuleType]:
    """All modules of these folders, which are imported anew after this."""
    folders = [str(each) for each in FOLDERS]
    found = {name: module for name, module in sys.modules.items() if _folder(module) in folders}
    for name in found:
        del sys.modules[name]
    return found


def _folder(module: ModuleType) -> str:
    return str(Path(getattr(module, "__file__", None) or "/").parent)


@contextlib.contextmanager
def script_of_its_own(name: str) -> Iterator[ModuleType]:
    """As script, with new modules of all that it imports from there: their caches know what data a test made."""
    shared = _take_away()
    try:
        yield script(name)
    finally:
        _take_away()
        sys.modules.update(shared)
