# SPDX-License-Identifier: BSD-3-Clause
"""What a profile says could be gained: the arithmetic, on a machine of round figures."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from profile_builder import ALPHA, BETA, RUN, line, profile
from rondo.launching import installation
from rondo.machine.machine import Machine, standard
from rondo.profiling import advice, bounds, calls, prediction, savings, summary, terminal
from rondo.profiling.profile import Communicator, Site
from rondo.tune import tuned_files

from rondo import _core
from rondo.selection import learned

START = savings.START_LATENCIES * ALPHA
ROOT = Path(__file__).resolve().parents[2]
ALONE = Communicator("MPI_COMM_SELF", "MPI_COMM_SELF", 1, 1, 1, 1)
UNKNOWN = Communicator("", "", 0, 0, 0, 1)


@pytest.fixture
def predicted(tmp_path):
    """The outlook of a profile under the text of rules; None: those that `rondo run` would find."""

    def look(found, text="bcast -> binomial\n"):
        rules = None
        if text is not None:
            rules = tmp_path / "mine.rules"
            rules.write_text(text)
        environment = {
            "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CONFIG_DIRS": str(tmp_path),
            "XDG_STATE_HOME": str(tmp_path),
        }  # fmt: skip
        return prediction.outlook(found, prediction.circumstances(found, environment, rules and str(rules)))

    return look


def test_a_binomial_broadcast_takes_three_latencies_on_eight_nodes(predicted):
    found = predicted(profile(line(moving=5e-3, calls=100)))
    (each,) = found.predictions
    assert each.native == pytest.approx(5e-3)
    assert each.rules.choice == "binomial"
    assert each.rules.basis == savings.PREDICTED
    assert each.rules.seconds.value == pytest.approx(3 * (ALPHA + 8 * BETA), rel=0.01)
    assert found.by_rules.value == pytest.approx(100 * (5e-3 - each.rules.seconds.value) - START)
    _, low, high = prediction.ERRORS[0]  # of the shortest class: the model may say so much of what is measured
    assert each.rules.seconds.low == pytest.approx(each.rules.seconds.value / high)
    assert each.rules.seconds.high == pytest.approx(each.rules.seconds.value / low)
    assert found.by_rules.low == pytest.approx(96 * (5e-3 - each.rules.seconds.high) - START)
    assert found.by_rules.high == pytest.approx(100 * (5e-3 - each.rules.seconds.low))
    assert found.share(found.by_rules).value == pytest.approx(found.by_rules.value / RUN)


def test_the_mean_rank_counts_and_the_slowest_one_at_most(predicted):
    one = line(moving=4e-3, calls=100)
    one.shares[5].moving = 100 * 8e-3
    (each,) = predicted(profile(one)).predictions
    takes, saved = each.rules.seconds, each.saved(each.rules)
    assert each.native == pytest.approx(8e-3)
    assert saved.value == pytest.approx(100 * 4.5e-3 * (1 - takes.value / 8e-3))
    assert saved.low == pytest.approx(96 * 4.5e-3 * (1 - takes.high / 8e-3))
    assert saved.high == pytest.approx(100 * (8e-3 - takes.low))


def test_what_a_run_saves_lies_on_its_critical_path(predicted):
    one = line("MPI_Allreduce", moving=4e-3, calls=100)
    one.shares[5].moving = 100 * 8e-3
    for number, share in enumerate(one.shares):
        share.critical = {2: 0.15, 5: 0.55}.get(number, 0.0)
    (each,) = predicted(profile(one), "allreduce -> recursive_doubling\n").predictions
    takes, saved = each.rules.seconds, each.saved(each.rules)
    assert saved.value == pytest.approx(0.7 * (1 - takes.value / 8e-3))
    assert saved.low == pytest.approx(0.96 * 0.45 * (1 - takes.high / 8e-3))  # of the mean rank, which moves less
    assert saved.high == pytest.approx(100 * (8e-3 - takes.low))
    for share in one.shares:
        share.critical = 0.0  # others go on meanwhile, and nobody waits for these
    (each,) = predicted(profile(one), "allreduce -> recursive_doubling\n").predictions
    saved = each.saved(each.rules)
    assert (saved.value, saved.low) == (0, 0)
    assert saved.high == pytest.approx(100 * (8e-3 - takes.low))


def test_broadcasts_save_no_more_than_the_mean_rank_does():
    """Their ranks wait in the call for others that pass the data on: the path may lead over these."""
    for function, expected in (("MPI_Bcast", 0.4), ("MPI_Exscan_c", 0.4), ("MPI_Allreduce", 0.7)):
        one = line(function, moving=4e-3, calls=100)
        for share in one.shares:
            share.critical = 0.7 / 8
        assert calls.critical_moving(one) == pytest.approx(expected)


def test_lines_are_added_and_the_sentence_says_it_all(predicted):
    found = predicted(profile(line(moving=8e-3, waiting=2e-3), line(moving=4e-3, site=1), line("MPI_Barrier")))
    first, second, _ = found.predictions
    assert found.by_rules.value == pytest.approx(
        sum(100 * (each.native - each.rules.seconds.value) for each in (first, second)) - START
    )
    assert found.times.collectives == pytest.approx(100 * 19e-3)
    text = advice.sentence(found)
    assert text.startswith("19.0% of the run in collectives; 17.0% moving data; ")
    shares = found.share(found.at_best)
    assert f"{100 * shares.value:.1f}% (between {100 * shares.low:.1f} and {100 * shares.high:.1f}) of the run" in text
    assert 0 < shares.low < shares.value < shares.high < 0.17


def test_what_the_rules_leave_to_the_library_only_tune_can_gain(predicted):
    found = predicted(profile(line(moving=13e-3)), "bcast -> native\n")
    (each,) = found.predictions
    assert each.rules is None
    assert each.reason.endswith("mine.rules:1 says so")
    assert found.by_rules.value == -START
    assert each.best.seconds.value == pytest.approx(min(
        _core.times("bcast", choice, 8, 1, [found.circumstances.machine], nodes="8x1", fluid=True)[0]
        for choice in (name["name"] for name in _core.algorithms("bcast") if not name["uses_nodes"])
    ), rel=0.01)  # fmt: skip
    (said,) = advice.what_to_do(found)
    assert said.startswith("`rondo tune` on this machine: its rules could save up to 1")


def test_rules_that_are_slower_than_the_library_lose_nothing(predicted):
    found = predicted(profile(line(moving=2.5e-3)), "bcast -> linear_pipeline\n")
    (each,) = found.predictions
    assert each.rules.seconds.value > each.native
    assert found.by_rules == savings.Range(-START, -START, 0.0)
    assert advice.what_to_do(found) == ["Nothing to gain by other algorithms: collectives take too little."]


def test_nobody_gains_more_than_the_least_possible_time_allows(predicted):
    call = calls.call_of(profile(line("MPI_Allreduce", bytes=1 << 20)), line("MPI_Allreduce", bytes=1 << 20))
    figures = bounds.machine_figures(profile().machine)
    assert bounds.least_seconds(call, figures) == pytest.approx(ALPHA + 2 * (1 << 20) * 7 / 8 * BETA)
    found = predicted(profile(line("MPI_Allreduce", bytes=1 << 20, moving=1.0)))
    assert found.predictions[0].best.seconds.low >= bounds.least_seconds(call, figures)
    # Who is faster than that shows that the figures are wrong: nothing follows from them.
    found = predicted(profile(line("MPI_Allreduce", bytes=1 << 20, moving=0.1)))
    assert (found.predictions[0].judged, found.at_best) == (False, None)
    assert found.predictions[0].reason == prediction.TOO_FAST


def test_a_call_that_takes_longer_than_any_algorithm_had_to_wait_for_other_messages(predicted):
    """In turn from each of seven ranks and to each: 14 messages."""
    found = predicted(profile(line(moving=14 * 1.1e-3)))
    assert (found.predictions[0].judged, found.at_best) == (False, None)
    assert found.predictions[0].reason == prediction.TOO_SLOW
    assert predicted(profile(line(moving=14e-3))).predictions[0].judged
    assert predicted(profile(line(moving=14 * 1.1e-3), machine=None)).predictions[0].judged


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (line(sampled=0), "no call was compared with the other ranks'"),
        (line(calls=1), "only 1 of its calls was compared with the other ranks'"),
        (line(sampled=2), "only 2 of its calls were compared with the other ranks'"),
        (line("MPI_Alltoall", communicator=2), "nothing is known of its communicator"),
    ],
)
def test_what_cannot_be_judged_promises_nothing_and_says_why(predicted, one, reason):
    found = predicted(profile(one, communicators=[ALONE, UNKNOWN]))
    assert [(each.judged, each.rules_judged, each.reason) for each in found.predictions] == [(False, False, reason)]
    assert (found.at_best, found.by_rules, found.collectives) == (None, None, None)
    in_question = one.shares[0].moving if one.shares[0].moving is not None else one.shares[0].seconds
    assert found.open_at_best == found.open_by_rules == pytest.approx(in_question)
    assert "nobody knows what of it could be saved" in advice.sentence(found)
    ((by_rules, best),) = [terminal.moving_with_rondo(found, found.predictions)]
    assert (by_rules.text(str), best.text(str), by_rules.known) == ("?", "?", None)


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (line("MPI_Ibcast", collective="bcast", sampled=0), "how long nonblocking calls move data is not known"),
        (line("MPI_Bcast_init", collective="bcast", sampled=0), "how long nonblocking calls move data is not known"),
        (line("MPI_Alltoallw", collective=""), "Rondo has no algorithm for it"),
        (line(communicator=1, ranks=range(1)), "a communicator of one rank"),
    ],
)
def test_what_stays_as_it_is_whoever_chooses_is_known_to(predicted, one, reason):
    found = predicted(profile(one, communicators=[ALONE, UNKNOWN]))
    assert [(each.judged, each.rules_judged, each.reason) for each in found.predictions] == [(True, True, reason)]
    assert (found.at_best, found.by_rules) == (savings.NOTHING, savings.Range(-START, -START, 0.0))
    assert (found.open_at_best, found.open_by_rules) == (0, 0)
    for each in terminal.moving_with_rondo(found, found.predictions):
        moving = one.shares[0].moving
        if moving is None:
            assert each.text(str) == "\N{EN DASH}"
        else:
            assert each.known == pytest.approx(moving * len(one.shares) / 8)


def test_what_is_known_and_what_is_not_are_told_apart(predicted):
    unknown = line("MPI_Allreduce", sampled=2, moving=10e-3)
    found = predicted(profile(line(moving=5e-3), unknown, line("MPI_Allreduce", bytes=1 << 20, moving=0.5, calls=10)))
    assert found.by_rules.value > 0
    assert found.open_by_rules == found.open_at_best == pytest.approx(1.0)
    assert advice.sentence(found).endswith(" of the run could be saved; of another 10.0%, nobody knows")
    known = [each for each in found.predictions if each.line.function == "MPI_Allreduce"]
    for each in terminal.moving_with_rondo(found, known):
        assert each.open == pytest.approx(1.0)
        assert 0 < each.known <= 5.0
        assert re.fullmatch(r"[\d.]+ \+ \?", each.text(str))
    saved = sum(each.saved(each.rules).high for each in found.predictions)
    assert found.collectives.low == pytest.approx(max(found.times.collectives - saved - 1.0, 0.0))


def test_rules_that_leave_it_to_the_library_are_known_where_nothing_else_is(predicted):
    found = predicted(profile(line(moving=50e-3), nodes=1, each=8), "bcast -> native\n")
    (each,) = found.predictions
    assert (each.judged, each.rules_judged, each.reason) == (False, True, prediction.ON_ONE_NODE)
    assert (found.at_best, found.by_rules.high, found.open_by_rules) == (None, 0.0, 0)
    by_rules, best = terminal.moving_with_rondo(found, found.predictions)
    assert (by_rules.known, best.known) == (pytest.approx(5.0), None)


def found_out(tmp_path, run, collective, *, nodes, each, shared_memory, choice, library):
    """Lets the guard have compared 16 calls of each on the machine of a profile: Rondo took a millisecond."""
    figures = run.machine or standard().text()
    file = learned.default_directory({"XDG_STATE_HOME": str(tmp_path)})
    file = file / learned.file_name(_core.plain_version(run.library), figures, run.hosts[0])
    text = (
        f"{collective} bytes=8 commutative=no rounding=no processes={nodes * each} nodes={nodes} fewest_on_node={each} "
        f"most_on_node={each} in_rank_order=yes shared_memory={shared_memory} choice={choice} rondo=0.001 "
        f"library={library} calls=16 alone=0 day=9999-01-01\n"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    learned.change(file, add=text)
    assert not learned.read(file).complaints


def test_on_one_node_what_the_guard_has_found_out_counts(predicted, tmp_path):
    run = profile(*(line(each, moving=50e-3) for each in ("MPI_Bcast", "MPI_Scatter", "MPI_Gather")), nodes=1, each=8)
    found_out(tmp_path, run, "bcast", nodes=1, each=8, shared_memory="yes", choice="binomial", library=0.004)
    found_out(tmp_path, run, "scatter", nodes=1, each=8, shared_memory="no", choice="linear", library=0.0009)
    rules = "bcast shared_memory = yes -> binomial\nscatter shared_memory = no -> linear\ngather -> binomial\n"
    first, second, third = predicted(run, rules).predictions
    assert (first.rules.choice, first.rules.basis) == ("binomial", savings.LEARNED)
    assert first.rules.seconds.value == pytest.approx(50e-3 / 4)
    assert (first.rules.seconds.low, first.rules.seconds.high) == (pytest.approx(10e-3), pytest.approx(15e-3))
    assert (second.rules, second.rules_judged) == (None, True)
    assert second.reason.endswith("but an earlier run has found it no faster here")
    assert (third.rules, third.rules_judged, third.reason) == (None, False, prediction.ON_ONE_NODE)


def test_on_several_nodes_what_the_guard_has_found_out_stands_above_virtual_time(predicted, tmp_path):
    run = profile(line(moving=5e-3))
    found_out(tmp_path, run, "bcast", nodes=8, each=1, shared_memory="no", choice="binomial", library=0.0009)
    (each,) = predicted(run).predictions
    assert (each.rules, each.rules_judged) == (None, True)
    assert each.best.basis == savings.PREDICTED


def test_of_few_calls_nothing_is_certain(predicted):
    """A trial takes up to four of the library's calls."""
    found = predicted(profile(line(moving=13e-3, calls=4)))
    assert found.by_rules.low == -START
    assert found.by_rules.value == pytest.approx(4 * 10e-3 - START, rel=0.01)
    found = predicted(profile(line(moving=13e-3, calls=8)))
    assert found.by_rules.low == pytest.approx(4 * (13e-3 - found.predictions[0].rules.seconds.high) - START)


