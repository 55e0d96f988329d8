# SPDX-License-Identifier: BSD-3-Clause
"""Finding programs in launchers' command lines, and putting Rondo's environment there."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from rondo.errors import Error
from rondo.launching import launcher, preload
from rondo.launching.launcher import Kind

LIBRARY = Path("/r/librondo.so")
VARIABLES = {"RONDO_RULES": "/r/default.rules"}
HYDRA = "-genv LD_PRELOAD /r/librondo.so -genv RONDO_RULES /r/default.rules"
OPENMPI = "-x LD_PRELOAD=/r/librondo.so -x RONDO_RULES=/r/default.rules"


@pytest.fixture
def launchers(stand_in_launcher, tmp_path, monkeypatch) -> dict[str, Path]:
    """One of each kind; ./app and ./other are programs in the current directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("app", "other"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    kinds = {kind: stand_in_launcher(kind) for kind in ("hydra", "intel", "openmpi", "openmpi4", "unknown")}
    by_name = ("aprun", "flux", "ibrun", "jsrun", "mpirun_rsh", "srun")
    return {**kinds, **{name: stand_in_launcher("unknown", name) for name in by_name}}


def read(path: Path, words: str, **environment: str) -> launcher.CommandLine:
    return launcher.read([str(path), *shlex.split(words)], {"PATH": "/usr/bin:/bin", **environment})


def injected(path: Path, words: str, **environment: str) -> str:
    line = read(path, words, **environment)
    command = preload.inject(line, LIBRARY, VARIABLES, environment)
    assert command.words[0] == str(path)
    return shlex.join(command.words[1:])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("hydra", "./app 1 -n 2"),
        ("hydra", "-n 4 ./app"),
        ("hydra", "-np=4 --verbose ./app"),
        ("hydra", "-genv A ls -env B=ls -hosts ls,cat -f ls ./app"),
        ("hydra", "-launcher ssh -bind-to core -ppn 2 -l ./app"),
        ("intel", "-perhost 2 -gtool ls:0 -tune ls -print-rank-map ./app"),
        ("openmpi", "-np 4 --mca btl self -x PATH -x A=ls --oversubscribe ./app -n 3"),
        ("openmpi", "--map-by=ppr:1:node --bind-to none --hostfile ls -- ./app"),
        ("openmpi4", "--use-hwthread-cpus --tag-output -N 1 -H ls ./app"),
        ("srun", "-n4 -N 2 --mpi=pmix --cpu-bind none --exclusive ./app"),
        ("srun", "-ln 4 -vu --mem 3G ./app"),
        ("srun", "--prefer ls --propagate --bcast-exclude ls --quit-on-interrupt ./app"),
        ("flux", "run -N2 -n 4 -o cpu-affinity=off --env-remove ls ./app : ls"),
        ("flux", "mini run -ln4 --cwd . -- ./app -n 2"),
        ("jsrun", "-n4 -a1 -c 7 -g1 -brs -dpacked -E ls --smpiargs=-gpu -i ./app"),
        ("jsrun", "--nrs 2 --chdir . -EA=ls ./app -n 2"),
        ("aprun", "-n4 -N 2 -d 2 -cc ls -ss -b -e A=ls ./app -n"),
        ("ibrun", "-n 4 -o 0 ./app"),
        ("mpirun_rsh", "-np 4 -hostfile ls A=1 B=ls ./app A=2"),
        ("mpirun_rsh", "-hostfile ls -np 2 ./app A=2"),
        ("mpirun_rsh", "-np 2 ls cat A=1 ./app"),
        ("hydra", "--new-option nobody-knows ./app ls"),
        ("openmpi", "--new-flag ./app ls"),
    ],
)
def test_the_program_is_the_first_word_that_is_no_option_and_no_value(launchers, kind, words):
    line = read(launchers[kind], words)
    assert [program[0] for program, _ in line.programs()] == ["./app"]


@pytest.mark.parametrize("kind", ["hydra", "openmpi", "srun", "jsrun", "aprun"])
def test_every_program_of_several_is_found(launchers, kind):
    line = read(launchers[kind], "-n 1 ./app a : -n 2 ./other b c")
    assert [program for program, _ in line.programs()] == [["./app", "a"], ["./other", "b", "c"]]


def test_a_program_that_does_not_exist_is_still_the_program(launchers):
    line = read(launchers["hydra"], "-n 2 ./missing ls")
    assert [program[0] for program, _ in line.programs()] == ["./missing"]


