# SPDX-License-Identifier: BSD-3-Clause
"""The pages of `rondo report` in a real browser, Debian's chromium: every figure is drawn, the console stays silent,
and nothing is wider than the window, cut or under something else, be it the window of a desk or of a telephone.
"""

from __future__ import annotations

import http.server
import json
import re
import shutil
import subprocess
import threading
from html import unescape
from pathlib import Path

import msgspec
import pytest
from recorded_results import EXSCAN, recorded
from rondo.bench import maps, results
from rondo.comparing import results as comparisons
from rondo.launching import run_report
from rondo.profiling.profile import write
from script_loader import script
from test_jobs import TRIAL, job, leave
from test_profile_report import comparison, example
from test_report import entry, write_rank

CHROMIUM = shutil.which("chromium")
RECORDED_MAP = Path(__file__).with_name("recorded_map")
WIDTHS = (1280, 400)
HEIGHT = 1000
SECONDS = 120

pytestmark = [
    pytest.mark.soak,  # which installs it
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium (scripts/setup.py debian chromium)"),
]

# The page at each width, in a frame of its own; afterwards, what a reader would see of it.
FRAMES = """\
<!DOCTYPE html><body style="margin:0">
{frames}
<script>
  function looked(frame) {{
    const page = frame.contentDocument, wide = frame.clientWidth, charts = [...page.querySelectorAll(".chart")];
    const scrolls = (each) => each.closest(".main-svg, #js-plotly-tester") !== null;
    const beyond = [...page.querySelectorAll("body *")].filter((each) => {{
      const box = each.getBoundingClientRect();
      return box.width > 0 && !scrolls(each) && (box.right > wide + 1 || box.left < -1);
    }});
    const box = (each) => each.getBoundingClientRect();
    const out = (inner, outer) => inner.width > 0 && (inner.left < outer.left - 2 || inner.right > outer.right + 2 ||
      inner.top < outer.top - 2 || inner.bottom > outer.bottom + 2);
    const cut = charts.flatMap((chart) => [...chart.querySelectorAll(".main-svg text")]
      .filter((each) => out(box(each), box(chart))).map((each) => `${{chart.id}}: ${{each.textContent}}`));
    const under = charts.flatMap((chart) => [...chart.querySelectorAll(".xtick text, .xtitle")]
      .filter((each) => [...chart.querySelectorAll(".legendtext")].some((other) => {{
        const one = box(each), two = box(other);
        return one.left < two.right && two.left < one.right && one.top < two.bottom - 3 && two.top < one.bottom - 3;
      }})).map((each) => `${{chart.id}}: ${{each.textContent}}`));
    const scrolled = [...page.querySelectorAll(".scroll")].filter((each) => each.scrollWidth > each.clientWidth + 1);
    const bars = [...page.querySelectorAll(".legend .scrollbar")].filter((each) => box(each).height > 0);
    return {{
      cut, under, scrolled: scrolled.map((each) => each.textContent.slice(0, 60)), bars: bars.length,
      note: !page.getElementById("without")?.hidden,
      width: wide, scrollWidth: page.documentElement.scrollWidth, charts: charts.length,
      drawn: charts.filter((each) => each.querySelector(".main-svg .trace path") !== null).length,
      beyond: beyond.map((each) => each.outerHTML.slice(0, 120)), title: page.title,
    }};
  }}
  const frames = [...document.querySelectorAll("iframe")];
  // Pages draw what comes into view, and all before they are printed. Nothing is in view without a screen.
  addEventListener("load", () => frames.forEach((each) => each.contentWindow.dispatchEvent(new Event("beforeprint"))));
  addEventListener("load", () => setTimeout(() => {{
    const found = document.createElement("pre");
    found.id = "found";
    found.textContent = JSON.stringify(frames.map(looked));
    document.body.append(found);
  }}, 4000));
</script></body>
"""


@pytest.fixture
def opened(tmp_path):
    """Opens a page at all widths: what is seen of it, and what the console said."""

    def look(page: Path):
        frames = "\n".join(
            f'<iframe src="/page" style="border:0;width:{width}px;height:{HEIGHT}px"></iframe>' for width in WIDTHS
        )
        answers = {"/": FRAMES.format(frames=frames).encode(), "/page": page.read_bytes()}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = answers.get(self.path)
                self.send_response(200 if content is not None else 204)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                result = subprocess.run(
                    [
                        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                        f"--user-data-dir={tmp_path / 'browser'}", f"--window-size={sum(WIDTHS)},{HEIGHT}",
                        "--virtual-time-budget=20000", "--dump-dom", f"http://127.0.0.1:{server.server_address[1]}/",
                    ],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=True,
                )  # fmt: skip
            finally:
                server.shutdown()
        found = re.search(r'<pre id="found">(.*?)</pre>', result.stdout, re.DOTALL)
        assert found is not None, result.stderr[-2000:]
        return json.loads(unescape(found[1])), [each for each in result.stderr.splitlines() if "CONSOLE" in each]

    return look