def test_a_run_that_is_shorter_than_the_start_of_rondo_gains_nothing(predicted):
    found = predicted(profile(line(moving=5e-3, calls=20)))
    saved = found.predictions[0].saved(found.predictions[0].rules)
    assert saved.value > 0
    assert found.by_rules.value == pytest.approx(saved.value - START)
    assert (found.at_best.value, found.at_best.low) == (0, 0)
    assert advice.what_to_do(found) == ["Nothing to gain by other algorithms: collectives take too little."]
    short = profile(line(moving=5e-3, calls=20))
    for rank in short.ranks:
        rank.run = 1.0
    assert advice.what_to_do(predicted(short))[0] == (
        "`rondo run` would not pay: its start takes 6.0% of so short a run, more than it saves."
    )


def test_a_call_that_came_once_is_judged_by_calls_like_it_elsewhere(predicted):
    once = line(moving=8e-3, calls=1, sampled=1, site=1, bytes=4, element=4)
    found = predicted(profile(line(moving=5e-3), once))
    often, single = found.predictions
    assert single.judged
    assert single.rules.choice == often.rules.choice
    per_call = often.saved(often.rules).value / 100
    assert single.saved(single.rules).value == pytest.approx(per_call)  # what it takes longer remains
    assert found.open_at_best == found.open_by_rules == 0
    short = predicted(profile(line(moving=5e-3), line(moving=0.1e-3, calls=1, sampled=1, site=1))).predictions[1]
    assert (short.judged, short.best, short.saved(short.rules).value) == (True, None, 0)
    unlike = line(moving=8e-3, calls=1, sampled=1, bytes=1 << 20)
    assert not predicted(profile(line(moving=5e-3), unlike)).predictions[1].judged


