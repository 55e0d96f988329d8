# SPDX-License-Identifier: BSD-3-Clause
"""`rondo config` shows what holds, and who said so; `rondo run` takes its defaults from there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rondo.commands import main
from rondo.errors import Error
from rondo.launching import settings

from rondo import _core

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "environment.md"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration that is in force."""
    path = tmp_path / "config"
    path.write_text("guard = no\nexscan = doubling_123\njobs = /shared/jobs\nexcept_programs = app\n")
    for name in [name for name in __import__("os").environ if name.startswith("RONDO_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RONDO_CONFIG", str(path))
    return path


def test_each_value_is_shown_with_its_origin(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RONDO_EXSCAN", "native")
    result = CliRunner().invoke(main, ["config"])
    assert result.exit_code == 0, result.output
    assert re.search(rf"RONDO_GUARD +no +{re.escape(str(config))}:1: guard", result.stdout)
    assert re.search(r"RONDO_EXSCAN +native +the environment", result.stdout)


def test_json_has_all_settings(config: Path) -> None:
    found = json.loads(CliRunner().invoke(main, ["config", "--json", "--program", "/opt/app"]).stdout)
    values = {each["variable"]: each for each in found["settings"]}
    assert set(values) == {each["variable"] for each in _core.settings()}
    assert values["RONDO_JOBS"]["value"] == "/shared/jobs"
    assert (values["RONDO_PLAN_MEMORY"]["value"], values["RONDO_PLAN_MEMORY"]["origin"]) == ("64Mi", "")
    assert found["left_out_by"] == "except_programs"


def test_a_configuration_that_cannot_be_read_is_an_error(config: Path) -> None:
    config.write_text("guard = no\n\nguards = no\n")
    result = CliRunner().invoke(main, ["config"])
    assert result.exit_code == 1
    assert f"{config}:3: there is no setting 'guards'; did you mean 'guard'?" in result.output


def test_run_hands_the_configuration_on_to_all_ranks(config: Path) -> None:
    environment = {"RONDO_CONFIG": str(config), "RONDO_EXSCAN": "native"}
    settings.take_over(environment, "/nowhere")
    assert environment == {
        "RONDO_CONFIG": "none",
        "RONDO_EXSCAN": "native",
        "RONDO_GUARD": "no",
        "RONDO_JOBS": "/shared/jobs",
        "RONDO_EXCEPT_PROGRAMS": "app",
    }
    config.write_text("nonsense\n")
    with pytest.raises(
        Error, match=r"config:1: expected a line like guard = exact \(RONDO_CONFIG=none does without\)$"
    ):
        settings.take_over({"RONDO_CONFIG": str(config)}, "/nowhere")


def test_a_faulty_configuration_keeps_nobody_from_help_or_from_doing_without(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("nonsense\n")
    words = ["run", "--dry-run", "--abi", "mpich", "--", "true"]
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert "RONDO_CONFIG=none does without" in refused.output
    assert CliRunner().invoke(main, ["run", "--help"]).exit_code == 0
    monkeypatch.setenv("RONDO_DISABLE", "1")
    assert "RONDO_CONFIG=none does without" not in CliRunner().invoke(main, words).output


def test_a_program_that_is_not_served_is_said_to_be_left_out(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(program: object) -> str:
        return CliRunner().invoke(main, ["config", "--program", str(program)]).stdout.splitlines()[-1]

    script = tmp_path / "app"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert said("/opt/app") == "/opt/app: left to the MPI library, by except_programs"
    assert said(script) == f"{script}: served", "its process runs the interpreter"
    config.write_text(f"except_programs = {Path('/bin/sh').resolve().name}\n")
    assert said(script).endswith("by except_programs")
    config.write_text("nonsense\n")
    assert said("/opt/app").endswith("by the configuration, which cannot be read")
    monkeypatch.setenv("RONDO_CONFIG", "none")
    monkeypatch.setenv("RONDO", "off")
    assert said("/opt/app").endswith("by RONDO = off")


def test_without_a_configuration_nothing_is_taken_over() -> None:
    environment: dict[str, str] = {}
    settings.take_over(environment, "/nowhere/config")
    assert environment == {}


def test_every_setting_stands_in_the_reference() -> None:
    rows = [line for line in REFERENCE.read_text().splitlines() if line.startswith("| `RONDO")]
    described = {name for row in rows for name in re.findall(r"`(RONDO\w*)`", row.split("|")[1])}
    assert described == {each["variable"] for each in _core.settings()}
    for each in _core.settings():
        if each["key"] and each["values"] != "choice":
            (row,) = [row for row in rows if f"`{each['variable']}`" in row.split("|")[1]]
            assert f"`{each['key']}`" in row.split("|")[2], f"the key of {each['variable']}"
