# SPDX-License-Identifier: BSD-3-Clause
"""`rondo list` and the module beneath it."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from rondo.commands import main
from script_loader import ROOT, script

from rondo import _core


def test_every_algorithm_is_listed(rondo):
    result = rondo("list")
    assert result.exit_code == 0
    for collective in _core.collectives():
        assert f"{collective['name']}: {collective['summary']}" in result.stdout
        for algorithm in _core.algorithms(collective["name"]):
            assert f"\n  {algorithm['name']} " in result.stdout


@pytest.mark.parametrize("words", [(), ("exscan",), ("scan",)])
def test_80_columns_are_enough_and_no_line_ends_in_blanks(rondo, words):
    for line in rondo("list", *words).stdout.splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


def on_terminal(columns: int, *words: str) -> str:
    """What `rondo` prints on a terminal of this width."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
        environment.pop("COLUMNS", None)
        started = subprocess.Popen([sys.executable, "-m", "rondo", *words], stdout=theirs, env=environment)
        os.close(theirs)
        pieces = []
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(ours, 4096):
                pieces.append(piece)
        assert started.wait(30) == 0
    finally:
        os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(pieces).decode().replace("\r\n", "\n"))


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_terminal_gets_lines_that_fit(columns):
    text = on_terminal(columns, "list", "exscan")
    assert max(len(line) for line in text.splitlines()) <= columns
    beside = re.search(r"^  doubling_123 {2,}skips 1, 2, 3", text, re.MULTILINE)
    assert (beside is None) == (columns == 40)
    if beside is None:
        assert "\n  doubling_123\n    skips 1, 2, 3" in text
    assert "paper: J. L. Traeff" in " ".join(text.split())


def test_the_functions_of_all_forms_are_those_that_rondo_serves(rondo):
    functions = script("mpi_functions")
    served = [each for each in functions.read(ROOT / "rondo" / "mpi_functions.txt").functions if each.is_served]
    for collective in _core.collectives():
        text = " ".join(rondo("list", collective["name"]).stdout.split())
        for each in served:
            if each.collective == collective["name"]:
                assert all(re.search(rf"MPI_{each.in_form(form).name}\b", text) for form in each.forms)


def test_one_collective_comes_with_papers_and_parameters(rondo):
    text = " ".join(rondo("list", "exscan").stdout.split())
    assert "paper: P. Sanders, J. Speck, J. L. Traeff: Two-tree algorithms" in text
    assert (
        "segment=auto (1 to 1024Gi bytes, or auto: the best for the call on this machine): bytes of a pipeline's block"
        in text
    )
    assert "native the MPI library's own" in text


def test_parts_of_a_composition_come_with_the_names_that_can_serve_there(rondo):
    text = " ".join(rondo("list", "allreduce").stdout.split())
    assert "lane=recursive_doubling (or recursive_multiplying, halving_doubling, binary_tree)" in text
    assert _core.check_choice("exscan", "leaders:lane=doubling_123") == "leaders:lane=doubling_123"


def test_an_unknown_collective_is_refused_with_the_nearest(rondo):
    result = rondo("list", "exscn")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "rondo: Rondo has no collective 'exscn'; did you mean 'exscan'?\n"


def test_json_holds_what_the_registry_knows(rondo):
    everything = json.loads(rondo("list", "--json").stdout)
    assert list(everything) == [collective["name"] for collective in _core.collectives()]
    algorithms = {
        algorithm["name"]: algorithm for algorithm in json.loads(rondo("list", "exscan", "--json").stdout)["exscan"]
    }
    assert algorithms["linear_pipeline"]["citation"] == "sanders2009two"
    assert algorithms["linear_pipeline"]["parameters"] == [
        {
            "name": "segment",
            "summary": "bytes of a pipeline's block (rounded down to whole elements, at least one; of a shorter "
            "vector, all)",
            "minimum": 1,
            "maximum": 1 << 40,
            "standard": 32768,
            "automatic": True,
            "unit": "bytes",
            "names": [],
        }
    ]


def commands(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    """The words of all commands of a group, and of its own groups."""
    yield names
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name)


def test_the_help_of_every_command_fits_80_columns(rondo):
    found = list(commands(main))
    assert ("cluster", "up") in found
    for words in found:
        lines = rondo(*words, "--help").stdout.splitlines()
        assert [line for line in lines if len(line) > 80] == [], words


def test_help_teaches_by_example(rondo):
    for words in ([], ["run"], ["list"]):
        for option in ("-h", "--help"):
            result = rondo(*words, option)
            assert result.exit_code == 0, result.output
            assert "      rondo " in result.stdout
    assert rondo("--version").stdout == f"rondo {importlib.metadata.version('rondo-mpi')}\n"


def test_the_module_checks_choices_and_rules():
    assert _core.check_choice("exscan", "linear_pipeline:segment=2048") == "linear_pipeline:segment=2Ki"
    with pytest.raises(ValueError, match="did you mean 'doubling_123'"):
        _core.check_choice("exscan", "doublng_123")
    with pytest.raises(ValueError, match="has no collective"):
        _core.check_choice("nothing", "native")
    assert _core.check_rules("exscan -> native", "my.rules") == []
    assert _core.check_rules("exscan -> native\nexscan -> native", "my.rules") == [(2, [1])]
    with pytest.raises(ValueError, match=r"^my\.rules:2: "):
        _core.check_rules("exscan -> native\nnonsense", "my.rules")
    assert _core.nearest("exscn", ["scan", "exscan", "bcast"])[0] == "exscan"
    assert _core.quantity_text(1 << 20) == "1Mi"


def test_every_algorithm_cites_a_known_paper():
    for collective in _core.collectives():
        for algorithm in _core.algorithms(collective["name"]):
            assert algorithm["reference"], algorithm["name"]


@pytest.mark.parametrize("words", ["list", "list --help", "--help", "--version", "explain scan --count 1 -n 2"])
def test_a_full_disk_is_said_in_one_line(words):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "rondo", *words.split()]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 4
    assert result.stderr == "rondo: cannot write all that there is to say: No space left on device\n"