def test_time_in_collectives_with_rondo_leaves_out_its_start(predicted):
    found = predicted(profile(line(moving=5e-3, waiting=1e-3)))
    saved = found.predictions[0].saved(found.predictions[0].rules)
    assert found.collectives.value == pytest.approx(100 * 6e-3 - saved.value)
    assert found.collectives.low == pytest.approx(100 * 6e-3 - saved.high)
    assert found.collectives.high == pytest.approx(100 * 6e-3 - saved.low)


@pytest.mark.parametrize(("choice", "share"), [("leaders:lane=recursive_doubling", 0.25), ("recursive_doubling", 1.0)])
def test_on_an_emulated_cluster_leaders_have_the_processors_for_themselves(predicted, choice, share):
    all_at_once = 8 * 40e-6  # 16 ranks on two processors
    costs = Machine(
        alpha=2e-3, beta=8e-8, overhead=all_at_once, gamma=0.0, alpha_inside=3e-7, beta_inside=0.0, overhead_inside=1e-7
    )
    call = line("MPI_Allreduce", ranks=range(16), moving=9e-3)
    rules = f"allreduce -> {choice}\n"
    real, emulated = (
        predicted(profile(call, nodes=4, each=4, machine=costs, cluster=shape), rules).predictions[0].rules
        for shape in ("", "4x4:2ms:100Mbit")
    )
    text = dataclasses.replace(costs, overhead=all_at_once * share).text()
    (expected,) = _core.times("allreduce", emulated.choice, 16, 1, [text], nodes="4x4", fluid=True)
    assert emulated.seconds.value == pytest.approx(expected)
    assert (emulated.seconds.value < real.seconds.value) == (share < 1)


