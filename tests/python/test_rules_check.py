# SPDX-License-Identifier: BSD-3-Clause
"""`rondo rules check`: what is wrong with a rules file, and what it chooses where."""

from __future__ import annotations

import json

import pytest
from rondo.launching import installation

from rondo import _core

BAD = """\
exscan bytes >= 1Mi -> linear_pipeline:segment=1
exscn -> native

allreduce -> ring
allreduce bytes < 4 -> circulant
scan byts < 4 -> doubling
bcast bytes < 4 -> native
bcast processes < 9 -> binomial
"""


@pytest.fixture
def check(rondo, tmp_path):
    """Runs the command on a text; exit code and output."""

    def run(text, *options):
        path = tmp_path / "mine.rules"
        path.write_text(text)
        result = rondo("rules", "check", path, *options)
        return result.exit_code, result.stdout.replace(f"{path}", "mine.rules")

    return run


def test_all_that_is_wrong_is_said_line_by_line(check):
    code, output = check(BAD)
    assert code == 1
    assert output.splitlines()[:6] == [
        "mine.rules:1: never serves a call: linear_pipeline:segment=1 needs at most 131072 segments, which no call "
        "that was tried has",
        "mine.rules:2: Rondo has no collective 'exscn'; did you mean 'exscan'?",
        "mine.rules:4: note: leaves some of its calls to the library: ring needs a commutative operator",
        "mine.rules:5: this rule never decides: mine.rules:4 matches all its calls",
        "mine.rules:6: unknown condition 'byts'; did you mean 'bytes'?",
        "mine.rules: 4 findings",
    ]


def test_malformed_lines_are_complained_about_as_by_a_run(check):
    text = "scan -> gone\n"
    with pytest.raises(ValueError) as refused:
        _core.check_rules(text, "mine.rules")
    assert check(text)[1].splitlines()[0] == str(refused.value)


def test_overlaps_are_normal_and_told_who_asks(check):
    code, output = check(BAD, "--overlaps")
    assert code == 1
    assert "mine.rules:8: note: line 7 matches some of its calls" in output
    assert "matches some" not in check(BAD)[1]


def test_good_rules_are_fine(check, rondo):
    assert check("scan -> doubling  # always\n")[0] == 0
    result = rondo("rules", "check")
    assert result.exit_code == 0
    assert result.stdout.startswith("default.rules: nothing wrong\n")


def test_a_file_that_cannot_be_read_is_no_finding(rondo, tmp_path):
    for path in (tmp_path / "none.rules", tmp_path):
        result = rondo("rules", "check", path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"rondo: cannot read the rules {path}: ")
    assert rondo("rules", "check", "--library", "mpitch").exit_code == 2


def test_a_table_has_ranks_downwards_and_bytes_across(check):
    text = """
exscan processes <= 4, bytes < 4Ki -> doubling_123
exscan library = openmpi -> native
exscan bytes > 64Ki -> linear_pipeline
scan ranks_per_node = 2, nodes <= 3 -> doubling
"""
    lines = [" ".join(each.split()) for each in check(text)[1].splitlines()]
    start = lines.index("exscan")
    assert [each for each in lines[start + 1 :] if each][:7] == [
        "ranks < 4Ki <= 64Ki longer",
        "─" * 29,
        "2..4 A · B",
        "5.. · · B",
        "A doubling_123 (line 2)",
        "B linear_pipeline:segment=auto (line 4)",
        "· native",
    ]
    assert "scan" not in lines
    of_two = [" ".join(each.split()) for each in check(text, "--ppn", 2, "--library", "openmpi")[1].splitlines()]
    assert {"2..6 A", "8.. ·", "2..4 A ·", "6.. · ·"} <= set(of_two)
    assert any(each.endswith("scatterv: native, whatever the call") for each in of_two)


def test_tables_are_about_ranks_that_are_bound_to_no_domains(check):
    _, output = check("bcast domains = 4 -> predicted\nbcast domains = 2, nodes = 1 -> full_lane\n", "--ppn", "16")
    assert ", no domains:\n" in output
    _, output = check("bcast nodes = 1 -> binomial\n", "--ppn", "16")
    assert "domains" not in output


