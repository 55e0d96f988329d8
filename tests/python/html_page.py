# SPDX-License-Identifier: BSD-3-Clause
"""A page of `rondo report`, taken apart."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

PLOTLY = "https://cdn.plot.ly/plotly-"
"""How the address begins of the only thing that a page fetches, unless it is self-contained."""
MOST_BYTES = 1 << 20
"""Of a page that fetches Plotly."""


class Page(HTMLParser):
    """What a browser would fetch beside Plotly, the data of the figures, and the text outside of scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.fetches_plotly = False
        self.figures: dict[str, dict] = {}
        self.words: list[str] = []
        self.classes: list[str] = []
        self.targets: set[str] = set()
        self._inside = ("", "", "")
        self.feed(path.read_text(encoding="utf-8"))
        assert not self.fetches_plotly or path.stat().st_size <= MOST_BYTES
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self._inside = (tag, known.get("type") or "", known.get("id") or "")
        self.classes += (known.get("class") or "").split()
        self.targets.add(known.get("id") or "")
        names = [known[name] or "" for name in ("src", "href", "srcset", "data", "action") if name in known]
        if tag == "script" and names and names[0].startswith(PLOTLY):
            assert (known["integrity"] or "").startswith("sha256-")
            self.fetches_plotly = True
        else:
            self.fetched += names

    def handle_data(self, data):
        tag, kind, name = self._inside
        if kind == "application/json":
            self.figures[name.removesuffix("data")] = json.loads(data)
        elif tag not in ("script", "style"):
            self.words.append(data)
        elif tag == "style":
            assert "url(" not in data
            assert "@import" not in data

    def handle_endtag(self, tag):
        self._inside = ("", "", "")