def test_inside_one_node_virtual_time_promises_nothing(predicted):
    found = predicted(profile(line(moving=50e-3), nodes=1, each=8))
    assert not found.predictions[0].judged
    assert (found.at_best, found.by_rules, found.collectives) == (None, None, None)
    assert advice.what_to_do(found) == [
        "Nothing that is certain to gain by other algorithms.",
        "Calls inside one node move data for 50.0% of the run. Nothing is predicted of them until a run under "
        "`rondo run` has compared them with the library, or `rondo tune` has measured them.",
    ]
    assert advice.sentence(found) == (
        "50.0% of the run in collectives; 50.0% moving data; nobody knows what of it could be saved"
    )


def test_on_one_node_nobody_knows_whether_ranks_share_memory(predicted):
    one = line("MPI_Allreduce", ranks=range(2), moving=50e-3)
    found = predicted(profile(one, nodes=1, each=2), "allreduce shared_memory = yes -> ring\nallreduce -> native\n")
    (each,) = found.predictions
    assert (each.judged, each.rules_judged, each.reason) == (False, False, prediction.BY_SHARED_MEMORY)
    assert (found.by_rules, found.at_best) == (None, None)
    both = "allreduce shared_memory = yes -> native\nallreduce -> native\n"
    assert predicted(profile(one, nodes=1, each=2), both).predictions[0].rules_judged
    apart = predicted(profile(one, nodes=2, each=1), "allreduce shared_memory = yes -> ring\nallreduce -> native\n")
    assert apart.predictions[0].rules_judged


