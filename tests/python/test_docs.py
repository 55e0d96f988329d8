# SPDX-License-Identifier: BSD-3-Clause
"""Generated pages are up to date and the documents agree with the code; scripts/docs.py notices when not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from script_loader import script

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/docs.py"

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    return script("document_checks")


def test_documents_agree_with_the_code() -> None:
    result = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_links_to_nothing_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    write(tmp_path, "other.md", "# Some heading, with `code`\n")
    write(tmp_path, "good.md", "[a](other.md#some-heading-with-code) [b](https://example.org) `[c](no.md)`\n")
    write(tmp_path, "within.md", "# X\n[a](#x)\n")
    assert list(docs.broken_links(tmp_path)) == []
    write(tmp_path, "bad.md", "[a](gone.md) [b](other.md#gone)\n")
    offences = ["bad.md: no such file: gone.md", "bad.md: no such heading: other.md#gone"]
    assert list(docs.broken_links(tmp_path)) == offences


def test_sources_that_speak_of_documents_that_are_not_there_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    name = "/".join(["docs", "gone.md"])  # in pieces, lest it be noticed here
    write(tmp_path, "rondo/core/step.hpp", f"// See {name}.\n")
    assert list(docs.missing_documents(tmp_path)) == [f"rondo/core/step.hpp: no such document: {name}"]


def test_variables_that_are_not_documented_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    write(tmp_path, "rondo/interposer/instructions.cpp", 'variable("RONDO_TRACE"); std::string name = "RONDO_";\n')
    write(tmp_path, "docs/reference/environment.md", "`RONDO_SCAN`: a choice\n")
    found = list(docs.undocumented_variables(tmp_path, ["exscan", "scan"]))
    assert [line.rpartition(" ")[2] for line in found] == ["RONDO_EXSCAN", "RONDO_TRACE"]


def test_choices_and_rules_that_rondo_would_refuse_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    write(tmp_path, "good.md", "`--use exscan=linear_pipeline:segment=64Ki`\n```rules\nscan -> doubling\n```\n")
    assert list(docs.refused_examples(tmp_path)) == []
    write(tmp_path, "bad.md", "`--use exscan=gone` RONDO_SCAN=gone\n```rules\nscan -> gone\n```\n")
    assert len(list(docs.refused_examples(tmp_path))) == 3


def test_commands_that_rondo_would_refuse_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    good = """
    rondo run --use exscan=doubling_123 -- mpiexec -n 4 ./app    with an explanation
    $ rondo list --json | python -m json.tool   # and a comment
    RONDO_GUARD=off rondo rules check gone.rules
    rondo bench bcast \\
        --counts 4Ki -- mpiexec -n 2
    rondo list [OPTIONS]
"""
    write(tmp_path, "good.md", good)
    assert list(docs.refused_commands(tmp_path)) == []
    assert len(list(docs.commands(good))) == 4
    bad = "    rondo list --gone\n    rondo gone\n    rondo bench bcast \\\n      --repetitions many\n"
    write(tmp_path, "bad.md", bad)
    found = list(docs.refused_commands(tmp_path))
    assert [line.partition(": ")[2].partition(":")[0] for line in found] == [
        "rondo list --gone",
        "rondo gone",
        "rondo bench bcast --repetitions many",
    ]


def test_pages_that_the_overview_does_not_list_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    write(folder, "README.md", "* [Page](how-to/page.md): a page\n")
    write(folder, "how-to/page.md", "# Page\n")
    write(folder, "benchmarks/tables/page.md", "# Tables\n")
    assert list(docs.unlisted_pages(tmp_path)) == []
    write(folder, "how-to/other.md", "# Other\n")
    assert [line.rpartition("/")[2] for line in docs.unlisted_pages(tmp_path)] == ["other.md"]


def test_lines_of_the_default_rules_that_say_something_else_are_noticed(docs: ModuleType, tmp_path: Path) -> None:
    write(tmp_path, "tuning/default.rules", "# heading\nbcast bytes <= 8 -> native\nscan -> doubling  \n")
    report = " bcast  native (line {})  8\n scan  native (line 3: doubt)\n scan  doubling (line 3)\n\nrules: {}\n"
    write(tmp_path, "good.md", report.format(2, "default.rules"))
    write(tmp_path, "other.md", report.format(9, "mine.rules"))
    assert list(docs.misquoted_rules(tmp_path)) == []
    write(tmp_path, "bad.md", report.format(1, "default.rules") + report.format(9, "default.rules"))
    assert [each[:14] for each in docs.misquoted_rules(tmp_path)] == ["bad.md: line 1", "bad.md: line 9"]
