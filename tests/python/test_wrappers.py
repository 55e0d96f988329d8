# SPDX-License-Identifier: BSD-3-Clause
"""Looking through what stands in front of a program: wrappers, shells, scripts."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rondo.errors import Error
from rondo.launching import abi, installation, shell, wrappers


def started(words: str, **environment: str) -> wrappers.Start:
    """What stands behind all wrappers."""
    start = wrappers.Start(shlex.split(words), None, environment)
    while (inner := wrappers.behind(start)) is not None:
        start = inner
    return start


def programs(text: str, *arguments: str, **environment: str) -> list[str]:
    """The programs in a shell's text, with their arguments."""
    start = wrappers.Start(["script"], "/start", environment)
    return [shlex.join(each.words) for each in shell.programs(text, list(arguments), start)]


@pytest.mark.parametrize(
    "words",
    [
        "env ./app -n 1",
        "env -i A=1 B=2 ./app -n 1",
        "env - A=1 ./app -n 1",
        "env -u X --unset=Y -C / --chdir / ./app -n 1",
        "env -S 'A=1 ./app -n' 1",
        "nice ./app -n 1",
        "nice -n 5 ./app -n 1",
        "nice -5 ./app -n 1",
        "nice --adjustment=5 ./app -n 1",
        "taskset -c 0,1 ./app -n 1",
        "taskset 0x3 ./app -n 1",
        "numactl --membind=0 --cpunodebind 1 ./app -n 1",
        "numactl -m 0 -N1 -l -- ./app -n 1",
        "stdbuf -oL -e 0 ./app -n 1",
        "time -p -o file ./app -n 1",
        "/usr/bin/time -f %e ./app -n 1",
        "timeout -k 5 --signal KILL 60 ./app -n 1",
        "chrt -f 10 ./app -n 1",
        "ionice -c 2 -n 7 ./app -n 1",
        "setsid -w nohup task_affinity ./app -n 1",
        "env A=1 nice -n 3 taskset -c 0 ./app -n 1",
    ],
)
def test_the_program_is_what_comes_after_the_wrappers(words):
    assert started(words).words == ["./app", "-n", "1"]


@pytest.mark.parametrize("words", ["./app nice ./b", "xargs ./app", "env", "env -i A=1", "nice -n 5", "taskset 3"])
def test_what_wraps_nothing_is_the_program_itself(words):
    assert started(words).words == shlex.split(words)


def test_env_changes_the_environment_and_the_directory():
    assert started("env A=1 B= ./app", A="0", C="3").environment == {"A": "1", "B": "", "C": "3"}
    assert started("env -i A=1 ./app", C="3").environment == {"A": "1"}
    assert started("env -u C -u D ./app", C="3").environment == {}
    assert started("env -C sub ./app").directory == "sub"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("env -i ./app", "env -i"),
        ("env -vi A=1 nice ./app", "env -i"),
        ("env -u LD_PRELOAD ./app", "env -u LD_PRELOAD"),
        ("env LD_PRELOAD=/a.so ./app", "LD_PRELOAD=/a.so"),
        ("env LD_PRELOAD=/r/librondo_mpich.so:/a.so ./app", None),
        ("env -u A B=1 ./app", None),
    ],
)
def test_it_is_seen_what_takes_the_preload_away(words, expected):
    assert started(words).takes_preload == expected


@pytest.mark.parametrize(
    "text",
    [
        "./app -x",
        "exec ./app -x",
        "#!/bin/bash -l\n# don't mind\nset -e  # it's fine\n\n. ./setup.sh\nulimit -s unlimited; exec ./app -x\n",
        "export A=1 B=$LOCAL_RANK && ./app -x > out.$A 2>&1 < /dev/null",
        "APP=./app\n$APP -x",
        "OMP_NUM_THREADS=4 ./app \\\n  -x",
        "umask 22; ./app -x >& log",
        "time -p ./app '-x'",
    ],
)
def test_plain_commands_of_a_shell_are_read(text):
    assert programs(text) == ["./app -x"]


def test_a_shell_gives_its_arguments_on():
    assert programs('exec "$@"', "./app", "a b") == ["./app 'a b'"]
    assert programs("export GPU=$1\nshift\n$1 $GPU", "3", "./app") == ["./app 3"]