def test_the_default_rules_of_two_ranks_of_a_node_are_not_said_to_leave_calls_alone(predicted):
    """They choose by shared memory, and `rondo run` halves such calls."""
    found = predicted(profile(line("MPI_Allreduce", ranks=range(2), moving=50e-3), nodes=1, each=2), None)
    assert (found.predictions[0].rules, found.predictions[0].rules_judged, found.by_rules) == (None, False, None)


def test_a_barrier_is_a_call_without_data_that_rondo_serves(predicted):
    barrier = line("MPI_Barrier", bytes=0, element=0, moving=13e-3)
    (each,) = predicted(profile(barrier), "barrier -> dissemination\n").predictions
    assert (each.rules.choice, each.judged) == ("dissemination:radix=2", True)
    assert each.rules.seconds.value == pytest.approx(3 * ALPHA, rel=0.01)


def test_little_of_which_nothing_is_known_is_said_to_be_little(predicted):
    found = predicted(profile(line(moving=0.5e-3), nodes=1, each=8))
    assert advice.sentence(found).endswith("nobody knows what of it could be saved")
    assert advice.what_to_do(found) == [
        "Little to gain by other algorithms: calls of which nothing is predicted are 0.5% of the run."
    ]


TUNED = f"""{tuned_files.FIRST_LINE}
# machine: node
# library: MPICH Version 5.0.2
# rondo: 0.1.0

# 4 ranks: 8B 9 ms = 0.90 (n 12)
# 8 ranks: 8B 4 ms = 0.40 (n 12), 32KiB 9 ms = 0.60 (n 6),
#   1MiB 12 ms = 0.20 (n 6)
bcast  processes in 4..8, ranks_per_node = 1, bytes <= 2Mi -> k_ported

allreduce -> ring
"""


