# SPDX-License-Identifier: BSD-3-Clause
"""`rondo compare`: what it refuses, in which order it runs what, what it concludes, and real programs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from launching import RONDO_THAT_HEEDS, Run, end, launch, ranks_of
from rondo.bench import statistics
from rondo.bench.statistics import Change
from rondo.comparing import outputs, results, rivals, table, trials
from rondo.errors import Error
from rondo.launching import installation
from rondo.launching.rank_report import BY_GUARD
from rondo.launching.run_report import merged

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("mpiexec", "-n", "2", "./app")
EXACT = ("--guard", "exact")
DEFAULT = ("rondo", (), WORDS)
NATIVELY = ("native", None, WORDS)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, empty."""
    directory = tmp_path / "here"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def mpiexec_on_path(stand_in_launcher, monkeypatch) -> Path:
    """A launcher that only knows its version."""
    path: Path = stand_in_launcher("hydra")
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    return path


# ------------------------------------------------------------------------------------------ who is compared


@pytest.mark.parametrize(
    ("texts", "rules", "options", "words", "expected"),
    [
        ([], [], [], WORDS, [NATIVELY, DEFAULT]),
        ([], ["a/my.rules"], [], WORDS, [NATIVELY, ("rondo", ("--rules", "a/my.rules"), WORDS)]),
        (
            [], ["a.rules", "none"], [], WORDS,
            [("a", ("--rules", "a.rules"), WORDS), ("none", ("--rules", "none"), WORDS)],
        ),
        ([], [], EXACT, WORDS, [NATIVELY, ("rondo", EXACT, WORDS)]),
        (["g=--guard exact"], [], [], WORDS, [NATIVELY, ("g", EXACT, WORDS)]),
        (["g=rondo run --guard exact"], [], [], WORDS, [NATIVELY, ("g", EXACT, WORDS)]),
        (["a=", "native"], [], [], WORDS, [NATIVELY, ("a", (), WORDS)]),
        (
            ["a=", "b=./b", "as-it-is=native"], [], [], WORDS,
            [("as-it-is", None, WORDS), ("a", (), WORDS), ("b", None, ("./b",))],
        ),
        (
            ["old=mpirun './my old'", "new=./new"], [], [], (),
            [("old", None, ("mpirun", "./my old")), ("new", None, ("./new",))],
        ),
        (
            ["a=rondo run --guard exact -- ./a -x"], [], [], (),
            [("native", None, ("./a", "-x")), ("a", EXACT, ("./a", "-x"))],
        ),
        (["plain="], ["a.rules"], [], WORDS, [("plain", (), WORDS), ("a", ("--rules", "a.rules"), WORDS)]),
    ],
)  # fmt: skip
def test_rivals_are_read(texts, rules, options, words, expected):
    found = rivals.make(texts, rules, tuple(options), words)
    assert [(each.name, each.options, each.words) for each in found] == expected


