# SPDX-License-Identifier: BSD-3-Clause
"""`rondo draw`: what it draws is what the algorithm does."""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rondo.drawing import colours, space_time, trace, trees
from rondo.drawing.trace import Costs, Problem

from rondo import _core

EVERYTHING = [f"{one['name']}/{each['name']}" for one in _core.collectives() for each in _core.algorithms(one["name"])]


@pytest.fixture(autouse=True)
def in_a_directory_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names_in(path: str) -> list[str]:
    """What the groups of a drawing are called."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [each.get("id", "") for each in root.iter("{http://www.w3.org/2000/svg}g")]


def counted(names: list[str], pattern: str) -> int:
    return sum(re.fullmatch(pattern, name) is not None for name in names)


def texts_in(path: str) -> set[str]:
    return set(re.findall(r"<!-- (.*?) -->", Path(path).read_text(encoding="utf-8")))


def test_every_message_is_an_arrow_and_every_combine_a_mark(rondo):
    result = rondo("draw", "exscan/doubling_123", "-p", 5)
    assert (result.exit_code, result.stdout) == (0, "wrote exscan-doubling_123-p5.svg\n"), result.stderr
    names = names_in("exscan-doubling_123-p5.svg")
    assert counted(names, r"message-\d+") == 8
    assert counted(names, r"combine-\d+") == 6
    assert counted(names, r"copy-\d+") == 0
    assert {
        "exscan/doubling_123, p = 5",
        "8192 elements of 8 bytes, 3 rounds, 8 messages, at most 2 operations on a rank",
        "1\N{EN DASH}2",  # rank 2 sends V1..V2
        "round",
    } <= texts_in("exscan-doubling_123-p5.svg")


def test_blocks_are_numbered_and_coloured(rondo):
    assert rondo("draw", "scan/linear_pipeline", "-p", 4, "--count", 40, "--set", "segment=64").exit_code == 0
    drawing = Path("scan-linear_pipeline-p4.svg").read_text(encoding="utf-8")
    assert counted(names_in("scan-linear_pipeline-p4.svg"), r"message-\d+") == 15
    arrows = re.findall(r'<g id="message-\d+">.*?stroke: (#[0-9a-f]{6})', drawing, re.DOTALL)
    assert sorted(arrows.count(each) for each in set(arrows)) == [3, 3, 3, 3, 3]
    assert {"0", "1", "2", "3", "4"} <= texts_in("scan-linear_pipeline-p4.svg")


def test_no_two_blocks_have_a_colour_that_eyes_cannot_tell_apart():
    places = [colours.lab(each) for each in colours.of_blocks(colours.MOST)]
    assert len(places) == colours.MOST
    assert min(math.dist(*each) for each in itertools.combinations(places, 2)) > 20
    assert len(set(colours.of_blocks(colours.MOST + 1))) == 1


def test_messages_of_a_round_that_carry_different_blocks_have_different_colours():
    problem = Problem("allreduce", "circulant", 8, 64, commutative=True)
    traced = trace.of(problem, problem.run(1000))
    for start, group in itertools.groupby(traced.events.messages, lambda each: each.start):
        firsts = [traced.first_block_of(each) for each in group]
        assert sorted(firsts) == [*range(8)], start


@pytest.mark.parametrize("collective", ["alltoall", "alltoallv"])
def test_an_all_to_all_has_as_many_elements_for_every_rank(rondo, collective):
    assert rondo("draw", f"{collective}/pairwise", "-p", 5, "--output", "a.svg").exit_code == 0
    assert "8195 elements of 8 bytes, 5 blocks, 4 rounds, 20 messages" in texts_in("a.svg")


@pytest.mark.parametrize("time", ["lockstep", "overlapped"])
def test_seconds_come_from_latency_and_rate(rondo, time):
    words = ["-p", 3, "--time", time, "--count", 1000, "--alpha", "2ms", "--rate", "8Mbit", "--output", "a.svg"]
    assert rondo("draw", "scan/linear_pipeline:segment=4000", *words).exit_code == 0
    # Two blocks of 4 ms on the wire over two hops.
    expected = {"lockstep": "18 ms in lock step", "overlapped": "16 ms overlapped"}[time]
    title = (
        f"1000 elements of 8 bytes, 2 blocks, {expected} (\N{GREEK SMALL LETTER ALPHA} = 2 ms, 8 Mbit/s), 4 messages"
    )
    assert {f"{title}, at most 2 operations on a rank", "time (ms)"} <= texts_in("a.svg")


def test_two_trees_have_an_edge_for_every_rank_but_the_root_and_two_colours(rondo):
    assert rondo("draw", "bcast/two_tree", "-p", 10).exit_code == 0
    names = names_in("bcast-two_tree-p10.svg")
    assert counted(names, r"tree-0-edge-\d+-\d+") == counted(names, r"tree-1-edge-\d+-\d+") == 9
    texts = texts_in("bcast-two_tree-p10.svg")
    assert {"rounds 1, 3, 5, ...", "rounds 2, 4, 6, ..."} <= texts
    assert "odd and even rounds" not in texts
    assert counted(names, r"message-\d+") == 0


def trees_of(problem: Problem) -> list[trees.Tree] | None:
    return trees.of(trace.of(problem, problem.run(0)))


def test_trees_are_read_from_the_messages():
    found = trees_of(Problem("bcast", "two_tree:segment=8", 8, 32))
    assert found is not None
    first, second = found
    assert (first.blocks, second.blocks) == (list(range(16)), list(range(16, 32)))
    for tree in found:
        assert tree.depths[0] == 0
        assert sorted(tree.depths) == list(range(8))
        for (sender, receiver), rounds in tree.uses.items():
            assert tree.depths[receiver] == tree.depths[sender] + 1
            assert len({each % 2 for each in rounds}) == 1
            assert len(rounds) == 16
    # No rank sends, or receives, over edges of the same colour: section 3 of the paper.
    for end in (0, 1):
        colours = [(edge[end], rounds[0] % 2) for tree in found for edge, rounds in tree.uses.items()]
        assert len(set(colours)) == len(colours)


def test_the_root_of_trees_used_both_ways_is_the_one_that_makes_them_search_trees():
    found = trees_of(Problem("scan", "two_tree:segment=8", 10, 32))
    assert found is not None
    assert [next(rank for rank, depth in tree.depths.items() if depth == 0) for tree in found] == [7, 2]


def test_no_rank_is_on_the_wrong_side_of_the_root():
    found = trees_of(Problem("scan", "two_tree:segment=8", 9, 32))
    assert found is not None
    assert [next(rank for rank, depth in tree.depths.items() if depth == 0) for tree in found] == [7, 8]


@pytest.mark.parametrize(("algorithm", "processes"), [("allgather/bruck", 16), ("allgather/circulant", 9)])
def test_no_label_covers_another(algorithm, processes):
    collective, name = algorithm.split("/")
    problem = Problem(collective, name, processes, 8192)
    texts = space_time.draw(trace.of(problem, problem.run(0))).axes.texts
    labels = [each for each in texts if each.get_zorder() == 6 and each.get_path_effects() == []]
    assert len(labels) > processes
    boxes = [each.get_window_extent() for each in labels]
    assert not [(one, other) for one, other in itertools.combinations(boxes, 2) if one.overlaps(other)]


def test_the_legend_stays_within_the_picture():
    found = trace.of(problem := Problem("bcast", "split_tree:segment=8", 8, 512), problem.run(0))
    sheet = trees.draw(found, trees.of(found))
    (legend,) = sheet.figure.legends
    assert legend.get_window_extent().x1 < sheet.figure.bbox.width


def test_an_edge_bends_around_other_ranks():
    straight, bent = (trees._way((0, 0), (2, 0), [(1, y)]) for y in (1, 0.02))
    assert {y for _, y in straight} == {0}
    assert min(math.dist(each, (1, 0.02)) for each in bent) > trees.CLEAR
    assert (bent[0], bent[-1]) == ((0, 0), (2, 0))


def test_reductions_lead_to_the_root():
    found = trees_of(Problem("reduce", "binomial", 8, 1))
    assert found is not None
    assert found[0].depths == {0: 0, 1: 1, 2: 1, 4: 1, 3: 2, 5: 2, 6: 2, 7: 3}


@pytest.mark.parametrize(
    ("algorithm", "words", "trees_drawn"),
    [
        ("bcast/two_tree", [], True),
        ("bcast/two_tree", ["--picture", "spacetime"], False),
        ("bcast/two_tree", ["--time", "overlapped"], False),
        ("bcast/binomial", [], False),
        ("bcast/binomial", ["--picture", "trees"], True),
        ("scan/linear_pipeline", [], False),
        ("bcast/circulant", [], False),
    ],
)
def test_trees_are_drawn_where_blocks_travel_them(rondo, algorithm, words, trees_drawn):
    assert rondo("draw", algorithm, "-p", 7, *words, "--output", "a.svg").exit_code == 0
    assert (counted(names_in("a.svg"), r"tree-\d-edge-\d+-\d+") > 0) == trees_drawn


@pytest.mark.parametrize(
    "algorithm", [pytest.param(each, marks=[] if i % 4 == 0 else pytest.mark.soak) for i, each in enumerate(EVERYTHING)]
)
def test_every_algorithm_can_be_drawn(rondo, algorithm):
    for words in (["--picture", "spacetime"], ["--time", "overlapped"]):
        call = ["draw", algorithm, "-p", 5, "--count", 5, "--commutative", *words, "--json", "--output", "a.svg"]
        result = rondo(*call)
        assert result.exit_code == 0, result.stderr
        told = json.loads(result.stdout)
        assert counted(names_in("a.svg"), r"message-\d+") == len(told["messages"]) > 0
        assert counted(names_in("a.svg"), r"(combine|copy)-\d+") == len(told["locals"])


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_few_processes_are_no_special_case(rondo, processes):
    for algorithm in EVERYTHING:
        result = rondo("draw", algorithm, "-p", processes, "--count", 2, "--commutative", "--output", "a.svg")
        assert result.exit_code == 0, (algorithm, result.stderr, result.exception)


@pytest.mark.parametrize("algorithm", ["allreduce/full_lane", "bcast/full_lane"])
@pytest.mark.parametrize("time", ["rounds", "overlapped"])
@pytest.mark.parametrize(("nodes", "sizes"), [("4x4", [4, 4, 4, 4]), ("4,4,3", [4, 4, 3]), ("1x3", [3])])
def test_nodes_have_a_ground_and_messages_inside_look_different(rondo, algorithm, time, nodes, sizes):
    words = [algorithm, "--nodes", nodes, "--commutative", "--time", time]
    assert rondo("draw", *words, "--output", "a.svg").exit_code == 0
    drawing, names, texts = Path("a.svg").read_text(encoding="utf-8"), names_in("a.svg"), texts_in("a.svg")
    assert counted(names, r"node-\d+") == len(sizes)
    assert "node, rank" in texts
    happened = json.loads(rondo("draw", *words, "--json").stdout)
    assert happened["nodes"] == sizes
    node_of = [node for node, ranks in enumerate(sizes) for _ in range(ranks)]
    inside = sum(node_of[each["from"]] == node_of[each["to"]] for each in happened["messages"])
    between = len(happened["messages"]) - inside
    assert counted(names, r"message-\d+") == inside + between
    legend = sum("inside a node" in each for each in texts)
    assert drawing.count("stroke-dasharray") == inside + legend
    assert any("message between nodes" in each for each in texts) == (between > 0)


def test_trees_show_the_nodes(rondo):
    assert rondo("draw", "bcast/two_tree", "--nodes", "4,4,3").exit_code == 0
    assert counted(names_in("bcast-two_tree-p11.svg"), r"node-\d+") == 3
    assert "number: round of the first use; thin: inside a node" in texts_in("bcast-two_tree-p11.svg")


def test_costs_of_nodes_are_in_the_title(rondo):
    words = ["--nodes", "2x2", "--time", "overlapped", "--lanes", 2, "--eager", "16Ki", "--rendezvous", "8ms"]
    assert rondo("draw", "bcast/full_lane", *words, "--output", "a.svg").exit_code == 0
    (figures,) = [each for each in texts_in("a.svg") if "overlapped" in each]
    alpha = "\N{GREEK SMALL LETTER ALPHA}"
    costs = f"({alpha} = 2 ms, 200 Mbit/s; inside {alpha} = 20 \N{MICRO SIGN}s, 10 Gbit/s; 2 lanes; 8 ms more beyond "
    assert costs in figures


def test_an_empty_vector_moves_nothing(rondo):
    assert rondo("draw", "exscan/doubling_123", "-p", 4, "--count", 0, "--output", "a.svg").exit_code == 0
    assert counted(names_in("a.svg"), r"message-\d+") == 0


def test_a_barrier_has_an_element_of_no_bytes_for_each_rank(rondo):
    told = json.loads(rondo("draw", "barrier/dissemination", "-p", 6, "--json").stdout)
    assert (told["count"], told["element_bytes"], len(told["messages"])) == (6, 0, 18)
    assert rondo("draw", "barrier/leaders", "--nodes", "3,2", "--output", "a.svg").exit_code == 0
    assert "5 elements of 0 bytes, 5 blocks, " in Path("a.svg").read_text()


def test_the_suffix_is_the_format_and_equal_calls_give_equal_files(rondo):
    for name in ("a.svg", "b.svg", "c.png", "d.PDF"):
        assert rondo("draw", "bcast/binomial", "-p", 4, "--output", name).exit_code == 0
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    assert Path("d.PDF").read_bytes().startswith(b"%PDF")


def test_json_holds_the_call_and_all_that_happens(rondo):
    told = json.loads(rondo("draw", "reduce/binomial", "-p", 3, "--root", 2, "--count", "4k", "--json").stdout)
    assert not list(Path().iterdir())
    assert [told[key] for key in ("collective", "choice", "processes", "count", "root", "timing")] == [
        "reduce",
        "binomial",
        3,
        4000,
        2,
        "rounds",
    ]
    assert told["time"] == max(rank["time"] for rank in told["ranks"])
    assert sum(rank["sent"] for rank in told["ranks"]) == len(told["messages"])
    assert sum(rank["operations"] for rank in told["ranks"]) == sum(x["kind"] == "combine" for x in told["locals"]) == 2
    assert set(told["messages"][0]) == {
        *("from", "to", "source", "target", "step_from", "step_to", "start", "end", "data"),
    }
    both = rondo("draw", "reduce/binomial", "-p", 3, "--json", "--output", "a.svg")
    assert json.loads(both.stdout)["processes"] == 3
    assert both.stderr == "wrote a.svg\n"


def test_without_a_count_there_are_eight_segments(rondo):
    def blocks(*words: object) -> int:
        told = json.loads(rondo("draw", "bcast/linear_pipeline", "-p", 2, "--json", *words).stdout)
        return len(told["messages"])

    assert blocks() == 8
    assert blocks("--set", "segment=4Ki") == 8
    assert blocks("--count", 1000) == 8
    assert blocks("--count", 3) == 3
    assert blocks("--count", 64, "--set", "segment=256") == 2


def test_the_module_counts_rounds_and_refuses_with_the_reason():
    told = _core.trace("exscan", "doubling_123", 8, 100)
    assert told["time"] == 4
    with pytest.raises(ValueError, match=r"linear_pipeline refuses: segment=1 cuts .* into more than 131072 segments"):
        _core.trace("scan", "linear_pipeline:segment=1", 8, 1 << 20)
    with pytest.raises(ValueError, match="more than 7 messages"):
        _core.trace("exscan", "doubling_123", 5, 1, most_messages=7)
    with pytest.raises(ValueError, match="expected lockstep or overlapped"):
        _core.trace("exscan", "doubling_123", 5, 1, mode="rounds")
    with pytest.raises(ValueError, match="must not be negative"):
        _core.trace("exscan", "doubling_123", 5, 1, alpha=float("nan"))
    assert _core.quantity("4Ki") == 4096
    with pytest.raises(ValueError, match="'four' is not a number"):
        _core.quantity("four")


def test_costs_reach_the_core():
    problem = Problem("bcast", "binomial", 2, 10, timing="overlapped", costs=Costs(1.0, 0.5, overhead=0.25))
    # The receiver is ready, the sender works, ten elements of eight bytes leave, the last one travels.
    assert problem.run(0)["time"] == 0.25 + 40 + 1


def test_costs_of_nodes_reach_the_core():
    # From rank 0 of the first node of two to the second, and then inside both.
    costs = Costs(alpha=4.0, beta=0.5, alpha_inside=1.0, beta_inside=0.25, eager=40, rendezvous=16.0)

    def time(count: int, nodes: tuple[int, ...]) -> float:
        problem = Problem("bcast", "binomial", 4, count, 1, timing=trace.LOCK_STEP, costs=costs, nodes=nodes)
        return problem.run(0)["time"]

    assert time(40, (2, 2)) == (4 + 20) + (1 + 10)
    assert time(80, (2, 2)) == (16 + 4 + 40) + (1 + 20)
    assert time(80, (4,)) == 2 * (1 + 20)
    assert time(80, ()) == 2 * (16 + 4 + 40)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["exscan/doublng_123"], "exscan has no algorithm 'doublng_123'; did you mean 'doubling_123'"),
        (["exscn/doubling_123"], "Rondo has no collective 'exscn'; did you mean 'exscan'?"),
        (["doubling_123"], "'doubling_123' names no algorithm; expected COLLECTIVE/ALGORITHM; did you mean exscan/dou"),
        (["nonsense"], "'nonsense' names no algorithm; expected COLLECTIVE/ALGORITHM; `rondo list` shows what there"),
        (["exscan/native"], "what the MPI library's own exscan does is not known"),
        (["exscan/doubling_123", "-p", 0], "0 processes: expected 1 to "),
        (["bcast/binomial", "-p", 4, "--root", 4], "root 4 of 4 processes: expected 0 to 3"),
        (["exscan/doubling_123", "--root", 1], "exscan has no root"),
        (["exscan/doubling_123", "--count", "many"], "--count: 'many' is not a number; expected "),
        (["exscan/doubling_123", "--element-bytes", 0], "8192 elements of 0 bytes: expected at least one byte each"),
        (["exscan/doubling_123", "--set", "segment=4"], "doubling_123 has no parameters, but 'segment' was set"),
        (["scan/linear_pipeline", "--set", "segment=x"], "segment=x is not a number; expected "),
        (["alltoall/bruck", "-p", 5, "--count", 7], "7 elements for 5 processes: expected as many for each"),
        (
            ["allreduce/circulant"],
            "circulant refuses: the operator does not commute; --commutative draws it for one that does",
        ),
        (
            ["scan/linear_pipeline", "--count", "1Mi", "--set", "segment=1"],
            "linear_pipeline refuses: segment=1 cuts 8388608",
        ),
        (["exscan/doubling_123", "--output", "a.gif"], "--output a.gif: expected a name that ends in .png, .svg, .pdf"),
        (["exscan/doubling_123", "--output", "no/a.svg"], "cannot write no/a.svg: No such file or directory"),
        (
            ["exscan/doubling_123", "--alpha", "2ms"],
            "--alpha means nothing in rounds; add --time lockstep or --time overlapped",
        ),
        (["bcast/binomial", "--rate", "1Gbit", "--lanes", 2], "--rate and --lanes mean nothing in rounds; add --time"),
        (["bcast/binomial", "--nodes", "4y4"], "--nodes: '4y4' says no nodes; expected NODESxRANKS, as in 4x8, or"),
        (["bcast/binomial", "--nodes", "4,4,3", "-p", 12], "--nodes 4,4,3 has 11 ranks, not the 12 of -p; leave out"),
        (
            ["bcast/binomial", "--time", "lockstep", "--alpha-inside", "1us"],
            "--alpha-inside means nothing where each rank is on a node of its own; add --nodes",
        ),
        (
            ["bcast/binomial", "--time", "lockstep", "--rendezvous", "1us"],
            "--rendezvous is of messages beyond an eager limit; add --eager",
        ),
        (["exscan/doubling_123", "--time", "overlapped", "--rate", "fast"], "rate 'fast': expected a number with one"),
        (["exscan/doubling_123", "-p", 65], "65 ranks: a space-time diagram is legible up to 64; take fewer processes"),
        (
            ["bcast/linear_pipeline", "-p", 40, "--count", 800, "--set", "segment=100"],
            "2613 messages: a space-time diagram is legible up to 1500; take fewer processes, a shorter vector or lon",
        ),
        (
            ["exscan/cyclic_doubling", "-p", 32],
            "arrows that begin and end together cross 240 times: a space-time diagram is legible up to 150; take fewer",
        ),
        (["bcast/linear_pipeline", "--count", "1M", "--set", "segment=80"], "more than 20000 messages; take fewer"),
        (["exscan/doubling_123", "-p", 10_000_000], "more than 20000 messages; take fewer processes"),
        (["exscan/doubling_123", "--picture", "trees"], "the messages of exscan/doubling_123 form neither one nor two"),
    ],
)
def test_errors_say_what_was_wrong_in_a_line(rondo, words, message):
    result = rondo("draw", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"rondo: {message}")
    assert result.stderr.count("\n") == 1
    assert not list(Path().iterdir())


def test_a_missing_package_is_named_with_the_remedy(rondo, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = rondo("draw", "bcast/binomial")
    assert result.exit_code == 2
    assert "pip install 'rondo-mpi[bench]'" in result.stderr
    assert rondo("draw", "bcast/binomial", "--json").exit_code == 0


def test_help_teaches_by_example(rondo):
    result = rondo("draw", "--help")
    assert result.exit_code == 0
    examples = re.findall(r"^ +rondo (draw .*)$", result.stdout, re.MULTILINE)
    assert len(examples) >= 5
    for example in examples:
        assert rondo(*example.split()).exit_code == 0, example
