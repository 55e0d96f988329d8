# SPDX-License-Identifier: BSD-3-Clause
"""The programs of this machine do not notice the preload library of a site."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from site_preload import site_library

pytestmark = pytest.mark.soak

PROGRAMS = Path("/usr/bin")
SECONDS = 5  # a program that takes longer waits for somebody
FEWEST = 100  # that answer on any machine with a compiler
NOBODY = 65534


@dataclass(frozen=True)
class Answer:
    code: int
    stdout: bytes
    stderr: bytes


def ask(program: Path, folder: Path, preload: Path | None) -> Answer | None:
    """What the program says of its version; None if it does not come to an end. It may do no harm: it is nobody's."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    if preload is not None:
        environment["LD_PRELOAD"] = str(preload)
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(
        [program, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=folder, env=environment, start_new_session=True, **user,
    ) as process:  # fmt: skip
        try:
            stdout, stderr = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    return Answer(process.returncode, stdout, stderr)


def test_every_program_that_tells_its_version_tells_the_same() -> None:
    folder = Path("/tmp") / f"rondo-site-{os.getpid()}"  # where nobody may go
    folder.mkdir(mode=0o777)
    folder.chmod(0o1777)
    try:
        library = Path(shutil.copy(site_library(), folder))
        different, asked = [], 0

        def compare(program: Path) -> tuple[Path, Answer | None, Answer | None] | None:
            try:
                natively = ask(program, folder, None)
                if natively is None or natively.code != 0 or not natively.stdout:
                    return None
                answer = ask(program, folder, library)
                if answer == natively:
                    return program, None, None
                again = ask(program, folder, None)
            except OSError:  # a script whose interpreter is not there
                return None
            return (program, natively, answer) if again == natively else None

        programs = [path for path in sorted(PROGRAMS.iterdir()) if path.is_file() and os.access(path, os.X_OK)]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for result in pool.map(compare, programs):
                if result is not None:
                    asked += 1
                    if result[1] is not None:
                        different.append(result)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert different == []
    print(f"{asked} of {len(programs)} programs tell their version, and the same with librondo.so")
    assert asked >= FEWEST
