# SPDX-License-Identifier: BSD-3-Clause
"""`rondo explain`: which rule decides, why others do not, and what all algorithms would take."""

from __future__ import annotations

import json
import os

import pytest
from rondo.launching import installation
from rondo.machine import machine
from rondo.tune import tuned_files

from rondo import _core
from rondo.selection import learned

RULES = """\
# Two ranks.
allreduce  processes <= 2   -> native
allreduce  library = impi, bytes < 4Mi -> native
scan       -> native
allreduce  bytes > 1Mi, ranks_per_node = 1  -> circulant  # few
allreduce  bytes >= 4Mi, commutative = yes -> ring
allreduce  nodes in 2..4 -> full_lane
"""


@pytest.fixture
def explain(rondo, tmp_path):
    """Runs the command under RULES, or other ones, and reads its JSON."""
    rules = tmp_path / "mine.rules"
    rules.write_text(RULES)

    def run(*words, text=RULES):
        rules.write_text(text)
        result = rondo("explain", *words, "--rules", rules, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


def passed_over(document):
    return [f"{each['line']}: {each['condition']}, has {each['value']}" for each in document["passed_over"]]


def test_ranks_may_be_bound_to_domains_of_one_node(explain, rondo):
    text = "allreduce nodes = 2 -> ring\nallreduce domains = 2, ranks_per_node = 16 -> leaders\n"
    document = explain("allreduce", "--count", "1Ki", "--nodes", "domains:2x8", text=text)
    assert passed_over(document) == ["1: nodes = 2, has 1"]
    assert document["nodes"] == "domains:2x8"
    assert document["runs"].startswith("leaders")
    elsewhere = explain("allreduce", "--count", "1Ki", "--nodes", "1x16", text=text)
    assert passed_over(elsewhere)[1] == "2: domains = 2, has 1"
    flat = {each["choice"].partition(":")[0]: each["seconds"] for each in elsewhere["candidates"]}
    split = {each["choice"].partition(":")[0]: each["seconds"] for each in document["candidates"]}
    assert split["ring"] == flat["ring"], (
        "messages between domains cost what they cost inside, if nobody says otherwise"
    )
    assert split["leaders"] < flat["leaders"]
    title = rondo("explain", "allreduce", "--count", "1Ki", "--nodes", "domains:2x8").stdout
    assert "16 ranks on 2 domains of 8 of one node" in title
    refused = rondo("predict", "allreduce", "--count", "1Ki", "--nodes", "domains:2x8")
    assert refused.exit_code == 2
    assert "--nodes domains:2x8: this command takes nodes, as in 4x8, and no domains of a node" in refused.stderr


def test_the_first_condition_that_fails_is_named_for_every_rule_before_the_one_that_decides(explain):
    document = explain("allreduce", "--count", "1Mi", "-n", 64, "--ppn", 16)
    assert passed_over(document) == [
        "2: processes <= 2, has 64",
        "3: library = impi, has mpich",
        "5: ranks_per_node = 1, has 16",
    ]
    assert document["passed_over"][0]["rule"] == "allreduce processes <= 2 -> native"
    assert document["decided_by"]["line"] == 6
    assert document["decided_by"]["place"].endswith("mine.rules:6")
    assert document["choice"] == "ring:segment=auto"
    assert document["runs"].startswith("ring:segment=")
    assert document["bytes"] == 8 << 20


def test_what_decides_is_what_the_rules_say_of_such_a_call(explain):
    rules = installation.DEFAULT_RULES.read_text()
    for collective in ("exscan", "bcast", "allgather"):
        for nodes, each in ((2, 1), (8, 1), (4, 4), (20, 2)):
            document = explain(collective, "--count", "4Ki", "-n", nodes * each, "--ppn", each, text=rules)
            said = _core.choice_by_rules(
                rules, "rules", collective, document["bytes"], nodes * each, each, document["commutative"], "mpich",
                document["eager"], nodes,
            )  # fmt: skip
            assert document["choice"] == said


def test_the_default_rules_serve_ranks_of_mpich_that_share_processors(explain):
    def choice(collective: str, count: int, *words: str) -> str | None:
        length = () if collective == "barrier" else ("--count", count)
        call = (collective, *length, "-n", 4, "--ppn", 4, *words)
        found = explain(*call, text=installation.DEFAULT_RULES.read_text())["choice"]
        return found and found.partition(":")[0]

    sharing = ("--library", "mpich", "--oversubscribed")
    assert choice("allreduce", 1, *sharing) == "halving_doubling"
    assert choice("barrier", 0, *sharing) == "dissemination"
    assert choice("bcast", 1 << 17, *sharing) == "k_ported"
    assert choice("reduce", 1 << 17, *sharing) == "binomial"
    assert choice("bcast", 1 << 10, *sharing) in (None, "native")  # MPICH has memory of its own for these
    assert choice("allreduce", 1, "--library", "openmpi", "--oversubscribed") in (None, "native")


def test_rules_may_ask_whether_ranks_share_processors(explain):
    text = "alltoall oversubscribed = yes -> native\nalltoall -> linear\n"
    call = ("alltoall", "--count", 1, "-n", 8)
    alone, sharing = explain(*call, text=text), explain(*call, "--oversubscribed", text=text)
    assert (alone["choice"], alone["oversubscribed"]) == ("linear", False)
    assert (sharing["choice"], sharing["oversubscribed"]) == ("native", True)
    passed = alone["passed_over"][0]
    assert (passed["condition"], passed["value"]) == ("oversubscribed = yes", "no")


def test_an_algorithm_that_refuses_leaves_the_call_to_the_library(explain):
    document = explain("reduce", "--count", 100, "-n", 8, "--op", "user", text="reduce -> ring\nreduce -> binomial\n")
    assert document["runs"] == "native"
    assert "needs a commutative operator: the operator does not commute" in document["reason"]
    chosen = next(each for each in document["candidates"] if each["chosen"])
    assert (chosen["algorithm"], chosen["seconds"]) == ("ring", None)
    assert chosen["refusal"] == "the operator does not commute"


def test_candidates_come_fastest_first_with_the_times_of_the_machine(explain, tmp_path):
    figures = tmp_path / "machine"
    figures.write_text("alpha = 1e-3\nbeta = 1e-8\neager = 64Ki\n")
    document = explain("exscan", "--count", "64Ki", "-n", 6, "--machine", figures)
    seconds = [each["seconds"] for each in document["candidates"]]
    assert seconds == sorted(seconds)
    assert {each["algorithm"] for each in document["candidates"]} == {
        each["name"] for each in _core.algorithms("exscan")
    }
    text = figures.read_text()
    for each in document["candidates"]:
        times = _core.times("exscan", each["choice"], 6, 65536, [text], nodes="6x1", fluid=True)
        assert times == [each["seconds"]]
    assert document["eager"] == 64 << 10
    assert not any("network" in each or "receiver" in each for each in document["assumed"])


def test_a_choice_with_settings_of_its_own_stands_beside_the_standard_ones(explain):
    document = explain("allreduce", "--count", 1, "-n", 9, text="allreduce -> recursive_multiplying:radix=8\n")
    choices = {each["choice"]: each["chosen"] for each in document["candidates"]}
    assert choices["recursive_multiplying:radix=8"]
    assert choices["recursive_multiplying:radix=4"] is False
    assert document["runs"] == "recursive_multiplying:radix=8"


def test_what_the_rules_choose_for_other_calls_is_a_candidate_once(explain):
    others = "".join(f"allreduce processes = {p} -> leaders:lane=recursive_multiplying\n" for p in (32, 64))
    text = f"{others}allreduce processes = 32 -> native\nallreduce -> recursive_multiplying:radix=4\n"
    document = explain("allreduce", "--count", 1, "--nodes", "4x4", text=text)
    choices = [each["choice"] for each in document["candidates"]]
    assert choices.count("leaders:lane=recursive_multiplying,radix=4") == 1
    assert choices.count("leaders:lane=recursive_doubling,radix=4") == 1
    assert [each["choice"] for each in document["candidates"] if each["chosen"]] == ["recursive_multiplying:radix=4"]
    assert len(set(choices)) == len(choices) == len(_core.algorithms("allreduce")) + 1


def test_counts_are_those_of_calls(explain):
    assert explain("allgather", "--count", 10, "-n", 8)["bytes"] == 640
    assert explain("alltoall", "--count", 10, "--type", "int", "-n", 8)["bytes"] == 320
    assert explain("bcast", "--count", 10, "--type", 3, "-n", 8)["bytes"] == 30
    assert explain("barrier", "-n", 8)["bytes"] == 0
    assert explain("alltoallv", "--count", 10, "-n", 4)["bytes"] == 0  # ranks know only their own


def test_nodes_may_differ(explain):
    document = explain("allreduce", "--count", 10, "--nodes", "4,4,3", text="allreduce ranks_per_node = 4 -> ring\n")
    assert passed_over(document) == ["1: ranks_per_node = 4, has 3 to 4"]
    assert (document["processes"], document["nodes"]) == (11, "4,4,3")
    assert explain("allreduce", "--count", 10, "-n", 11, "--ppn", 4)["nodes"] == "4,4,3"


def test_nodes_are_unknown_where_no_rule_asks_for_them(explain):
    assert explain("bcast", "--count", 10, "-n", 4)["knows_nodes"]
    assert not explain("bcast", "--count", 10, "-n", 4, text="bcast -> binomial\n")["knows_nodes"]


def test_libraries_go_by_name_or_version(explain):
    for library, name, eager in (("impi", "impi", 32), ("MPICH Version 4.0.2", "mpich", 16), ("A 1.0", "another", 16)):
        text = "bcast library = openmpi -> native"
        document = explain("bcast", "--count", 10, "-n", 4, "--library", library, text=text)
        assert passed_over(document) == [f"1: library = openmpi, has {name}"]
        assert document["eager"] == eager << 10


MPICH = "MPICH Version 5.0.2"
VERDICT = (
    "exscan bytes=8 commutative=yes rounding={rounding} processes=4 nodes=0 fewest_on_node=0 most_on_node=0 "
    "in_rank_order=no shared_memory=no choice=doubling_123 rondo={rondo} library=0.001 day=2026-02-03"
)


def test_ranks_of_one_node_share_memory_as_the_library_would_have_them(explain, monkeypatch):
    def shares(*words, processors=16):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(processors)))
        text = "bcast shared_memory = yes -> binomial"
        document = explain("bcast", "--count", 10, *words, text=text)
        assert (document["choice"] == "binomial") == document["shared_memory"]
        return document["shared_memory"], [each for each in document["assumed"] if "memory" in each]

    monkeypatch.delenv("RONDO_SHARED_MEMORY", raising=False)
    shared, assumed = shares("-n", 2, "--ppn", 2)
    assert shared
    assert assumed == ["ranks share memory: there is a processor for each, as on this machine of 16"]
    shared, assumed = shares("-n", 4, "--ppn", 4, processors=3)
    assert not shared
    assert assumed == ["ranks send messages of the MPI library: 4 do not share memory on 3 processors"]
    assert shares("-n", 4, "--ppn", 4, "--shared-memory", processors=3) == (True, [])
    assert shares("-n", 2, "--ppn", 2, "--no-shared-memory") == (False, [])
    assert shares("-n", 4, "--ppn", 2) == (False, [])  # two nodes
    assert shares("-n", 17, "--ppn", 17, processors=64) == (False, [])
    monkeypatch.setenv("RONDO_SHARED_MEMORY", "off")
    assert shares("-n", 2, "--ppn", 2) == (False, [])


