# SPDX-License-Identifier: BSD-3-Clause
"""`rondo import`: right schedules are taken, and wrong ones refused with the place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import msccl_schedules
import pytest
from rondo.errors import Error
from rondo.launching import instructed
from rondo.schedules import msccl

from rondo import _core

MSCCL = [
    (one["name"], each["name"])
    for one in _core.collectives()
    for each in _core.algorithms(one["name"])
    if one["name"] in msccl.COLLECTIVES
]
EVERYTHING = [
    (one["name"], each["name"], one["has_data"])
    for one in _core.collectives()
    for each in _core.algorithms(one["name"])
]
PUBLISHED = {
    "ring": msccl_schedules.ring(5),
    "all_pairs": msccl_schedules.all_pairs(4),
    "two_by_two": msccl_schedules.two_by_two(),
}


@pytest.fixture(autouse=True)
def in_a_directory_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(rondo, text: str, name: str = "a.xml") -> str:
    """What is said of it, in a line."""
    Path(name).write_text(text, encoding="utf-8")
    result = rondo("import", name)
    assert (result.exit_code, result.stdout) == (2, ""), text
    assert result.stderr.startswith(f"rondo: {name}"), result.stderr
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix(f"rondo: {name}").strip()


@pytest.mark.parametrize(("collective", "algorithm"), MSCCL)
def test_what_was_exported_is_right_when_it_comes_back(rondo, collective, algorithm):
    has_root = next(each["has_root"] for each in _core.collectives() if each["name"] == collective)
    ways = [[], *([["--in-place"]] if collective in msccl.IN_PLACE else [])]
    for processes in range(2, 10):
        for words in ways:
            root = ["--root", processes - 1] if has_root else []
            call = ["-n", processes, "--count", 12 if collective not in msccl.DIVIDED else 2, *words, *root]
            if collective == "alltoall":
                call[3] = 2
            exported = rondo("export", f"{collective}/{algorithm}", *call, "--format", "msccl", "-o", "a.xml")
            assert exported.exit_code == 0, exported.stderr
            found = rondo("import", "a.xml", "--json")
            assert found.exit_code == 0, (call, found.stderr)
            told = json.loads(found.stdout)
            assert (told["collective"], told["processes"], told["without_races"]) == (collective, processes, True)
            assert told["root"] == (processes - 1 if has_root else 0)


@pytest.mark.parametrize(("collective", "algorithm", "has_data"), EVERYTHING)
def test_goal_that_was_exported_comes_to_an_end(rondo, collective, algorithm, has_data):
    for processes in range(1, 10):
        count = ["--count", 6] if has_data else []
        call = [f"{collective}/{algorithm}", "-n", processes, *count]
        assert rondo("export", *call, "--format", "goal", "-o", "a.goal").exit_code == 0
        found = rondo("import", "a.goal", "--json")
        assert found.exit_code == 0, found.stderr
        told = json.loads(found.stdout)
        assert not told["needs_buffers"]
        plans = json.loads(rondo("export", *call, "--format", "json").stdout)["ranks"]
        sends = [each for rank in plans for each in rank["actions"] if each["kind"] == "send"]
        assert told["messages"] == len(sends)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schedules_are_right(rondo, name):
    schedule = PUBLISHED[name]
    Path("a.xml").write_text(schedule.text(), encoding="utf-8")
    result = rondo("import", "a.xml")
    assert result.exit_code == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first.startswith(
        f"a.xml: {schedule.collective} on {len(schedule.ranks)} ranks in {schedule.chunks} chunks, "
    )
    assert second == f"Every rank holds in the end what {schedule.collective} promises. No thread blocks race."


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 2), (3, 4), (8, 14)])
def test_a_ring_of_fused_steps_takes_its_rounds(rondo, ranks, rounds):
    Path("a.xml").write_text(msccl_schedules.ring(ranks, 1).text(), encoding="utf-8")
    told = json.loads(rondo("import", "a.xml", "--json").stdout)
    assert (told["rounds"], told["messages"], told["operations"]) == (rounds, ranks * rounds, ranks - 1)


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_imported_schedule_is_an_algorithm_like_others(rondo, name):
    schedule = PUBLISHED[name]
    ranks, collective = len(schedule.ranks), schedule.collective
    Path("a.xml").write_text(schedule.text(), encoding="utf-8")
    choice = f"{collective}/file:a.xml"
    commutes = ["--commutative"] if collective == "allreduce" else []
    drawn = rondo("draw", choice, *commutes, "--json", "--output", "a.svg")
    assert drawn.exit_code == 0, drawn.stderr
    told = json.loads(drawn.stdout)
    found = json.loads(rondo("import", "a.xml", "--json").stdout)
    assert (told["processes"], told["time"], len(told["messages"])) == (ranks, found["rounds"], found["messages"])
    assert rondo("draw", choice, *commutes).stdout == f"wrote {collective}-a-p{ranks}.svg\n"
    count = 1000 * schedule.chunks // (ranks if collective == "allgather" else 1)
    predicted = rondo("predict", choice, "-n", ranks, "--count", count, "--json")
    assert predicted.exit_code == 0, predicted.stderr
    (candidate,) = json.loads(predicted.stdout)["points"][0]["candidates"]
    assert candidate["choice"] == "file:a.xml"
    assert candidate["seconds"] > 0
    again = rondo("export", choice, "-n", ranks, "--count", count, "--format", "msccl", "-o", "b.xml")
    assert again.exit_code == 0, again.stderr
    back = json.loads(rondo("import", "b.xml", "--json").stdout)
    assert back["messages"] == found["messages"]


def test_a_ring_is_as_fast_as_the_own_one(rondo):
    Path("a.xml").write_text(msccl_schedules.ring(6, 1).text(), encoding="utf-8")
    times = []
    for algorithm in ("file:a.xml", "ring"):
        words = ["predict", f"allreduce/{algorithm}", "-n", 6, "--count", 6000, "--type", "float", "--json"]
        times.append(json.loads(rondo(*words).stdout)["points"][0]["candidates"][0]["seconds"])
    assert times[0] == pytest.approx(times[1], rel=0.1)


def test_explain_knows_a_choice_from_a_file(rondo, monkeypatch):
    Path("a.xml").write_text(msccl_schedules.ring(4).text(), encoding="utf-8")
    monkeypatch.setenv("RONDO_ALLREDUCE", "file:a.xml")
    words = ["explain", "allreduce", "--rules", "none", "--json"]
    told = json.loads(rondo(*words, "-n", 4, "--count", 80).stdout)
    assert told["runs"] == "file:a.xml"
    for more, why in (
        (["-n", 5, "--count", 80], "it is written for 4 ranks, not for 5"),
        (["-n", 4, "--count", 81], "81 elements do not divide into 8 equal chunks"),
        (["-n", 4, "--count", 80, "--op", "user"], "the operator does not commute"),
    ):
        told = json.loads(rondo(*words, *more).stdout)
        assert told["runs"] == "native"
        assert why in told["reason"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_place_that_is_off_by_one_is_noticed(rondo, name):
    """A step speaks of four places at most, of which MSCCL reads those that its type needs."""
    used = {"s": "src", "r": "dst", "rcs": "dst", "rrs": "src", "rrc": "src dst", "rrcs": "src dst", "re": "src dst"}
    used["cpy"] = "src dst"
    tree = PUBLISHED[name].tree()
    steps = [step for step in tree.iter("step") if step.get("type") != "nop"]
    for step in [*steps[:6], *steps[len(steps) // 2 :][:6]]:
        for end in used[step.get("type", "")].split():
            before = step.get(f"{end}off", "")
            step.set(f"{end}off", str(int(before) + 1))
            what = refused(rondo, ElementTree.tostring(tree, encoding="unicode"))
            assert re.match(r": (line|rank) \d+", what), what
            step.set(f"{end}off", before)


def test_each_wait_that_is_left_out_is_noticed(rondo):
    tree = PUBLISHED["all_pairs"].tree()
    waiting = [step for step in tree[0].iter("step") if step.get("depid") != "-1"]
    assert len(waiting) == 6
    for step in waiting:
        before = step.get("depid", "")
        step.set("depid", "-1")
        what = refused(rondo, ElementTree.tostring(tree, encoding="unicode"))
        assert re.match(r": rank 0, thread block \d, step \d \(\w+\): (reads|writes) ", what), what
        assert "neither waits for the other" in what
        step.set("depid", before)


def changed(name: str, path: str, **words: object) -> str:
    """A published schedule with other attributes at the first element that a path finds."""
    tree = PUBLISHED[name].tree()
    element = tree if path == "." else tree.find(path)
    assert element is not None
    for key, value in words.items():
        element.set(key, str(value))
    return msccl_schedules.text_of(tree)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", ":1: the file is cut off: expected num_ranks"),
        ("<algo", ": line 1: the file is cut off: expected '>' at the end of the element 'algo'"),
        (PUBLISHED["ring"].text()[:2000], ": line 1: the file is cut off: "),
        ("<algo name='a'></algo>", ": line 1: algo has no coll"),
        ("<!DOCTYPE algo [<!ENTITY a 'b'>]><algo/>", ": line 1: declarations are not read; leave them out"),
        ("<a>" * 20, ": line 1: elements stand in one another more than 16 deep"),
        ("<graph/>", ": line 1: <graph> is no schedule of MSCCL, which is an <algo>"),
        (changed("ring", ".", coll="custom"), ': coll="custom" is none of the collectives that MPI has, too: a'),
        (changed("ring", ".", ngpus=6), ': gpu 5 is missing; ngpus="6"'),
        (changed("ring", ".", ngpus=4), ': line 1: tb has recv="4"; expected -1 to 3'),
        (changed("ring", ".", ngpus=100000), ': line 1: algo has ngpus="100000"; expected 1 to 65536'),
        (changed("two_by_two", ".", nchunksperloop=6), ': line 1: nchunksperloop="6" is no multiple of ngpus="4"'),
        (changed("ring", "gpu/tb", send=0), ': line 1: send="0" is the gpu itself'),
        (changed("ring", "gpu/tb", chan=1), ": line 1: gpu 0 has two thread blocks that send to 1 in channel 1"),
        (changed("ring", "gpu/tb/step", s=1), ': line 1: s="1"; expected "0", for they are numbered from 0 on'),
        (changed("ring", "gpu/tb/step", type="x"), ': line 1: type="x"; expected s, r, rcs, rrc, rrs, rrcs, cpy, re'),
        (changed("ring", "gpu/tb/step", srcbuf="x"), ': line 1: srcbuf="x"; expected i, o or s'),
        (changed("ring", "gpu/tb/step", cnt="many"), ': line 1: step has cnt="many"; expected 1 to '),
        (changed("ring", "gpu/tb/step", srcoff=10), ': line 1: srcoff="10" with cnt="1" is beyond the 10 chunks'),
        (changed("ring", "gpu/tb/step", cnt=2), ": rank 1, thread block 0, step 1 (rrs): receives 1 chunks, but"),
        (changed("ring", "gpu/tb/step", depid=0, deps=3), ": gpu 0, thread block 0, step 0: it waits for step"),
        (changed("ring", "gpu/tb/step", depid=7, deps=3), ": gpu 0, thread block 0, step 0: it waits for step"),
        (changed("ring", "gpu/tb/step", depid=1, deps=0), 'which has no hasdep="1" and would not tell'),
        (changed("ring", "gpu/tb/step", type="nop"), ": rank 1, thread block 0, step 8 (r): waits for ever"),
        (changed("ring", "gpu/tb", chan=7), ": rank 0, thread block 0, step 0 (s): rank 1 has no thread"),
        (changed("two_by_two", "gpu/tb/step", type="nop"), ": rank 1, thread block 1, step 1 (rcs): no step"),
        (changed("two_by_two", "gpu/tb[2]/step", type="nop"), ": rank 1, thread block 0, step 1 (r): waits for ever"),
        (changed("two_by_two", "gpu/tb[3]/step[2]", type="nop"), ": rank 0: output[0, 1) should hold V0, "),
        (changed("two_by_two", ".", coll="alltoall"), ": rank 1: output[0, 1) should hold V0 (of"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(rondo, text, what):
    said = refused(rondo, text)
    assert what in said, said


def test_thread_blocks_that_wait_for_one_another_are_named(rondo):
    tree = PUBLISHED["all_pairs"].tree()
    step = tree.find("gpu/tb[2]/step[1]")
    assert step is not None
    step.set("depid", "0")
    step.set("deps", "5")
    said = refused(rondo, msccl_schedules.text_of(tree))
    assert said.startswith(": rank 0, thread block 0, step 0 (nop): waits for ever for step 1 of thread block 1"), said


GOAL = """\
// what follows is right
num_ranks 2
rank 0 {
a: send 8b to 1 tag 3
b: recv 8b from 1 tag 3 cpu 0
calc 5
/* and so
is this */
b irequires a
}
rank 1 {
a: recv 8b from 0 tag 3
b: send 8b to 0 tag 3
b requires a
}
"""


def test_goal_is_checked_as_far_as_it_goes(rondo):
    Path("a.goal").write_text(GOAL)
    result = rondo("import", "a.goal")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "a.goal: 2 ranks, 2 messages, 2 rounds, 16 B\n"
        "All messages match, and all operations come to an end. GOAL has no data: nothing else is checked.\n"
    )
    Path("a.goal").write_text(GOAL.replace("irequires", "requires").replace("b requires a\n}\n", "a requires b\n}\n"))
    Path("b.goal").write_text(
        "num_ranks 2\nrank 0 {\na: send 1b to 1\nb: recv 1b from 1\nb requires a\n}\n"
        "rank 1 {\na: send 1b to 0\nb: recv 1b from 0\nb requires a\n}\n"
    )
    assert "It stops where sends wait for their receivers" in rondo("import", "b.goal").stdout


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("}\nrank 1", "rank 1", ":10: 'rank 1 {' is no operation; expected send, recv, calc, requires, irequires or }"),
        ("b requires a\n}\n", "", ":14: the file is cut off: expected } at the end of rank 1"),
        ("num_ranks 2", "num_ranks 3", ":16: rank 2 of 3 is missing"),
        ("num_ranks 2", "num_ranks 1", ":4: rank 1 of 1: expected 0 to 0"),
        ("num_ranks 2", "num_ranks 70000", ":2: num_ranks 70000: expected 1 to 65536"),
        ("num_ranks 2", "ranks 2", ":2: 'ranks 2'; expected num_ranks, as in num_ranks 8"),
        ("rank 1 {", "rank 0 {", ":11: rank 0 is there twice"),
        ("rank 1 {", "rank 1", ":11: 'rank 1'; expected a rank, as in rank 0 {"),
        ("b irequires a", "b irequires c", ":9: c is no label that stands above in rank 0"),
        ("b: recv 8b from 1", "a: recv 8b from 1", ":5: the label a is there twice in rank 0"),
        ("send 8b to 1", "send 8b from 1", ":4: send from; expected send to, or recv from"),
        ("from 1 tag 3", "from -1 tag 3", ":5: -1, any rank or any tag: times alone decide what matches it"),
        ("recv 8b from 0", "recv 9b from 0", ": rank 1, a (recv 9b): rank 0, a sends 8b"),
        ("b: send 8b to 0 tag 3", "b: send 8b to 0 tag 4", ": rank 0, b (recv 8b): waits for ever for"),
        ("calc 5", "send 4b to 1 tag 3", ": rank 0, line 6 (send 4b): no receive takes its message"),
        ("b irequires a", "b irequires a\na requires b", ": rank 0, a (send 8b): waits for itself, through b"),
        ("b irequires a", "b irequires a\na requires a", ": rank 0, a (send 8b): waits for itself, thr"),
    ],
)  # fmt: skip
def test_wrong_goal_is_refused_with_its_place(rondo, before, after, what):
    assert GOAL.count(before) == 1
    said = refused(rondo, GOAL.replace(before, after), "a.goal")
    assert said.startswith(what), said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "none.xml"], "cannot read none.xml: No such file or directory"),
        (["draw", "allreduce/file:none.xml"], "none.xml: cannot read the schedule: No such file or directory"),
        (["draw", "bcast/file:ring.xml"], "file:ring.xml is for allreduce, not for bcast"),
        (
            ["draw", "allreduce/file:ring.xml", "--commutative", "-p", 7],
            "file:ring.xml refuses: it is written for 5 ra",
        ),
        (["draw", "allreduce/file:a.goal"], "a.goal: expected MSCCL's XML, which says what happens to the data"),
        (["draw", "allreduce/file:ring.xml"], "file:ring.xml refuses: the operator does not commute; --commutative"),
        (
            ["export", "allreduce/file:ring.xml", "-n", 5, "--count", 3, "--format", "goal"],
            "3 elements do not divide i",
        ),
    ],
)
def test_errors_say_what_was_wrong_in_a_line(rondo, words, message):
    Path("a.goal").write_text(GOAL)
    Path("ring.xml").write_text(PUBLISHED["ring"].text())
    result = rondo(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"rondo: {message}"), result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_that_is_no_text_is_refused(rondo):
    Path("a.xml").write_bytes(b"<algo\xff\xfe>")
    result = rondo("import", "a.xml")
    assert (result.exit_code, result.stderr) == (2, "rondo: cannot read a.xml: not a text file\n")


def test_programs_are_told_of_right_schedules_only_and_by_their_whole_paths():
    Path("a.xml").write_text(msccl_schedules.ring(4).text(), encoding="utf-8")
    told = {"RONDO_ALLREDUCE": f"file:{Path('a.xml').absolute()}"}
    assert instructed.check_uses(("allreduce=file:a.xml",), {}) == told
    assert instructed.check_uses((), {"RONDO_ALLREDUCE": "file:a.xml"}) == told
    Path("a.rules").write_text("allreduce processes = 4 -> file:a.xml\n")
    assert instructed.check_rules("a.rules") == Path("a.rules").absolute()
    Path("a.xml").write_text(changed("ring", "gpu/tb/step", srcoff=9), encoding="utf-8")
    for check in (
        lambda: instructed.check_uses(("allreduce=file:a.xml",), {}),
        lambda: instructed.check_rules("a.rules"),
    ):
        with pytest.raises(Error, match=r"a\.xml: rank \d"):
            check()


def test_help_teaches_by_example(rondo):
    examples = re.findall(r"^ +rondo (.*)$", rondo("import", "--help").stdout, re.MULTILINE)
    assert len(examples) == 6
    for example in examples:
        result = rondo(*example.split())
        assert result.exit_code == 0, (example, result.stderr)
