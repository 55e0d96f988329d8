# SPDX-License-Identifier: BSD-3-Clause
"""`rondo export`: schedules in the words of other tools."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rondo.schedules import msccl

from rondo import _core
from tests import trace_rules

EVERYTHING = [
    (one["name"], each["name"], one["has_data"])
    for one in _core.collectives()
    for each in _core.algorithms(one["name"])
]
OPERATION = re.compile(r"l(\d+): (?:(send|recv) (\d+)b (to|from) (\d+) tag 0|calc \d+)")
WAIT = re.compile(r"l(\d+) (i?)requires l(\d+)")


def exported(rondo, collective: str, algorithm: str, wanted: str, *words: object, count: int = 24) -> str:
    has_data = next(each["has_data"] for each in _core.collectives() if each["name"] == collective)
    counted = ["--count", count] if has_data else []
    result = rondo("export", f"{collective}/{algorithm}", "--format", wanted, *counted, *words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(("collective", "algorithm", "has_data"), EVERYTHING)
def test_every_algorithm_is_written_as_goal(rondo, collective, algorithm, has_data):
    for processes in range(1, 10):
        text = exported(rondo, collective, algorithm, "goal", "-n", processes)
        comment, ranks, *rest = text.splitlines()
        assert comment.startswith(f"// {collective}/{algorithm}")
        assert ranks == f"num_ranks {processes}"
        sizes: dict[tuple[int, int], list[list[int]]] = defaultdict(lambda: [[], []])
        blocks = "\n".join(rest).strip().split("\n\n")
        for rank, block in enumerate(blocks):
            first, *lines, last = block.splitlines()
            assert (first, last) == (f"rank {rank} {{", "}")
            known = 0
            for line in lines:
                if match := OPERATION.fullmatch(line):
                    assert int(match[1]) == known
                    known += 1
                    if match[2] == "send":
                        sizes[rank, int(match[5])][0].append(int(match[3]))
                    elif match[2] == "recv":
                        sizes[int(match[5]), rank][1].append(int(match[3]))
                else:  # waits for what stands before it
                    wait = WAIT.fullmatch(line)
                    assert wait is not None, line
                    assert int(wait[3]) < int(wait[1]) == known - 1
        assert len(blocks) == processes
        assert all(sent == received for sent, received in sizes.values())
        assert (sum(len(sent) for sent, _ in sizes.values()) >= processes - 1) or collective == "exscan"


def test_a_calc_takes_what_the_operator_takes_and_a_message_has_a_byte(rondo, tmp_path):
    machine = tmp_path / "machine"
    machine.write_text("alpha = 1e-6\nbeta = 1e-9\ngamma = 1e-9\n")
    text = exported(rondo, "allreduce", "recursive_doubling", "goal", "-n", 2, "--machine", machine, "--type", "float")
    assert re.findall(r"calc \d+", text) == ["calc 96"] * 2
    assert "send 96b to 1 tag 0" in text
    assert "send 1b to 1 tag 0" in exported(rondo, "barrier", "dissemination", "goal", "-n", 2)


def gpus_of(text: str) -> tuple[ElementTree.Element, list[list[list[ElementTree.Element]]]]:
    """The algorithm, and the steps of each thread block of each rank."""
    algorithm = ElementTree.fromstring(text)
    return algorithm, [[[*block] for block in gpu] for gpu in algorithm]


@pytest.mark.parametrize(("collective", "algorithm", "has_data"), EVERYTHING)
def test_every_algorithm_of_a_collective_that_msccl_has_is_written_as_xml(rondo, collective, algorithm, has_data):
    if collective not in msccl.COLLECTIVES:
        result = rondo("export", f"{collective}/{algorithm}", "-n", 4, "--format", "msccl", *["--count", 4] * has_data)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"rondo: MSCCL has no {collective}; it has allgather, ")
        return
    text = exported(rondo, collective, algorithm, "msccl", "-n", 6)
    top, gpus = gpus_of(text)
    assert (top.tag, top.get("coll"), top.get("ngpus")) == ("algo", msccl.COLLECTIVES[collective], "6")
    assert [gpu.get("id") for gpu in top] == [str(rank) for rank in range(6)]
    for gpu, blocks in zip(top, gpus, strict=True):
        waited_for = set()
        for block, steps in zip(gpu, blocks, strict=True):
            assert [step.get("s") for step in steps] == [str(number) for number in range(len(steps))]
            for step in steps:
                assert step.get("type") in ("s", "r", "rrc", "cpy", "re", "nop")
                for end in ("src", "dst"):
                    if step.get("type") == "nop":
                        continue
                    most = int(gpu.get(f"{step.get(f'{end}buf')}_chunks", ""))
                    assert int(step.get(f"{end}off", "")) + int(step.get("cnt", "")) <= most
                if (other := int(step.get("depid", ""))) >= 0:
                    assert other != int(block.get("id", ""))
                    waited_for.add((other, int(step.get("deps", ""))))
        marked = {
            (number, int(step.get("s", "")))
            for number, steps in enumerate(blocks)
            for step in steps
            if step.get("hasdep") == "1"
        }
        assert marked == waited_for


def test_chunks_are_as_long_as_no_block_cuts(rondo):
    top, _ = gpus_of(exported(rondo, "allgather", "bruck", "msccl", "-n", 4, count=100))
    assert (top.get("nchunksperloop"), top.get("inplace")) == ("4", "0")
    assert [(gpu.get("i_chunks"), gpu.get("o_chunks")) for gpu in top] == [("1", "4")] * 4
    top, _ = gpus_of(exported(rondo, "allgather", "bruck", "msccl", "-n", 4, "--in-place", count=100))
    assert top.get("inplace") == "1"
    top, _ = gpus_of(exported(rondo, "allreduce", "ring", "msccl", "-n", 4, count=10))
    assert top.get("nchunksperloop") == "10"


@pytest.mark.parametrize("words", [["--nodes", "2x3"], ["-n", 5], ["-n", 1]])
@pytest.mark.parametrize("algorithm", ["allreduce/ring", "bcast/full_lane", "exscan/two_tree", "barrier/dissemination"])
def test_a_trace_keeps_the_rules_of_trace_events(rondo, algorithm, words):
    collective, name = algorithm.split("/")
    trace = json.loads(exported(rondo, collective, name, "perfetto", *words, count=4096))
    spans, _ = trace_rules.checked(trace)
    ends = [end for each in spans.values() for _, end in each]
    assert max(ends, default=0) == pytest.approx(trace["otherData"]["seconds"] * 1e6)


def test_json_has_all_that_plans_have(rondo):
    text = exported(rondo, "reduce", "binomial", "json", "-n", 3, "--root", 2, "--type", "int", count=5)
    told = json.loads(text)
    assert [told[key] for key in ("format", "version", "collective", "choice", "processes", "count", "root")] == [
        *("rondo plans", 1, "reduce", "binomial", 3, 5, 2),
    ]
    machine = "alpha = 1e-6\nbeta = 1e-10\n"
    plans = _core.plans("reduce", "binomial", 3, 5, machine, element_bytes=4, root=2)
    root = next(each for each in plans["ranks"] if each["rank"] == 2)
    assert [each["kind"] for each in root["actions"]].count("receive") == 2
    for told_rank, rank in zip(told["ranks"], plans["ranks"], strict=True):
        assert len(told_rank["actions"]) == len(rank["actions"])
        for one, other in zip(told_rank["actions"], rank["actions"], strict=True):
            assert {key: one[key] for key in other} == json.loads(json.dumps(other))


def test_a_ring_combines_on_the_way(rondo):
    _, gpus = gpus_of(exported(rondo, "allreduce", "ring", "msccl", "-n", 4))
    for blocks in gpus:
        assert [[step.get("type") for step in steps] for steps in blocks] == [["s"] * 6, ["rrc"] * 3 + ["r"] * 3]


def test_a_row_of_blocks_is_as_many_copies(rondo):
    rows = [
        each["row"][0]
        for rank in _core.plans("alltoall", "bruck", 8, 64, "alpha = 1e-6\nbeta = 1e-10\n")["ranks"]
        for each in rank["actions"]
        if "row" in each
    ]
    assert rows
    copies = sum(
        1 if "row" not in each else each["row"][0]
        for rank in _core.plans("alltoall", "bruck", 8, 64, "alpha = 1e-6\nbeta = 1e-10\n")["ranks"]
        for each in rank["actions"]
        if each["kind"] == "copy"
    )
    text = exported(rondo, "alltoall", "bruck", "msccl", "-n", 8, count=8)
    assert text.count('type="cpy"') == copies


def test_a_file_is_written_where_one_is_named(rondo, tmp_path):
    path = tmp_path / "ring.xml"
    words = ["export", "allreduce/ring", "-n", 3, "--count", 3, "--format", "msccl"]
    result = rondo(*words, "-o", path)
    assert (result.exit_code, result.stdout) == (0, f"wrote {path}\n")
    assert path.read_text() == rondo(*words).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["exscan/doubling_123", "--format", "msccl"], "MSCCL has no exscan; it has allgather, allreduce, alltoall, "),
        (["allreduce/binary_blocks", "--op", "user", "--format", "msccl"], "MSCCL has operators that commute only; "),
        (["gather/linear", "--in-place", "--format", "msccl"], "MSCCL has no gather in place as MPI means it; leave"),
        (["allreduce/circulant", "--op", "user", "--format", "goal"], "the operator does not commute"),
        (["bcast/binomial", "--root", 4, "--format", "goal"], "root 4 of 4 processes: expected 0 to 3"),
        (["bcast/binomal", "--format", "goal"], "bcast has no algorithm 'binomal'; did you mean 'binomial'?"),
        (["bcast/binomial", "--format", "goal", "-o", "/dev/null/a"], "cannot write /dev/null/a: Not a directory"),
    ],
)
def test_errors_say_what_was_wrong_in_a_line(rondo, words, message):
    result = rondo("export", *words, "--count", 8, "-n", 4)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"rondo: {message}"), result.stderr
    assert result.stderr.count("\n") == 1


def test_plans_are_not_written_down_without_end():
    machine = "alpha = 1e-6\nbeta = 1e-10\n"
    assert _core.plans("bcast", "binomial", 8, 1, machine, most_actions=14)["ranks"]
    with pytest.raises(ValueError, match="more than 13 actions; take fewer processes, a shorter vector or longer"):
        _core.plans("bcast", "binomial", 8, 1, machine, most_actions=13)


def test_long_thread_blocks_are_warned_of(rondo):
    result = rondo("export", "bcast/linear_pipeline:segment=8", "-n", 2, "--count", 257, "--format", "msccl")
    assert result.exit_code == 0
    assert result.stderr == "rondo: warning: a thread block has 257 steps; MSCCL's interpreter takes 256\n"


def test_help_teaches_by_example(rondo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^ +rondo (export .*)$", rondo("export", "--help").stdout, re.MULTILINE)
    assert len(examples) == 4
    for example in examples:
        assert rondo(*example.split()).exit_code == 0, example
    assert {each.name for each in Path().iterdir()} == {"bcast.goal", "ring.xml", "a.json"}
