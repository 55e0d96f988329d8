# SPDX-License-Identifier: BSD-3-Clause
"""Results of scan and exscan, of every algorithm, for every operator, type, count and communicator.

scan_results.cpp knows what is right. Here: native and Rondo agree, and it was Rondo's algorithm that served the calls.
"""

from __future__ import annotations

import functools
import itertools
import re

import pytest
from mpi_libraries import LIBRARIES, ROOT, MpiLibrary

RANKS = 9
# Segments of eight elements: many messages in flight, and a rest at the end.
SMALL_SEGMENTS = "linear_pipeline:segment=64"
THOROUGH = ["mpich", "openmpi"]
OTHERS = [name for name in LIBRARIES if name not in THOROUGH]


def algorithms(collective: str) -> list[str]:
    """A file is an algorithm."""
    return sorted(path.stem for path in (ROOT / "rondo/algorithms" / collective).glob("*.cpp"))


def pairs() -> list[tuple[str, str]]:
    """Every algorithm of exscan and of scan at least once."""
    exscans, scans = algorithms("exscan"), algorithms("scan")
    length = max(len(exscans), len(scans))
    return list(itertools.islice(zip(itertools.cycle(exscans), itertools.cycle(scans)), length))


def results(output: str) -> dict[str, str]:
    return dict(re.findall(r"^(\w+) (\S+)$", output, re.MULTILINE))


@functools.cache
def native_results(name: str, arguments: tuple[str, ...]) -> dict[str, str]:
    mpi = LIBRARIES[name]
    return results(mpi.run([mpi.compile("scan_results.cpp"), *arguments], RANKS, timeout=120).check().stdout)


def check(mpi: MpiLibrary, exscan: str, scan: str, *arguments: str) -> None:
    native = native_results(mpi.name, arguments)
    command = [mpi.compile("scan_results.cpp"), *arguments]
    run = mpi.run_under_rondo(command, RANKS, exscan=exscan, scan=scan, timeout=120).check()
    assert results(run.stdout) == native
    for collective, choice in (("scan", scan), ("exscan", exscan)):
        served = run.report.calls(collective)[choice.partition(":")[0]]
        # Datatypes whose elements interlock are left to the library.
        left = run.report.native_reasons(collective)["unusual datatype"]
        calls = int(native[f"{collective}s"])
        assert served + left >= calls, run.report.native_reasons(collective)
        assert left < calls / 4


@pytest.mark.parametrize("mpi", THOROUGH, indirect=True)
@pytest.mark.parametrize(("exscan", "scan"), pairs())
def test_algorithm_gives_the_native_results(mpi: MpiLibrary, exscan: str, scan: str) -> None:
    check(mpi, exscan, scan, "20011")


@pytest.mark.parametrize("mpi", THOROUGH, indirect=True)
def test_many_segments_give_the_native_results(mpi: MpiLibrary) -> None:
    check(mpi, SMALL_SEGMENTS, SMALL_SEGMENTS, "1501", "brief")


@pytest.mark.parametrize("mpi", OTHERS, indirect=True)
def test_other_libraries_give_the_native_results(mpi: MpiLibrary) -> None:
    check(mpi, "doubling_123", "doubling", "5003")