def with_candidates(number: int) -> results.Results:
    """As many as that: the recorded ones, over and over, each time a bit slower."""
    found = script("measurements").results_in(EXSCAN)
    first = [each for each in found.configurations if each.algorithm == results.NATIVE]
    others = [each for each in found.configurations if each.algorithm != results.NATIVE]
    algorithms = sorted({each.algorithm for each in others})
    for turn in range(number - 1):
        for each in others:
            if each.algorithm == algorithms[turn % len(algorithms)]:
                name = f"{each.algorithm}_of_turn_{turn}"
                slower = [
                    msgspec.structs.replace(one, seconds=one.seconds * (1 + turn / 20)) for one in each.repetitions
                ]
                first.append(msgspec.structs.replace(each, algorithm=name, repetitions=slower))
    found.configurations = first
    return found


def files(kind: str, directory: Path) -> list[Path]:
    """What there is to show."""
    if kind == "results":
        return [recorded(EXSCAN, directory)]
    if kind == "map":
        (directory / "map").mkdir()
        for each in RECORDED_MAP.glob("p*.json"):
            shutil.copy(each, directory / "map")
        asked = msgspec.json.decode((RECORDED_MAP / maps.PLAN_FILE).read_bytes(), type=maps.Question)
        found = maps.read(directory / "map", asked)
        assert found is not None
        maps.write(found, directory / "map")
        return [directory / "map"]
    if kind == "jobs":
        programs = [f"/opt/a_program_with_a_long_name_{number}" for number in range(20)]
        leave(directory, *(job(each, calls=1 + number, trials=[TRIAL]) for number, each in enumerate(programs)))
        return [directory]
    first, second = directory / "before.json", directory / "after.json"
    if kind == "thirteen candidates":
        results.write(with_candidates(13), first)
        return [first]
    if kind == "comparison":
        comparisons.write(comparison(), first)
        return [first]
    if kind == "run":
        (directory / "ranks").mkdir()
        for rank in range(3):
            write_rank(directory / "ranks", rank, [entry(), entry("native", "no rule", collective="bcast")])
        run_report.write(run_report.read(directory / "ranks"), first)
        return [first]
    long = "/".join(["a_directory_with_a_long_name"] * 8)
    write(example(command=["mpiexec", "-n", "8", f"{long}/app", "--input", long]), first)
    if kind == "profile":
        return [first]
    write(example(), second)
    return [first, second]


@pytest.mark.parametrize(
    ("kind", "charts"),
    [
        ("results", 2),
        ("profile", 7),
        ("profiles", 16),
        ("comparison", 2),
        ("run", 1),
        ("map", 3),
        ("jobs", 2),
        ("thirteen candidates", 2),
    ],
)
def test_a_page_is_drawn_whole_without_a_word_on_the_console(rondo, opened, tmp_path, kind, charts):
    page = tmp_path / "page.html"
    result = rondo("report", *files(kind, tmp_path), "--self-contained", "--output", page)
    assert result.exit_code == 0, result.exception
    seen, console = opened(page)
    assert console == []
    assert [each["width"] for each in seen] == list(WIDTHS)
    for each in seen:
        assert each["title"].startswith("Rondo: ")
        assert (each["charts"], each["drawn"]) == (charts, charts)
        assert each["beyond"] == []
        assert each["scrollWidth"] <= each["width"]
        assert (each["cut"], each["under"], each["scrolled"], each["bars"]) == ([], [], [], 0)
        assert not each["note"]


def test_a_page_without_a_network_says_that_its_figures_are_missing(rondo, opened, tmp_path):
    page = tmp_path / "page.html"
    assert rondo("report", recorded(EXSCAN, tmp_path), "--output", page).exit_code == 0
    seen, _ = opened(page)
    for each in seen:
        assert (each["note"], each["drawn"], each["beyond"]) == (True, 0, [])


def test_the_browser_would_show_what_is_wrong(opened, tmp_path):
    """Otherwise the test above could not fail."""
    page = tmp_path / "page.html"
    page.write_text(
        "<!DOCTYPE html><title>Rondo: wrong</title><p style='width:700px'>wide</p><div class=chart></div>"
        "<div class=scroll style='width:300px;overflow:hidden'><p style='width:350px'>wide</p></div>"
        "<div class=chart style='width:100px'><svg class=main-svg style='overflow:visible'>"
        "<g class=xtick><text y=20 textLength=200>a long text here</text></g>"
        "<text class=legendtext y=20>another</text></svg></div>"
        "<script>console.error('one'); undefined_function();</script>"
    )
    (desk, telephone), console = opened(page)
    assert any("one" in each for each in console)
    assert any("undefined_function" in each for each in console)
    assert (desk["beyond"], desk["charts"], desk["drawn"]) == ([], 2, 0)
    assert (len(desk["cut"]), desk["under"], desk["scrolled"]) == (1, [": a long text here"], ["wide"])
    assert [each[:2] for each in telephone["beyond"]] == ["<p"]
    assert telephone["scrollWidth"] > telephone["width"]