def test_the_working_directory_that_the_launcher_is_told_counts(launchers, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "app").rename(tmp_path / "elsewhere/app")
    line = read(launchers["openmpi"], "-wdir elsewhere -n 2 ./app")
    program, directory = next(line.programs())
    assert launcher.find_program(program[0], directory, {}) == Path("elsewhere/app")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("hydra", "-configfile jobs"),
        ("openmpi", "--app jobs"),
        ("srun", "--multi-prog -n 4 jobs"),
        ("jsrun", "--erf_input jobs"),
        ("mpirun_rsh", "-config jobs"),
    ],
)
def test_programs_that_stand_in_a_file_are_not_guessed(launchers, kind, words):
    assert read(launchers[kind], words).programs_elsewhere == words.split()[0]


def test_a_launcher_is_known_by_its_version_not_by_its_name(launchers):
    environment = {"PATH": "/usr/bin:/bin"}
    names = ("hydra", "intel", "openmpi", "openmpi4", "srun")
    kinds = {name: launcher.kind_of(str(launchers[name]), environment) for name in names}
    assert kinds == {
        "hydra": Kind.HYDRA,
        "intel": Kind.HYDRA,
        "openmpi": Kind.OPENMPI,
        "openmpi4": Kind.OPENMPI,
        "srun": Kind.SRUN,
    }
    assert launcher.kind_of("./app", environment) is Kind.NONE
    with pytest.raises(Error, match=r"does not know \(its --version says: Acme launcher 1.0\)"):
        launcher.kind_of(str(launchers["unknown"]), environment)


@pytest.mark.parametrize("name", ["no-such-launcher", "./no-such-launcher"])
def test_a_launcher_that_does_not_exist_is_an_error(name):
    with pytest.raises(Error, match=f"cannot run {name}") as failure:
        launcher.kind_of(name, {"PATH": "/usr/bin"})
    assert failure.value.exit_code == 127


def test_hydra_gets_global_options_right_after_its_name(launchers):
    expected = f"{HYDRA} -n 1 ./app : -n 2 ./other"
    assert injected(launchers["hydra"], "-n 1 ./app : -n 2 ./other") == expected
    assert injected(launchers["intel"], "-n 1 ./app : -n 2 ./other") == expected


def test_open_mpi_gets_options_for_every_program(launchers):
    expected = f"{OPENMPI} -n 1 ./app : {OPENMPI} -n 2 ./other"
    assert injected(launchers["openmpi4"], "-n 1 ./app : -n 2 ./other") == expected


def test_a_preload_of_the_environment_comes_after_ours(launchers):
    words = injected(launchers["hydra"], "./app", LD_PRELOAD="/a.so /b.so:/r/librondo.so")
    assert words.startswith("-genv LD_PRELOAD /r/librondo.so:/a.so:/b.so -genv")


@pytest.mark.parametrize(
    ("kind", "theirs", "expected"),
    [
        ("hydra", "-genv LD_PRELOAD /a.so", "-genv LD_PRELOAD /r/librondo.so:/a.so"),
        ("hydra", "-genv LD_PRELOAD=/a.so", "-genv LD_PRELOAD=/r/librondo.so:/a.so"),
        ("openmpi", "-x LD_PRELOAD=/a.so", "-x LD_PRELOAD=/r/librondo.so:/a.so"),
        ("openmpi", "-x LD_PRELOAD", "-x LD_PRELOAD=/r/librondo.so:/env.so"),
    ],
)
def test_a_preload_that_the_user_passes_on_is_kept_and_stated_once(launchers, kind, theirs, expected):
    words = injected(launchers[kind], f"-n 2 {theirs} ./app", LD_PRELOAD="/env.so")
    assert expected in words
    assert words.count("LD_PRELOAD") == 1


def test_a_preload_for_one_program_is_kept_for_that_one(launchers):
    hydra = injected(launchers["hydra"], "./app : -env LD_PRELOAD /a.so ./other")
    assert hydra == f"{HYDRA} ./app : -env LD_PRELOAD /r/librondo.so:/a.so ./other"
    openmpi = injected(launchers["openmpi"], "./app : -x LD_PRELOAD=/a.so ./other")
    assert openmpi == (f"{OPENMPI} ./app : -x RONDO_RULES=/r/default.rules -x LD_PRELOAD=/r/librondo.so:/a.so ./other")


@pytest.mark.parametrize(
    ("words", "environment", "expected"),
    [
        ("-n 2 ./app", {}, "--export=ALL,LD_PRELOAD=/r/librondo.so -n 2 ./app"),
        ("-n 2 ./app", {"SLURM_EXPORT_ENV": "NONE"}, "--export=LD_PRELOAD=/r/librondo.so,RONDO_RULES -n 2 ./app"),
        ("--export=A,B=1 ./app", {}, "--export=A,B=1,LD_PRELOAD=/r/librondo.so,RONDO_RULES ./app"),
        ("--export ALL,B=1 ./app", {}, "--export ALL,B=1,LD_PRELOAD=/r/librondo.so ./app"),
        ("--export=ALL,LD_PRELOAD=/a.so ./app", {}, "--export=ALL,LD_PRELOAD=/r/librondo.so:/a.so ./app"),
        ("./app --export=A", {}, "--export=ALL,LD_PRELOAD=/r/librondo.so ./app --export=A"),
    ],
)
def test_srun_exports_the_preload_and_inherits_the_rest(launchers, words, environment, expected):
    assert injected(launchers["srun"], words, **environment) == expected
    command = preload.inject(read(launchers["srun"], words), LIBRARY, VARIABLES, environment)
    assert command.environment == VARIABLES


