# SPDX-License-Identifier: BSD-3-Clause
"""Documents that hold code are right: the recipe makes an algorithm that conforms, the program prints the table.

Works on a copy of the sources, with the virtual backend only: half a minute of compilation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "docs/how-to/add-an-algorithm.md"
WITH_FIGURES = [ROOT / "docs/explanation" / name for name in ("cyclic-doubling.md", "bine-trees.md")]
COPIED = ("CMakeLists.txt", "cmake", "packaging", "rondo", "scripts", "tests/conformance", "tests/sanitized.hpp")
# Not needed here. The kernels stay, for CMake wants them; no target that is built here needs them.
LEFT_OUT = ("interposer", "mpi")
OPTIONS = (
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
    "-DRONDO_BUILD_INTERPOSER=OFF",
    "-DRONDO_BUILD_TESTBED=OFF",
    "-DRONDO_BUILD_TESTS=ON",
    "-DRONDO_ABIS=",  # tests with a made-up MPI library are not copied
)


def code_blocks(document: Path) -> dict[str, str]:
    """Fenced blocks that name a file behind their language."""
    pattern = r"^```\w+ (\S+)\n(.*?)^```$"
    return dict(re.findall(pattern, document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL))


def run(command: Sequence[object], cwd: Path) -> str:
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        pytest.fail(f"{' '.join(words)}\n{result.stdout[-6000:]}", pytrace=False)
    return result.stdout


def apply(name: str, block: str, root: Path) -> None:
    """A new file is written; of a file that exists, the block's first line is found and the others put behind it."""
    path = root / name
    if not path.exists():
        path.write_text(block, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    first_line = block.splitlines(keepends=True)[0]
    assert text.count(first_line) == 1, f"{name} has no line {first_line!r}"
    path.write_text(text.replace(first_line, block), encoding="utf-8")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which the recipe has been followed, built in its folder `build`."""
    for tool in ("cmake", "c++"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} on PATH")
    root = tmp_path_factory.mktemp("recipe")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(ROOT / name, root / name)
    for name, block in code_blocks(RECIPE).items():
        apply(name, block, root)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    log = run(["cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", *generator, *OPTIONS], root)
    if "C++ tests skipped" in log:
        pytest.skip("no GoogleTest")
    run(["cmake", "--build", "build", "--target", "conformance_test", "--parallel", "2"], root)
    return root


def test_recipe_is_one_new_file_and_one_line() -> None:
    blocks = code_blocks(RECIPE)
    new = [name for name in blocks if not (ROOT / name).exists()]
    changed = [name for name in blocks if (ROOT / name).exists()]
    assert (len(new), len(changed)) == (1, 1)
    assert len(blocks[changed[0]].splitlines()) == 2  # the line before it, and the new one


@pytest.mark.soak
def test_algorithm_of_the_recipe_conforms(source: Path) -> None:
    output = run(["build/conformance_test", "--gtest_filter=*/exscan_chain"], source)
    assert "[  PASSED  ] 4 tests." in output


@pytest.mark.soak
@pytest.mark.parametrize("document", WITH_FIGURES, ids=lambda document: document.stem)
def test_table_of_figures_is_what_the_program_beside_it_prints(source: Path, document: Path) -> None:
    (source / "figures.cpp").write_text(code_blocks(document)["figures.cpp"], encoding="utf-8")
    libraries = ["build/librondo_virtual.a", "build/librondo_core.a"]
    run(["c++", "-std=c++20", "-I.", "figures.cpp", *libraries, "-o", "figures"], source)
    assert run(["./figures"], source) in document.read_text(encoding="utf-8")
