# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo run --learn` tries next."""

from __future__ import annotations

import io
import threading
import time
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from rondo.launching import installation, run_report, run_table
from rondo.launching.rank_report import RankClass, RankEntry, RankReport, Trial
from rondo.tune import cells, learning, seen_calls

from rondo import _core
from rondo.selection import learned

MPICH = "MPICH Version 5.0.2"
VERDICT = (
    "{collective} bytes={bytes} commutative=no rounding=no processes=8 nodes=4 fewest_on_node=2 most_on_node=2 "
    "in_rank_order=yes shared_memory=no choice={choice} rondo={rondo} library=0.001 day=2026-02-03\n"
)


def verdict(collective: str, choice: str, rondo: float, length: int = 5000) -> str:
    choice = _core.check_choice(collective, choice)
    return VERDICT.format(collective=collective, choice=choice, rondo=rondo, bytes=length)


def report(*entries: tuple[str, str, int, int], hosts: str = "aabbccdd") -> run_report.Report:
    """Of ranks that all made the same calls: collective, reason, smallest and largest call."""
    found = [
        RankEntry(each, "native", reason, [RankClass(None, 10, 10 * highest, lowest, highest, 0.1)])
        for each, reason, lowest, highest in entries
    ]
    ranks = [RankReport(rank, len(hosts), host, MPICH, "mpich", True, found) for rank, host in enumerate(hosts)]
    return run_report.merged(ranks)


LEAVING = "bcast bytes <= 4Ki -> native\nreduce bytes <= 64Ki -> native\nscan bytes <= 64Ki -> native\n"
"""Lines that leave calls to the library, whatever the default rules say."""
RULES = LEAVING + installation.DEFAULT_RULES.read_text()


@pytest.fixture
def lesson(tmp_path: Path) -> learning.Lesson:
    rules = tmp_path / "default.rules"
    rules.write_text(RULES)
    return learning.Lesson(lambda: (tmp_path / "node.verdicts", cells.Circumstances(MPICH, None, rules)))


def own(lesson: learning.Lesson) -> list[str]:
    """The lines beside those of the user."""
    text = lesson.text_of_rules()
    assert _core.inspect_rules(text)["wrong"] == []
    default = iter(RULES.splitlines())
    following, added = next(default), []
    for line in text.splitlines():
        if line == following:
            following = next(default, None)
        else:
            added.append(line)
    assert following is None
    return added


def test_the_first_run_tries_what_the_rules_say(lesson: learning.Lesson) -> None:
    assert own(lesson) == []
    assert lesson.progress() == "no kind of calls was compared yet"


def test_what_the_rules_leave_to_the_library_is_tried_in_the_second_run(lesson: learning.Lesson) -> None:
    lesson.end(report(("bcast", "no rule", 8, 8), ("scan", "chosen", 100, 3000), ("exscan", "unusual datatype", 8, 8)))
    lines = own(lesson)
    assert all(each.partition("-> ")[2] != "native" for each in lines)
    # Where a line leaves them to the library, and where no line speaks of them.
    conditions = [each.partition(" ->")[0] for each in lines]
    assert conditions[-2:] == ["bcast bytes in 8..8", "scan bytes in 100..3000"]
    assert {"bcast bytes <= 4Ki, bytes in 8..8", "scan bytes <= 64Ki, bytes in 100..3000"} <= set(conditions)
    assert lesson.rules.endswith(f"default.rules, and {len(lines)} lines of what is tried")
    lesson.end(report(("bcast", "no rule", 4, 16)))
    lesson.end(report(("bcast", "no rule", 1000, 1000)))
    assert [each.partition(" ->")[0] for each in own(lesson)][-3:-1] == [
        "bcast bytes in 4..16",
        "bcast bytes in 1000..1000",
    ]


def test_what_the_rules_choose_for_others_of_these_lengths_stays(tmp_path: Path) -> None:
    rules = tmp_path / "mine.rules"
    rules.write_text(
        "bcast processes = 4 -> circulant  # on\fparts\n"
        "bcast bytes >= 1Mi -> native\n"
        "bcast processes = 8, bytes < 1k -> native\n"
        "scan -> native\n"
    )
    lesson = learning.Lesson(lambda: (tmp_path / "node.verdicts", cells.Circumstances(MPICH, None, rules)))
    lesson.end(report(("bcast", "chosen", 8, 8)))
    lines = lesson.text_of_rules().split("\n")
    tried = [each for each in lines if each not in rules.read_text().split("\n")]
    assert [each.partition(" ->")[0] for each in tried] == [
        "bcast processes = 8, bytes < 1k, bytes in 8..8",
        "bcast bytes in 8..8",
    ]
    assert [lines.index(each) for each in tried] == [2, 5]  # no call of the second line is so short


