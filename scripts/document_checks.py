# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the documents against the code, a function for each kind of mistake; scripts/docs.py runs them."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rondo.bench.results import BY_THE_MODEL
from rondo.commands import main as rondo

from rondo import _core

REFERENCE = Path("docs/reference")
NOT_OURS = {".git", ".venv", ".toolchain", "build", "dist", ".pytest_cache"}
SOURCE_FOLDERS = ("rondo", "python", "tests", "scripts", "docs/benchmarks/making", "cmake", "examples", "tuning")
# linear_pipeline:segment=64Ki
CHOICE = r"\w+(?::\w+=\w+(?:,\w+=\w+)*)?"


def markdown_files(root: Path) -> list[Path]:
    """All documents that git knows or would add; without git, all that are not in a folder of the build."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "*.md"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return sorted(root / name for name in listed if (root / name).is_file())
    except (OSError, subprocess.CalledProcessError):
        return sorted(path for path in root.rglob("*.md") if not NOT_OURS & set(path.relative_to(root).parts))


def without_code(text: str) -> str:
    """Markdown without fenced blocks and code in lines."""
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text: str) -> set[str]:
    """What headings can be linked as, GitHub's way."""
    unfenced = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*)$", unfenced, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken_links(root: Path) -> Iterator[str]:
    """Relative links to files or headings that do not exist."""
    for document in markdown_files(root):
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^()\s]+)\)", without_code(text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            linked = (document.parent / path).resolve() if path else document
            name = document.relative_to(root)
            if not linked.exists():
                yield f"{name}: no such file: {target}"
            elif anchor and linked.suffix == ".md" and anchor not in anchors(linked.read_text(encoding="utf-8")):
                yield f"{name}: no such heading: {target}"


def missing_documents(root: Path) -> Iterator[str]:
    """Documents that sources speak of and that do not exist."""
    for folder in SOURCE_FOLDERS:
        for source in sorted((root / folder).rglob("*")):
            if source.suffix in {".cpp", ".hpp", ".c", ".py", ".cmake", ".rules"}:
                for name in re.findall(r"\bdocs/[\w/-]+\.md\b", source.read_text(encoding="utf-8")):
                    if not (root / name).is_file():
                        yield f"{source.relative_to(root)}: no such document: {name}"


def uncited_algorithms() -> Iterator[str]:
    """Algorithms without a paper in the bibliography."""
    for collective in _core.collectives():
        for each in _core.algorithms(collective["name"]):
            if not each["reference"]:
                yield f"{collective['name']}/{each['name']}: {each['citation']!r} is not in the bibliography"


def undocumented_variables(root: Path, collectives: Sequence[str]) -> Iterator[str]:
    """Environment variables that the preload library reads and that the reference does not name."""
    source = (root / "rondo/interposer/instructions.cpp").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(RONDO\w*)", (root / REFERENCE / "environment.md").read_text(encoding="utf-8")))
    for name in sorted(set(re.findall(r'"(RONDO\w*)"', source))):
        # "RONDO_" is what the names of collectives are put behind.
        wanted = [f"{name}{each.upper()}" for each in collectives] if name.endswith("_") else [name]
        for variable in wanted:
            if variable not in documented:
                yield f"{REFERENCE / 'environment.md'}: says nothing about {variable}"


