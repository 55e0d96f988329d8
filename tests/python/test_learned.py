# SPDX-License-Identifier: BSD-3-Clause
"""`rondo learned`, and where `rondo run` keeps what the guard finds out."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from on_a_terminal import on_a_terminal
from rondo.commands import main
from rondo.errors import Error
from rondo.machine import machine
from rondo.tune import seen_calls
from rondo.tune.seen_calls import Calls, Seen

from rondo import _core
from rondo.selection import learned

LINE = (
    "{collective} bytes={bytes} commutative=no rounding={rounding} processes=8 nodes=4 fewest_on_node=2 most_on_node=2 "
    "in_rank_order=yes shared_memory=no choice={choice} rondo={rondo} library=0.001 calls=4 day={day}"
)


def line(collective: str, choice: str, *, length: int = 5000, rondo: str = "0.002", day: str = "2026-02-03") -> str:
    """Of a file of verdicts."""
    return LINE.format(collective=collective, bytes=length, rounding="no", choice=choice, rondo=rondo, day=day)


USERS = (54321, 54322, 54323)
"""Two of them, and their group."""
LOST = line("bcast", "binomial")
WON = line("exscan", "doubling_123", rondo="0.0005", day="2020-01-01")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only one in the default directory."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("RONDO_LEARNED", raising=False)
    path = tmp_path / "rondo" / "learned" / "node.verdicts"
    path.parent.mkdir(parents=True)
    path.write_text(f"# heading\n{LOST}\n{WON}\n")
    return path


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, ["learned", *map(str, words)])


def test_shows_who_is_faster(file: Path) -> None:
    text = invoke("show").output
    assert str(file) in text
    (lost,) = [each for each in text.splitlines() if each.strip().startswith("bcast")]
    assert " ".join(lost.split()) == "bcast 4 KiB..8 KiB 4x2 binomial 2 ms 1 ms 2.00 4 library 2026-02-03"
    rows = json.loads(invoke("show", "--json", "--collective", "exscan").output)
    assert [(row["choice"], row["lost"], row["lowest"], row["highest"]) for row in rows] == [
        ("doubling_123", False, 4096, 8191)
    ]


def test_calls_on_domains_are_other_calls_and_their_rules_come_first(file: Path) -> None:
    anywhere = line("bcast", "binomial", rondo="0.0005").replace("nodes=4 fewest_on_node=2 most_on_node=2", "nodes=1 "
        "fewest_on_node=8 most_on_node=8")  # fmt: skip
    bound = anywhere.replace("choice=binomial", "domains=2 choice=leaders")
    file.write_text(f"{anywhere}\n{bound}\n")
    shown = [" ".join(each.split()) for each in invoke("show").output.splitlines() if each.strip().startswith("bcast")]
    assert sorted(each.split(" KiB ")[1].partition(" 500")[0].partition(":")[0] for each in shown) == [
        "1x8 binomial",
        "1x8, 2 domains leaders",
    ]
    about = "bcast bytes in 4096..8191, processes = 8, nodes = 1, ranks_per_node = 8, "
    rules = [each.partition(" -> ")[0] for each in invoke("rules").output.splitlines() if each.startswith("bcast")]
    assert rules == [f"{about}domains = 2, shared_memory = no", f"{about}shared_memory = no"]


def test_what_could_not_be_compared_is_the_library_s(file: Path) -> None:
    uncompared = line("bcast", "binomial", rondo="0").replace("library=0.001", "library=0")
    file.write_text(uncompared + "\n")
    (shown,) = [each for each in invoke("show").output.splitlines() if each.strip().startswith("bcast")]
    assert " ".join(shown.split()) == "bcast 4 KiB..8 KiB 4x2 binomial - - - 4 not compared 2026-02-03"
    (rule,) = [each for each in invoke("rules").output.splitlines() if each.startswith("bcast")]
    assert "-> native  # binomial could not be compared on 2026-02-03" in rule
    (row,) = json.loads(invoke("show", "--json").output)
    assert row["lost"] and row["rondo"] == row["library"] == 0


def test_what_is_only_begun_is_no_verdict(file: Path) -> None:
    begun = line("bcast", "binomial").replace("day=", "begun=0.1,0.2,0.1 day=")
    file.write_text(f"{begun}\n{WON}\n")
    (shown,) = [each for each in invoke("show").output.splitlines() if each.strip().startswith("bcast")]
    assert " ".join(shown.split()) == "bcast 4 KiB..8 KiB 4x2 binomial 2 ms 1 ms - open, 3 timed 2026-02-03"
    assert not [each for each in invoke("rules").output.splitlines() if each.startswith("bcast")]
    rows = json.loads(invoke("show", "--json").output)
    assert [(row["collective"], row["begun"], row["lost"]) for row in rows] == [
        ("exscan", 0, False),
        ("bcast", 3, None),
    ]
    assert [each.collective for each in learned.read(file).verdicts] == ["exscan"]
    assert invoke("forget", "--collective", "bcast").output == "forgotten: 1\n"
    assert learned.read(file).begun == ()


def test_a_narrow_terminal_has_room_for_the_choice(file: Path) -> None:
    words = ("rounding=no", "rounding=yes"), ("shared_memory=no", "shared_memory=yes")
    verdict = line("allreduce", "recursive_doubling")
    for old, new in words:
        verdict = verdict.replace(old, new)
    file.write_text(verdict + "\n")
    lines = on_a_terminal("learned", "show")
    assert max(len(each.rstrip()) for each in lines[1:]) <= 80
    (first,) = (each.split() for each in lines if each.strip().startswith("allreduce"))
    assert first[4:6] == ["4x2*", "recursive_doubling"]
    assert lines[-1] == "*: ranks of a node share memory"


def test_the_directory_is_named_as_to_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = file.parent
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "nothing"))
    assert invoke("show", "--json").output == "[]\n"
    assert len(json.loads(invoke("show", "--json", "--learned", own).output)) == 2
    monkeypatch.setenv("RONDO_LEARNED", str(own))
    assert len(json.loads(invoke("show", "--json").output)) == 2
    assert json.loads(invoke("show", "--json", "--learned", "none").output) == []
    monkeypatch.delenv("RONDO_LEARNED")
    assert "exscan" in invoke("rules", "--learned", own).output
    assert invoke("merge", file, "--learned", tmp_path / "other").exit_code == 0
    assert [each.line for each in learned.read(tmp_path / "other" / file.name).verdicts] == [LOST, WON]
    assert invoke("forget", "--learned", own).output == "forgotten: 2\n"


def test_a_directory_that_is_named_is_the_only_place(file: Path, tmp_path: Path) -> None:
    for words in (("show", file), ("forget", file), ("rules", file), ("merge", file, tmp_path / "x.verdicts")):
        refused = invoke(*words, "--learned", file.parent)
        assert (refused.exit_code, "name two places" in refused.output) == (2, True), words
    assert "no such file or directory" in invoke("show", "--learned", tmp_path / "missing").output
    assert "keeps nothing" in invoke("merge", file, "--learned", "none").output
    assert "the file to add it to, too" in invoke("merge", file).output
    assert len(learned.read(file).verdicts) == 2


def test_says_when_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert invoke("show").output.startswith("Nothing was learned yet")
    assert invoke("show", tmp_path / "none").exit_code == 2


def test_rules_say_the_same(file: Path) -> None:
    text = invoke("rules").output
    chosen = [
        _core.choice_by_rules(text, "learned", collective, length, 8, nodes=4, ranks_per_node=2, commutative=False)
        for collective, length in (("bcast", 4096), ("bcast", 8191), ("exscan", 5000), ("bcast", 8192))
    ]
    assert chosen == ["native", "native", "doubling_123", None]


def file_here(directory: Path, library: str) -> Path:
    path = directory / learned.file_name(library, machine.standard().text())
    path.write_text(LOST + "\n")
    return path


# No rank knows how long they are: what was found out about some holds for all.
def test_calls_of_any_length_are_one_kind(file: Path) -> None:
    file.write_text(f"{line('alltoallv', 'full_lane:slot=512', length=0)}\n")
    (shown,) = [each for each in invoke("show").output.splitlines() if each.strip().startswith("alltoallv")]
    assert " ".join(shown.split()).startswith("alltoallv any 4x2 full_lane:slot=512 ")
    (rule,) = [each for each in invoke("rules", file).output.splitlines() if each.startswith("alltoallv")]
    assert rule.startswith("alltoallv processes = 8, nodes = 4, ranks_per_node = 2, shared_memory = no -> native")
    assert not _core.inspect_rules(rule)["wrong"]


def test_rules_of_several_libraries_say_which(file: Path, tmp_path: Path) -> None:
    mpich, openmpi = (file_here(file.parent, library) for library in ("MPICH Version 5.0.2", "Open MPI v5.0.11"))
    said = invoke("rules")
    assert (
        f"{file} is of another machine, of other figures of this one, or of another version of Rondo; left out"
        in said.stderr
    )
    assert [line.partition(" ->")[0].rpartition(", ")[2] for line in said.stdout.splitlines() if "->" in line] == [
        "library = mpich",
        "library = openmpi",
    ]
    _core.check_rules(said.stdout, "learned")
    assert "library = " not in invoke("rules", mpich).stdout
    other = file_here(file.parent, "MPICH Version 4.0.2")
    refused = invoke("rules")
    assert refused.exit_code == 2
    assert all(str(each) in refused.output for each in (mpich, openmpi, other))


def test_of_files_about_one_library_the_one_counts_that_programs_would_read(file: Path) -> None:
    """Figures that were measured meanwhile, or named, have a file of their own."""
    standard = file_here(file.parent, "MPICH Version 5.0.2")
    measured = "alpha = 1e-3\nbeta = 1e-8\n"
    other = file.parent / learned.file_name("MPICH Version 5.0.2", measured)
    other.write_text(line("exscan", "two_tree") + "\n")
    file.unlink()
    said = invoke("rules")
    assert said.exit_code == 0
    assert said.stdout.startswith(f"# {standard.name}\n")
    (file.parent / _core.measured_machine_file_name(socket.gethostname(), "MPICH Version 5.0.2")).write_text(measured)
    assert invoke("rules").stdout.startswith(f"# {other.name}\n")


def test_rules_of_other_machines_alone_are_named_one_by_one(file: Path) -> None:
    (file.parent / "other.verdicts").write_text(LOST + "\n")
    refused = invoke("rules")
    assert refused.exit_code == 2
    assert str(file) in refused.output


def test_short_times_are_shown_as_they_are(file: Path) -> None:
    file.write_text(line("exscan", "doubling_123", rondo="1.733e-06").replace("=0.001", "=0.0004714") + "\n")
    shown = invoke("show").output
    assert "1.73 µs" in shown
    assert "471 µs" in shown
    assert " 0.0037 " in shown
    assert "took 0.0037 of the library's time" in invoke("rules").output


def test_forgets_what_it_is_told_to(file: Path) -> None:
    assert invoke("forget", "--older-than", "100000").output == "forgotten: 0\n"
    assert invoke("forget", "--collective", "exscan").output == "forgotten: 1\n"
    assert [each.line for each in learned.read(file).verdicts] == [LOST]
    assert invoke("forget").output == "forgotten: 1\n"
    assert learned.read(file).verdicts == ()


def test_merges_files(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.verdicts"
    other.write_text(line("bcast", "binomial", rondo="0.0001") + "\n" + line("bcast", "binomial", length=9) + "\n")
    assert invoke("merge", other, file).exit_code == 0
    assert [(each.collective, each.bytes, each.lost) for each in learned.read(file).verdicts] == [
        ("bcast", 5000, False),
        ("exscan", 5000, False),
        ("bcast", 9, True),
    ]
    assert invoke("merge", other, tmp_path / "none" / "file").exit_code == 2


def test_what_the_rules_left_to_the_library_is_merged_and_forgotten_with_it(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.verdicts"
    other.write_text(LOST + "\n")
    for verdicts, calls in ((file, [Calls("bcast", 8, 64), Calls("scan", 8, 8)]), (other, [Calls("bcast", 32, 90)])):
        seen_calls.change(verdicts, lambda _, calls=calls: Seen([2, 2], calls))
    assert invoke("merge", other, file).exit_code == 0
    assert seen_calls.read(file) == Seen([2, 2], [Calls("bcast", 8, 90), Calls("scan", 8, 8)])
    assert invoke("forget", "--older-than", "1").exit_code == 0
    assert len(seen_calls.read(file).calls) == 2
    assert invoke("forget", "--collective", "bcast").exit_code == 0
    assert seen_calls.read(file).calls == [Calls("scan", 8, 8)]
    assert invoke("forget", file).exit_code == 0
    assert seen_calls.read(file).calls == []
    assert seen_calls.read(other).calls == [Calls("bcast", 32, 90)]


def test_nobody_waits_for_a_lock_for_ever(file: Path) -> None:
    with learned.locked(file), pytest.raises(Error, match=r"node\.verdicts\.lock"), learned.locked(file):
        pass
    with learned.locked(file), pytest.raises(Error):  # the verdicts' own is the same
        learned.change(file, add=WON)


def as_user(user: int, act: Callable[[], object]) -> str:
    """What goes wrong when another user does it; empty if nothing does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            os.umask(0o022)
            os.setgroups([USERS[-1]])
            os.setgid(user)
            os.setuid(user)
            act()
        except BaseException as error:  # a child must not go on as the test
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as stream:  # noqa: PTH123 (a descriptor)
        said = stream.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")
