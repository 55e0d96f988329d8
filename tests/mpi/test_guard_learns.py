# SPDX-License-Identifier: BSD-3-Clause
"""What trials have shown is kept for the next run, in which it holds from the first call on."""

from __future__ import annotations

import datetime
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from launching import Run, launch
from mpi_libraries import MpiLibrary, preload_library
from test_guard import (
    COMPARED,
    FEW,
    NOT_COMPARED,
    SLOW_MESSAGES,
    SLOW_RULES,
    TAKEN_BACK,
    calls,
    given_back,
)

import rondo
from rondo.selection import learned

CALLS = 40
RANKS = 2
DAY = "9999-01-01"  # never too old


ROOM = 2.5
"""Seconds that starting a program may take longer than another time."""


def seconds_of(start: Callable[[], Run]) -> tuple[float, Run]:
    """Of a run that ends well."""
    begin = time.monotonic()
    run = start().check()
    return time.monotonic() - begin, run


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Of a run with slow rules whose verdicts are kept."""
    rules, directory = tmp_path / "slow.rules", tmp_path / "learned"
    rules.write_text(SLOW_RULES)
    directory.mkdir()
    return {
        "RONDO_RULES": str(rules),
        "RONDO_GUARD": "exact",
        "RONDO_LEARNED": str(directory),
        **SLOW_MESSAGES,
    }


def kept_in(variables: dict[str, str]) -> learned.Kept:
    """The one file."""
    (path,) = learned.files(Path(variables["RONDO_LEARNED"]))
    return learned.read(path)


def make_up(
    variables: dict[str, str], mpi: MpiLibrary, ranks: int, *, library: float, calls: int = 5, day: str = DAY
) -> None:
    """Verdicts about the calls of guarded.c, and nothing else: Rondo's choices took a second, the library `library`.

    In a row, so that nobody watches them.
    """
    mpi.run_under_rondo([mpi.compile("guarded.c"), "1"], ranks, environment=variables).check()  # makes the file
    kept = kept_in(variables)
    lines = [
        f"{about} processes={ranks} nodes=1 fewest_on_node={ranks} most_on_node={ranks} in_rank_order=yes "
        f"shared_memory=no choice={choice}:segment=8 rondo=1 library={library} calls={calls} alone=2 day={day}\n"
        for about, choice in (
            ("bcast bytes=80000 commutative=no rounding=no", "linear_pipeline"),
            ("allreduce bytes=80000 commutative=yes rounding=no", "ring"),
            ("allreduce bytes=160000 commutative=yes rounding=yes", "ring"),
        )
    ]
    learned.change(kept.path, add="".join(lines), forget=[each.line for each in kept.all])


def let_library_take(seconds: str, kept: learned.Kept) -> None:
    """In all that was found out, for tests of what follows from a verdict, whoever is faster on this machine."""
    with_seconds = "".join(re.sub(r"library=\S+", f"library={seconds}", each.line) + "\n" for each in kept.verdicts)
    learned.change(kept.path, add=with_seconds)


UNEVEN = {"alltoallv": "bruck", "gatherv": "binomial", "scatterv": "binomial"}


# The calls of the next run may be longer: what slots have won they may lose. What they have lost, they cost no more.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("library", ["0.5", "2"])
def test_of_calls_of_any_length_only_what_is_lost_is_known_at_once(
    mpi: MpiLibrary, library: str, variables: dict[str, str]
) -> None:
    rules = Path(variables["RONDO_RULES"])
    rules.write_text(rules.read_text() + "".join(f"{each} -> {choice}\n" for each, choice in UNEVEN.items()))
    make_up(variables, mpi, 3, library=1)
    lines = [
        f"{each} bytes=0 commutative=no rounding=no processes=3 nodes=1 fewest_on_node=3 most_on_node=3 "
        f"in_rank_order=yes shared_memory=no choice={choice} rondo=1 library={library} calls=5 day={DAY}\n"
        for each, choice in UNEVEN.items()
    ]
    kept = kept_in(variables)
    learned.change(kept.path, add="".join(lines), forget=[each.line for each in kept.all])
    run = mpi.run_under_rondo([mpi.compile("uneven_parts.c"), str(CALLS)], 3, environment=variables).check()
    assert run.stdout == "failures 0\n"
    for each, choice in UNEVEN.items():
        found = calls(run, each)
        if float(library) < 1:
            assert found == {TAKEN_BACK: CALLS}
        else:
            assert found[COMPARED] >= 2 and found[choice] >= 2, found


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "mpiabi"], indirect=True)
def test_sums_of_fractions_are_taken_back_in_the_next_run(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), str(CALLS)]
    first = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert first.stdout == "failures 0\nchanges 0\n"
    sums = calls(first, "allreduce")
    assert sums["ring"] - CALLS in FEW  # all of fractions, and those of integers that were compared
    assert given_back(calls(first, "bcast")) >= CALLS - 32
    trials = first.report.ranks[0]["trials"]
    assert sorted((each["rounding"], each["effective"]) for each in trials) == [
        (False, True),
        (False, True),
        (True, False),
    ]

    kept = kept_in(variables)
    assert not kept.complaints
    assert all(each.calls in FEW for each in kept.verdicts)
    assert sorted((each.collective, each.rounding, each.lost) for each in kept.verdicts) == [
        ("allreduce", False, True),
        ("allreduce", True, True),
        ("bcast", False, True),
    ]
    assert {(each.processes, each.nodes, each.most_on_node) for each in kept.verdicts} == {(RANKS, 1, RANKS)}

    second = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert second.stdout == "failures 0\nchanges 0\n"
    assert calls(second, "bcast") == {TAKEN_BACK: CALLS}
    assert calls(second, "allreduce") == {TAKEN_BACK: 2 * CALLS}
    assert all(each["day"] for each in second.report.ranks[0]["trials"])
    assert kept_in(variables) == kept


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_was_won_is_not_fought_for_again(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), str(CALLS)]
    mpi.run_under_rondo(command, RANKS, environment=variables).check()
    let_library_take("1000", kept_in(variables))
    run = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert calls(run, "bcast") == {"linear_pipeline": CALLS}
    assert calls(run, "allreduce") == {"ring": 2 * CALLS}


# One long call of each kind in a run: what it took is not lost when the program ends.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_a_trial_goes_on_in_the_next_run(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), "1"]
    carried_out: list[str] = []
    while not carried_out or kept_in(variables).begun:
        run = mpi.run_under_rondo(command, RANKS, environment=variables).check()
        assert run.stdout == "failures 0\nchanges 0\n"
        carried_out += calls(run, "bcast")
        begun = {(each.collective, each.rounding): each.begun for each in kept_in(variables).begun}
        assert begun.get(("bcast", False), len(carried_out)) == len(carried_out)
        sums = 2 * len(carried_out)  # the library's and Rondo's in one call
        assert begun.get(("allreduce", True), sums) == sums
        is_decided = any(each.rounding for each in kept_in(variables).verdicts)
        assert is_decided == (("allreduce", True) not in begun)
    in_turn = [COMPARED, "linear_pipeline", "linear_pipeline", COMPARED]
    timed = [each for each in carried_out if each != TAKEN_BACK]
    assert len(timed) // 2 in FEW
    assert carried_out == (8 * in_turn)[: len(timed)] + (len(carried_out) - len(timed)) * [TAKEN_BACK]
    last = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert calls(last, "bcast") == {TAKEN_BACK: 1}
    assert calls(last, "allreduce") == {TAKEN_BACK: 2}
    assert not kept_in(variables).begun


# What was begun is worth less than a verdict that holds, and more than an old one.
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_an_old_verdict_does_not_keep_a_trial_from_going_on(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    mpi.run_under_rondo([mpi.compile("guarded.c"), str(CALLS)], RANKS, environment=variables).check()
    kept = kept_in(variables)
    month_ago = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=30)  # kept, but not held
    old = "".join(re.sub(r"day=\S+", f"day={month_ago}", each.line) + "\n" for each in kept.verdicts)
    learned.change(kept.path, add=old)
    for calls_so_far in (1, 2, 3):
        mpi.run_under_rondo([mpi.compile("guarded.c"), "1"], RANKS, environment=variables).check()
        begun = {each.collective: each.begun for each in kept_in(variables).begun}
        assert begun == {"bcast": calls_so_far, "allreduce": calls_so_far}


# They are not compared themselves, and end when the program waits for them.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("library", [0.5, 2])
def test_nonblocking_calls_follow_what_blocking_ones_have_shown(
    mpi: MpiLibrary, library: float, variables: dict[str, str]
) -> None:
    make_up(variables, mpi, RANKS, library=library)
    program = [mpi.compile("nonblocking_broadcasts.c"), str(CALLS)]
    run = mpi.run_under_rondo(program, RANKS, environment=variables).check()
    assert run.stdout == "failures 0\n"
    assert calls(run, "bcast") == {TAKEN_BACK if library < 1 else "linear_pipeline": CALLS}


# A part of the world takes the verdict about the world, whatever was begun in a world of its own size.
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_was_begun_is_not_for_a_part_of_the_world(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), "60", "0", "3"]
    make_up(variables, mpi, 4, library=1e-06)
    mpi.run_under_rondo([mpi.compile("guarded.c"), "1"], 2, environment=variables).check()
    begun = kept_in(variables).begun
    assert {(each.collective, each.processes) for each in begun} == {("bcast", 2), ("allreduce", 2)}
    run = mpi.run_under_rondo(command, 4, environment=variables).check()
    assert run.stdout.startswith("failures 0\n")  # MPICH's own sums change after some calls
    assert calls(run, "bcast") == {TAKEN_BACK: 60}
    assert calls(run, "allreduce") == {TAKEN_BACK: 120}
    assert kept_in(variables).begun == begun


# Half as many bytes are of another kind, a fifth more of the same: but these take longer.
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_trial_goes_on_with_calls_of_about_the_length_only(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), "1"]
    mpi.run_under_rondo(command, RANKS, environment=variables).check()
    kept = kept_in(variables)
    longer = "".join(re.sub(r"bytes=80000", "bytes=100000", each.line) + "\n" for each in kept.begun)
    learned.change(kept.path, add=longer)
    mpi.run_under_rondo(command, RANKS, environment=variables).check()
    (broadcast,) = (each for each in kept_in(variables).begun if each.collective == "bcast")
    assert (broadcast.bytes, broadcast.begun) == (80000, 1)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_after_a_week_trials_begin_anew_but_where_bits_would_change(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), str(CALLS)]
    mpi.run_under_rondo(command, RANKS, environment=variables).check()
    kept = kept_in(variables)
    old = "".join(re.sub(r"day=\S+", "day=2026-01-01", each.line) + "\n" for each in kept.verdicts)
    of_old_rules = re.sub(
        r"choice=\S+", "choice=binomial", old.splitlines()[[each.collective for each in kept.verdicts].index("bcast")]
    )
    learned.change(kept.path, add=old + of_old_rules)
    run = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert calls(run, "bcast")["linear_pipeline"] in FEW
    assert calls(run, "allreduce")["ring"] in FEW  # of integers
    assert {each.rounding: each.day == "2026-01-01" for each in kept_in(variables).verdicts} == {
        True: True,
        False: False,
    }
    assert "binomial" not in {each.choice for each in kept_in(variables).verdicts}  # nobody asks for it any more


# Three days ago, by two calls of each, or by sixteen.
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize(("compared", "holds"), [(2, False), (16, True)])
def test_verdicts_hold_the_longer_the_more_calls_were_compared(
    mpi: MpiLibrary, variables: dict[str, str], compared: int, holds: bool
) -> None:
    command = [mpi.compile("guarded.c"), str(CALLS)]
    day = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=3)
    make_up(variables, mpi, RANKS, library=1000, calls=compared, day=str(day))
    run = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert (calls(run, "bcast") == {"linear_pipeline": CALLS}) == holds
    assert (COMPARED in calls(run, "bcast")) != holds


# A pair of ranks takes what was found out on the world; a world of another size does not.
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_it_holds_for_parts_of_the_world_and_not_for_another(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), "60", "0", "3"]
    make_up(variables, mpi, 4, library=1e-06)
    second = mpi.run_under_rondo(command, 4, environment=variables).check()
    assert calls(second, "bcast") == {TAKEN_BACK: 60}
    other = mpi.run_under_rondo([*command[:2], "0"], 3, environment=variables).check()
    assert COMPARED in calls(other, "bcast")
    assert {each.processes for each in kept_in(variables).all} >= {3, 4}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_is_known_of_a_part_comes_before_what_is_known_of_the_world(
    mpi: MpiLibrary, variables: dict[str, str]
) -> None:
    command = [mpi.compile("guarded.c"), "24", "0", "3"]
    make_up(variables, mpi, 2, library=1000)
    of_pairs = "".join(each.line + "\n" for each in kept_in(variables).all)
    make_up(variables, mpi, 4, library=1e-06)
    learned.change(kept_in(variables).path, add=of_pairs)
    run = mpi.run_under_rondo(command, 4, environment=variables).check()
    # The world and its copy, and pairs, also those that meet late.
    assert calls(run, "bcast") == {TAKEN_BACK: 24 * 2 // 3, "linear_pipeline": 24 // 3}


# Messages cost less there, so the library may be faster without it and Rondo with it.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_what_is_known_of_shared_memory_does_not_count_without_it(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), str(CALLS)]
    Path(variables["RONDO_RULES"]).write_text("bcast -> linear_pipeline:segment=1\n")  # slow, also through memory
    for sharing in ("on", "off"):
        environment = {**variables, "RONDO_SHARED_MEMORY": sharing}
        first = mpi.run_under_rondo(command, RANKS, environment=environment).check()
        second = mpi.run_under_rondo(command, RANKS, environment=environment).check()
        assert first.stdout == second.stdout == "failures 0\nchanges 0\n"
        assert COMPARED in calls(first, "bcast")
        assert COMPARED not in calls(second, "bcast")
    found = [each.shared_memory for each in kept_in(variables).verdicts if each.collective == "bcast"]
    assert sorted(found) == [False, True]


# Whose results have other bits than the libraries' own: these add in other orders.
RULES = """
allreduce -> recursive_doubling
exscan -> cyclic_doubling
reduce -> linear_pipeline
reduce_scatter -> pairwise
scan -> linear_pipeline
"""


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi"], indirect=True)
def test_a_trial_changes_no_bits_in_its_run(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    Path(variables["RONDO_RULES"]).write_text(RULES)
    command = [mpi.compile("rounded_sums.c")]
    native = mpi.run(command, 4).check()
    unguarded = mpi.run_under_rondo(command, 4, environment={**variables, "RONDO_GUARD": "off"}).check()
    first = mpi.run_under_rondo(command, 4, environment=variables).check()
    assert first.stdout == unguarded.stdout != native.stdout
    rounding = [each for each in kept_in(variables).verdicts if each.rounding]
    assert rounding  # on a busy machine nobody can tell who is faster in the others
    judged = {each.collective for each in rounding}
    lost = {each.collective for each in rounding if each.lost}

    second = mpi.run_under_rondo(command, 4, environment=variables).check()
    by_whom = zip(second.stdout.splitlines(), native.stdout.splitlines(), unguarded.stdout.splitlines(), strict=True)
    for found, of_library, of_rondo in by_whom:
        collective = found.split()[0].removesuffix("_block")
        if collective not in lost:
            assert found == of_rondo
        elif of_library.split()[1] == "0":  # MPICH's own sums change when it has shared memory ready, after some calls
            assert found == of_library

    third = mpi.run_under_rondo(command, 4, environment=variables).check()
    for found, before in zip(third.stdout.splitlines(), second.stdout.splitlines(), strict=True):
        collective, changes = before.split()[:2]
        # The second run may have judged what the first run could not. MPICH's own sums change, as above.
        if collective.removesuffix("_block") in judged and changes == "0":
            assert found == before


# Open MPI saturates integers of 8 and 16 bits. Minima and maxima of NaN, and of zeros, depend on the order of ranks.
@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi"], indirect=True)
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.soak)])
def test_extreme_values_stay_the_same_in_a_run(mpi: MpiLibrary, variables: dict[str, str], ranks: int) -> None:
    Path(variables["RONDO_RULES"]).write_text("allreduce -> recursive_doubling\n")
    command = [mpi.compile("extreme_values.c")]
    assert mpi.run(command, ranks).check().stdout == "changes 0\n"
    for _ in ("first run", "next run"):
        run = mpi.run_under_rondo(command, ranks, environment={**variables, "RONDO_REPORT": ""}).check()
        assert run.stdout == "changes 0\n"


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_nobody_can_read_or_write_costs_nothing_but_the_news(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = [mpi.compile("guarded.c"), str(CALLS)]
    mpi.run_under_rondo(command, RANKS, environment=variables).check()
    (path,) = learned.files(Path(variables["RONDO_LEARNED"]))
    path.write_bytes(b"\xff\x00\x1b rubbish\nmore\n" + path.read_bytes()[:200])
    again = mpi.run_under_rondo(command, RANKS, environment=variables).check()
    assert again.stderr.count("rondo: ") == again.stderr.count(f"rondo: {path}:1: ") == 1  # rank 0 alone reads it
    assert "; left out, and more lines: 1" in again.stderr
    assert "\x1b" not in again.stderr
    assert COMPARED in calls(again, "bcast")
    assert len(kept_in(variables).verdicts) == 3

    nowhere = {**variables, "RONDO_LEARNED": os.devnull}
    lost = mpi.run_under_rondo(command, RANKS, environment=nowhere).check()
    assert lost.stderr.count("rondo: what was learned is lost") == 1
    assert lost.stdout == "failures 0\nchanges 0\n"


ON_A_FULL_DISK = """
mount -t tmpfs -o size=64k none "$1" || exit 99
learned=$1 away=$2; shift 2
"$@" && cp "$learned"/*.verdicts "$away/before" || exit 1
head -c 1M /dev/zero > "$learned/filler" 2> "$away/filled"
printf '%s\\n' 'bcast -> binomial' 'allreduce -> two_tree' > "$away/other.rules"
RONDO_RULES=$away/other.rules "$@" && cp "$learned"/*.verdicts "$away/after"
"""


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_full_disk_loses_nothing_that_was_known(mpi: MpiLibrary, variables: dict[str, str], tmp_path: Path) -> None:
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if launch([*own, "true"], os.environ, 10).returncode != 0:
        pytest.skip("mounting needs a user namespace of our own")
    preload = {"LD_PRELOAD": str(preload_library(mpi.abi)), **variables}
    preload.pop("RONDO_RULES")  # each run has other rules
    command = mpi.command(RANKS, preload, [mpi.compile("guarded.c"), str(CALLS)])
    environment = {**os.environ, **mpi.environment, "RONDO_RULES": variables["RONDO_RULES"]}
    words = [*own, "sh", "-c", ON_A_FULL_DISK, "sh", variables["RONDO_LEARNED"], tmp_path, *command]
    run = launch(words, environment, 60).check()
    assert "No space left" in (tmp_path / "filled").read_text()
    assert run.stderr.count("rondo: what was learned is lost: ") == 1
    assert "No space left on device" in run.stderr
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_two_runs_find_out_at_once_is_all_kept(mpi: MpiLibrary, variables: dict[str, str], tmp_path: Path) -> None:
    program = [mpi.compile("guarded.c"), str(CALLS)]
    others = tmp_path / "other.rules"
    others.write_text("bcast -> binomial\nallreduce -> two_tree\n")
    with ThreadPoolExecutor() as pool:
        runs = [
            pool.submit(mpi.run_under_rondo, program, RANKS, environment={**variables, "RONDO_RULES": rules})
            for rules in (variables["RONDO_RULES"], str(others)) * 2
        ]
    for each in runs:
        assert each.result().check().stdout == "failures 0\nchanges 0\n"
    kept = kept_in(variables)
    assert not kept.complaints
    choices = {(each.collective, each.choice.partition(":")[0]) for each in kept.all}
    assert choices >= {
        ("bcast", "linear_pipeline"), ("bcast", "binomial"), ("allreduce", "ring"), ("allreduce", "two_tree"),
    }  # fmt: skip


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_another_version_keeps_stays_as_it_is(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    program = [mpi.compile("guarded.c"), str(CALLS)]
    mpi.run_under_rondo(program, RANKS, environment=variables).check()
    (own,) = learned.files(Path(variables["RONDO_LEARNED"]))
    newer = own.with_name(own.name.replace(rondo.__version__, "99.1.0"))
    assert newer != own
    newer.write_bytes(b"written in a way that nobody knows yet\n")
    own.unlink()
    run = mpi.run_under_rondo(program, RANKS, environment=variables).check()
    assert "rondo: " not in run.stderr
    assert newer.read_bytes() == b"written in a way that nobody knows yet\n"
    assert learned.read(own).all


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("ending", ["abort", "kill"])
def test_what_was_known_outlives_a_program_that_does_not_end_well(
    mpi: MpiLibrary, ending: str, variables: dict[str, str]
) -> None:
    mpi.run_under_rondo([mpi.compile("guarded.c"), str(CALLS)], RANKS, environment=variables).check()
    kept = kept_in(variables)
    Path(variables["RONDO_RULES"]).write_text("exscan -> doubling_123\n")
    run = mpi.run_under_rondo([mpi.compile("endings.c"), ending], 3, environment={**variables, **mpi.patience})
    assert run.returncode != 0
    after = kept_in(variables)
    assert not after.complaints
    assert set(kept.verdicts) <= set(after.verdicts)


# Nobody waits for more than a second, and three times in all; then the library has all such calls, sums from the next
# run on, in which nobody waits. (MPICH's own broadcasts wait for all after some calls.)
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_trial_keeps_no_rank_from_going_on(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    Path(variables["RONDO_RULES"]).write_text("bcast -> binomial\nreduce -> binomial\nexscan -> doubling_123\n")
    command = [mpi.compile("ahead.c"), "5"]
    native, _ = seconds_of(lambda: mpi.run(command, 2))  # so it is with the library alone
    first, run = seconds_of(lambda: mpi.run_under_rondo(command, 2, environment=variables, timeout=90))
    assert run.stdout == "failures 0\n"
    assert calls(run, "bcast") == {COMPARED: 2, NOT_COMPARED: 3}
    assert calls(run, "exscan") == {"doubling_123": 5}
    assert 3 < first < native + 3 + ROOM
    kept = kept_in(variables)
    assert sorted(each.collective for each in kept.verdicts if not each.compared) == ["bcast", "exscan", "reduce"]

    second, run = seconds_of(lambda: mpi.run_under_rondo(command, 2, environment=variables, timeout=90))
    assert run.stdout == "failures 0\n"
    assert calls(run, "bcast") == calls(run, "exscan") == {NOT_COMPARED: 5}
    assert second < native + ROOM
    assert kept_in(variables) == kept


# Communicators of parts of the world do not know of each other, but each process knows how often it has waited.
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_many_communicators_wait_no_longer_than_one(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    Path(variables["RONDO_RULES"]).write_text("bcast -> binomial\nreduce -> binomial\nexscan -> doubling_123\n")
    command = [mpi.compile("ahead.c"), "14", "6"]
    native, _ = seconds_of(lambda: mpi.run(command, 3))
    taken, run = seconds_of(lambda: mpi.run_under_rondo(command, 3, environment=variables, timeout=90))
    assert run.stdout == "failures 0\n"
    assert COMPARED in calls(run, "bcast")
    assert taken < native + 6 + ROOM, (native, taken)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_what_is_taken_back_of_one_operator_stays_of_another(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    Path(variables["RONDO_RULES"]).write_text("reduce -> pipelined_binary_tree:segment=8\n")
    command = [mpi.compile("two_operators.c")]
    for guard in ("exact", "exact", "free"):
        run = mpi.run_under_rondo(command, 3, environment={**variables, "RONDO_GUARD": guard}).check()
        assert run.stdout == "failures 0\n"
