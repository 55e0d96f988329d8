# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the documents, run: each page's in their order, in a folder that has what a reader would have.

What only a cluster has is smaller here: fewer ranks, less time, MPICH's launcher in place of Slurm's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_libraries import LIBRARIES, reason_to_skip
from recorded_results import EXSCAN, recorded
from script_loader import script

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/explanation/guard.md", "docs/reference/rules.md", "docs/tutorial/first-run.md"]
PAGES += sorted(f"docs/how-to/{each.name}" for each in (ROOT / "docs" / "how-to").glob("*.md"))
SECONDS = 240
"""For each command."""

APP = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    float* values = calloc(65536, sizeof *values);
    for (int step = 0; step < 20; ++step) {
        long mine = 10 + rank, first = 0;
        MPI_Exscan(&mine, &first, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, values, 65536, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(values, 65536, MPI_FLOAT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        FILE* result = fopen("result.txt", "w");
        fprintf(result, "%d %g\\n", size, values[0]);
        fclose(result);
        puts("done");
    }
    free(values);
    MPI_Finalize();
}
"""
RULES = "exscan  bytes <= 4Ki -> doubling_123\n"
MADE_BEFORE = [
    "rondo profile --output profile.json -- mpiexec -n 2 ./app",
    "cp profile.json app.json; cp profile.json before.json; cp profile.json after.json",
    "rondo compare --runs 2 --output compare.json -- mpiexec -n 2 ./app",
    "rondo run --report report.json -- mpiexec -n 2 ./app",
    "rondo bench --map exscan --counts 1,1000 --seconds 2 --processes 2 --output map-allreduce -- mpiexec -n {p}",
    "rondo calibrate --cluster 2x2:2ms:200Mbit --mpi mpich --output emulated.machine",
    "cp emulated.machine cluster.machine",
    "rondo bench bcast --counts 1,256Ki --seconds 3 --output bcast.json --cluster 2x2:2ms:200Mbit --mpi openmpi",
    "rondo export allreduce/ring -n 4 --count 8Ki --type float --format msccl -o ring.xml",
    "rondo tune --minutes 0.1 --collectives exscan --bytes 8,1Ki -- mpiexec -n 2",
]
SMALLER = [
    (r"python3 script\.py", "./app"),
    (r"-- srun .*?(\./\S+)?$", r"-- mpiexec -n 2 \1"),
    (r"-- (mpiexec|mpirun) -n (\d{2,}|[5-9])", r"-- \1 -n 4"),
    (r"\b36x1:10ms", "6x1:10ms"),
    (r"\b36x1:5ms", "6x1:5ms"),
    (r"--nodes 36 --per-node 1", "--nodes 6 --per-node 1"),
    (r"--processes 64,32,16", "--processes 4,2"),
    (r"--processes 2\.\.16,24,32 --output map", "--processes 4,2 --counts 8,1Ki --output map-here"),
    (r"--counts 8:256Ki", "--counts 8,1Ki"),
    (r"calibrate --cluster 4x4", "calibrate --cluster 2x2"),
    (r"^rondo compare(?!.*--runs)", "rondo compare --runs 4"),
    (r"--counts 1:100000", "--counts 1,1000"),
    (r"--seconds 30", "--seconds 4"),
    (r"^rondo bench(?!.*(--seconds|--page))", "rondo bench --seconds 4"),
    (r"^rondo tune(?!.*(--minutes|--check))", "rondo tune --minutes 0.2"),
    (r"(?<=tune --minutes 0\.2)(?!.*--collectives)", " --collectives exscan --bytes 8,1Ki"),
    (r"/etc/xdg/rondo/tuned/", "system/"),
    (r"/shared/rondo/jobs", "jobs"),
    (r"~/\.config/rondo/tuned/MACHINE-LIBRARY\.rules", "$(ls ~/.config/rondo/tuned/*.rules | grep -v emulated)"),
    (r"~/\.config/rondo/tuned/x\.measured", "$(ls -td ~/.config/rondo/tuned/*.measured | head -1)"),
]
ELSEWHERE = {
    r"--page docs/benchmarks": "hours; tests/python/test_pages.py reads the same files",
    r"-hosts node1": "two machines",
    r"exscan=chain": "an algorithm that the page adds",
    r"\.bashrc|/opt/rondo": "installs for all users",
}
"""What is not run, and why."""
ENDS = {r"--fail-if-slower": {0, 1}, r"tune --check": {0, 1}, r"cluster check": {0, 1}}
"""Exit codes other than 0 that are an answer."""

pytestmark = pytest.mark.soak


def here(line: str) -> str:
    """The command as it is run."""
    for pattern, instead in SMALLER:
        line = re.sub(pattern, instead, line)
    return line.rstrip()


def told(line: str) -> str | None:
    """Why it is not run."""
    return next((why for pattern, why in ELSEWHERE.items() if re.search(pattern, line)), None)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs and files that pages speak of: a reader has made them by what other pages say."""
    if (reason := reason_to_skip("mpich") or reason_to_skip("openmpi")) is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("reader")
    library = LIBRARIES["mpich"]
    (folder / "app.c").write_text(APP)
    tutorial = (ROOT / "docs" / "tutorial" / "first-run.md").read_text()
    code = re.search(r"```c\n(.*?)```", tutorial, re.DOTALL)
    assert code is not None
    (folder / "offsets.c").write_text(code[1])
    for source, programs in (("app.c", ("app", "program")), ("offsets.c", ("offsets",))):
        built = library.compile(folder / source)
        for name in programs:
            shutil.copy(built, folder / name)
    shutil.copy(library.compile(ROOT / "examples" / "particle_filter.c", "-lm"), folder / "particle_filter")
    (folder / "complicated.sh").write_text('#!/bin/sh\nexec "$@"\n')
    (folder / "complicated.sh").chmod(0o755)
    for name in ("docs", "tuning", "examples"):  # some pages speak of a checkout
        (folder / name).symlink_to(ROOT / name)
    for name in ("my.rules", "mine.rules"):
        (folder / name).write_text(RULES)
    for name in ("results", "exscan", "mpich", "openmpi"):
        recorded(EXSCAN, folder).rename(folder / f"{name}.json")
    for name in ("system", "home", "jobs"):
        (folder / name).mkdir()
    for line in MADE_BEFORE:
        ended(line, folder, {0})
    return folder


def environment_in(folder: Path) -> dict[str, str]:
    """Of a reader who works in this folder and has its home there."""
    environment = {each: value for each, value in os.environ.items() if not each.startswith(("RONDO_", "XDG_"))}
    command = Path(shutil.which("rondo") or "").parent
    return {
        **environment,
        "HOME": str(folder / "home"),
        "PATH": f"{command}:{LIBRARIES['mpich'].prefix}:{os.environ['PATH']}",
        "RONDO_JOBS": str(folder / "jobs"),
    }


def ended(line: str, folder: Path, codes: set[int]) -> None:
    """Runs it; AssertionError if it ends with another exit code. Some ask for another try."""
    for _ in range(3):
        run = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=environment_in(folder), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if "try again on an idle machine" not in run.stderr:
            break
    assert run.returncode in codes, f"{line}\nended with {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}"


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path, prepared: Path) -> None:
    command_lines = script("document_checks").command_lines
    lines = [each for each in command_lines((ROOT / page).read_text(encoding="utf-8")) if told(each) is None]
    folder = tmp_path / "reader"
    shutil.copytree(prepared, folder, symlinks=True)
    failed = []
    for line in lines:
        codes = next((codes for pattern, codes in ENDS.items() if re.search(pattern, line)), {0})
        try:
            ended(here(line), folder, codes)
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            failed.append(f"{line}\n{problem}")
    assert not failed, "\n\n".join(failed)