def test_a_rival_shows_the_command_that_repeats_it():
    assert rivals.Rival("a", ("--guard", "exact"), WORDS).command == "rondo run --guard exact -- mpiexec -n 2 ./app"
    assert rivals.Rival("a", None, WORDS).command == "mpiexec -n 2 ./app"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "what to compare? Expected a command, as in: rondo compare -- mpiexec -n 8 ./app"),
        (["--ruls", "x", "--", "true"], "No such option '--ruls'. (Did you mean one of: '--rules', "),
        (["--", "rondo", "run", "--", "true"], "leave out rondo run after --"),
        (["--rival", "--guard exact", "--", "true"], "--rival --guard exact: expected NAME=OPTIONS"),
        (["--rival", "a='b", "--", "true"], "--rival a='b: no closing quotation"),
        (["--rival", "a=rondo bench", "--", "true"], "expected rondo run, or its options"),
        (["--rival", "a=--guard exact"], "it has no command of its own, and there is none after --"),
        (["--rival", "native", "--", "true"], "--rival native is the only one"),
        (["--rival", "a=true"], "--rival a is the only one"),
        (["--rival", "a=", "--rival", "a=", "--", "true"], "two rivals are named a"),
        (["--rules", "a/x.rules", "--rules", "b/x.rules", "--", "true"], "two rivals are named x"),
        (
            ["--rival", "a=--guard dog", "--", "true"],
            "rival a: Invalid value for '--guard' (env var: 'RONDO_GUARD'): 'dog'",
        ),
        (["--rival", "a=--gard exact", "--", "true"], "rival a: No such option '--gard'"),
        (["--rival", "a=--learn", "--", "true"], "rival a: leave out --learn, which would try something else in each"),
        (["--rival", "a=--report", "--", "true"], "rival a: leave out --report, which rondo compare itself has"),
        (["--rival", "a=--cluster 2x1:1ms:1Gbit", "--", "true"], "rival a: leave out --cluster"),
        (["--rival", "a=--use exscn=ring", "--", "true"], "--use exscn=ring: Rondo has no collective 'exscn'"),
        (["--rules", "missing.rules", "--", "true"], "cannot read the rules missing.rules"),
        (["--runs", "0", "--", "true"], "Invalid value for '--runs'"),
        (["--mpi", "mpich", "--", "true"], "--mpi chooses the launcher on an emulated cluster"),
        (["--output", "x.csv", "--", "true"], "--output x.csv: expected a file that ends in .json"),
        (["--output", "no/x.json", "--", "true"], "--output no/x.json: cannot write into"),
        (["--same", "no/file", "--", "true"], "--same no/file: there is no no"),
        (["--same", ".", "--", "true"], "--same .: is a directory; name the files in it"),
        (["--runs", "3", "--fail-if-slower", "5", "--", "true"], "it takes 4 of each rival to prove anything"),
        (["--", "true"], "true does not use MPI"),
        (["--cluster", "2x1:1ms:1Gbit", "--", "mpiexec", "./app"], "--cluster starts the program itself"),
        (["--", "no-such-launcher"], "cannot run no-such-launcher"),
    ],
)
@pytest.mark.usefixtures("installed", "mpiexec_on_path")
def test_what_is_wrong_is_refused_before_anything_starts(rondo, here, words, expected):
    result = rondo("compare", *words)
    assert result.exit_code == (127 if "no-such-launcher" in words else 2), result.output
    assert expected in result.stderr
    assert result.stdout == ""
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("RONDO", "off", "RONDO=off is set"),
        ("RONDO", "False", "RONDO=False is set"),
        ("LD_PRELOAD", "/a/librondo_mpich.so", "LD_PRELOAD names a library of Rondo"),
    ],
)
def test_an_environment_in_which_both_would_be_the_same_is_refused(rondo, monkeypatch, variable, value, expected):
    monkeypatch.setenv(variable, value)
    result = rondo("compare", "--", "true")
    assert result.exit_code == 2
    assert expected in result.stderr