def test_what_rondo_tune_has_measured_counts_more_than_virtual_time(predicted, tmp_path):
    directory = tmp_path / "config" / "rondo" / "tuned"
    directory.mkdir(parents=True)
    (directory / "mine.rules").write_text(TUNED)
    found = predicted(profile(line(moving=10e-3), line(moving=20e-3, bytes=2 << 20, calls=10)), None)
    assert (found.circumstances.rules, found.circumstances.is_tuned) == (directory / "mine.rules", True)
    short, long = found.predictions
    assert short.rules == short.best
    assert (short.rules.choice, short.rules.basis) == (short.rules.choice, savings.TUNED)
    assert short.rules.choice.startswith("k_ported")
    assert short.rules.seconds.value == pytest.approx(0.4 * 10e-3)
    assert short.rules.seconds.low == pytest.approx(0.36 * 10e-3)
    assert short.rules.seconds.high == pytest.approx(0.44 * 10e-3)
    assert long.rules.seconds.value == pytest.approx(0.2 * 20e-3)
    assert found.by_rules.value == pytest.approx(100 * 6e-3 + 10 * 16e-3 - START)
    assert "with its tuned rules it could save 7.0%" in advice.what_to_do(found)[0]
    # Of other machines and libraries they say nothing.
    for changes in ({"hosts": ["other1"] * 8}, {"library": "Open MPI v5.0.11"}):
        assert predicted(profile(line(), **changes), None).circumstances.rules == installation.DEFAULT_RULES


def test_a_machine_that_nobody_has_measured_promises_nothing_for_certain(predicted):
    found = predicted(profile(line(moving=5e-3), machine=None))
    assert found.by_rules.low == -found.start
    assert found.by_rules.value > 0
    assert any("`rondo calibrate` first" in each for each in advice.what_to_do(found))


def test_the_errors_of_virtual_time_are_those_of_the_page():
    text = (ROOT / "docs" / "benchmarks" / "tables" / "predictions.md").read_text()
    rows = re.findall(
        r"^\| bytes: (?:up to \S+ \wiB|more) \| \d+ \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|", text, re.MULTILINE
    )
    assert [(float(low), float(high)) for low, high in rows] == [each[1:] for each in prediction.ERRORS]


@pytest.mark.parametrize(
    ("communicator", "expected"),
    [
        (Communicator("", "MPI_Comm_split", 8, 2, 4, 1), (4, 4)),
        (Communicator("", "MPI_Comm_split", 10, 3, 4, 1), (4, 3, 3)),
        (Communicator("", "MPI_Comm_split", 9, 3, 6, 1), (6, 2, 1)),
        (Communicator("", "MPI_Comm_split", 3, 1, 3, 1), (3,)),
    ],
)
def test_where_the_ranks_of_a_communicator_are(communicator, expected):
    assert calls.ranks_on(profile(nodes=4, each=4), communicator) == expected


def test_nodes_of_all_ranks_are_known_one_by_one():
    found = profile(nodes=3, each=2)
    found.ranks.pop()
    assert calls.ranks_on(found, Communicator("", "MPI_COMM_WORLD", 5, 3, 2, 1)) == (2, 2, 1)


def test_the_slowest_rank_counts_and_of_communicators_alike_one_of_each():
    one = line(ranks=range(4), calls=10)
    for share, seconds in zip(one.shares, (0.1, 0.2, 0.3, 0.4), strict=True):
        share.moving = seconds
    single = Communicator("", "MPI_Comm_split", 4, 4, 1, 1)
    pairs = Communicator("", "MPI_Comm_split", 2, 2, 1, 2)
    assert calls.moving_per_call(one, single) == pytest.approx(0.04)
    assert calls.moving_per_call(one, pairs) == pytest.approx(0.035)