def test_the_report_tells_what_was_learned_from_what_the_rules_say(lesson: learning.Lesson, tmp_path: Path) -> None:
    for number in range(learning.MOST_TRIED):
        (line,) = own(lesson) if number else ["-> binomial"]
        learned.change(tmp_path / "node.verdicts", add=verdict("bcast", line.partition("-> ")[2], 0.0005 + number))
    lesson.end(report(("scan", "no rule", 100, 100)))
    lines = lesson.text_of_rules().splitlines()
    assert {each.split()[0] for each in own(lesson)} == {"bcast", "scan"}
    scan = lines.index(next(each for each in lines if each.startswith("scan") and "bytes in 100..100" in each)) + 1
    native = lines.index("reduce bytes <= 64Ki -> native") + 1
    served = [("bcast", "binomial", "", 1), ("scan", "doubling", "", scan), ("reduce", "native", "chosen", native)]
    served += [("allreduce", "native", "no rule", 0)]
    own_line = RULES.splitlines().index(lines[native - 1]) + 1
    assert own_line < native
    classes = [RankClass(None, 10, 80, 8, 8, 0.1)]
    entries = [RankEntry(*each[:3], classes, each[3]) for each in served]
    ranks = [RankReport(rank, 8, "a", MPICH, "mpich", True, entries) for rank in range(8)]
    credited = lesson.credited(run_report.merged(ranks, ["one.json: torn"]))
    assert {each.collective: (each.line, each.learned) for each in credited.entries} == {
        "allreduce": (0, ""), "bcast": (1, "best"), "reduce": (own_line, ""), "scan": (scan, "tried"),
    }  # fmt: skip
    assert [(each.line, each.learned) for each in credited.ranks[3].entries[:2]] == [(1, "best"), (scan, "tried")]
    assert (credited.unreadable, credited.missing) == (["one.json: torn"], [])
    console = Console(width=100, color_system=None, record=True, file=io.StringIO())
    run_table.show(credited, console)
    text = console.export_text()
    for said in (
        "binomial (learning: best)",
        "doubling (learning: tried)",
        f"native (line {own_line})",
        "native (no rule)",
    ):
        assert said in text


def test_each_run_tries_another_choice_and_then_the_best_stays(lesson: learning.Lesson, tmp_path: Path) -> None:
    file = tmp_path / "node.verdicts"
    condition = "bcast bytes in 4096..8191, processes = 8, nodes = 4, ranks_per_node = 2, shared_memory = no"
    tried: list[str] = []
    for number in range(learning.MOST_TRIED):
        learned.change(file, add=verdict("bcast", tried[-1] if tried else "binomial", 0.002 - 0.0004 * number))
        tried = tried or ["binomial"]
        (line,) = own(lesson)
        assert line.startswith(f"{condition} -> ")
        tried.append(line.partition("-> ")[2])
    *tries, stays = tried
    assert len(set(tries)) == learning.MOST_TRIED
    assert stays == _core.check_choice("bcast", tries[-1])  # the only one that took less than the library
    assert lesson.progress() == "1 kind of calls settled; nothing is left to try"
    for each in tries:
        learned.change(file, add=verdict("bcast", each, 0.0011))
    assert own(lesson) == [f"{condition} -> native"]


def test_a_run_is_told_of_the_calls_that_it_had(lesson: learning.Lesson, tmp_path: Path) -> None:
    file = tmp_path / "node.verdicts"
    learned.change(file, add=verdict("bcast", "binomial", 0.002))  # of another program
    learned.change(file, add=verdict("scan", "doubling", 0.002))
    run = report(("scan", "while Rondo's choice is in doubt", 5000, 5000))
    assert lesson.end(run) == "no kind of calls was compared yet"
    run.trials = [Trial("scan", 5000, 8, 4, "doubling", 0.002, 0.001, effective=True, day="")]
    assert lesson.end(run).startswith("0 kinds of calls settled, 1 with choices left to try")
    assert lesson.progress().startswith("0 kinds of calls settled, 2 with choices left to try")


def test_where_ranks_are_may_be_unknown(lesson: learning.Lesson, tmp_path: Path) -> None:
    text = verdict("allreduce", "ring", 0.002).replace(
        "nodes=4 fewest_on_node=2 most_on_node=2", "nodes=0 fewest_on_node=0 most_on_node=0"
    )
    learned.change(tmp_path / "node.verdicts", add=text)
    (line,) = own(lesson)
    assert line.startswith("allreduce bytes in 4096..8191, processes = 8, commutative = no -> ")


def test_what_was_seen_and_cannot_be_read_is_found_out_again(lesson: learning.Lesson, tmp_path: Path) -> None:
    (tmp_path / "node.calls.json").write_text("{")
    lesson.end(report(("bcast", "no rule", 8, 8), hosts="ab"))
    seen = msgspec.json.decode((tmp_path / "node.calls.json").read_bytes(), type=learning.Seen)
    assert seen == learning.Seen([1, 1], [learning.Calls("bcast", 8, 8)])


def test_runs_that_end_at_once_lose_nothing(
    lesson: learning.Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = seen_calls.read

    def read_slowly(verdicts: Path) -> learning.Seen:
        seen = read(verdicts)
        time.sleep(0.1)  # the others read meanwhile, if nobody keeps them from it
        return seen

    monkeypatch.setattr(seen_calls, "read", read_slowly)
    lengths = [8, 80, 800, 8000]
    threads = [threading.Thread(target=lesson.end, args=[report(("bcast", "no rule", each, each))]) for each in lengths]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.lowest for each in read(tmp_path / "node.verdicts").calls] == lengths


def test_learning_needs_the_guard_and_a_place(rondo, stand_in_launcher, stand_in_program, installed) -> None:
    program, launcher = stand_in_program("libmpi.so.12"), stand_in_launcher("hydra")
    for words in (("--guard", "off"), ("--guard", "exact", "--learned", "none")):
        result = rondo("run", "--learn", *words, "--", launcher, "-n", 2, program)
        assert result.exit_code == 2
        assert "leave out --guard off and --learned none" in result.stderr