@pytest.mark.usefixtures("installed")
def test_rondo_s_side_is_told_what_run_knows_and_a_rival_knows_better(
    rondo, here, mpiexec_on_path, stand_in_program, monkeypatch
):
    monkeypatch.delenv("RONDO_GUARD")
    monkeypatch.setenv("XDG_STATE_HOME", str(here))
    app = stand_in_program("libmpi.so.12")

    def said(*words: object) -> str:
        """By the launcher, which tells what it is told, and fails."""
        options = ["--wall-only", "--warmup", 0, "--runs", 1, "--ignore-failure", "--show-output"]
        result = rondo("compare", *options, *words, "--", "mpiexec", app)
        assert result.exit_code == 0, result.output
        return " ".join(result.stderr.split())

    assert f"RONDO_GUARD exact -genv RONDO_LEARNED {here}/rondo/learned" in said()
    assert "RONDO_GUARD" not in said("--guard", "off")
    assert "RONDO_GUARD free" in said("--guard", "free", "--learned", here / "mine")
    assert f"RONDO_LEARNED {here}/mine" in said("--learned", here / "mine")
    assert "RONDO_LEARNED" not in said("--learned", "none")
    text = said("--nodes", "2x4", "--use", "scan=doubling")
    assert "RONDO_NODES 2x4" in text
    assert "RONDO_SCAN doubling" in text
    text = said("--guard", "off", "--rival", "a=", "--rival", "b=--guard free")
    assert text.count("RONDO_GUARD free") == text.count("RONDO_GUARD") == 1
    monkeypatch.setenv("RONDO_GUARD", "free")
    assert "RONDO_GUARD free" in said()
    assert "RONDO_GUARD" not in said("--guard", "off")
    result = rondo("compare", "--guard", "off", "--rival", "a=true", "--rival", "b=true")
    assert (result.exit_code, "--guard off: none of these rivals is under Rondo" in result.stderr) == (2, True)


def test_run_and_compare_have_the_same_options_for_rondo():
    from rondo.commands import compare, run  # noqa: PLC0415

    of_run, of_compare = ({each.name: each for each in module.command.params} for module in (run, compare))
    of_one_run = {
        "rules",
        "report_file",
        "trace_file",
        "learn",
        "dry_run",
        "words",
    }  # compare's own rules may be several
    for name in set(of_run) - of_one_run:
        assert of_compare[name].to_info_dict() == of_run[name].to_info_dict()


# ------------------------------------------------------------------------------------------ the order of the runs


def contender(name: str) -> rivals.Contender:
    return rivals.Contender(
        rivals.Rival(name, None, ("true",)),
        (rivals.Launch(["true"], {}, is_counted=False), rivals.Launch(["true"], {}, is_counted=True)),
    )


