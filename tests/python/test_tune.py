# SPDX-License-Identifier: BSD-3-Clause
"""`rondo tune`: who wins a race, what is kept, what is written. Times are made up here; tests/mpi has a real run."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy.stats", reason="rondo tune needs SciPy")
from rondo.bench import bench, launches, plans
from rondo.bench.results import DISTURBED, VALID, Configuration, Environment, Repetition, Results
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.launching.mpi_library import MpiLibrary
from rondo.machine import machine
from rondo.tune import cells, checking, console, kept, racing, rules_text, sites, tuned_files
from rondo.tune.cells import Cell, Circumstances, Shape
from rondo.tune.kept import Kept, Question
from rondo.tune.measuring import Progress, Race
from rondo.tune.racing import Place, State
from rondo.tune.tuned_files import Head

from rondo import _core
from rondo.selection import inspection

MPICH = "MPICH Version 5.0.2"
HEAD = Head("emulated:1ms:200Mbit", MPICH)
QUESTION = Question(HEAD.machine, MPICH, "0", "", "auto")
EIGHT, FOUR = Shape((1,) * 8), Shape((1,) * 4)
DEFAULTS = Path(__file__).resolve().parents[2] / "tuning" / "default.rules"
FIGURES = machine.Machine(alpha=1e-3, beta=4e-8, overhead=5e-5, gamma=1e-10)


def configuration(collective: str, choice: str, count: int, seconds: list[float]) -> Configuration:
    algorithm, _, parameters = choice.partition(":")
    repetitions = [Repetition(each, each, each, 0.0, VALID, 0) for each in seconds]
    return Configuration(collective, algorithm, parameters, "clock", count, 8 * count, "double", "", 0.0, repetitions)


def about(seconds: float, number: int = 12, spread: float = 0.01, seed: int = 1) -> list[float]:
    """Times that differ a little."""
    generator = random.Random(f"{seed} {seconds}")
    return [seconds * (1 + spread * generator.uniform(-1, 1)) for _ in range(number)]


def state(
    times: dict[str, float], *, default: str = "native", shape: Shape = EIGHT, collective: str = "bcast",
    count: int = 1, number: int = 12, spread: float = 0.01,
) -> State:  # fmt: skip
    cell = Cell(shape, collective, count, default, {each: 1e-3 for each in times if each != "native"})
    measured = {
        each: configuration(collective, each, count, about(seconds, number, spread)) for each, seconds in times.items()
    }
    return racing.state_of(cell, measured)


# Who wins.


def test_candidates_that_are_slower_drop_out_and_one_that_gains_5_percent_wins():
    found = state({"native": 1e-3, "binomial": 0.99e-3, "two_tree": 0.5e-3, "circulant": 0.8e-3})
    assert {choice: each.place for choice, each in found.figures.items()} == {
        "two_tree": Place.FASTER,
        "circulant": Place.OUT,
        "binomial": Place.OUT,
    }
    assert found.winners == found.accepted == ("two_tree",)
    assert found.needs_a_rule
    assert found.survivors == ()


def test_candidates_that_cannot_be_told_apart_are_all_accepted():
    found = state({"native": 1e-3, "circulant": 0.505e-3, "two_tree": 0.5e-3})
    assert found.accepted == ("two_tree", "circulant")
    assert found.survivors == ()


def test_what_is_open_is_measured_again():
    found = state({"native": 1e-3, "two_tree": 0.93e-3, "circulant": 1.5e-3}, spread=0.2)
    assert found.survivors == ("two_tree",)
    assert not found.winners
    few = state({"native": 1e-3, "two_tree": 0.5e-3}, number=3)
    assert not few.certain
    assert few.survivors == ("two_tree",)
    assert not few.needs_a_rule


def test_nobody_is_measured_for_ever():
    found = state({"native": 1e-3, "two_tree": 0.95e-3}, number=racing.MOST_REPETITIONS, spread=0.3)
    assert found.figures["two_tree"].place is Place.OPEN
    assert found.survivors == ()


def test_a_default_choice_that_is_slower_than_native_gets_a_rule_that_says_native():
    assert state({"native": 1e-3, "two_tree": 1.2e-3}, default="two_tree").accepted == ("native",)
    assert state({"native": 1e-3, "two_tree": 1.2e-3}, default="two_tree").needs_a_rule
    as_good = state({"native": 1e-3, "two_tree": 1.01e-3}, default="two_tree")
    assert (as_good.accepted, as_good.needs_a_rule) == (("two_tree",), False)


def test_a_gain_below_5_percent_is_no_reason_for_a_rule_but_lets_a_neighbours_pass():
    found = state({"native": 1e-3, "two_tree": 0.97e-3})
    assert found.figures["two_tree"].place is Place.OUT
    assert (found.accepted, found.needs_a_rule) == (("native", "two_tree"), False)


def test_wrong_results_never_win():
    measured = {
        "native": configuration("bcast", "native", 1, about(1e-3)),
        "two_tree": configuration("bcast", "two_tree", 1, about(0.1e-3)),
    }
    measured["two_tree"].repetitions[0].wrong = 1
    found = racing.state_of(Cell(EIGHT, "bcast", 1, "native", {"two_tree": 1e-3}), measured)
    assert not found.winners
    assert not found.needs_a_rule


def test_repetitions_that_took_too_long_count_for_a_candidate_that_has_few_others_and_never_for_native():
    cell = Cell(EIGHT, "bcast", 1, "native", {"two_tree": 1e-3})
    measured = {each: configuration("bcast", each, 1, about(2e-3)) for each in ("native", "two_tree")}
    for each in measured["two_tree"].repetitions[3:]:
        each.state, each.seconds = DISTURBED, 1e-3
    found = racing.state_of(cell, measured)
    assert (found.winners, found.figures["two_tree"].ratio.count) == (("two_tree",), 12)
    for each in measured["native"].repetitions[3:]:
        each.state = DISTURBED
    assert not racing.state_of(cell, measured).certain


# What can win.


@pytest.fixture
def where(tmp_path: Path) -> Circumstances:
    figures = tmp_path / "machine"
    figures.write_text(FIGURES.text())
    return Circumstances(MPICH, figures, DEFAULTS)


def test_candidates_are_the_first_by_prediction_and_what_the_default_rules_choose(where):
    found = cells.of_shape(EIGHT, ["bcast", "allreduce"], [8, 1 << 20], where)
    assert [(each.collective, each.bytes) for each in found] == [
        ("bcast", 8), ("bcast", 1 << 20), ("allreduce", 8), ("allreduce", 1 << 20)
    ]  # fmt: skip
    for each in found:
        assert cells.FEWEST <= len(each.seconds) <= cells.MOST + 1
        assert each.default == "native" or each.default in each.seconds
        for choice in each.seconds:
            _core.check_choice(each.collective, choice)
    assert found[2].default == "recursive_multiplying:radix=8"
    assert found[1].default == "two_tree"


def test_what_the_model_proposes_is_the_default(where):
    (cell,) = cells.of_shape(Shape((4,) * 4), ["allreduce"], [8], where)
    assert cell.default == "leaders:lane=recursive_multiplying,radix=4"
    assert cell.default in cell.seconds
    assert "recursive_multiplying" in cell.seconds  # its standard settings are not written down


def test_lengths_are_of_whole_vectors(where):
    assert cells.lengths_of("8:4Mi")[:3] == (8, 32, 128)
    assert cells.lengths_of("8:4Mi")[-2:] == (2 << 20, 4 << 20)
    assert cells.lengths_of("64Ki,1k") == (1000, 65536)
    assert cells.counts_of("allgather", [8, 32, 128, 512], 8) == [1, 2, 8]
    assert cells.counts_of("barrier", [8, 32], 8) == [0]
    (cell, *_) = cells.of_shape(EIGHT, ["allgather"], [512], where)
    assert (cell.count, cell.bytes) == (8, 512)
    for wrong in ("", "4Mi:8", "0:8", "8:16:32", "many"):
        with pytest.raises(Error, match="--bytes"):
            cells.lengths_of(wrong)


# What is written.


def ladder(shape: Shape, choices: list[str | None], collective: str = "bcast") -> list[State]:
    """Cells of 8, 32, 128, ... bytes; None: nobody is faster than native."""
    return [
        state(
            {"native": 1e-3, "two_tree": 2e-3, **({choice: 0.5e-3} if choice else {})},
            shape=shape, collective=collective, count=4**place,
        )
        for place, choice in enumerate(choices)
    ]  # fmt: skip


def texts(states: list[State]) -> list[str]:
    return [" ".join(each.text.split()) for each in rules_text.lines_of(states)]


def test_neighbouring_lengths_with_the_same_choice_become_one_line():
    found = texts(ladder(EIGHT, ["k_ported", "k_ported", "two_tree", "two_tree", None]))
    assert found == [
        "bcast processes = 8, ranks_per_node = 1, bytes <= 64 -> k_ported",
        "bcast processes = 8, ranks_per_node = 1, bytes > 64, bytes <= 1Ki -> two_tree",
    ]


def test_nothing_is_said_of_lengths_beyond_those_measured():
    states = [each for each in ladder(EIGHT, ["k_ported"] * 4) if each.cell.count > 1]
    assert texts(states) == ["bcast processes = 8, ranks_per_node = 1, bytes >= 32, bytes <= 512 -> k_ported"]


def test_rules_speak_of_processes_between_two_measurements_that_agree_and_of_no_others():
    states = [*ladder(FOUR, ["k_ported", "two_tree", None]), *ladder(EIGHT, ["k_ported", "circulant", None])]
    assert texts(states) == [
        "bcast processes in 4..8, ranks_per_node = 1, bytes <= 16 -> k_ported",
        "bcast processes = 4, ranks_per_node = 1, bytes > 16, bytes <= 64 -> two_tree",
        "bcast processes = 8, ranks_per_node = 1, bytes > 16, bytes <= 64 -> circulant",
    ]


def test_ranks_that_share_nodes_have_rules_of_their_own():
    on_nodes, on_one = Shape((4, 4)), Shape((4,))
    states = [*ladder(EIGHT, ["k_ported"]), *ladder(on_nodes, ["k_ported"]), *ladder(on_one, ["k_ported"])]
    assert texts(states) == [
        "bcast processes = 8, ranks_per_node = 1, bytes <= 8 -> k_ported",
        "bcast processes = 8, ranks_per_node = 4, shared_memory = no, bytes <= 8 -> k_ported",
        "bcast processes = 4, nodes = 1, shared_memory = no, bytes <= 8 -> k_ported",
    ]


def test_shapes_whose_ranks_share_memory_have_rules_of_their_own():
    pair, four = Shape((2,), shared_memory=True), Shape((4,))
    lines = rules_text.lines_of([*ladder(pair, ["k_ported"]), *ladder(four, ["k_ported"])])
    assert [" ".join(each.text.split()) for each in lines] == [
        "bcast processes = 2, nodes = 1, shared_memory = yes, bytes <= 8 -> k_ported",
        "bcast processes = 4, nodes = 1, shared_memory = no, bytes <= 8 -> k_ported",
    ]


def test_shapes_with_domains_have_rules_of_their_own(where):
    bound = Shape((16,), domains=3)
    assert str(bound) == "domains:6,5,5"
    assert bound.text == "16 ranks on 1 node (domains:6,5,5)"
    lines = rules_text.lines_of(ladder(bound, ["leaders"]))
    assert [" ".join(each.text.split()) for each in lines] == [
        "bcast processes = 16, nodes = 1, domains = 3, shared_memory = no, bytes <= 8 -> leaders",
    ]
    anywhere = Shape((16,))
    both = rules_text.lines_of([*ladder(anywhere, ["binomial"]), *ladder(bound, ["leaders"])])
    assert ["domains = 3" in each.text for each in both] == [True, False], "the other rule holds on domains, too"
    (cell,) = cells.of_shape(bound, ["bcast"], [8], where)
    (alone,) = cells.of_shape(anywhere, ["bcast"], [8], where)
    assert (cell.seconds | cell.others)["leaders"] < (alone.seconds | alone.others)["leaders"]


def test_reductions_and_collectives_without_data():
    barrier = state({"native": 1e-3, "dissemination": 0.5e-3}, collective="barrier", count=0)
    (line,) = ladder(EIGHT, ["ring"], "allreduce")
    assert texts([line, barrier]) == [
        "allreduce processes = 8, ranks_per_node = 1, bytes <= 8, commutative = yes -> ring",
        "barrier processes = 8, ranks_per_node = 1 -> dissemination",
    ]


def written(states: list[State], defaults: str | None = None) -> str:
    lines = rules_text.lines_of(states)
    return rules_text.file_text(HEAD, ["rondo: 0", "", "Figures."], lines, defaults or DEFAULTS.read_text())


def test_the_file_has_head_figures_and_the_default_rules_and_is_sound():
    states = [*ladder(FOUR, ["k_ported"] * 3), *ladder(EIGHT, ["k_ported", "two_tree", None])]
    text = written([*states, state({"native": 1e-3, "ring": 2e-3}, default="ring", collective="allreduce")])
    assert tuned_files.head_of(text) == HEAD
    assert (
        "# 8 ranks: 8B 499 \N{MICRO SIGN}s = 0.50 (n 12)\n"
        in text.replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}")
        or "# 8 ranks: 8B 5" in text
    )
    assert re.search(r"^# 8 ranks: 8B \S+ µs = 0\.50 \(n 12\)$", text, re.MULTILINE)
    assert "# 8 ranks: 8B ring 2 ms = 2.0" in text
    assert not [each for each in inspection.remarks(text, "x") if each.is_finding]
    assert max(map(len, rules_text.tuned_lines(text).splitlines())) <= rules_text.WIDTH
    for count, choice in ((1, "k_ported"), (4, "two_tree")):
        decided = _core.choice_by_rules(text, "x", "bcast", 8 * count, 8, ranks_per_node=1, library="mpich")
        assert decided.partition(":")[0] == choice
    # What was not measured is as by default.
    for collective, size, ranks in (("bcast", 1 << 20, 8), ("bcast", 8, 16), ("exscan", 8, 8)):
        call = {"ranks_per_node": 1, "library": "mpich"}
        decided = _core.choice_by_rules(text, "x", collective, size, ranks, **call)
        assert decided == _core.choice_by_rules(DEFAULTS.read_text(), "d", collective, size, ranks, **call)


def test_the_figures_above_a_rule_can_be_read_again():
    states = [*ladder(FOUR, ["k_ported"] * 9), *ladder(EIGHT, ["k_ported"] * 9)]
    slow_default = state({"native": 1e-3, "ring": 2e-3}, default="ring", collective="allreduce")
    text = written([*states, slow_default])
    lines = text.splitlines()
    rule = next(number for number, each in enumerate(lines, start=1) if each.startswith("bcast "))
    assert any(each.startswith("#   ") for each in lines[:rule])  # they take more than a line
    found = rules_text.measured(text, rule)
    assert [(each.processes, each.bytes, each.choice, each.count) for each in found] == [
        (processes, 8 * 4**place, "", 12) for processes in (4, 8) for place in range(9)
    ]
    assert all(each.ratio == pytest.approx(0.5, abs=0.02) for each in found)
    rule = next(number for number, each in enumerate(lines, start=1) if each.startswith("allreduce "))
    (native,) = rules_text.measured(text, rule)
    assert (native.processes, native.bytes, native.choice) == (8, 8, "ring")
    assert native.ratio == pytest.approx(2, abs=0.05)
    assert rules_text.measured(DEFAULTS.read_text(), 60) == []


def test_default_rules_that_are_decided_above_become_comments():
    text = written(
        ladder(EIGHT, ["k_ported", "k_ported"]), "bcast processes = 8, bytes <= 4, ranks_per_node = 1 -> native\n"
    )
    assert "\n# decided above: bcast processes = 8, bytes <= 4, ranks_per_node = 1 -> native\n" in text
    assert not [each for each in inspection.remarks(text, "x") if each.is_finding]


# What is kept, and what is measured.


def environment(shape: Shape) -> Environment:
    nodes = len(shape.ranks_on)
    return Environment(
        MPICH, shape.processes, nodes, list(shape.ranks_on), ["node"] * nodes, "Linux", "processor", 2, "shared",
        date="", command="", rondo="0", abi="mpich", launcher="mpiexec", clock_error=0.0, seed=1,
        shared_memory=shape.shared_memory,
    )  # fmt: skip


class Cluster:
    """Carries out plans on made-up times: seconds of a choice with a count."""

    def __init__(self, seconds: Callable[[str, int], float], shape: Shape = EIGHT, noise: float = 0.02) -> None:
        self.seconds = seconds
        self.shape = shape
        self.noise = noise
        self.plans: list[plans.Plan] = []
        self.fails_after: int | None = None

    def run(self, plan: plans.Plan, _: object, **__: object) -> bench.Outcome:
        self.plans.append(plan)
        failed = self.fails_after is not None and len(self.plans) > self.fails_after
        found = [
            configuration(
                plan.collective, choice, count,
                about(self.seconds(choice, count), plan.repetitions, self.noise, len(self.plans)),
            )
            for count in plan.counts
            for choice in plan.candidates
            if (count, choice) not in plan.left_out
        ]  # fmt: skip
        # A launcher that fails leaves what was measured before.
        measured = Results(environment(self.shape), found[:2] if failed else found, complete=not failed)
        return bench.Outcome(measured, {}, 0, 9 if failed else 0)

    @property
    def measured(self) -> set[tuple[int, str]]:
        return {
            (count, choice)
            for plan in self.plans for count in plan.counts for choice in plan.candidates
            if (count, choice) not in plan.left_out
        }  # fmt: skip


SITE = sites.Site(
    launches.Place(MpiLibrary("mpich", Path("/mpiexec"))),
    EIGHT,
    MPICH,
    Path("/machine"),
    start_seconds=0.0,
)
LADDER = [Cell(EIGHT, "bcast", count, "native", {"two_tree": 1e-3, "circulant": 1e-3}) for count in (1, 4, 16)]


def race(known: Kept, simulated: Cluster, monkeypatch: pytest.MonkeyPatch, *, seconds: float = 60) -> Race:
    monkeypatch.setattr(bench, "run", simulated.run)
    return Race([(SITE, LADDER)], known, seconds, Progress())


def steady(choice: str, count: int) -> float:
    return {"native": 1e-3, "two_tree": 0.5e-3, "circulant": 0.7e-3}[choice]


def test_one_launch_decides_what_is_clear_and_others_confirm_it(tmp_path, monkeypatch):
    simulated = Cluster(steady)
    ending = race(kept.opened(tmp_path, QUESTION), simulated, monkeypatch).run()
    assert (ending.exit_code, ending.missing, ending.undecided) == (0, [], [])
    first, *others = simulated.plans
    assert (first.repetitions, first.candidates) == (racing.FIRST_REPETITIONS, ("native", "two_tree", "circulant"))
    assert others
    for plan in others:  # of those that may be the best
        assert (plan.repetitions, plan.candidates) == (racing.FURTHER_REPETITIONS, ("native", "two_tree"))
    assert sum(each.repetitions for each in simulated.plans[:-1]) < racing.ENOUGH_REPETITIONS
    # Started again, it knows.
    again = Cluster(steady)
    known = kept.opened(tmp_path, QUESTION)
    assert race(known, again, monkeypatch).run().missing == []
    assert again.plans == []
    assert [each.winners for each in race(known, again, monkeypatch).states()] == [("two_tree",)] * 3


def test_the_rest_of_the_time_goes_to_what_is_undecided(tmp_path, monkeypatch):
    simulated = Cluster(
        lambda choice, count: 0.95e-3 if (choice, count) == ("two_tree", 4) else 1e-3 if choice == "native" else 2e-3
    )
    race(kept.opened(tmp_path, QUESTION), simulated, monkeypatch).run()
    passes = [racing.FIRST_REPETITIONS, *racing.NEXT_REPETITIONS, *racing.LAST_REPETITIONS]
    assert [each.repetitions for each in simulated.plans[: len(passes)]] == passes
    further = {each.repetitions for each in simulated.plans[len(passes) :]}
    assert further == {racing.FURTHER_REPETITIONS}
    assert sum(each.repetitions for each in simulated.plans[:-1]) < racing.MOST_REPETITIONS
    for plan in simulated.plans[1:]:
        assert (plan.candidates, plan.counts) == (("native", "two_tree"), (4,))


def test_two_that_measure_into_one_directory_keep_all(tmp_path):
    first, second = kept.opened(tmp_path, QUESTION), kept.opened(tmp_path, QUESTION)
    for known, count in ((first, 1), (second, 4), (first, 16)):
        known.add(Results(environment(EIGHT), [configuration("bcast", "native", count, [1e-3])]))
    assert sorted(kept.opened(tmp_path, QUESTION).configurations(EIGHT, "bcast")) == [1, 4, 16]


WIDE = dataclasses.replace(LADDER[0], others={"k_lane": 2e-3, "binomial": 3e-3})


def raced(cell: Cell, simulated: Cluster, known: Kept, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> Race:
    monkeypatch.setattr(bench, "run", simulated.run)
    found = Race([(SITE, [cell])], known, seconds, Progress())
    found.run()
    return found


def test_what_is_predicted_to_lose_is_measured_in_the_time_that_is_left_and_may_win(tmp_path, monkeypatch):
    simulated = Cluster(lambda choice, count: 0.2e-3 if choice == "binomial" else steady("native", count))
    (found,) = raced(WIDE, simulated, kept.opened(tmp_path, QUESTION), monkeypatch, seconds=60).states()
    assert found.winners == ("binomial",)
    first, then = simulated.plans[:2]
    assert first.candidates == ("native", "two_tree", "circulant")
    assert set(then.candidates) == {"native", "k_lane", "binomial"}
    # Started again, it knows.
    again = Cluster(steady)
    assert raced(WIDE, again, kept.opened(tmp_path, QUESTION), monkeypatch, seconds=60).states() == [found]
    assert again.plans == []


def test_the_time_that_is_left_goes_to_the_best_of_those_that_are_predicted_to_lose(tmp_path, monkeypatch):
    simulated = Cluster(steady_or_slow)
    cell = dataclasses.replace(WIDE, others={"k_lane": 1.0, "binomial": 4.0})
    raced(cell, simulated, kept.opened(tmp_path, QUESTION), monkeypatch, seconds=10)
    assert {choice for _, choice in simulated.measured} == {"native", "two_tree", "circulant", "k_lane"}


def steady_or_slow(choice: str, count: int) -> float:
    return 2e-3 if choice in WIDE.others else steady(choice, count)


def test_what_has_a_rule_and_what_has_none_yet_are_told_apart(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(racing, "NEXT_REPETITIONS", ())  # the box is used up
    monkeypatch.setattr(racing, "LAST_REPETITIONS", ())
    times = {4: {"native": 1e-3, "two_tree": 0.5e-3, "circulant": 0.56e-3}, 16: dict.fromkeys(["native"], 1e-3)}
    simulated = Cluster(lambda choice, count: times.get(count, {}).get(choice, 0.97e-3), noise=0.2)
    ending = race(kept.opened(tmp_path, QUESTION), simulated, monkeypatch).run(confirm=False)
    assert [each.count for each in ending.improvable] == [4]
    assert [each.count for each in ending.undecided] == [1, 16]
    console.tell(ending, [])
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"rondo: no rule yet, and more time may show that one pays: {LADDER[0].text}, {LADDER[2].text}",
        f"rondo: there is a rule, and more time may find a still faster choice: {LADDER[1].text}",
    ]


def test_what_is_missing_is_named_and_measured_when_it_is_started_again(tmp_path, monkeypatch, capsys):
    slow = Cluster(lambda choice, count: 10.0 if count == 16 else steady(choice, count))
    known = kept.opened(tmp_path, QUESTION)
    costly = [dataclasses.replace(each, seconds=dict.fromkeys(each.seconds, 1.0)) for each in LADDER[2:]]
    monkeypatch.setattr(bench, "run", slow.run)
    ending = Race([(SITE, [*LADDER[:2], *costly])], known, 20, Progress()).run()
    assert [each.count for each in ending.missing] == [16]
    console.tell(ending, [])
    assert f"too little was measured of 1 cell, for lack of time or of repetitions that count: {costly[0].text}; " in (
        capsys.readouterr().err
    )
    again = Cluster(steady)
    assert race(kept.opened(tmp_path, QUESTION), again, monkeypatch).run().missing == []
    assert {count for count, _ in again.measured} == {16}


def test_a_candidate_that_takes_more_than_its_share_is_left_out_and_named(tmp_path, monkeypatch):
    simulated = Cluster(steady)
    monkeypatch.setattr(bench, "run", simulated.run)
    cell = dataclasses.replace(LADDER[0], seconds={"two_tree": 1e-3, "circulant": 100.0})
    ending = Race([(SITE, [cell])], kept.opened(tmp_path, QUESTION), 60, Progress()).run()
    assert [(each.count, choice) for each, choice in ending.too_long] == [(1, "circulant")]
    assert simulated.measured == {(1, "native"), (1, "two_tree")}


def test_a_candidate_that_was_left_out_is_measured_when_there_is_time(tmp_path, monkeypatch):
    race(kept.opened(tmp_path, QUESTION), Cluster(steady), monkeypatch).run()
    more = [dataclasses.replace(each, seconds={**each.seconds, "binomial": 1e-3}) for each in LADDER]
    again = Cluster(lambda choice, count: 0.1e-3 if choice == "binomial" else steady(choice, count))
    monkeypatch.setattr(bench, "run", again.run)
    later = Race([(SITE, more)], kept.opened(tmp_path, QUESTION), 60, Progress())
    later.run()
    assert again.measured == {(count, choice) for count in (1, 4, 16) for choice in ("native", "binomial")}
    assert [each.winners for each in later.states()] == [("binomial",)] * 3
    # As often as the others, which had enough before.
    assert all(each.figures["binomial"].attempts >= racing.ENOUGH_REPETITIONS for each in later.states())


def test_a_launcher_that_fails_half_way_leaves_what_was_measured(tmp_path, monkeypatch):
    simulated = Cluster(steady)
    simulated.fails_after = 0
    ending = race(kept.opened(tmp_path, QUESTION), simulated, monkeypatch).run()
    assert ending.exit_code == 9
    assert len(simulated.plans) == 1
    (measured,) = kept.opened(tmp_path, QUESTION).by_launch
    assert len(measured.configurations) == 2


def test_ranks_elsewhere_in_a_later_launch_leave_what_was_measured(tmp_path, monkeypatch):
    class Moving(Cluster):
        def run(self, plan: plans.Plan, *_: object, **__: object) -> bench.Outcome:
            self.shape = FOUR if self.plans else EIGHT
            return super().run(plan, None)

    ending = race(kept.opened(tmp_path, QUESTION), Moving(steady), monkeypatch).run()
    assert ending.exit_code == 2
    assert "the launcher started" in ending.problem
    assert len(kept.opened(tmp_path, QUESTION).by_launch) == 1


def test_ranks_that_share_memory_and_ranks_that_do_not_are_kept_apart(tmp_path):
    with_processors, crowded = Shape((2,), shared_memory=True), Shape((2,))
    known = kept.opened(tmp_path, QUESTION)
    for shape, seconds in ((with_processors, 1e-6), (crowded, 1e-3)):
        known.add(Results(environment(shape), [configuration("bcast", "binomial", 1, about(seconds))]))
    again = kept.opened(tmp_path, QUESTION)
    assert set(again.shapes) == {with_processors, crowded}
    for shape, seconds in ((with_processors, 1e-6), (crowded, 1e-3)):
        (found,) = again.configurations(shape, "bcast")[1].values()
        assert [each.seconds for each in found.repetitions] == about(seconds)


def test_measurements_of_something_else_are_not_mixed_in(tmp_path):
    kept.opened(tmp_path, QUESTION)
    with pytest.raises(Error, match=r"the MPI library was MPICH Version .*, not Open MPI v"):
        kept.opened(tmp_path, Question(HEAD.machine, "Open MPI v5.0.11", "0", "", False))
    (tmp_path / "tune.json").write_text("{}")
    with pytest.raises(Error, match="is not what rondo tune writes"):
        kept.opened(tmp_path, QUESTION)


# Whether lines still hold.


@pytest.mark.parametrize(
    ("choice", "times", "expected"),
    [
        ("two_tree", {"two_tree": 0.5e-3}, checking.Verdict.HOLDS),
        ("two_tree", {"two_tree": 0.98e-3}, checking.Verdict.HOLDS),  # less than it was, but still faster
        ("two_tree", {"two_tree": 1.2e-3}, checking.Verdict.FAILS),
        ("native", {"two_tree": 1.2e-3}, checking.Verdict.HOLDS),
        ("native", {"two_tree": 0.5e-3}, checking.Verdict.FAILS),
    ],
)
def test_lines_are_judged_by_the_same_race(choice, times, expected):
    found = state({"native": 1e-3, **times}, spread=0.003)
    line = checking.LineOfFile(7, "bcast -> x", choice, (found.cell,))
    assert checking.judged(line, [found]).verdict is expected


def test_wrong_results_and_lines_without_figures_are_no_lines_that_hold():
    found = state({"native": 1e-3, "two_tree": 0.5e-3})
    line = checking.LineOfFile(7, "bcast -> two_tree", "two_tree", (found.cell,))
    wrong = checking.judged(line, [found], ["bcast two_tree"])
    assert (wrong.verdict, wrong.reason) == (checking.Verdict.FAILS, "WRONG RESULTS")
    nothing = checking.judged(line, [state({"native": 1e-3})], ["bcast circulant"])
    assert nothing.verdict is checking.Verdict.UNMEASURED


def test_the_last_line_of_a_file_may_lack_its_end(where, tmp_path):
    file = tmp_path / "x.rules"
    file.write_text("bcast -> two_tree")
    (line,) = checking.lines_that_decide(file, EIGHT, ["bcast"], [8], where)
    assert [cell.others for cell in line.cells] == [{}]


def test_the_lines_that_are_checked_are_those_that_decide(where, tmp_path):
    file = tmp_path / "x.rules"
    file.write_text(written(ladder(EIGHT, ["k_ported", "k_ported", "two_tree"])))
    found = checking.lines_that_decide(file, EIGHT, ["bcast"], [8, 32, 128, 1 << 20], where)
    assert [(each.choice, [cell.count for cell in each.cells]) for each in found] == [
        ("k_ported", [1, 4]),
        ("two_tree", [16]),
    ]
    assert [list(cell.seconds) for each in found for cell in each.cells] == [["k_ported"], ["k_ported"], ["two_tree"]]
    assert not checking.lines_that_decide(file, FOUR, ["bcast"], [8], where)


def test_a_choice_has_one_name_in_all_lines_that_are_checked(where, tmp_path):
    file = tmp_path / "x.rules"
    file.write_text("allreduce bytes <= 64 -> leaders:lane=recursive_multiplying\nallreduce -> native\n")
    found = checking.lines_that_decide(file, Shape((4,) * 4), ["allreduce"], [8, 2048], where)
    names = {choice for line in found for cell in line.cells for choice in cell.seconds}
    assert "leaders:lane=recursive_multiplying,radix=4" in names
    assert len({_core.check_choice("allreduce", each) for each in names}) == len(names)


# Which file is for whom.


def test_rules_are_for_one_machine_and_one_library(tmp_path):
    known = [(tmp_path / "a.rules", HEAD)]
    assert tuned_files.chosen(known, HEAD).path == tmp_path / "a.rules"
    other = tuned_files.chosen(known, Head("node", MPICH))
    assert other.path is None
    assert (
        f"no tuned rules for {MPICH} on node ({tmp_path / 'a.rules'} is for {MPICH} on emulated:1ms:200Mbit)"
        in other.note
    )


def test_machines_are_told_by_their_names_without_numbers(monkeypatch):
    for host, expected in (("node017.example.org", "node"), ("gpu-3", "gpu"), ("laptop", "laptop"), ("12", "12")):
        monkeypatch.setattr(tuned_files.socket, "gethostname", lambda host=host: host)
        assert tuned_files.machine_here(None) == expected
    assert tuned_files.machine_here("8x4:1ms:200Mbit:2") == "emulated:1ms:200Mbit:2"


def test_versions_are_read_as_the_driver_writes_them():
    assert _core.plain_version("MPICH Version:      5.0.2\nMPICH Release date: x") == MPICH
    assert _core.plain_version("MPICH Version:\t5.0.2 \n") == MPICH
    assert _core.plain_version("Open MPI v5.0.11, package: Debian") == "Open MPI v5.0.11"


@pytest.fixture
def tuned(tmp_path, monkeypatch) -> Path:
    """A tuned file where `rondo run` looks."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(tuned_files.socket, "gethostname", lambda: "node12")
    monkeypatch.setattr(tuned_files, "version_of", lambda *_: MPICH)
    path = tmp_path / "config" / "rondo" / "tuned" / "mine.rules"
    path.parent.mkdir(parents=True)
    path.write_text(f"{tuned_files.FIRST_LINE}\n{Head('node', MPICH).text}bcast -> two_tree\n")
    return path


