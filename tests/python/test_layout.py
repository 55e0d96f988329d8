# SPDX-License-Identifier: BSD-3-Clause
"""The shape of the tree: which way includes point, where <mpi.h> may appear, what every source file opens with.

Every rule is a function from a root directory to a list of offences; the tests below hold the repository to them, and
hold the rules themselves to small trees that break them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A room of rondo/ -> the rooms that it may include besides itself.
CHAIN = ["core", "topology", "algorithms", "written", "selection"]
ALLOWED_INCLUDES = {room: set(CHAIN[:position]) for position, room in enumerate(CHAIN)}
ALLOWED_INCLUDES["selection"].add("backends/virtual")
ALLOWED_INCLUDES |= {
    "distribution": {"core", "topology", "algorithms", "backends/virtual"},
    "kernels": set(),
    "guard": {*CHAIN, "backends/mpi"},
    "interposer": {*CHAIN, "guard", "backends/mpi", "backends/virtual"},
    "profiler": {"core", "backends/mpi"},
    "site": {"core"},
    "prefix": {*CHAIN, "kernels", "backends/mpi", "backends/virtual"},
    "backends/mpi": {"core", "kernels", "backends/shared_memory"},
    "backends/shared_memory": {"core"},
    "backends/virtual": {"core"},
}
MAY_INCLUDE_MPI = (
    "rondo/backends/mpi",
    "rondo/prefix",
    "rondo/interposer",
    "rondo/profiler",
    "include/rondo_prefix.h",
    "apps",
    "tests/backends/mpi",
    "tests/interposer",
    "tests/prefix",
    "tests/profiler",
    "tests/mpi",
    "tests/benchmarks",
    "examples",
)
PUBLIC_HEADERS = ("rondo.h", "rondo_prefix.h")
SOURCE_FOLDERS = (
    "rondo", "include", "apps", "python", "tests", "testbed", "scripts", "cmake", "examples", "docs/benchmarks/making",
)  # fmt: skip
CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
SOURCE_SUFFIXES = CPP_SUFFIXES | {".py", ".cmake", ".sh", ".f90", ".map"}
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
MAXIMUM_DEPTH = 3  # folders, as in rondo/algorithms/exscan
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".md", ".toml", ".txt", ".rules"}
# The distribution is rondo-mpi: PyPI's rondo is somebody else's.
STRANGERS_PACKAGE = re.compile(r"""\bpip3? install\b[^\n`]*[ '"]rondo(?![-\w./])|\brondo\[(?:bench|test)\b""")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def source_files(root: Path, folders: tuple[str, ...], suffixes: set[str]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(
            path for path in (root / folder).rglob("*") if path.suffix in suffixes and "__pycache__" not in path.parts
        )


def includes_of(path: Path) -> list[str]:
    return [quoted or angled for quoted, angled in INCLUDE.findall(path.read_text())]


def room_of(path: str) -> str | None:
    """Room of rondo/core/step.hpp is core, of rondo/backends/mpi/engine.cpp backends/mpi; None outside rondo/."""
    parts = Path(path).parts
    if len(parts) < 3 or parts[0] != "rondo":
        return None
    return "/".join(parts[1:3]) if parts[1] == "backends" else parts[1]


def includes_against_the_order(root: Path) -> list[str]:
    offences = []
    for path in source_files(root, ("rondo",), CPP_SUFFIXES):
        name = path.relative_to(root).as_posix()
        room = room_of(name)
        if room not in ALLOWED_INCLUDES:
            offences.append(f"{name}: no rule for this folder")
            continue
        for included in includes_of(path):
            target = room_of(included)
            if target not in (None, room) and target not in ALLOWED_INCLUDES[room]:
                offences.append(f"{name} includes {included}")
    return offences


def includes_not_named_from_the_root(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root).as_posix()} includes {included}"
        for path in source_files(root, ("rondo",), CPP_SUFFIXES)
        for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE)
        if not included.startswith("rondo/") and included not in PUBLIC_HEADERS
    ]


def mpi_in_the_wrong_place(root: Path) -> list[str]:
    offences = []
    for path in source_files(root, SOURCE_FOLDERS, CPP_SUFFIXES):
        name = path.relative_to(root).as_posix()
        is_allowed = any(name == place or name.startswith(place + "/") for place in MAY_INCLUDE_MPI)
        if not is_allowed and {"mpi.h", "mpi_abi.h"} & set(includes_of(path)):
            offences.append(name)
    return offences


def without_licence_line(root: Path) -> list[str]:
    offences = []
    for path in source_files(root, SOURCE_FOLDERS, SOURCE_SUFFIXES):
        lines = path.read_text().splitlines()
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        if not lines or SPDX not in lines[0]:
            offences.append(path.relative_to(root).as_posix())
    return offences


def too_deep(root: Path) -> list[str]:
    names = (path.relative_to(root) for path in source_files(root, SOURCE_FOLDERS, SOURCE_SUFFIXES))
    return [name.as_posix() for name in names if len(name.parent.parts) > MAXIMUM_DEPTH]


def collectives_without_header(root: Path) -> list[str]:
    folders = sorted(
        path
        for path in (root / "rondo" / "algorithms").glob("*")
        if path.is_dir() and path.name != "patterns" and any(path.iterdir())
    )
    return [folder.name for folder in folders if not (folder / f"{folder.name}.hpp").is_file()]


def algorithms_not_listed(root: Path) -> list[str]:
    """Files whose name the list of their collective lacks, and names in a list that have no file."""
    offences = []
    for header in sorted((root / "rondo" / "algorithms").glob("*/*.hpp")):
        if header.stem != header.parent.name:
            continue
        # The list is an X-macro: ALGORITHM(doubling_123)
        listed = set(re.findall(r"(?:^|\s)ALGORITHM\((\w+)\)", header.read_text(), re.MULTILINE))
        files = {path.stem for path in header.parent.glob("*.cpp")}
        offences += [f"{header.parent.name}/{name}.cpp is not listed" for name in sorted(files - listed)]
        offences += [f"{header.parent.name}/{name} has no file" for name in sorted(listed - files)]
    return offences


def advice_to_install_a_strangers_package(root: Path) -> list[str]:
    folders = (*SOURCE_FOLDERS, "docs", "changelog.d", "tuning")
    paths = [*source_files(root, folders, TEXT_SUFFIXES), *sorted(root.glob("*.md")), *sorted(root.glob("*.toml"))]
    return [
        f"{path.relative_to(root).as_posix()}: {line.strip()}"
        for path in paths
        for line in path.read_text().splitlines()
        if STRANGERS_PACKAGE.search(line)
    ]


RULES: list[Callable[[Path], list[str]]] = [
    includes_against_the_order,
    includes_not_named_from_the_root,
    mpi_in_the_wrong_place,
    without_licence_line,
    too_deep,
    collectives_without_header,
    algorithms_not_listed,
    advice_to_install_a_strangers_package,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_repository_keeps(rule: Callable[[Path], list[str]]) -> None:
    assert rule(ROOT) == []


def test_rules_see_the_sources() -> None:
    assert len(list(source_files(ROOT, ("rondo",), CPP_SUFFIXES))) > 10


# A rule -> a file that breaks it.
BREACHES = [
    (includes_against_the_order, "rondo/core/step.cpp", '#include "rondo/topology/tree.hpp"'),
    (includes_against_the_order, "rondo/topology/tree.cpp", '#include "rondo/algorithms/registry.hpp"'),
    (includes_against_the_order, "rondo/algorithms/scan/scan.hpp", '#include "rondo/selection/rules.hpp"'),
    (includes_against_the_order, "rondo/algorithms/scan/scan.hpp", '#include "rondo/backends/virtual/run.hpp"'),
    (includes_against_the_order, "rondo/selection/rules.cpp", '#include "rondo/interposer/scan.hpp"'),
    (includes_against_the_order, "rondo/backends/mpi/run.cpp", '#include "rondo/topology/tree.hpp"'),
    (includes_against_the_order, "rondo/backends/virtual/run.cpp", '#include "rondo/backends/mpi/engine.hpp"'),
    (includes_against_the_order, "rondo/unheard_of/run.cpp", ""),
    (includes_not_named_from_the_root, "rondo/core/step.cpp", '#include "step.hpp"'),
    (includes_against_the_order, "rondo/backends/mpi/world.hpp", '#include "rondo/guard/trial.hpp"'),
    (mpi_in_the_wrong_place, "rondo/backends/virtual/run.cpp", "#include <mpi.h>"),
    (mpi_in_the_wrong_place, "rondo/kernels/sum.cpp", "# include <mpi.h>"),
    (mpi_in_the_wrong_place, "tests/core/step_test.cpp", '#include "mpi.h"'),
    (too_deep, "rondo/topology/trees/odd/skip.cpp", ""),
    (collectives_without_header, "rondo/algorithms/scan/doubling.cpp", ""),
    (algorithms_not_listed, "rondo/algorithms/scan/scan.hpp", "    ALGORITHM(doubling)"),
    # In pieces, lest it be noticed here.
    (advice_to_install_a_strangers_package, "changelog.d/use.added.md", "pip " + "install rondo"),
    (
        advice_to_install_a_strangers_package,
        "changelog.d/use.added.md",
        "python3 -m pip " + "install 'rondo" + "[bench]'",
    ),
    (advice_to_install_a_strangers_package, "python/rondo/message.py", '"needs it: rondo' + "[bench]" + '"'),
]


@pytest.mark.parametrize(("rule", "name", "line"), BREACHES)
def test_rule_notices(rule: Callable[[Path], list[str]], name: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(f"// {SPDX}\n{line}\n")
    assert rule(tmp_path) != []
    assert [other.__name__ for other in RULES if other is not rule and other(tmp_path)] == []


def test_missing_licence_line_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "good.sh").write_text(f"#!/bin/sh\n# {SPDX}\n")
    (tmp_path / "scripts" / "late.py").write_text(f'"""Text."""\n# {SPDX}\n')
    (tmp_path / "scripts" / "empty.py").write_text("")
    assert without_licence_line(tmp_path) == ["scripts/empty.py", "scripts/late.py"]


def test_unlisted_algorithm_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "rondo" / "algorithms" / "scan"
    folder.mkdir(parents=True)
    (folder / "scan.hpp").write_text("ALGORITHM(doubling)\n")
    (folder / "doubling.cpp").touch()
    assert algorithms_not_listed(tmp_path) == []
    (folder / "linear.cpp").touch()
    assert algorithms_not_listed(tmp_path) == ["scan/linear.cpp is not listed"]