def test_every_other_round_goes_backwards():
    found = trials.turns([contender("a"), contender("b")], trials.Plan(2, 1, False, False))
    assert [(each.round, each.contender.rival.name, each.launch.is_counted) for each in found] == [
        (-1, "a", False), (-1, "b", False),
        (0, "a", False), (0, "b", False), (0, "a", True), (0, "b", True),
        (1, "b", True), (1, "a", True), (1, "b", False), (1, "a", False),
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------ what times say


FAST, SLOW = [1.00, 1.01, 1.02, 1.03, 1.04], [2.00, 2.02, 2.04, 2.06, 2.08]


@pytest.mark.parametrize(
    ("reference", "times", "said"),
    [
        (SLOW, FAST, "2 times as fast"),
        (FAST, SLOW, "takes 2 times as long"),
        (FAST, [1.005, 1.015, 1.025, 1.035, 0.995], "no difference shown"),
        ([1.0 + i / 1e6 for i in range(9)], [1.019 + i / 1e6 for i in range(9)], "no difference shown"),  # 1.9%
        ([1.0 + i / 1e6 for i in range(9)], [1.021 + i / 1e6 for i in range(9)], "takes 1.02 times as long"),
        (SLOW[:3], FAST[:3], "undecided: it takes 4 runs of each"),
        (SLOW, [], "undecided: it takes 4 runs of each"),
    ],
)
def test_a_difference_is_named_only_if_the_runs_show_it(reference, times, said):
    pair = [results.Runs("native", "", False, reference), results.Runs("rondo", "", True, times)]
    (verdict,) = results.judged(pair)
    assert (verdict.figure, verdict.rival, verdict.reference) == (results.WALL, "rondo", "native")
    assert results.text(verdict, 2) == said


def test_nothing_is_said_of_collectives_that_nobody_calls():
    pair = [results.Runs(name, "", False, SLOW) for name in ("a", "b")]
    for each, seconds in zip(pair, (1.0, 0.0), strict=True):
        each.counted = [results.Counted(seconds, {}, {})] * 5
    assert [each.figure for each in results.judged(pair)] == [results.WALL]
    assert [each.figure for each in results.judged(pair[::-1])] == [results.WALL]


def test_several_rivals_are_compared_with_the_first_and_need_more_proof():
    found = statistics.differences(SLOW[:4], {"a": FAST[:4]})
    assert found["a"].change is Change.FASTER
    found = statistics.differences(SLOW[:4], {"a": FAST[:4], "b": SLOW[:4]})
    assert {each.change for each in found.values()} == {Change.UNDECIDED}
    found = statistics.differences(SLOW, {"a": FAST, "b": SLOW})
    assert (found["a"].change, found["b"].change) == (Change.FASTER, Change.NONE)
    ratio = found["a"].ratio
    assert ratio.value == pytest.approx(0.5)
    assert ratio.low < ratio.value < ratio.high


def test_outliers_are_far_from_the_median():
    assert results.Runs("a", "", False, [1.0, 1.01, 0.99, 1.02, 3.0]).outliers() == [3.0]
    assert results.Runs("a", "", False, [1.0, 1.5, 0.5, 1.2, 2.0]).outliers() == []
    assert results.Runs("a", "", False, [1.0, 1.0, 1.0, 1.0, 1.05]).outliers() == []
    assert results.Runs("a", "", False, [1.0, 3.0]).outliers() == []


def test_what_casts_doubt_on_times_is_said():
    first = results.Runs("a", "", False, [0.5, 0.1, 0.11, 0.1, 0.12, 0.11])
    later = results.Runs("b", "", False, [0.1, 0.11, 0.1, 0.12, 0.5, 0.11], exit_codes=[0, 7])
    assert list(table.cautions(results.Results("", "", "", "", 0, "", 6, [first, later]))) == [
        "of a: 1 outlier (500 ms; median 110 ms); the first run: more --warmup may help",
        "b: 1 of 2 runs failed, and count; exit code 7",
        "of b: 1 outlier (500 ms; median 110 ms); is the machine busy with something else?",
    ]


def rank(number: int, seconds: float) -> dict:
    class_ = {"up_to": None, "calls": 2, "bytes": 8, "smallest": 4, "largest": 4, "seconds": seconds}
    entries = [
        {"collective": "bcast", "algorithm": "binomial", "reason": "", "classes": [class_]},
        {"collective": "scan", "algorithm": "native", "reason": "no rule", "classes": [{**class_, "seconds": 1.0}]},
    ]
    facts = {"rank": number, "size": 2, "host": "n", "library": "MPICH", "abi": "mpich", "ended": True}
    return {**facts, "entries": entries}


def report(*seconds: float):
    import msgspec  # noqa: PLC0415
    from rondo.launching.rank_report import RankReport  # noqa: PLC0415

    return merged([msgspec.convert(rank(number, each), RankReport) for number, each in enumerate(seconds)])


def test_the_time_in_collectives_is_the_mean_of_the_ranks():
    runs = results.Runs("rondo", "", True)
    runs.take_report(report(3.0, 5.0))
    (counted,) = runs.counted
    assert (counted.seconds, counted.of_each) == (5.0, {"bcast": 4.0, "scan": 1.0})
    assert counted.calls == {"bcast": {"binomial": 2}, "scan": {"native": 2}}
    assert counted.left == {"scan": {"no rule": 2}}
    assert runs.cautions == []


def test_ranks_that_left_no_report_are_said_once():
    runs = results.Runs("rondo", "", True)
    for _ in range(2):
        runs.take_report(report())
    assert runs.counted == []
    (caution,) = runs.cautions
    assert caution.startswith("no rank left a report")


def comparison(native: Sequence[float], rondo: Sequence[float]) -> results.Results:
    pair = [results.Runs("native", "", False, list(native)), results.Runs("rondo", "", True, list(rondo))]
    for each, seconds in zip(pair, (4.0, 1.0), strict=True):
        for _ in native:
            each.take_report(report(seconds, seconds))
    found = results.Results("", "", "", "MPICH", 2, "", 5, pair)
    found.verdicts = list(results.judged(pair))
    return found


def printed(found: results.Results, width: int = 120) -> str:
    from rich.console import Console  # noqa: PLC0415

    console = Console(width=width, record=True, file=Path(os.devnull).open("w"), markup=False)  # noqa: SIM115
    table.show(found, console)
    return console.export_text()


def test_the_table_has_medians_intervals_verdicts_and_what_was_served():
    text = printed(comparison(SLOW, FAST))
    assert text.startswith("5 runs of each, in turn, MPICH, 2 ranks\n")
    assert re.search(r"wall time, s *\n +native +2.04 \[2, 2.08\] +2, 2.08 *\n +rondo +1.02 \[1, 1.04\]", text)
    assert re.search(r"1, 1.04 +2 times as fast \[1.9\d*, 2.0\d*\]", text)
    assert re.search(r"in collectives, s *\n +native +5 \[5, 5\] +5, 5 *\n +rondo +2 \[2, 2\]", text)
    assert re.search(r"  bcast +4 +1 +2 of 2 by binomial +2 of 2 by binomial", text)
    assert "(of fewer than 6 runs, less than 95%)" in text
    assert all(len(line.rstrip()) <= 80 for line in printed(comparison(SLOW, FAST), 80).splitlines()[:10])


def test_a_rival_whose_calls_were_all_left_to_the_library_is_named():
    found = comparison(SLOW, SLOW)
    for each in found.rivals[1].counted:
        each.calls, each.left = {"scan": {"native": 2}}, {"scan": {"no rule": 2}}
    why = "rondo: Rondo left every call to the library: 2 by the rules (no rule); rondo run --report says more"
    assert why in printed(found, 200)
    assert "no difference shown [" in printed(found)
    for each in found.rivals[1].counted:  # in a file of an older version
        each.left = {}
    assert "rondo: Rondo left every call to the library; rondo run --report says more" in printed(found)


def test_the_guard_is_named_where_it_left_calls_to_the_library():
    found = comparison(SLOW, SLOW)
    (last,) = found.rivals[1].counted[-1:]
    doubt, faster, _, apart = BY_GUARD
    last.calls = {"scan": {"native": 50}, "bcast": {"native": 9}}
    last.left = {"scan": {doubt: 4, faster: 46}, "bcast": {"no rule": 5, "doubtful buffers": 1, apart: 3}}
    assert (
        "rondo: Rondo left every call to the library: 53 by the guard "
        "(while Rondo's choice is in doubt; Rondo's choice is no faster here; ranks do not come together to compare), "
        "5 by the rules (no rule), 1 for another reason (doubtful buffers); rondo run --report says more"
    ) in printed(found, 400)
    last.calls = {"scan": {"native": 50}, "bcast": {"native": 4, "binomial": 46}}
    last.left = {"scan": {doubt: 4, faster: 46}, "bcast": {doubt: 4}}
    assert (
        "rondo: scan, 50 calls: left to the library: 50 by the guard "
        "(while Rondo's choice is in doubt; Rondo's choice is no faster here)\n"
    ) in printed(found, 400)
    assert "rondo: bcast" not in printed(found, 400)


def test_the_guard_s_reasons_are_those_of_reports():
    guard = (ROOT / "rondo" / "guard" / "guard.hpp").read_text()
    assert set(re.findall(r'^constexpr const char\* \w+ = "(.*)";$', guard, re.MULTILINE)) == set(BY_GUARD)


# ------------------------------------------------------------------------------------------ what programs write


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        ("a\nb\n", "a\nc\n", (2, 2)),
        ("a\n", "a\nb\n", (2, 2)),
        ("", "x", (1, 0)),
        ("x" * 3_000_000 + "\na", "x" * 3_000_000 + "\nb", (2, 3_000_001)),
    ],
)
def test_the_first_difference_is_found(tmp_path, first, second, place):
    (tmp_path / "first").write_text(first)
    (tmp_path / "second").write_text(second)
    assert outputs._place(tmp_path / "first", tmp_path / "second") == place


