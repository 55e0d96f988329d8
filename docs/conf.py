# SPDX-License-Identifier: BSD-3-Clause
"""The documentation as a site, which needs no network: `make docs` writes build/docs/index.html. Read by Sphinx.

Pages are the Markdown files as they stand in the repository, with the project's README in front. docs/README.md says
which pages there are: the sidebar follows it.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Text
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
OVERVIEW = "docs/README"

project = "Rondo"
author = "The Rondo authors"
copyright = author  # noqa: A001, as Sphinx calls it
release = re.search(r"project\(rondo VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser"]
myst_heading_anchors = 6  # GitHub's
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "changelog.d/README.md"]
include_patterns += ["docs/README.md", "docs/**/*.md"]
exclude_patterns = [".*", "build", "dist", "python", "rondo", "tests"]  # Sphinx need not look through them

html_theme = "furo"
html_title = f"Rondo {release}"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


class Rules(RegexLexer):
    """docs/reference/rules.md has the grammar."""

    tokens = {  # noqa: RUF012, as Pygments wants it
        "root": [
            (r"#.*", Comment),
            (r"^(\s*)(\w+)", bygroups(Text, Keyword)),
            (r"->|<=?|>=?|=|\.\.", Operator),
            (r"\b\d+(Ki|Mi|Gi|k|M|G)?\b", Number),
            (r"\w+", Name),
            (r"\s+|.", Text),
        ]
    }


def tree(pages: list[str], caption: str = "") -> str:
    """What puts pages below the page at whose end it stands, in the sidebar alone."""
    heading = f":caption: {caption}\n" if caption else ""
    return "\n\n```{toctree}\n:hidden:\n" + heading + "\n" + "\n".join(pages) + "\n```\n"


def sections(overview: str) -> list[tuple[str, list[str]]]:
    """The captions of the overview, each with the pages that are listed below it."""
    found = []
    for caption, items in re.findall(r"^\*\*(.+?)\*\*.*?\n\n((?:[* ].*\n)+)", overview, flags=re.MULTILINE):
        found.append((caption, re.findall(r"^\* \[[^]]*\]\((\S+?)\.md\)", items, flags=re.MULTILINE)))
    return found


def add_sidebar(app: Sphinx, page: str, source: list[str]) -> None:
    """Says which pages stand below this one."""
    listed = dict(sections((ROOT / f"{OVERVIEW}.md").read_text(encoding="utf-8")))
    decisions = listed.pop("Decisions")
    tables = ROOT / "docs" / "benchmarks" / "tables" / f"{Path(page).name}.md"
    if page == root_doc:
        app.env.note_dependency(str(ROOT / f"{OVERVIEW}.md"))
        source[0] += tree([OVERVIEW])
        for caption, pages in listed.items():
            source[0] += tree([f"docs/{each}" for each in pages], caption)
        source[0] += tree(["CONTRIBUTING", "CHANGELOG", "changelog.d/README"], "Project")
    elif page == OVERVIEW:
        source[0] += tree(decisions)
    elif page.startswith("docs/benchmarks/") and tables.exists() and "tables" not in page:
        source[0] += tree([f"tables/{tables.stem}"])


def leave_out_folders(app: Sphinx, document: nodes.document) -> None:
    """Links to folders of the repository become plain text: a site of files has no lists of files."""
    here = Path(app.env.doc2path(app.env.docname)).parent
    for link in list(document.findall(addnodes.pending_xref)):
        if link["reftype"] == "myst" and (here / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def write_entry(app: Sphinx, problem: Exception | None) -> None:
    """Writes index.html, which browsers open by themselves: it leads to the first page."""
    if problem is None and app.builder.format == "html":
        refresh = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html"><title>Rondo</title>\n'
        (Path(app.outdir) / "index.html").write_text(refresh)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_lexer("rules", Rules)
    app.connect("source-read", add_sidebar)
    app.connect("doctree-read", leave_out_folders)
    app.connect("build-finished", write_entry)