RULES = "RONDO_RULES=/r/default.rules"
PRELOAD = "LD_PRELOAD=/r/librondo.so"


@pytest.mark.parametrize(
    ("kind", "words", "expected"),
    [
        ("flux", "run -n 4 ./app 1", f"run -n 4 --env={PRELOAD} --env={RULES} ./app 1"),
        ("flux", "run '--env=-*' -- ./app", f"run '--env=-*' --env={PRELOAD} --env={RULES} -- ./app"),
        (
            "flux",
            "run --env=LD_PRELOAD=/a.so ./app",
            f"run --env={PRELOAD}:/a.so --env={PRELOAD}:/a.so --env={RULES} ./app",
        ),
        ("jsrun", "-n4 ./app", f"-E {PRELOAD} -E {RULES} -n4 ./app"),
        ("jsrun", "-n4 -ELD_PRELOAD=/a.so ./app", f"-E {RULES} -n4 -E{PRELOAD}:/a.so ./app"),
        ("jsrun", "--env=LD_PRELOAD=/a.so ./app", f"-E {RULES} --env={PRELOAD}:/a.so ./app"),
        (
            "jsrun",
            "-n1 ./app : ./other",
            f"-E {PRELOAD} -E {RULES} -n1 ./app : -E {PRELOAD} -E {RULES} ./other",
        ),
        ("aprun", "-n 1 ./app : -n 1 ./other", f"-e {PRELOAD} -e {RULES} -n 1 ./app : -n 1 ./other"),
        ("aprun", "-e LD_PRELOAD=/a.so ./app", f"-e {RULES} -e {PRELOAD}:/a.so ./app"),
        ("mpirun_rsh", "-np 2 a b A=1 ./app B=1", f"-np 2 a b A=1 {PRELOAD} {RULES} ./app B=1"),
        ("mpirun_rsh", "-np 2 -hostfile f LD_PRELOAD=/a.so ./app", f"-np 2 -hostfile f {PRELOAD}:/a.so {RULES} ./app"),
    ],
)
def test_each_launcher_is_told_in_its_own_way(launchers, kind, words, expected):
    assert injected(launchers[kind], words) == expected
    assert preload.inject(read(launchers[kind], words), LIBRARY, VARIABLES, {}).environment == {}


def test_flux_does_not_replace_dollars(launchers):
    command = preload.inject(read(launchers["flux"], "run ./app"), LIBRARY, {"A": "$HOME"}, {})
    assert "--env=A=$$HOME" in command.words


def test_flux_is_a_launcher_by_its_command_run(launchers):
    with pytest.raises(Error, match="flux submit: expected flux run"):
        read(launchers["flux"], "submit ./app")


def test_ibrun_hands_its_environment_on(launchers):
    command = preload.inject(read(launchers["ibrun"], "-n 2 task_affinity ./app"), LIBRARY, VARIABLES, {})
    assert command.words[1:] == ["-n", "2", "task_affinity", "./app"]
    assert command.environment == {"LD_PRELOAD": "/r/librondo.so", **VARIABLES}


def test_the_command_of_every_launcher_is_shown(rondo, installed, stand_in_program, launchers):
    app = stand_in_program("libmpi.so.12", "mpi_app")
    for name, words in {"flux": ["run", "-n2"], "jsrun": ["-n2"], "aprun": ["-n", "2"], "ibrun": []}.items():
        result = rondo("run", "--rules", "none", "--dry-run", "--", launchers[name], *words, app)
        assert result.exit_code == 0, result.stderr
        assert f"LD_PRELOAD={installed}/librondo_mpich.so" in result.stdout
        assert result.stdout.endswith(f" {app}\n")


def test_a_program_without_a_launcher_gets_everything_by_its_environment(launchers):
    line = launcher.read(["./app", "-n", "2"], {"PATH": "/usr/bin"})
    command = preload.inject(line, LIBRARY, VARIABLES, {"LD_PRELOAD": "/a.so"})
    assert command.words == ["./app", "-n", "2"]
    assert command.environment == {"LD_PRELOAD": "/r/librondo.so:/a.so", **VARIABLES}