@pytest.mark.usefixtures("installed")
def test_a_run_uses_the_tuned_rules_of_its_machine_and_library(
    rondo, tuned, stand_in_launcher, stand_in_program, monkeypatch
):
    words = ["--dry-run", "--", stand_in_launcher("hydra"), stand_in_program("libmpi.so.12")]
    found = rondo("run", *words)
    assert f"RONDO_RULES={tuned}" in found.stdout.replace("-genv RONDO_RULES ", "RONDO_RULES=")
    assert found.stderr == f"rondo: rules: {tuned}\n"
    none = rondo("run", "--rules", "none", *words)
    assert str(tuned) not in none.stdout + none.stderr
    monkeypatch.setattr(tuned_files, "version_of", lambda *_: "MPICH Version 4.0.2")
    other = rondo("run", *words)
    assert str(tuned) not in other.stdout
    assert "no tuned rules for MPICH Version 4.0.2 on node" in other.stderr
    # Who names the file gets it, with a warning.
    named = rondo("run", "--rules", tuned, *words)
    assert str(tuned) in named.stdout
    assert f"warning: {tuned} was tuned for {MPICH} on node; here is MPICH Version 4.0.2 on node" in named.stderr


@pytest.mark.usefixtures("installed")
def test_tuned_rules_that_cannot_be_read_refuse_no_run(rondo, tuned, stand_in_launcher, stand_in_program):
    tuned.write_text(tuned.read_text() + "bcast -> algorithm_of_another_version\n")
    found = rondo("run", "--dry-run", "--", stand_in_launcher("hydra"), stand_in_program("libmpi.so.12"))
    assert found.exit_code == 0
    assert str(tuned) not in found.stdout
    assert f"warning: {tuned}:5: " in found.stderr
    assert "the rules that come with Rondo are used" in found.stderr