@pytest.mark.parametrize(
    ("mode", "group"), [(0o777, 0), (0o1777, 0), (0o2775, USERS[-1]), (0o775, USERS[-1]), (0o3770, USERS[-1])]
)
def test_users_share_a_directory_as_far_as_it_lets_them(mode: int, group: int) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # whose own may be closed to others
        os.chmod(place, 0o755)  # noqa: PTH101
        shared = Path(place) / "shared"
        shared.mkdir()
        os.chown(shared, 0, group)
        shared.chmod(mode)
        file = shared / "node.verdicts"

        def seen(name: str) -> None:
            seen_calls.change(file, lambda before: Seen([2], [*before.calls, Calls(name, 8, 8)]))

        for user, added, name in ((USERS[0], LOST, "bcast"), (USERS[1], WON, "scan"), (USERS[0], LOST, "exscan")):
            assert as_user(user, lambda added=added: learned.change(file, add=f"{added}\n")) == ""
            assert as_user(user, lambda name=name: seen(name)) == ""
        assert [each.line for each in learned.read(file).verdicts] == [LOST, WON]
        assert [each.collective for each in seen_calls.read(file).calls] == ["bcast", "scan", "exscan"]
        shared.chmod(0o755)
        assert "Permission denied" in as_user(USERS[1], lambda: learned.change(file, forget=[LOST]))
        assert [each.line for each in learned.read(file).verdicts] == [LOST, WON]


