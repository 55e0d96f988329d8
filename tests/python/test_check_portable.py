# SPDX-License-Identifier: BSD-3-Clause
"""What a package for other machines must not ask for is found."""

from __future__ import annotations

import subprocess
from pathlib import Path

from script_loader import script


def test_binaries_of_this_machine_are_no_package(tmp_path: Path) -> None:
    check_portable = script("check_portable")
    source = tmp_path / "program.cpp"
    source.write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
    subprocess.run(["c++", source, "-o", tmp_path / "program"], check=True)
    found = check_portable.problems(tmp_path)
    assert "program needs libstdc++.so.6" in found
    assert any(problem.startswith("program asks for GLIBCXX_") for problem in found)
    nothing = tmp_path / "nothing"
    assert check_portable.problems(nothing) == [f"there are no programs or libraries in {nothing}"]


def test_symbols_without_a_version_belong_to_somebody(tmp_path: Path) -> None:
    check_portable = script("check_portable")
    source = tmp_path / "library.c"
    source.write_text("void PyThing(void); void thing(void); void f(void) { PyThing(); thing(); }\n")
    for name in ("_core.abi3.so", "libother.so"):
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", tmp_path / name], check=True)
    assert sorted(check_portable.problems(tmp_path)) == [
        "_core.abi3.so leaves thing undefined",
        "libother.so leaves PyThing undefined",
        "libother.so leaves thing undefined",
    ]