def compare_writings(here: Path, writings: Sequence[tuple[str, str]]) -> outputs.Outputs:
    kept = here.parent / "kept"
    kept.mkdir()
    found = outputs.Outputs(["out"], kept)
    with found:
        for rival, text in writings:
            found.discard()
            assert not Path("out").exists()
            Path("out").write_text(text)
            found.take(rival, here / "unused")
    return found


def test_files_that_are_the_same_are_left_as_one_run_leaves_them(here):
    found = compare_writings(here, [("native", "x"), ("rondo", "x"), ("rondo", "x")])
    assert (found.differences, found.compared) == ([], 3)
    assert {path.name: path.read_text() for path in here.iterdir()} == {"out": "x"}


def test_a_file_that_was_there_is_put_back(here):
    Path("out").write_text("precious")
    compare_writings(here, [("native", "x"), ("rondo", "x")])
    assert Path("out").read_text() == "precious"


def test_both_of_what_differs_are_kept_once(here):
    found = compare_writings(here, [("native", "x"), ("rondo", "y"), ("rondo", "z")])
    (difference,) = found.differences
    assert (difference.reference, difference.rival, difference.line, difference.byte) == ("native", "rondo", 1, 0)
    assert [path.read_text() for path in difference.kept] == ["x", "y"]
    assert [path.name for path in difference.kept] == ["out.native", "out.rondo"]
    assert Path("out").read_text() == "x"