def refused_examples(root: Path) -> Iterator[str]:
    """Choices and rules in the documents that Rondo would not take."""
    collectives = {each["key"] for each in _core.settings() if each["values"] == "choice"}
    others = {each["variable"].removeprefix("RONDO_").lower() for each in _core.settings()} - collectives | {"abis"}
    for document in markdown_files(root):
        name, text = document.relative_to(root), document.read_text(encoding="utf-8")
        choices = re.findall(rf"--use[ =]([a-z_]+)=({CHOICE})", text)
        choices += [(which.lower(), choice) for which, choice in re.findall(rf"RONDO_([A-Z]+)=({CHOICE})", text)]
        for collective, choice in choices:
            # A recipe may use the algorithm that it makes.
            made_here = f"rondo/algorithms/{collective}/{choice.partition(':')[0]}.cpp" in text
            is_file = choice == "file"  # its path follows
            if collective in others or made_here or is_file:
                continue
            try:
                _core.check_choice(collective, choice)
            except ValueError as error:
                yield f"{name}: {collective}={choice}: {error}"
        for rules in re.findall(r"^```rules\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
            try:
                _core.check_rules(rules, "rules")
            except ValueError as error:
                yield f"{name}: {error}"


def command_lines(text: str) -> Iterator[str]:
    """Each `rondo` command on a line of code, as a shell takes it, without what stands behind it to explain it."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        found = re.match(r"(?: {4,}(?:\$ )?|\$ )((?:\w+=\S+ )*rondo [a-z-]\S*(?: {1,2}\S+)*)", line)
        if found and "[" not in found[1]:  # else it is the usage of a command
            yield found[1]


def commands(text: str) -> Iterator[list[str]]:
    """The words of each of these commands."""
    for line in command_lines(text):
        words = shlex.split(line, comments=True)
        words = words[words.index("rondo") :]
        end = next((place for place, word in enumerate(words) if re.fullmatch(r"[|&;]+|\d?>+", word)), len(words))
        yield words[:end]


def refusal(words: Sequence[str]) -> str | None:
    """Why the command line would not take these words, apart from files that are not there."""
    command: click.Command = rondo
    context = click.Context(rondo, **rondo.context_settings)  # commands keep the names of help that they see first
    left = list(words[1:])
    while isinstance(command, click.Group) and left and not left[0].startswith("-"):
        name = left.pop(0)
        found = command.get_command(context, name)
        if found is None:
            return f"there is no command {name}"
        command = found
    try:
        command.make_context(words[0], left, context)
        return None
    except click.exceptions.Exit:  # --help
        return None
    except click.BadParameter as problem:
        is_file = problem.param is not None and isinstance(problem.param.type, click.Path | click.File)
        return None if is_file else problem.format_message()
    except click.UsageError as problem:
        return problem.format_message()


def refused_commands(root: Path) -> Iterator[str]:
    """Commands in the documents that Rondo would not take."""
    for document in markdown_files(root):
        name = document.relative_to(root)
        try:
            for words in commands(document.read_text(encoding="utf-8")):
                if (problem := refusal(words)) is not None:
                    yield f"{name}: {shlex.join(words)}: {problem}"
        except ValueError as error:  # an open quotation mark
            yield f"{name}: a command cannot be read: {error}"


def unlisted_pages(root: Path) -> Iterator[str]:
    """Documents that the overview does not list: the site's sidebar follows it. Tables belong to their page."""
    overview = root / "docs" / "README.md"
    listed = set(re.findall(r"\]\((\S+?\.md)\)", overview.read_text(encoding="utf-8"))) if overview.exists() else set()
    for document in markdown_files(root):
        name = document.relative_to(root)
        is_page = name.parts[0] == "docs" and name.parts[-1] != "README.md" and "tables" not in name.parts
        if is_page and name.relative_to("docs").as_posix() not in listed:
            yield f"docs/README.md does not list {name}"


def misquoted_rules(root: Path) -> Iterator[str]:
    """Reports in the documents that name lines of the default rules which say something else."""
    rules = (root / "tuning/default.rules").read_text(encoding="utf-8").splitlines()
    shown = re.compile(r"^ +(\w+) +(\S+) \(line (\d+)(\)?)(?=.*?^ *rules: (\S+))", re.MULTILINE | re.DOTALL)
    for document in markdown_files(root):
        for collective, choice, line, ends, file in shown.findall(document.read_text(encoding="utf-8")):
            if file != "default.rules":
                continue
            words = rules[int(line) - 1].split() if int(line) <= len(rules) else []
            # Where more is said than the line, it is why the rule's choice did not carry the call out.
            if words[:1] != [collective] or (ends and words[-1] not in (choice, BY_THE_MODEL)):
                name = document.relative_to(root)
                yield f"{name}: line {line} of the default rules does not say {collective} -> {choice}"


def offences(root: Path) -> list[str]:
    """All that is wrong, a line each."""
    collectives = [each["name"] for each in _core.collectives()]
    return [
        *broken_links(root),
        *missing_documents(root),
        *uncited_algorithms(),
        *undocumented_variables(root, collectives),
        *refused_examples(root),
        *refused_commands(root),
        *unlisted_pages(root),
        *misquoted_rules(root),
    ]
