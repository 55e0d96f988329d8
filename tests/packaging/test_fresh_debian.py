# SPDX-License-Identifier: BSD-3-Clause
"""The README's commands on a fresh Debian, as root and as an ordinary user. What is tried: scripts/fresh_debian.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fresh_debian.py"
UNTRIABLE = 77


@pytest.mark.soak
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
@pytest.mark.parametrize("user", ["root", "user"])
def test_the_commands_of_the_readme_work(suite: str, user: str) -> None:
    result = subprocess.run([sys.executable, SCRIPT, suite, user], capture_output=True, text=True, check=False)
    if result.returncode == UNTRIABLE:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stdout + result.stderr