def test_a_file_that_is_not_written_is_an_error(here):
    found = outputs.Outputs(["out"], here)
    with pytest.raises(Error, match="--same out: native has written no such file"):
        found.take("native", here / "unused")


# ------------------------------------------------------------------------------------------ commands without MPI


def compare(directory: Path, *words: object, timeout: float = 60, **variables: str) -> Run:
    """`rondo compare` as a process of its own, which leaves nothing behind."""
    command = [sys.executable, "-m", "rondo", "compare", *words]
    run = launch(["env", "-C", directory, *command], {**os.environ, **variables}, timeout)
    assert list(directory.glob(".rondo-compare-*")) == []
    return run


def test_two_commands_are_told_apart_and_the_slower_one_fails(here):
    words = ["--wall-only", "--runs", 8, "--output", "out.json", "--fail-if-slower", 20]
    run = compare(here, *words, "--rival", "a=sleep 0.01", "--rival", "b=sleep 0.2")
    assert run.returncode == 1, run.stderr
    assert "rondo: --fail-if-slower 20: b takes " in run.stderr
    assert "takes " in run.stdout
    found = json.loads((here / "out.json").read_text())
    assert [(each["name"], len(each["seconds"])) for each in found["rivals"]] == [("a", 8), ("b", 8)]
    assert all(each >= 0.01 for each in found["rivals"][0]["seconds"])
    assert all(0.2 <= each < 5 for each in found["rivals"][1]["seconds"])
    (verdict,) = found["verdicts"]
    assert (verdict["figure"], verdict["change"], found["complete"]) == ("wall time", "slower", True)
    assert verdict["low"] <= verdict["ratio"] <= verdict["high"]


def test_standard_output_is_compared(here):
    run = compare(
        here, "--wall-only", "--runs", 1, "--same", "-", "--rival", "a=seq 3", "--rival", "b=printf '1\n2\n4\n'"
    )
    assert run.returncode == 1, run.stderr
    assert "standard output: b has written another than a: line 3 (byte 4); kept: " in run.stdout
    (kept,) = here.glob("compare-*")
    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        "standard-output.a": "1\n2\n3\n",
        "standard-output.b": "1\n2\n4\n",
    }


