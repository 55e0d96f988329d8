# SPDX-License-Identifier: BSD-3-Clause
"""librondo.so, which a site preloads into everything, in front of programs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mpi_libraries import BUILD, PROGRAMS, MpiLibrary, Run, preload_library


def site_library() -> Path:
    """It lies beside the libraries for the ABIs."""
    library = preload_library("mpich").with_name("librondo.so")
    if not library.exists():
        pytest.skip(f"no {library}")
    return library


def run_on_site(
    mpi: MpiLibrary,
    command: Sequence[object],
    ranks: int,
    *,
    environment: Mapping[str, str] | None = None,
    **forced: str | None,
) -> Run:
    """As the launcher starts it where librondo.so is preloaded. `{site}` stands for it in an LD_PRELOAD."""
    variables = {"LD_PRELOAD": "{site}", **(environment or {})}
    variables["LD_PRELOAD"] = variables["LD_PRELOAD"].replace("{site}", str(site_library()))
    return mpi.run_under_rondo(command, ranks, environment=variables, **forced)


def compiled_without_mpi(source: str, *flags: str) -> Path:
    """Executable of a source in tests/mpi."""
    target = BUILD / "plain" / Path(source).stem
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O1", "-o", target, PROGRAMS / source, *flags, "-ldl"], check=True, timeout=60)
    return target
