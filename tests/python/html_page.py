# SPDX-License-Identifier: BSD-3-Clause
"""A page of `rondo report`, taken apart."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """What a browser would fetch, the data of the figures, and the text outside of scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.figures: dict[str, dict] = {}
        self.words: list[str] = []
        self.classes: list[str] = []
        self.targets: set[str] = set()
        self._inside = ("", "", "")
        self.feed(path.read_text(encoding="utf-8"))
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self._inside = (tag, known.get("type") or "", known.get("id") or "")
        self.classes += (known.get("class") or "").split()
        self.targets.add(known.get("id") or "")
        self.fetched += [known[name] or "" for name in ("src", "href", "srcset", "data", "action") if name in known]

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
