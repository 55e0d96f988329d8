# SPDX-License-Identifier: BSD-3-Clause
"""The documentation as a site: all pages, found by a search without a network, none wider than a telephone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from script_loader import script

pytest.importorskip("sphinx", reason="no Sphinx (scripts/setup.py docs)")
pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
WIDTH = 400  # of a telephone
LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"([^\"]*)\"|<link[^>]* rel=\"stylesheet\"[^>]* href=\"([^\"]*)\""
)
FRAMES = """<!DOCTYPE html><body>{frames}<script>addEventListener("load", () => {{
  const found = document.createElement("pre");
  found.id = "found";
  found.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map((each) =>
    [each.src, each.contentDocument.documentElement.scrollWidth - each.clientWidth]));
  document.body.append(found);
}});</script></body>"""

pytestmark = pytest.mark.soak  # which installs Sphinx


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = script("docs")
    docs.SITE = tmp_path_factory.mktemp("site")
    assert docs.make_site()
    return docs.SITE


def test_every_document_is_a_page(site: Path) -> None:
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        assert (site / document.relative_to(ROOT)).with_suffix(".html").is_file(), document
    assert "README.html" in (site / "index.html").read_text()


def test_nothing_is_loaded_from_a_network(site: Path) -> None:
    loaded = [max(names) for page in site.rglob("*.html") for names in LOADED.findall(page.read_text())]
    assert len(loaded) > 100
    assert [each for each in loaded if re.match(r"\w+:|//", each) and not each.startswith("data:")] == []


def test_the_search_knows_pages_by_their_words(site: Path) -> None:
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", (site / "searchindex.js").read_text())[1])
    pages = index["docnames"]

    def having(word: str) -> set[str]:
        places = index["terms"][word]
        return {pages[each] for each in (places if isinstance(places, list) else [places])}

    assert "docs/how-to/site" in having("ld_preload")
    assert "docs/reference/algorithms" in having("circul")  # the stem of circulant


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium (scripts/setup.py debian chromium)")
def test_no_page_is_wider_than_a_telephone(site: Path, tmp_path: Path) -> None:
    pages = sorted(each for each in site.rglob("*.html") if each.name != "index.html")
    frames = "".join(f'<iframe src="{page.as_uri()}" style="width:{WIDTH}px"></iframe>' for page in pages)
    outer = tmp_path / "frames.html"
    outer.write_text(FRAMES.format(frames=frames))
    result = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
            f"--user-data-dir={tmp_path / 'browser'}", "--virtual-time-budget=60000", "--dump-dom", outer.as_uri(),
        ],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    found = re.search(r'<pre id="found">(.*?)</pre>', result.stdout, re.DOTALL)
    assert found is not None, result.stderr[-2000:]
    seen = json.loads(unescape(found[1]))
    assert len(seen) == len(pages)
    assert [each for each in seen if each[1] > 0] == []
