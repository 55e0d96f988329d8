# SPDX-License-Identifier: BSD-3-Clause
"""Completion, asked of the shells themselves, and manual pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.shells import manual, scripts

from rondo import commands

# As bash would call the function: with the line, and with the words that it takes it apart into.
BASH = r"""
source "$1"
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
    local spaced=${1//=/ = }
    read -ra COMP_WORDS <<< "${spaced//:/ : }"
    [[ $1 == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    compopt() { :; }
    _rondo_completion rondo
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_line "$2"
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prefix")
    subprocess.run([rondo(), "shell", "--install", "--prefix", path], check=True, capture_output=True)
    return path


def rondo() -> Path:
    return Path(sys.executable).with_name("rondo")


def output_of(*command: object) -> list[str]:
    environment = {**os.environ, "PATH": f"{rondo().parent}{os.pathsep}{os.environ['PATH']}"}
    words = [str(each) for each in command]
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()


def in_bash(prefix: Path, line: str) -> list[str]:
    return output_of("bash", "-c", BASH, "bash", prefix / scripts.FILES["bash"], line)


def in_fish(prefix: Path, line: str) -> list[str]:
    if shutil.which("fish") is None:
        pytest.skip("no fish")
    return [
        each.partition("\t")[0]
        for each in output_of("fish", "-c", f"source {prefix / scripts.FILES['fish']}; complete -C '{line}'")
    ]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("rondo dis", ["distribution"]),
        ("rondo learned sh", ["show"]),
        ("rondo run --gu", ["--guard"]),
        ("rondo run --guard e", ["exact"]),
        ("rondo explain exs", ["exscan"]),
        ("rondo explain --type lo", ["long", "long_int"]),
        ("rondo tune --collectives bcast,exs", ["bcast,exscan"]),
        ("rondo bench exscan -a doubling", ["doubling_123"]),
        ("rondo bench exscan --algorithms native,doubling", ["native,doubling_123"]),
        ("rondo draw exscan/doubling", ["exscan/doubling_123"]),
        ("rondo draw scan/linear_pipeline --set seg", ["segment="]),
        ("rondo run --rules non", ["none"]),
    ],
)
def test_words_are_completed(prefix: Path, line: str, completed: list[str]) -> None:
    assert in_bash(prefix, line) == completed
    assert in_fish(prefix, line) == completed


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("rondo run --use exs", ["exscan="]),
        ("rondo run --use exscan=doubling", ["doubling_123"]),
        ("rondo run --use=exscan=doubling", ["doubling_123"]),
        ("rondo run --use exscan=linear_pipeline:", ["segment="]),
        ("rondo run --use exscan=linear_pipeline:segment=au", ["auto"]),
    ],
)
def test_bash_completes_behind_what_it_takes_apart(prefix: Path, line: str, completed: list[str]) -> None:
    assert in_bash(prefix, line) == completed


def test_fish_completes_whole_words(prefix: Path) -> None:
    assert in_fish(prefix, "rondo run --use exscan=doubling") == ["exscan=doubling_123"]
    assert in_fish(prefix, "rondo run --use=exscan=doubling") == ["--use=exscan=doubling_123"]


def test_zsh_is_told_whole_words(prefix: Path) -> None:
    asked = {**os.environ, scripts.VARIABLE: "zsh_complete", "COMP_WORDS": "rondo run --use=exscan=doubling"}
    told = subprocess.run([rondo()], env={**asked, "COMP_CWORD": "2"}, check=True, capture_output=True, text=True)
    assert told.stdout.splitlines()[:2] == ["plain", "--use=exscan=doubling_123"]


def test_behind_the_dashes_stand_programs_and_then_files(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "mpiexec_of_mine"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    (tmp_path / "mpiexec_manual").touch()  # not executable
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert in_bash(prefix, "rondo run -- mpiexec_") == ["mpiexec_of_mine"]
    monkeypatch.chdir(tmp_path)
    assert in_fish(prefix, f"rondo run -- {launcher.name} -n 4 mpiexec_m") == ["mpiexec_manual"]


@pytest.mark.parametrize("shell", scripts.FILES)
def test_shells_understand_what_they_are_told(prefix: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    subprocess.run([shell, "-n", prefix / scripts.FILES[shell]], check=True)
    assert output_of(rondo(), "shell", shell) == (prefix / scripts.FILES[shell]).read_text().splitlines()


def test_every_command_has_a_manual_page_with_its_whole_summary(prefix: Path) -> None:
    contexts = list(manual.contexts(commands.main, "rondo"))
    assert len(contexts) > 20
    for each in contexts:
        name = each.command_path.replace(" ", "-")
        text = (prefix / manual.FOLDER / f"{name}.1").read_text().replace("\\-", "-").replace("\\&", "")
        assert f"{name} - {manual.summary(each.command).removesuffix('.')}" in text
        for option in each.command.params:
            if isinstance(option, click.Option):
                assert option.opts[0] in text


def test_manual_pages_are_set_without_a_complaint(prefix: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("no groff")
    pages = sorted((prefix / manual.FOLDER).iterdir())
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-rLL=78n", *pages], check=True, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert "rondo run --use exscan=linear_pipeline:segment=32Ki -- srun -n 64 ./app\n" in done.stdout


def test_a_shell_or_an_installation_is_asked_for(rondo) -> None:
    assert rondo("shell").exit_code == 2
    assert rondo("shell", "bash", "--install").exit_code == 2