def test_a_program_that_never_writes_the_same_is_blamed_and_not_its_rival(here):
    clock = "sh -c 'date +%N > out'"
    run = compare(here, "--wall-only", "--runs", 1, "--same", "out", "--rival", f"a={clock}", "--rival", f"b={clock}")
    assert run.returncode == 1
    assert "out: a itself does not write the same in every run: line 1" in run.stdout
    assert "another" not in run.stdout


def test_a_failed_run_ends_it_with_what_the_program_said(here):
    failing = "sh -c 'echo so far; echo so bad >&2; exit 7'"
    words = ["--wall-only", "--runs", 2, "--rival", f"a={failing}", "--rival", "b=true"]
    run = compare(here, *words)
    assert run.returncode == 3
    assert "rondo: a, a warm-up, ended with exit code 7\n  so far\n  so bad\n" in run.stderr
    assert f"rondo: the command was: {failing}" in run.stderr
    assert run.stdout == ""
    run = compare(here, "--ignore-failure", "--show-output", *words)
    assert run.returncode == 0
    assert "rondo: a: 2 of 2 runs failed, and count; exit code 7" in run.stderr
    assert run.stderr.count("so far\nso bad\n") == 3


def test_what_rondo_says_in_runs_is_said_once_with_their_number(here):
    noisy = "sh -c 'for rank in 1 2; do echo rondo: warning: so it is >&2; done; echo rondo is fast >&2'"
    words = ["--wall-only", "--warmup", 1, "--runs", 3, "--output", "out.json"]
    run = compare(here, *words, "--rival", f"a={noisy}", "--rival", "b=true")
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("so it is") == 1
    assert "rondo: in 4 runs of a: warning: so it is\n" in run.stderr
    assert "rondo is fast" not in run.stderr
    assert json.loads((here / "out.json").read_text())["rivals"][0]["said"] == {"warning: so it is": 4}


def test_a_long_run_is_announced_once(rondo, here, monkeypatch):
    from rondo.commands import compare as command  # noqa: PLC0415

    monkeypatch.setattr(command, "EVERY", 0.0)
    words = ["--wall-only", "--warmup", 0, "--runs", 1, "--rival", "a=sleep 1.5", "--rival", "b=true"]
    lines = rondo("compare", *words).stderr.splitlines()
    assert lines.count("rondo: run 1 of 2: a") == 1
    assert sum(each.startswith("rondo: run 2 of 2: ") for each in lines) == 1


def test_a_run_that_hangs_is_ended(here):
    words = ["--wall-only", "--timeout", 0.5, "--ignore-failure", "--rival", "a=sh -c 'echo so far; exec sleep 50'"]
    run = compare(here, *words, "--rival", "b=true")
    assert run.returncode == 3
    assert "rondo: a, a warm-up, did not end within 0.5 s (--timeout)\n  so far\n" in run.stderr
    assert "--ignore-failure" not in run.stderr


def test_programs_read_nothing(here):
    run = compare(
        here, "--wall-only", "--runs", 1, "--rival", "a=sh -c 'read line && exit 9; true'", "--rival", "b=true"
    )
    assert run.returncode == 0, run.stderr