def test_merges_into_no_other_file(file: Path, tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text("bcast -> binomial\n")
    refused = invoke("merge", file, rules)
    assert (refused.exit_code, "no file of verdicts" in refused.output) == (2, True)
    assert rules.read_text() == "bcast -> binomial\n"


def test_warns_of_lines_that_say_nothing(file: Path) -> None:
    file.write_text(f"{LOST}\nbcast bytes=many\n")
    text = invoke("show").output
    assert f"{file}:2: a number is expected, not 'many'; left out" in text


def test_run_keeps_it_where_it_is_told_to(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert learned.directory(None, environment, make=True) == tmp_path / "state" / "rondo" / "learned"
    assert (tmp_path / "state" / "rondo" / "learned").is_dir()
    assert learned.directory("none", environment) is None
    (tmp_path / "file").touch()
    with pytest.raises(Exception, match=r"cannot make .*/file/rondo/learned: Not a directory"):
        learned.directory(None, {"XDG_STATE_HOME": str(tmp_path / "file")}, make=True)
    with pytest.raises(Exception, match="cannot make that directory"):
        learned.directory(str(tmp_path / "file" / "under"), environment, make=True)


PROPOSED = (
    "proposed allreduce bytes=4096 element=8 commutative=yes nodes=4 ranks_per_node=2 choice=recursive_doubling "
    "seconds=0.001 day=2026-02-03"
)


def test_what_the_model_has_proposed_is_shown_forgotten_and_merged(file: Path, tmp_path: Path) -> None:
    file.write_text(f"{LOST}\n{PROPOSED}\n")
    assert "and 1 choice that the model has proposed" in invoke("show").output
    target = tmp_path / "merged.verdicts"
    assert invoke("merge", file, target).exit_code == 0
    assert [each.choice for each in learned.read(target).proposals] == ["recursive_doubling"]
    assert invoke("forget", "--collective", "allreduce").output == "forgotten: 1\n"
    kept = learned.read(file)
    assert not kept.proposals
    assert [each.collective for each in kept.verdicts] == ["bcast"]


def test_a_file_of_proposals_alone_is_shown_without_a_table(file: Path) -> None:
    file.write_text(f"{PROPOSED}\n")
    text = invoke("show").output
    assert "1 choice that the model has proposed" in text
    assert "faster" not in text


def test_what_a_program_has_measured_holds_below_what_is_named(tmp_path: Path) -> None:
    library = "MPICH Version 5.0.2"
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    directory = tmp_path / "learned"
    directory.mkdir()
    assert learned.figures(None, environment, directory, library) is None
    measured = directory / _core.measured_machine_file_name(os.uname().nodename, library)
    measured.write_text("alpha = 1e-3\nbeta = 1e-8\n")
    assert learned.figures(None, environment, directory, library) == measured
    assert learned.figures(None, environment, directory, "Open MPI v5.0.11") is None
    assert learned.figures(None, environment, None, library) is None
    assert learned.figures(machine.STANDARD, environment, directory, library) is None
    default = machine.default_path(environment)
    default.parent.mkdir(parents=True)
    default.write_text("alpha = 2e-3\nbeta = 1e-8\n")
    assert learned.figures(None, environment, directory, library) == default