@pytest.fixture
def earlier_runs(tmp_path, monkeypatch):
    """Have found that Rondo's choice is slower for floating-point sums, and faster for others."""
    monkeypatch.delenv("RONDO_GUARD", raising=False)
    directory = tmp_path / "learned"
    directory.mkdir()
    file = directory / learned.file_name(MPICH, machine.standard().text())
    learned.change(
        file, add=VERDICT.format(rounding="yes", rondo=0.002) + "\n" + VERDICT.format(rounding="no", rondo=0.0005)
    )
    return directory


def test_what_earlier_runs_have_found_out_counts(explain, earlier_runs, monkeypatch):
    def runs(*words, of="double", count=1, learned_in=earlier_runs):
        document = explain(
            "exscan", "--count", count, "--type", of, "-n", 4, "--library", MPICH, "--learned", learned_in, *words,
            text="exscan -> doubling_123",
        )  # fmt: skip
        return document["runs"], document["trial"], document["reason"]

    lost, trial, reason = runs()
    assert (lost, trial) == ("native", {"ratio": 2.0, "lost": True, "day": "2026-02-03"})
    assert reason.endswith("chooses it, but an earlier run has found it no faster here")
    won, trial, _ = runs(of="long")
    assert (won, trial["ratio"]) == ("doubling_123", 0.5)
    assert runs("--op", "max")[0] == "native"  # of NaN, or of zeros
    assert runs("--op", "max", of="long")[0] == "doubling_123"
    assert runs(count=8)[1] is None  # of another length
    assert runs("--op", "user")[1] is None
    assert runs(learned_in="none")[1] is None
    monkeypatch.setenv("RONDO_GUARD", "off")
    assert runs()[:2] == ("doubling_123", None)


