# SPDX-License-Identifier: BSD-3-Clause
"""`mpi4py`: its wheel from PyPI, with its own tests from its source distribution."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from mpi_libraries import BUILD

REQUIREMENT = "mpi4py==4.1.2"


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if result.returncode != 0:
        pytest.skip(f"{REQUIREMENT} cannot be had: {result.stderr.strip()[-300:]}")


@pytest.fixture(scope="session")
def mpi4py() -> Path:
    """A folder with the wheel in site/ and mpi4py's tests in test/."""
    folder = BUILD / REQUIREMENT.replace("==", "-")
    if not folder.is_dir():
        partial = folder.with_suffix(".part")
        shutil.rmtree(partial, ignore_errors=True)
        pip("install", "--no-deps", "--only-binary", ":all:", "--target", partial / "site", REQUIREMENT)
        # Only mpi4py from source: what pip needs to read its name may come as wheels.
        pip("download", "--no-deps", "--no-binary", "mpi4py", "--dest", partial, REQUIREMENT)
        with tarfile.open(next(partial.glob("*.tar.gz"))) as archive:
            if hasattr(tarfile, "data_filter"):  # not in all 3.10 and 3.11
                archive.extractall(partial, filter="data")
            else:
                archive.extractall(partial)
        next(partial.glob("mpi4py-*/test")).rename(partial / "test")
        partial.rename(folder)
    return folder
