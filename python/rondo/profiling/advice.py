# SPDX-License-Identifier: BSD-3-Clause
"""What a prediction says in words, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from rondo.launching import installation
from rondo.machine import machine
from rondo.profiling import prediction, savings, summary
from rondo.profiling.profile import Profile
from rondo.profiling.savings import Outlook, Range

WORTH = 0.01
"""Of the run: less is not worth a word."""


def sentence(found: Outlook) -> str:
    """The whole in one: what collectives take, and what of it could be saved."""
    times = found.times
    words = f"{percent(times.share(times.collectives))} of the run in collectives; "
    if times.waiting + times.moving > 0 or times.collectives == 0:
        words += f"{percent(times.share(times.moving))} moving data; "
    if times.share(times.completing) >= savings.VISIBLE:
        words += f"{percent(times.share(times.completing))} in MPI_Wait for those that do not block; "
    if found.at_best is None:
        return f"{words}nobody knows what of it could be saved"
    words += f"{_range_text(found.share(found.at_best))} of the run could be saved"
    more = found.times.share(found.open_at_best)
    return f"{words}; of another {percent(more)}, nobody knows" if more >= WORTH else words


def what_to_do(found: Outlook) -> list[str]:
    """What to do, the most important first."""
    start = found.times.share(found.start)
    by_rules = found.share(found.by_rules) if found.by_rules is not None else savings.NOTHING
    best = found.share(found.at_best) if found.at_best is not None else savings.NOTHING
    lines = []
    if found.by_rules is None and start >= WORTH:
        lines.append(
            f"The start of `rondo run` takes {percent(start)} of so short a run. Nobody knows whether it saves more."
        )
    if by_rules.value >= WORTH:
        name = "its tuned rules" if found.circumstances.is_tuned else "the rules that come with Rondo"
        if found.circumstances.rules not in (None, installation.DEFAULT_RULES) and not found.circumstances.is_tuned:
            name = str(found.circumstances.rules)
        lines.append(
            f"Use `rondo run` as it is: with {name} it could save {_range_text(by_rules)} of the run. "
            "`rondo compare` says whether it does."
        )
    elif by_rules.value <= -WORTH:
        lines.append(
            f"`rondo run` would not pay: its start takes {percent(start)} of so short a run, more than it saves."
        )
    more = best.value - max(by_rules.value, 0.0)
    if more >= WORTH and not found.circumstances.is_tuned:
        also = " more" if by_rules.value >= WORTH else ""
        lines.append(f"`rondo tune` on this machine: its rules could save up to {percent(more)}{also} of the run.")
    elif more >= WORTH:
        lines.append(
            f"Other algorithms than those of the tuned rules could save {percent(more)} of the run: "
            "`rondo tune` for these numbers of ranks and lengths."
        )
    estimates = [one for each in found.predictions for one in (each.rules, each.best) if one is not None]
    by_the_model = any(one.basis == savings.PREDICTED for one in estimates)
    if found.circumstances.is_standard and by_the_model and (by_rules.value >= WORTH or best.value >= WORTH):
        lines.append(
            "These figures are of a 100 Gbit/s network, not of this machine: `rondo calibrate` first. Until then, "
            "nothing of it is certain."
        )
    imbalance, is_open = _imbalance(found), _what_is_open(found)
    if not lines and not is_open and found.at_best is None:
        share = percent(found.times.share(found.open_at_best))
        lines.append(f"Little to gain by other algorithms: calls of which nothing is predicted are {share} of the run.")
    elif not lines and not is_open:
        lines.append("Nothing to gain by other algorithms" + ("." if imbalance else ": collectives take too little."))
    elif not lines:
        lines.append("Nothing that is certain to gain by other algorithms.")
    return lines + imbalance + is_open


def _imbalance(found: Outlook) -> list[str]:
    """What to say of waiting, if it is worth a word."""
    waits = found.times.share(found.times.waiting)
    if waits < summary.NOTICEABLE:
        return []
    text = f"{percent(waits)} of the run is waiting in collectives for ranks that come late"
    after_calls = min(found.times.share(summary.left_early(found.profile)), waits)
    if after_calls >= WORTH:
        text += f" ({percent(after_calls)} because those have left the call before later)"
    ranks = summary.waited_for(found.profile)
    if not ranks:
        return [f"Look at the imbalance: {text}; no rank stands out, they are late in turn."]
    return [f"Look at the imbalance: {text}, most of all for {ranks_text(found.profile, ranks)}."]


def _what_is_open(found: Outlook) -> list[str]:
    """Calls that nothing was said of, if they are worth a word."""
    share = found.times.share(found.open_at_best)
    if share < WORTH:
        return []
    reasons: dict[str, float] = {}
    for each in found.predictions:
        if not each.judged:
            reasons[each.reason] = reasons.get(each.reason, 0.0) + found.in_question(each)
    most = max(reasons, key=lambda each: reasons[each])
    if most in (prediction.ON_ONE_NODE, prediction.BY_SHARED_MEMORY):
        return [
            f"Calls inside one node move data for {percent(share)} of the run. Nothing is predicted of them "
            "until a run under `rondo run` has compared them with the library, or `rondo tune` has measured them."
        ]
    compared = all(any(one.sampled for one in each.line.shares) for each in found.predictions if not each.judged)
    what = "move data for" if compared else "take up to"
    return [f"Nothing is predicted of calls that {what} {percent(share)} of the run; most of them: {most}."]


def ranks_text(profile: Profile, ranks: Sequence[int]) -> str:
    """Ranks with their nodes: rank 3 (node1)."""
    shown = [f"{rank} ({_host(profile, rank)})" for rank in ranks[: summary.MOST_NAMED]]
    more = len(ranks) - len(shown)
    names = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {names}"


def _host(profile: Profile, rank: int) -> str:
    node = profile.ranks[rank].node
    return profile.hosts[node] if node < len(profile.hosts) else f"node {node}"


def percent(share: float) -> str:
    """With one decimal: 12.4%."""
    if 0 < share < 0.0005:
        return "< 0.1%"
    return f"{100 * share:.1f}%"


def _range_text(share: Range) -> str:
    """4.3% (between 3.1 and 5.2)."""
    if share.high <= 0.0005:
        return "nothing" if share.value <= 0 else percent(share.value)
    return f"{percent(share.value)} (between {100 * share.low:.1f} and {100 * share.high:.1f})"


def figures_text(figures: machine.Machine) -> list[tuple[str, str]]:
    """Those of a machine file that tell a network, for people."""
    from rondo.reports.style import digits, time_text  # noqa: PLC0415

    rate = 8 / figures.beta if figures.beta > 0 else 0.0
    unit, name = (1e9, "Gbit/s") if rate >= 1e9 else (1e6, "Mbit/s")
    lanes = f" on each of {figures.lanes} lanes" if figures.lanes > 1 else ""
    return [
        ("alpha", time_text(figures.alpha)),
        ("beta", f"{digits(figures.beta * 1e9)} ns/B ({digits(rate / unit)} {name}{lanes})"),
        ("overhead", time_text(figures.overhead)),
    ]