def test_rules_that_were_tuned_here_come_before_the_default_ones(rondo, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    head = tuned_files.Head(tuned_files.machine_here(None), MPICH)
    path = tuned_files.default_path(head, os.environ)
    path.parent.mkdir(parents=True)
    figures = "# 4 ranks: 8B 1.5 ms = 0.80 (n 6), 2KiB 3.99 ms = 0.65 (n 7)\n# 8 ranks: 8B 1.5 ms = 0.70 (n 9)"
    path.write_text(f"{tuned_files.FIRST_LINE}\n{head.text}\n{figures}\nexscan -> one_doubling\n")
    call = ("explain", "exscan", "--count", 1, "-n", 4, "--json")
    document = json.loads(rondo(*call, "--library", MPICH).stdout)
    assert (document["rules"], document["runs"]) == (str(path), "one_doubling")
    assert any("tuned for" in each for each in document["assumed"])
    assert (document["measured"]["ratio"], document["measured"]["count"]) == (0.8, 6)
    longer = rondo("explain", "exscan", "--count", 1000, "-n", 4, "--library", MPICH).stdout
    assert "rondo tune measured one_doubling with calls of 2 KiB: 0.65 of the library's time (n 7)" in longer
    assert "rondo tune measured" not in rondo("explain", "exscan", "--count", 1, "-n", 16, "--library", MPICH).stdout
    other = json.loads(rondo(*call, "--library", "Open MPI v5.0.11").stdout)
    assert other["rules"] == str(installation.DEFAULT_RULES)


def test_what_nobody_said_is_assumed_aloud(explain):
    said = " ".join(explain("bcast", "--count", 10, "-n", 4)["assumed"])
    for word in ("MPICH Version 5.0", "each rank is on a node of its own", "100 Gbit/s", "up to 512Ki bytes"):
        assert word in said
    full = explain("bcast", "--count", 10, "--nodes", "2x2", "--library", "Open MPI v5.0.11")["assumed"]
    assert not any("newest" in each or "node" in each for each in full)


def test_variables_stand_above_the_rules(explain, rondo, monkeypatch):
    monkeypatch.setenv("RONDO_SCAN", "doubling")
    document = explain("scan", "--count", 10, "-n", 4)
    assert document["decided_by"] == {"place": "RONDO_SCAN", "line": 0, "text": "doubling"}
    assert (document["passed_over"], document["runs"]) == ([], "doubling")
    monkeypatch.setenv("RONDO_SCAN", "dubling")
    result = rondo("explain", "scan", "--count", 10, "-n", 4)
    assert result.exit_code == 2
    assert result.stderr.startswith("rondo: RONDO_SCAN=dubling: scan has no algorithm")


def test_one_process_has_nothing_to_gain(explain):
    document = explain("bcast", "--count", 10, "-n", 1, text="bcast processes > 2 -> native\nbcast -> binomial\n")
    assert (document["runs"], document["passed_over"], document["decided_by"]) == ("native", [], None)
    assert document["candidates"] == []


def test_a_call_without_elements_is_left_to_the_library(explain):
    found = explain("bcast", "--count", 0, "-n", 4, text="bcast -> binomial\n")
    assert (found["runs"], found["reason"]) == (
        "native",
        "there are no elements: Rondo leaves all such calls to the library",
    )


@pytest.mark.parametrize(
    ("words", "library", "reason"),
    [
        # What is moved travels as bytes, what is reduced as elements.
        (("bcast", "--count", "256Mi"), "Open MPI v5.0.11", "has no messages of more than 2^31-1 bytes"),
        (("bcast", "--count", 268435455), "Open MPI v5.0.11", None),
        (("allreduce", "--count", "2Gi"), "Open MPI v4.1.4", "has no messages of more than 2^31-1 elements"),
        (("bcast", "--count", "256Mi"), "MPICH Version 3.4.2", "has no messages of more than 2^31-1 bytes"),
        (("bcast", "--count", "256Mi"), "MPICH Version 5.0.2", None),
    ],
)
def test_a_library_without_large_counts_keeps_what_no_int_counts(explain, words, library, reason):
    found = explain(*words, "-n", 4, "--library", library, text="bcast -> binomial\nallreduce -> ring\n")
    if reason is None:
        assert found["runs"] != "native"
    else:
        assert found["runs"] == "native"
        assert reason in found["reason"]


def test_predictions_of_too_many_messages_are_left_out_and_named(explain, rondo):
    found = explain("allgather", "--count", 1, "-n", 4096, "--messages", 40_000)
    untimed = {each["algorithm"]: each["untimed"] for each in found["candidates"] if each["refusal"] is None}
    assert untimed["circulant"] == "more than 40000 messages"
    assert untimed["ring"] is None  # one rank stands for all
    text = rondo("explain", "scan", "--count", 10, "-n", 4, "--messages", 1, "--rules", "none").stdout
    assert "more than 1 messages" in text
    assert "--messages lets more be run" in text


def test_what_stands_for_the_whole_is_named(explain, rondo):
    found = explain("allreduce", "--count", "16Ki", "-n", 1024)
    assert all(each["seconds"] for each in found["candidates"] if each["refusal"] is None)
    means = {each["algorithm"]: each["means"] for each in found["candidates"]}
    assert (means["ring"], means["two_tree"]) == ("one node", "whole")
    text = rondo("explain", "allreduce", "--count", "16Ki", "-n", 1024).stdout
    assert "one node: one node was run, which stands for all" in text


def test_what_takes_long_says_how_far_it_is(rondo, monkeypatch):
    monkeypatch.setattr("rondo.saying.EVERY", 0.0)
    result = rondo("explain", "scan", "--count", 10, "-n", 4)
    assert "rondo: predicting doubling on 4 ranks (1 of " in result.stderr
    assert "predicting" not in result.stdout


def test_people_get_a_verdict_and_two_tables(rondo, tmp_path):
    rules = tmp_path / "mine.rules"
    rules.write_text(RULES)
    result = rondo("explain", "allreduce", "--count", "1Mi", "-n", 64, "--ppn", 16, "--rules", rules)
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0].startswith("MPI_Allreduce, 1048576 x double (8 MiB in all), sum, 64 ranks on 4 nodes of 16, MPICH")
    assert any(line.startswith("It is carried out by ring:segment=") for line in lines)
    assert "allreduce bytes >= 4Mi, commutative = yes -> ring" in lines
    assert "5 circulant ranks_per_node = 1 16" in lines
    assert any(line.startswith("→ ring:segment=") for line in lines)
    nothing = rondo("explain", "bcast", "--count", 4, "-n", 4, "--rules", "none").stdout
    assert "the MPI library's own (native): no rule matches the call." in nothing


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("exscn", "-n", 2), "Rondo has no collective 'exscn'; did you mean 'exscan'?"),
        (("scan", "--count", 1), "how many ranks? Expected -n"),
        (("scan", "-n", 2), "how long is the vector? Expected --count"),
        (("scan", "--count", "1x", "-n", 2), "--count: '1x' is not a number"),
        (("barrier", "--count", 1, "-n", 2), "barrier has no data; leave out --count"),
        (("scan", "--count", 1, "-n", 2, "--nodes", "2x2"), "--nodes 2x2 has 4 ranks, not the 2 of -n"),
        (("scan", "--count", 1, "--ppn", 2, "--nodes", "2x2"), "leave out --ppn"),
        (("scan", "--count", 1, "-n", 2, "--root", 1), "scan has no root"),
        (("bcast", "--count", 1, "-n", 2, "--root", 2), "root 2 of 2 processes"),
        (("scan", "--count", 1, "-n", 2, "--type", "doubel"), "unknown type 'doubel'; did you mean double?"),
        (("scan", "--count", 1, "-n", 2, "--type", "9" * 30), f"unknown type '{'9' * 30}'"),
        (("scan", "--count", 1, "-n", 2, "--library", "mpitch"), "--library: unknown library 'mpitch'"),
        (("scan", "--count", 1, "-n", 2, "--rules", "no.rules"), "cannot read the rules no.rules"),
        (("scan", "--count", 1, "-n", 2, "--machine", "no.machine"), "cannot read the machine file no.machine"),
        (("scan", "--count", 1, "-n", 0), "expected 1 to"),
    ],
)
def test_mistakes_are_refused_with_what_was_expected(rondo, words, message):
    result = rondo("explain", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("rondo: ")
    assert message in result.stderr


def test_malformed_rules_are_refused_with_their_line(rondo, tmp_path):
    rules = tmp_path / "bad.rules"
    rules.write_text("scan -> native\nscan -> gone\n")
    result = rondo("explain", "scan", "--count", 1, "-n", 2, "--rules", rules)
    assert result.exit_code == 2
    assert f"{rules}:2: scan has no algorithm 'gone'" in result.stderr