def test_every_command_that_may_be_a_program_is_found():
    assert programs("hostname; ./app | tee log || ./other &\nwait") == ["hostname", "./app", "tee log", "./other"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("if true; then ./app; fi", "it has 'if true'"),
        ("for i in 1 2; do ./app; done", "it has 'for i in 1 2'"),
        ("$APP -x", "it has '.*APP"),
        ("A=$(hostname) ./app", r"it has '\('"),
        ("`which app` -x", "it has '"),
        ("./app <<END\ninput\nEND", "it has '<<'"),
        ("f() { ./app; }", r"it has '\(\)'"),
        ("./app 'open", "no closing quotation"),
        ("eval ./app", "it has 'eval ./app'"),
    ],
)
def test_what_is_not_plain_is_not_guessed(text, reason):
    with pytest.raises(shell.UnreadableError, match=reason):
        programs(text)


def test_a_shell_changes_directory_and_environment_for_what_follows():
    start = wrappers.Start(["script"], "/start", {"A": "0"})
    first, second = shell.programs("B=2 ./a\ncd sub; A=1; C=3; export D=4; unset E; ./b", [], start)
    assert (first.directory, first.environment) == ("/start", {"A": "0", "B": "2"})
    assert (second.directory, second.environment) == ("/start/sub", {"A": "1", "D": "4"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unset LD_PRELOAD; ./app", "unset LD_PRELOAD"),
        ("export LD_PRELOAD=/a.so\n./app", "export LD_PRELOAD=/a.so"),
        ("LD_PRELOAD=$LD_PRELOAD:/a.so ./app", None),
    ],
)
def test_a_shell_may_take_the_preload_away(text, expected):
    (program,) = shell.programs(text, [], wrappers.Start(["script"], None, {"LD_PRELOAD": "/b.so"}))
    assert program.takes_preload == expected


# ------------------------------------------------------------------------------------------ down to the library


def script(directory: Path, text: str) -> Path:
    path = directory / "wrapper"
    path.write_text(text)
    path.chmod(0o755)
    return path


def of(*words: object) -> abi.Mpi:
    return abi.of_program([str(word) for word in words], None, os.environ)


def test_the_mpi_behind_a_script_is_seen(stand_in_program, tmp_path):
    app = stand_in_program("libmpi.so.40")
    for first_line in ("#!/bin/sh", "#!/usr/bin/env bash", "echo"):
        wrapper = script(tmp_path, f'{first_line}\nhostname\nexec {app} "$@"\n')
        assert of(wrapper).abi == "openmpi"
        assert of("env", "A=1", "bash", wrapper, "x").abi == "openmpi"
    assert of("bash", "-lc", f"exec {app}").abi == "openmpi"
    assert of("env", "-i", app).takes_preload == "env -i"


def test_what_a_script_starts_may_be_unknown(stand_in_program, tmp_path):
    with pytest.raises(Error, match=r"wrapper starts: it has 'if true'; say which MPI .* --abi mpich"):
        of(script(tmp_path, "#!/bin/sh\nif true; then ./app; fi\n"))
    with pytest.raises(Error, match=r"a script of perl, which Rondo does not read; say which MPI .* --abi mpich"):
        of(script(tmp_path, "#!/usr/bin/perl -w\n"))
    with pytest.raises(Error, match=r"starts no MPI program: none of hostname, date uses MPI; say which MPI"):
        of(script(tmp_path, "#!/bin/sh\nhostname; date\n"))
    with pytest.raises(Error, match="it starts itself"):
        of(script(tmp_path, f"#!/bin/sh\nexec {tmp_path}/wrapper\n"))
    apps = [stand_in_program(library, f"app_{library}") for library in ("libmpi.so.12", "libmpi.so.40")]
    with pytest.raises(Error, match=r"different MPIs \(libmpi.so.12 and libmpi.so.40\)"):
        of(script(tmp_path, f"#!/bin/sh\n{apps[0]}\n{apps[1]}\n"))


# ------------------------------------------------------------------------------------------ real runs


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    "words",
    [
        ["env", "-u", "NOTHING", "A=1", "{app}"],
        ["bash", "-c", "ulimit -c 0; exec {app}"],
        ["taskset", "-c", "0", "nice", "-n", "1", "{app}"],
        ["./wrapper", "{app}"],
    ],
    ids=lambda words: words[0],
)
def test_ranks_behind_a_wrapper_have_rondo(mpi, tmp_path, words):
    if not (installation.LIBRARIES / "librondo_mpich.so").is_file():
        pytest.skip("no preload library for mpich")
    app = str(mpi.compile("hello.c"))
    script(tmp_path, '#!/bin/sh\nexport B=1\nexec "$@"\n')
    command = ["-m", "rondo", "run", "--use", "allreduce=ring", "--report", "merged.json", "--"]
    command += [str(mpi.prefix / mpi.launcher), "-n", "2", *(word.format(app=app) for word in words)]
    run = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, **mpi.environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "ranks add up to 1\n"
    assert " ring " in run.stderr