# Bad input.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "where to measure?"),
        (["--minutes", "0", "--cluster", "2x1:1ms:1Gbit"], "--minutes 0: expected more than 0"),
        (["--minutes", "inf", "--cluster", "2x1:1ms:1Gbit"], "--minutes inf: expected more than 0, and an end"),
        (["--collectives", "bcst", "--cluster", "2x1:1ms:1Gbit"], "did you mean bcast?"),
        (["--bytes", "8:x", "--cluster", "2x1:1ms:1Gbit"], "--bytes 8:x: cannot read"),
        (["--processes", "4", "--", "mpiexec", "-n", "4"], "write {p} in place of that number"),
        (["--", "mpiexec", "-n", "{p}"], "how many are {p}?"),
        (["--output", "x.txt", "--cluster", "2x1:1ms:1Gbit"], "expected a name that ends in .rules"),
        (["--output", "/dev/null/x.rules", "--cluster", "2x1:1ms:1Gbit"], "cannot write into /dev/null"),
        (["--check", "/no/such.rules", "--cluster", "2x1:1ms:1Gbit"], "cannot read the rules /no/such.rules"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(rondo, words, expected, monkeypatch):
    monkeypatch.setattr(cluster, "start", lambda *_: pytest.fail("a cluster was started"))
    monkeypatch.setattr(launches.mpi_library, "find", lambda *_: MpiLibrary("mpich", Path("/mpiexec")))
    monkeypatch.setattr(launches.launcher, "kind_of", lambda *_: launches.launcher.Kind.HYDRA)
    result = rondo("tune", *words)
    assert result.exit_code == 2, result.output
    assert expected in result.stderr


def test_tuned_rules_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, of_all = tmp_path / "own" / "rondo" / "tuned", tmp_path / "all" / "rondo" / "tuned"
    own.mkdir(parents=True)
    of_all.parent.mkdir(parents=True)
    of_all.symlink_to(of_all)
    (own / "mine.rules").write_bytes(b"\xff\xfe")
    where = {"XDG_CONFIG_HOME": str(tmp_path / "own"), "XDG_CONFIG_DIRS": f"{tmp_path / 'all'}:{tmp_path / 'none'}"}
    assert list(tuned_files.files(where)) == []
    assert capsys.readouterr().err.splitlines() == [
        f"rondo: warning: cannot read the rules {own / 'mine.rules'}: not a text file; passed over",
        f"rondo: warning: cannot look for tuned rules in {of_all}: Too many levels of symbolic links; passed over",
    ]


def test_rules_of_somebody_else_are_not_replaced_and_nothing_is_measured(
    rondo: Callable[..., Any], tmp_path: Path
) -> None:
    own = tmp_path / "mine.rules"
    own.write_text("exscan -> doubling_123\n")
    refused = rondo("tune", "--output", own, "--cluster", "2x1:1ms:1Gbit")
    assert (refused.exit_code, "would be lost" in refused.stderr) == (2, True)
    assert own.read_text() == "exscan -> doubling_123\n"