def test_a_reduction_is_over_when_the_root_has_the_result():
    """Ranks between a late one and the root wait for it, without anybody seeing it."""
    one = line("MPI_Reduce", calls=10, root=2)
    for share in one.shares:
        share.moving = 50.0
    one.shares[2].moving = 0.05
    assert calls.moving_per_call(one, profile().communicators[0]) == pytest.approx(0.005)
    one.shares[3].moving = one.shares[4].moving = 0.0
    some = Communicator("", "MPI_Comm_split", 8, 8, 1, 1)  # of which nobody knows the root
    assert calls.moving_per_call(one, some) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("site", "text"),
    [
        (Site("step", "/home/me/solver.c", 112, "app", 1), "solver.c:112 in step"),
        (Site("", "/home/me/solver.c", 0, "app", 1), "solver.c"),
        (
            Site("", "", 0, "libpython3.11.so", 1, ["/home/me/train.py:40 in step", "train.py:80"]),
            "train.py:40 in step",
        ),
        (Site("LAMMPS_NS::Neighbor::check_distance()", "", 0, "lib.so", 1), "Neighbor::check_distance in lib.so"),
        (Site("a::f(int, b<c>*) const", "f.cpp", 7, "lib.so", 1), "f.cpp:7 in a::f"),
        (Site("", "", 0, "hpcc", 0x2F657), "hpcc+0x2f657"),
        (Site("", "", 0, "", 0), "unknown place"),
    ],
)
def test_places_in_programs_are_shown_as_short_as_they_can_be(site, text):
    assert summary.site_text(site) == text


def test_all_to_alls_have_as_much_for_each_rank():
    found = profile(line("MPI_Alltoallv", bytes=1000))
    call = calls.call_of(found, found.lines[0])
    assert (call.collective, call.elements) == ("alltoallv", 128)


def test_a_rank_that_others_wait_for_is_named(predicted):
    waits = [1e-2] * 8
    waits[3] = 1e-4
    found = predicted(profile(line(moving=3e-3, waiting=waits)))
    assert summary.waited_for(found.profile) == [3]
    text = advice.what_to_do(found)[-1]
    assert text.startswith("Look at the imbalance: 8.8% of the run is waiting in collectives")
    assert text.endswith("most of all for rank 3 (node3).")
    found = predicted(profile(line(moving=3e-3, waiting=[1e-2] * 8)))
    assert advice.what_to_do(found)[-1].endswith("no rank stands out, they are late in turn.")
    found = predicted(profile(line(moving=3e-3, waiting=[each / 100 for each in waits])))
    assert not any("imbalance" in each for each in advice.what_to_do(found))


def test_waiting_for_ranks_that_left_the_call_before_later_is_told_apart(predicted):
    one = line(moving=3e-3, waiting=2e-3)
    for share in one.shares:
        share.critical = 0.0
    one.shares[2].critical = 100 * 4.5e-3
    found = profile(one)
    assert summary.left_early(found) == pytest.approx(0.15)
    text = advice.what_to_do(predicted(found))[-1]
    assert "for ranks that come late (1.5% because those have left the call before later); no rank stands out" in text
    for share in one.shares:
        share.critical = None
    assert summary.left_early(profile(one)) == 0


def test_a_rank_without_a_file_is_in_no_mean():
    found = profile(line(moving=4e-3, waiting=1e-3, ranks=range(7)))
    found.ranks[7].run = found.ranks[7].in_mpi = 0.0
    times = summary.mean(found)
    assert times.run == pytest.approx(RUN)
    assert (times.waiting, times.moving) == (pytest.approx(0.1), pytest.approx(0.4))


def test_times_of_a_run_add_up():
    found = profile(line(moving=4e-3, waiting=1e-3), line("MPI_Barrier", moving=1e-3))
    found.lines[0].shares[0].seconds += 0.05  # of calls that were not compared
    times = summary.mean(found)
    assert times.waiting == pytest.approx(0.1)
    assert times.moving == pytest.approx(0.5)
    assert times.unsplit == pytest.approx(0.05 / 8)
    assert times.other == pytest.approx(0.1 - 0.05 / 8)
    assert times.computing + times.other + times.collectives == pytest.approx(times.run)
    assert list(summary.grouped(found, lambda each: each.function)) == ["MPI_Bcast", "MPI_Barrier"]