def interrupted(directory: Path, *words: object, ready: Path, number: signal.Signals, **variables: str) -> Run:
    """Sends a signal when there is a file."""
    said = directory / "said"
    with said.open("w") as stream:
        process = subprocess.Popen(
            [*RONDO_THAT_HEEDS, "compare", *map(str, words)],
            cwd=directory,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=stream,
            start_new_session=True,
            text=True,
        )
    try:
        deadline = time.monotonic() + 60
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < deadline, said.read_text()
            time.sleep(0.02)
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            end(process)
    assert list(directory.glob(".rondo-compare-*")) == []
    return Run(process.returncode, output, said.read_text(), 0.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_comparison_shows_what_there_is(here, number):
    script = "sh -c 'echo x >> log; test $(wc -l < log) -lt 6 || { touch ready; exec sleep 50; }'"
    words = ["--wall-only", "--warmup", 0, "--output", "out.json", "--rival", f"a={script}", "--rival", "b=true"]
    run = interrupted(here, *words, ready=here / "ready", number=number)
    assert run.returncode == 128 + number, run.stderr
    assert "rondo: interrupted: there are fewer runs than were asked for" in run.stderr
    assert "5 or 6 runs of each, in turn" in run.stdout
    found = json.loads((here / "out.json").read_text())
    assert (found["complete"], [len(each["seconds"]) for each in found["rivals"]]) == (False, [5, 6])


# ------------------------------------------------------------------------------------------ real programs

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1) {
        FILE* file = fopen("out", "w");
        fprintf(file, "%d\\n%s\\n", sum, argc > 1 && getenv("LD_PRELOAD") != NULL ? "preloaded" : "");
        fclose(file);
        if (argc > 2) fclose(fopen("ready", "w"));
    }
    if (argc > 2) sleep(50);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def program(mpi, tmp_path) -> Path:
    if not (installation.LIBRARIES / f"librondo_{mpi.abi}.so").is_file():
        pytest.skip(f"no preload library for {mpi.abi} in {installation.LIBRARIES}")
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    return mpi.compile(source)


ON_TWO = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)


@ON_TWO
def test_a_program_is_compared_natively_and_under_rondo(mpi, program, here):
    words = ["--runs", 2, "--warmup", 0, "--same", "out", "--output", "found.json", "--use", "exscan=doubling_123"]
    # Native runs shall not be told what a user's environment says to Rondo.
    run = compare(here, *words, "--", *mpi.command(2, {}, [program]), **mpi.environment, RONDO_SCAN="doubling")
    assert run.returncode == 0, run.stderr
    assert "the same in all 8 runs: out" in run.stdout
    assert "10 of 10 by doubling_123" in run.stdout
    assert (here / "out").read_text() == "1\n\n"
    found = json.loads((here / "found.json").read_text())
    native, rondo = found["rivals"]
    assert (native["name"], rondo["name"], found["ranks"]) == ("native", "rondo", 2)
    for each, algorithm in ((native, "native"), (rondo, "doubling_123")):
        assert len(each["seconds"]) == len(each["counted"]) == 2
        for seconds, counted in zip(each["seconds"], each["counted"], strict=True):
            assert counted["calls"] == {"exscan": {algorithm: 10}}
            assert counted["of_each"] == {"exscan": counted["seconds"]}
            assert 0 < counted["seconds"] < 10 * seconds
    assert "so few runs cannot prove any difference: it takes 4 of each" in run.stderr
    assert {each["change"] for each in found["verdicts"]} == {"undecided"}
    assert {path.name for path in here.iterdir()} == {"out", "found.json"}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_a_program_writes_only_under_rondo_is_found(mpi, program, here):
    words = ["--runs", 1, "--warmup", 0, "--wall-only", "--same", "out"]
    run = compare(here, *words, "--", *mpi.command(2, {}, [program, "preload"]), **mpi.environment)
    assert run.returncode == 1, run.stderr
    assert "out: rondo has written another than native: line 2 (byte 2); kept: " in run.stdout


@ON_TWO
def test_an_interrupted_program_leaves_no_ranks(mpi, program, here):
    words = ["--runs", 1, "--", *mpi.command(2, {}, [program, "slow", "slow"])]
    run = interrupted(here, *words, ready=here / "ready", number=signal.SIGINT, **mpi.environment)
    assert run.returncode == 128 + signal.SIGINT
    deadline = time.monotonic() + 10
    while ranks_of(program) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ranks_of(program) == []
