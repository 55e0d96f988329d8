# SPDX-License-Identifier: BSD-3-Clause
"""What is measured as the MPI library's own is without Rondo, and nothing is told what a site configures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from rondo.bench import launches
from rondo.comparing import rivals
from rondo.launching import mpi_library, settings

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture(autouse=True)
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that forces a collective and keeps files of jobs, in a process that has not read it yet."""
    path = tmp_path / "config"
    path.write_text(f"exscan = doubling_123\njobs = {tmp_path}\n")
    monkeypatch.setenv(settings.CONFIG, str(path))


def forced(environment: Mapping[str, str]) -> dict[str, str]:
    """What a program with these variables is told, on a site with that configuration."""
    usual = os.environ[settings.CONFIG]
    found = settings.in_force(environment, usual).settings
    return {each.key: each.value for each in found if each.key in ("exscan", "jobs") and each.origin}


def launched(mpi, instructions: Mapping[str, str] | None) -> launches.Launch:
    words = (str(mpi.prefix / mpi.launcher), "-n", "2")
    place = launches.Place(mpi_library.find(words[0], {**os.environ, **mpi.environment}), words)
    with launches.prepared(place, ["driver"], instructions) as launch:
        return launch


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_the_benchmark_is_told_nothing_by_the_site(mpi) -> None:
    natively, under_rondo = launched(mpi, None), launched(mpi, {"RONDO_EXSCAN": "linear_pipeline"})
    assert forced({}) == {"exscan": "doubling_123", "jobs": str(Path(os.environ[settings.CONFIG]).parent)}
    assert forced(natively.environment) == forced(under_rondo.environment) == {}
    assert natively.environment["RONDO_DISABLE"] == "1"
    assert "RONDO_DISABLE" not in under_rondo.environment
    assert "RONDO_CONFIG" in " ".join(under_rondo.words), "ranks on other nodes are told, too"


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_counted_runs_of_a_native_rival_are_told_nothing_by_the_site(mpi, tmp_path: Path, monkeypatch) -> None:
    taken_over = dict(os.environ)
    settings.take_over(taken_over)
    for name, value in taken_over.items():
        monkeypatch.setenv(name, value)
    words = (str(mpi.prefix / mpi.launcher), "-n", "2", str(mpi.compile("hello.c")))
    rival = rivals.Rival("native", None, words)
    with rivals.prepared([rival], wanted="auto", cluster_text=None, wanted_mpi=None, reports=tmp_path) as (found, _):
        ((plain, counted),) = [each.launches for each in found]
    assert plain.environment["RONDO_DISABLE"] == "1"
    assert forced(counted.environment) == {}
    assert "RONDO_CONFIG" in " ".join(counted.words)
