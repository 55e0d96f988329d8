# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run`: what it refuses, what it would run, what it runs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rondo.launching import installation, process

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def app(stand_in_program) -> Path:
    return stand_in_program("libmpi.so.12", "app")


@pytest.fixture
def mpiexec(stand_in_launcher, installed, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return stand_in_launcher("hydra")


def refusal(result) -> str:
    """What a run that was refused says."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("exscn=doubling_123", "--use exscn=doubling_123: Rondo has no collective 'exscn'; did you mean 'exscan'?"),
        ("exscan=doublng", "exscan has no algorithm 'doublng'; "),
        ("exscan=linear_pipeline:segmnt=1", "has no parameter 'segmnt'; did you mean 'segment'?"),
        ("exscan=linear_pipeline:segment=0", "segment=0 is out of range; expected 1 to 1024Gi bytes"),
        ("exscan", "expected COLLECTIVE=ALGORITHM, as in exscan=doubling_123"),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_starts(rondo, use, expected):
    message = refusal(rondo("run", "--use", use, "--", "no-such-launcher"))
    assert expected in message
    assert len(message.splitlines()) == 1


def test_a_collective_can_be_named_once_only(rondo):
    message = refusal(rondo("run", "--use", "scan=doubling", "--use", "scan=native", "--", "no-such-launcher"))
    assert "scan was named before" in message


def test_a_choice_in_the_environment_is_checked_too(rondo, monkeypatch):
    monkeypatch.setenv("RONDO_SCAN", "doublng")
    assert refusal(rondo("run", "--", "no-such-launcher")).startswith("rondo: RONDO_SCAN=doublng: scan has no")


def test_wrong_rules_are_refused_with_file_and_line(rondo, tmp_path):
    rules = tmp_path / "my.rules"
    rules.write_text("# mine\nexscan byts < 3 -> native\n")
    message = refusal(rondo("run", "--rules", rules, "--", "no-such-launcher"))
    assert message == f"rondo: {rules}:2: unknown condition 'byts'; did you mean 'bytes'?\n"
    rules.write_bytes(b"\xff\xfe")
    assert "not a text file" in refusal(rondo("run", "--rules", rules, "--", "no-such-launcher"))
    assert "No such file" in refusal(rondo("run", "--rules", "missing.rules", "--", "no-such-launcher"))


def test_a_rule_that_never_decides_is_a_warning(rondo, mpiexec, app):
    rules = Path("my.rules").absolute()
    rules.write_text("exscan bytes < 8 -> native\nexscan bytes >= 8 -> native\n# mine\nexscan -> doubling_123\n")
    result = rondo("run", "--rules", rules, "--dry-run", "--", mpiexec, app)
    assert result.exit_code == 0
    assert result.stderr == (
        f"rondo: warning: {rules}:4: this rule never decides: {rules}:1 and {rules}:2 together match all its calls\n"
    )


def test_the_report_is_a_json_file_in_a_directory_that_exists(rondo, tmp_path):
    message = refusal(rondo("run", "--report", "mpiexec", "-n", "2", "./app"))
    assert "--report mpiexec: expected a file that ends in .json; put -- before the launcher" in message
    message = refusal(rondo("run", "--report", tmp_path / "missing" / "r.json", "--", "no-such-launcher"))
    assert "cannot write into" in message


def test_an_unknown_option_is_not_taken_for_a_launcher(rondo):
    for words in (["--ruls", "x"], ["--ruls=x"]):
        message = refusal(rondo("run", *words, "--", "mpiexec"))
        assert "No such option" in message
        assert "--rules" in message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rnu"], "No such command 'rnu'; did you mean 'run'?"),
        (["clutser", "up"], "No such command 'clutser'; did you mean 'cluster'?"),
        (["xyzzy"], "No such command 'xyzzy'; expected one of: bench, calibrate, cluster, compare, "),
        (["run", "--reprot", "--", "mpiexec"], "'--report'"),
        (["cluster", "dwon"], "No such command 'dwon'; did you mean 'down'?"),
        (["bench", "exscan", "--coutns", "1"], "'--counts'"),
    ],
)
def test_misspelt_commands_and_options_come_with_the_nearest(rondo, words, expected):
    assert expected in refusal(rondo(*words))


def test_a_launcher_is_needed(rondo):
    assert "Missing argument" in refusal(rondo("run"))
    result = rondo("run", "--rules", "none", "--", "no-such-launcher", "-n", "2", "./app")
    assert (result.exit_code, result.stderr) == (
        127,
        "rondo: cannot run no-such-launcher: there is no such program on PATH\n",
    )


def test_what_starts_others_is_told_where_rondo_belongs(rondo, tmp_path, monkeypatch):
    shutil.copy(shutil.which("true"), tmp_path / "make")
    (tmp_path / "sbatch").write_text('#!/bin/sh\nexec /opt/slurm/bin/sbatch "$@"\n')
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for words in (["sbatch", "job.sh"], ["make", "test"], ["env", "A=1", "salloc", "-n", "4"]):
        starter = words[2] if words[0] == "env" else words[0]
        assert f"{starter} starts other programs: put `rondo run --` before the launcher" in refusal(
            rondo("run", "--", *words)
        )


def test_a_program_is_needed(rondo, mpiexec):
    assert "there is no program in this command line" in refusal(rondo("run", "--", mpiexec, "-n", "2"))
    result = rondo("run", "--", mpiexec, "-n", "2", "./missing")
    assert (result.exit_code, result.stderr) == (127, "rondo: cannot run ./missing: there is no such file\n")
    Path("data").write_text("1 2 3\n")
    result = rondo("run", "--", mpiexec, "-n", "2", "data")
    assert (result.exit_code, result.stderr) == (
        126,
        "rondo: cannot run data: data is not executable (chmod +x data)\n",
    )


def test_the_command_line_is_shown_and_not_run(rondo, mpiexec, app, installed):
    result = rondo("run", "--use", "exscan=linear_pipeline", "--dry-run", "--", mpiexec, "-n", "2", app, "a b")
    library, rules = installed / "librondo_mpich.so", installed / "default.rules"
    assert result.exit_code == 0
    assert result.stdout == (
        f"{mpiexec} -genv LD_PRELOAD {library} -genv RONDO_EXSCAN linear_pipeline:segment=auto "
        f"-genv RONDO_RULES {rules} -n 2 {app} 'a b'\n"
    )


def test_rules_are_the_installed_ones_or_those_named_or_none(rondo, mpiexec, app, installed, monkeypatch):
    own = Path("my.rules").absolute()
    own.write_text("scan -> native")

    def rules_in(*options: str) -> str | None:
        words = shlex.split(rondo("run", *options, "--dry-run", "--", mpiexec, app).stdout)
        return words[words.index("RONDO_RULES") + 1] if "RONDO_RULES" in words else None

    assert rules_in() == str(installed / "default.rules")
    assert rules_in("--rules", "my.rules") == str(own)
    assert rules_in("--rules", "none") is None
    monkeypatch.setenv("RONDO_RULES", "my.rules")
    assert rules_in() == str(own)
    assert rules_in("--rules", "none") is None


def test_nodes_are_handed_to_the_ranks_or_refused(rondo, mpiexec, app, monkeypatch):
    def nodes_in(*options: str) -> str | None:
        words = shlex.split(rondo("run", *options, "--dry-run", "--", mpiexec, app).stdout)
        return words[words.index("RONDO_NODES") + 1] if "RONDO_NODES" in words else None

    assert nodes_in() is None
    assert nodes_in("--nodes", "4,4,3") == "4,4,3"
    monkeypatch.setenv("RONDO_NODES", "4x8")
    assert nodes_in() == "4x8"
    assert nodes_in("--nodes", "2x2") == "2x2"
    message = refusal(rondo("run", "--nodes", "4y8", "--", mpiexec, app))
    assert message.startswith("rondo: --nodes: '4y8' says no nodes; expected NODESxRANKS, as in 4x8")


def test_the_guard_is_on_unless_it_is_switched_off(rondo, mpiexec, app, monkeypatch):
    def line(*options: str) -> str:
        return rondo("run", *options, "--dry-run", "--", mpiexec, app).stdout

    assert "RONDO_GUARD" not in line()  # by the environment of all tests
    monkeypatch.setenv("RONDO_GUARD", "free")
    assert "RONDO_GUARD free" in line()
    assert "RONDO_GUARD" not in line("--guard", "off")
    monkeypatch.delenv("RONDO_GUARD")
    monkeypatch.setenv("XDG_STATE_HOME", "/nowhere")
    assert "RONDO_GUARD exact -genv RONDO_LEARNED /nowhere/rondo/learned" in line()
    assert "RONDO_LEARNED" not in line("--learned", "none")
    assert "RONDO_GUARD" not in line("--rules", "none")
    assert "'dog' is not one of 'off', 'exact', 'free'" in refusal(rondo("run", "--guard", "dog", "--", mpiexec, app))


def test_what_the_guard_finds_out_is_lost_aloud(rondo, mpiexec, app, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RONDO_GUARD", "exact")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(process, "replace", lambda *_: None)  # the launcher runs beside the test, not in its place
    lost = f"cannot make {tmp_path}/file/rondo/learned: Not a directory"
    run = rondo("run", "--", mpiexec, app)
    assert run.stderr.count(f"rondo: warning: {lost}; what the guard finds out is lost") == 1
    assert "warning" not in rondo("run", "--learned", "none", "--", mpiexec, app).stderr
    assert refusal(rondo("run", "--learn", "--", mpiexec, app)).startswith(f"rondo: {lost}")


def test_a_launcher_is_not_needed_in_front_of_the_program(rondo, mpiexec, app, installed):
    result = rondo("run", "--rules", "none", "--dry-run", "--", app, "-x")
    assert result.stdout == f"LD_PRELOAD={installed}/librondo_mpich.so {app} -x\n"


def test_an_abi_that_contradicts_the_program_is_refused(rondo, mpiexec, app):
    message = refusal(rondo("run", "--abi", "openmpi", "--", mpiexec, app))
    assert f"--abi openmpi contradicts the program: {app} uses libmpi.so.12, which is mpich" in message


@pytest.mark.parametrize("words", [("python",), ("nice", "python"), ("script.sh",)], ids=" ".join)
def test_an_abi_that_is_named_stands_above_what_mpi4py_would_load(rondo, mpiexec, stand_in_program, monkeypatch, words):
    stand_in_program("libmpi.so.40", "python")  # which ends as a Python without mpi4py does, unless it is asked
    package = Path("packages/mpi4py")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class rc: initialize = True\n")
    library = Path("python_files/libmpi.so.40").absolute()
    (package / "MPI.py").write_text(f"import ctypes\nctypes.CDLL({str(library)!r})\n")
    monkeypatch.setenv("PYTHONPATH", str(package.parent.absolute()))
    Path("script.sh").write_text(f"#!/bin/sh\n{sys.executable} script.py\n")
    Path("script.sh").chmod(0o755)
    program = [{"python": sys.executable, "script.sh": "./script.sh"}.get(each, each) for each in words]
    message = refusal(rondo("run", "--dry-run", "--", mpiexec, *program))  # by what is guessed
    assert message.endswith(", or say that the program uses another MPI: --abi mpich\n")
    result = rondo("run", "--abi", "mpich", "--dry-run", "--", mpiexec, *program)
    assert result.exit_code == 0, result.stderr
    assert "librondo_mpich.so" in result.stdout
    assert result.stderr == (
        f"rondo: warning: --abi mpich holds, although mpi4py of {program[0]} would load libmpi.so.40, which is "
        "openmpi\n"
    )


def test_an_abi_without_a_preload_library_is_refused(rondo, mpiexec, app, installed):
    (installed / "librondo_mpich.so").unlink()
    message = refusal(rondo("run", "--", mpiexec, app))
    assert "no library for the mpich ABI (only for: mpiabi, openmpi)" in message


def test_an_installation_that_cannot_be_preloaded_is_refused(rondo, mpiexec, app, installed, monkeypatch):
    moved = installed.rename(installed.parent / "in stalled")
    monkeypatch.setattr(installation, "LIBRARIES", moved)
    monkeypatch.setattr(installation, "DEFAULT_RULES", moved / "default.rules")
    assert "cannot be preloaded" in refusal(rondo("run", "--", mpiexec, app))


def test_a_wrapper_that_cannot_be_looked_through_needs_the_abi(rondo, mpiexec, app):
    message = refusal(rondo("run", "--", mpiexec, "xargs", app))
    assert "xargs does not use MPI" in message
    assert "say which MPI that is, as in: rondo run --abi mpich -- ... (or openmpi, mpiabi)" in message
    result = rondo("run", "--abi", "mpich", "--dry-run", "--", mpiexec, "xargs", app)
    assert "librondo_mpich.so" in result.stdout


@pytest.mark.parametrize("options", [(), ("--abi", "mpich")])
def test_a_wrapper_that_takes_the_preload_away_is_refused(rondo, mpiexec, app, options):
    message = refusal(rondo("run", *options, "--", mpiexec, "env", "-i", "A=1", app))
    assert message.startswith("rondo: env -i takes Rondo's LD_PRELOAD away from the program; ")


def test_programs_in_a_file_need_the_abi(rondo, mpiexec):
    assert "with -configfile, Rondo does not see" in refusal(rondo("run", "--", mpiexec, "-configfile", "jobs"))
    result = rondo("run", "--abi", "mpich", "--dry-run", "--", mpiexec, "-configfile", "jobs")
    assert "librondo_mpich.so" in result.stdout


def test_several_programs_must_use_one_mpi(rondo, mpiexec, app, stand_in_program):
    other = stand_in_program("libmpi.so.40", "other")
    message = refusal(rondo("run", "--", mpiexec, "-n", "1", app, ":", "-n", "1", other))
    assert "these programs use different MPIs" in message


def test_a_report_of_nobody_is_said_and_the_exit_code_kept(rondo, mpiexec, app, tmp_path, capfd):
    result = rondo("run", "--report", "merged.json", "--", mpiexec, app)
    assert result.exit_code == 7
    assert "no rank left a report" in result.stderr
    assert json.loads((tmp_path / "merged.json").read_text())["entries"] == []
    assert not list(tmp_path.glob(".rondo-report-*"))
    words = capfd.readouterr().out.splitlines()
    directory = Path(words[words.index("RONDO_REPORT") + 1])
    assert directory.is_absolute()
    assert directory.name.startswith(".rondo-report-")


def test_a_report_names_programs_that_are_left_out(rondo, mpiexec, app, monkeypatch):
    monkeypatch.setenv("RONDO_EXCEPT_PROGRAMS", Path(app).name)
    said = f"rondo: {app}: left to the MPI library, by except_programs"
    assert said in rondo("run", "--report", "merged.json", "--", mpiexec, app).stderr
    assert "left to the MPI library" not in rondo("run", "--dry-run", "--", mpiexec, app).stderr
    monkeypatch.delenv("RONDO_EXCEPT_PROGRAMS")
    assert "left to the MPI library" not in rondo("run", "--report", "merged.json", "--", mpiexec, app).stderr


def test_a_signal_while_the_report_is_made_does_not_cost_it(mpiexec, app, tmp_path):
    # Whoever writes into a pipe waits for a reader.
    merged, said = tmp_path / "merged.json", tmp_path / "said"
    os.mkfifo(merged)
    words = ["run", "--abi", "mpich", "--rules", "none", "--report", merged, "--", mpiexec, app]
    with said.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "rondo", *map(str, words)], stdout=subprocess.DEVNULL, stderr=stderr
        )
    try:
        deadline = time.monotonic() + 30
        while "no rank left a report" not in said.read_text():
            assert process.poll() is None and time.monotonic() < deadline, said.read_text()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        reader = os.open(merged, os.O_RDONLY | os.O_NONBLOCK)  # so that nobody waits for a writer that is gone
        assert process.wait(30) == 7
        report = json.loads(os.read(reader, 65536))
        os.close(reader)
    finally:
        process.kill()
    assert report["entries"] == []
    assert not list(tmp_path.glob(".rondo-report-*"))


def test_the_rules_in_the_repository_are_well_formed():
    from rondo import _core  # noqa: PLC0415

    path = ROOT / "tuning" / "default.rules"
    assert _core.check_rules(path.read_text(), str(path)) == []


# ------------------------------------------------------------------------------------------ real launchers

PRINT = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s %s\\n", rank, getenv("LD_PRELOAD"), getenv("RONDO_EXSCAN"));
    fflush(stdout);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def run_for_real(
    mpi, directory: Path, *words: object, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """`rondo run` as a process of its own, in front of the library's launcher."""
    ranks = [word for name, value in mpi.patience.items() for word in _passed(mpi, name, value)]
    command = ["-m", "rondo", "run", *options, "--", mpi.prefix / mpi.launcher, *mpi.launcher_options, *ranks, *words]
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=directory,
        env={**os.environ, **mpi.environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _passed(mpi, name: str, value: str) -> list[str]:
    return ["-x", f"{name}={value}"] if mpi.is_openmpi else ["-genv", name, value]


@pytest.fixture
def printing_program(mpi, tmp_path) -> Path:
    if not (installation.LIBRARIES / f"librondo_{mpi.abi}.so").is_file():
        pytest.skip(f"no preload library for {mpi.abi} in {installation.LIBRARIES}")
    source = tmp_path / "print.c"
    source.write_text(PRINT)
    return mpi.compile(source)


def test_a_real_launcher_gives_ranks_the_environment(mpi, printing_program, tmp_path):
    result = run_for_real(mpi, tmp_path, "-n", "2", printing_program, options=("--use", "exscan=doubling_123"))
    library = installation.preload_library(mpi.abi)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"rank {rank}: {library} doubling_123" for rank in range(2)]


def test_real_ranks_of_two_programs_get_the_environment(mpi, printing_program, tmp_path):
    words = ["-n", "1", printing_program, ":", "-n", "1", printing_program]
    result = run_for_real(mpi, tmp_path, *words, options=("--use", "exscan=linear_pipeline:segment=1Ki"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("linear_pipeline:segment=1Ki") == 2


def test_a_real_launcher_s_exit_code_is_kept(mpi, printing_program, tmp_path):
    for options in ((), ("--report",)):
        assert run_for_real(mpi, tmp_path, "-n", "1", printing_program, "3", options=options).returncode == 3


@pytest.mark.parametrize("choice", ["doubling_123", "linear_pipeline:segment=4Ki"])  # longer than the vector
def test_a_report_says_which_algorithm_ran(mpi, printing_program, tmp_path, choice):
    options = ("--use", f"exscan={choice}", "--report", "merged.json")
    result = run_for_real(mpi, tmp_path, "-n", "3", printing_program, options=options)
    assert result.returncode == 0, result.stderr
    (entry,) = [
        each for each in json.loads((tmp_path / "merged.json").read_text())["entries"] if each["collective"] == "exscan"
    ]
    name = choice.partition(":")[0]
    assert (entry["algorithm"], entry["ranks"], entry["total_calls"]) == (name, 3, 3)
    assert name in result.stderr
    assert "refuses" not in result.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".rondo")] == []


def test_the_console_script_is_installed():
    if shutil.which("rondo") is None:
        pytest.skip("the package is not installed in this environment")
    assert subprocess.run(["rondo", "--help"], capture_output=True, check=False).returncode == 0