def test_tables_may_be_about_ranks_that_share_processors(check):
    text = "scan oversubscribed = yes -> linear_pipeline:segment=1Ki\nscan -> doubling\n"
    for words, chosen in (((), "doubling"), (("--oversubscribed",), "linear_pipeline:segment=1Ki")):
        code, output = check(text, *words, "--json")
        assert code == 0
        document = json.loads(output)
        assert document["oversubscribed"] == bool(words)
        assert {region["choice"] for row in document["collectives"]["scan"] for region in row["regions"]} == {chosen}


@pytest.mark.parametrize("ranks_per_node", [1, 4])
def test_json_says_what_rules_choose_everywhere(rondo, ranks_per_node):
    words = ("--ppn", ranks_per_node, "--library", "Open MPI v4.1.4")
    document = json.loads(rondo("rules", "check", *words, "--json").stdout)
    rules = installation.DEFAULT_RULES.read_text()
    assert document["findings"] == []
    assert list(document["collectives"]) == [each["name"] for each in _core.collectives()]
    for collective in ("allreduce", "bcast", "scan", "alltoallv"):
        commutes = next(each["has_operation"] for each in _core.collectives() if each["name"] == collective)
        for row in document["collectives"][collective]:
            nodes = row["fewest"] // ranks_per_node
            for region in row["regions"]:
                said = _core.choice_by_rules(
                    rules, "rules", collective, region["lowest"], row["fewest"], ranks_per_node, commutes, "openmpi",
                    32 << 10, nodes,
                )  # fmt: skip
                assert region["choice"] == (said or "native")
        assert document["collectives"][collective][-1]["most"] is None


def test_a_picture_has_an_area_for_each_choice_without_gaps(check, tmp_path):
    pytest.importorskip("matplotlib")
    text = "exscan processes <= 4, bytes < 4Ki -> doubling_123\nexscan bytes > 64Ki -> linear_pipeline:segment=1Ki\n"
    pictures = []
    for name in ("one.svg", "two.svg"):
        code, output = check(text, "--output", tmp_path / name)
        assert code == 0
        assert output.endswith(f"wrote {tmp_path / name}\n")
        pictures.append((tmp_path / name).read_text())
    assert pictures[0] == pictures[1]
    for area in ("doubling_123-2-1", "native-5-1", "linear_pipeline:segment=1Ki-5-65537"):
        assert f'id="exscan-{area}"' in pictures[0]

    from rondo.reports import rule_figures  # noqa: PLC0415

    from rondo.selection import inspection  # noqa: PLC0415

    rules = "allreduce nodes = 1 -> native\nallreduce bytes <= 8Ki -> leaders:lane=recursive_multiplying\n"
    rules += "allreduce nodes <= 16, bytes >= 128Ki -> full_lane\nallreduce processes > 256 -> predicted\n"
    rows = inspection.regions(rules, "allreduce", 4, "MPICH Version 5.0", shared_memory=False, oversubscribed=False)
    found = rule_figures.areas("allreduce", rows)
    assert {each.choice for each in found} == {"native", "full_lane", "leaders:lane=recursive_multiplying", "predicted"}
    assert len({each.bytes[1] for each in found if each.bytes[1] > 128 << 10}) == 1
    whole = (max(each.ranks[1] for each in found) - 4) * (max(each.bytes[1] for each in found) - 1)
    assert sum((each.ranks[1] - each.ranks[0]) * (each.bytes[1] - each.bytes[0]) for each in found) == whole


def test_a_picture_needs_a_name_and_something_to_show(check, rondo, tmp_path):
    assert check("scan -> doubling\n", "--output", "map.gif")[0] == 2
    native = tmp_path / "native.rules"
    native.write_text("scan -> native\n")
    result = rondo("rules", "check", native, "--output", tmp_path / "map.svg")
    assert result.exit_code == 0
    assert result.stderr == f"rondo: {tmp_path / 'map.svg'} is not written: all calls stay native\n"
    assert not (tmp_path / "map.svg").exists()
