# SPDX-License-Identifier: BSD-3-Clause
"""From the files of ranks to a profile: as much as there is, and what is missing in words."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rondo import __version__, _core, forms
from rondo.profiling import image, profile, sites
from rondo.profiling.image import Image
from rondo.profiling.profile import Profile
from rondo.profiling.sampled import Sampled, compared

SITE_UNKNOWN = image.Site(0, "", "", (), "")
PERSISTENT = re.compile(r"MPI_(?!.*(send|recv))\w+_init(_c)?", re.IGNORECASE)
ENDINGS = {image.FINALIZED: profile.FINALIZED, image.ABORTED: profile.ABORTED, image.RUNNING: profile.CUT_OFF}


def read(directory: Path, command: Sequence[str]) -> Profile:
    """The profile of a run whose ranks left their files in a directory."""
    images, missing = [], []
    for path in sorted(directory.glob(f"*{image.SUFFIX}")):
        try:
            images.append(image.decode(path.read_bytes()))
        except (OSError, ValueError) as error:  # msgspec's are among them
            missing.append(f"the file {path.name} of a rank cannot be read: {error}")
    return merged(images, command, missing)


def merged(images: Iterable[Image], command: Sequence[str], missing: Iterable[str] = ()) -> Profile:
    """One profile of the ranks' files."""
    ranks, others = _of_first_world(images)
    merger = _Merger(ranks)
    missing = [*missing, *_gaps(ranks, others)]
    lines, functions = merger.lines(), merger.functions()
    missing += _persistent(functions)
    return Profile(
        rondo=__version__,
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        command=list(command),
        library=" and ".join(sorted({_core.plain_version(each.owner.library) for each in ranks})),
        abi=" and ".join(sorted({each.owner.abi for each in ranks})),
        hosts=merger.hosts,
        ranks=merger.ranks(),
        communicators=merger.communicators,
        sites=sites.resolve(merger.sites, missing),
        functions=functions,
        lines=lines,
        clock_error=merger.clocks.error,
        missing=[*missing, *merger.clocks.missing],
    )


def _of_first_world(images: Iterable[Image]) -> tuple[list[Image], list[Image]]:
    """The ranks of the MPI_COMM_WORLD that began first, in order, and all other processes."""
    everybody = sorted(images, key=lambda each: each.first_moment.nanoseconds)
    first = everybody[0].owner.world if everybody else 0
    by_rank: dict[int, Image] = {}
    others = []
    for each in everybody:
        # By exec, a process may be the same rank twice.
        if each.owner.world == first and each.owner.rank not in by_rank:
            by_rank[each.owner.rank] = each
        else:
            others.append(each)
    return [by_rank[rank] for rank in sorted(by_rank)], others


def _gaps(ranks: Sequence[Image], others: Sequence[Image]) -> list[str]:
    """What is missing, by what is there."""
    if not ranks:
        return ["no rank left anything: none loaded the profiler, none called MPI_Init, or no file could be written"]
    size = ranks[0].owner.size
    gone = sorted(set(range(size)) - {each.owner.rank for each in ranks})
    found = []
    if gone:
        found.append(
            f"{_ranks(gone)} left no file (killed before MPI_Init had ended, or no file could be written); what "
            "others waited for is not known"
        )
    for state, text in (
        (image.ABORTED, "called MPI_Abort"),
        (image.RUNNING, "ended without MPI_Finalize (killed, exited, or became another program)"),
    ):
        those = [each for each in ranks if each.state == state]
        if those:
            longest = max(_seconds_between(each, each.begin, each.last) for each in those)
            found.append(
                f"{_ranks([each.owner.rank for each in those])} {text}, {longest:.3g} s after MPI_Init at the last "
                "call that is here"
            )
    if others and all(each.owner.size == 1 for each in [*ranks, *others]):
        found.append(
            f"{len(others) + 1} processes were each alone in MPI_COMM_WORLD: if they belong together, the launcher is "
            "that of another MPI library; this profile has one of them"
        )
    elif others:
        processes = "1 process" if len(others) == 1 else f"{len(others)} processes"
        worlds = len({each.owner.world for each in others})
        which = "another MPI_COMM_WORLD" if worlds == 1 else f"{worlds} other MPI_COMM_WORLDs"
        found.append(f"{processes} of {which} (spawned, or begun later): not in this profile")
    lost = max(each.calls_without_line for each in ranks)
    if lost:
        found.append(
            f"up to {lost} calls of collectives on a rank are counted by function only, as other MPI: there were more "
            f"than {image.LINES} kinds"
        )
    if any(len(each.communicators) == image.COMMUNICATORS for each in ranks):
        found.append(
            f"a rank used more than {image.COMMUNICATORS - 1} kinds of communicators: nothing is known of the others, "
            "and nothing predicted of calls on them"
        )
    if any(each.texts_without_place for each in ranks):
        found.append(
            f"on a rank, all names together have more than {image.TEXTS // 1024} KiB: some call sites or communicators "
            "have none"
        )
    if any(each.instances_without_place for each in ranks):
        found.append(
            f"a rank used more than {image.INSTANCES} communicators: calls on the others are counted, and not split "
            "into waiting and moving"
        )
    if any(each.samples_without_place for each in ranks):
        found.append(
            "there was no space for more samples: later calls are split into waiting and moving as earlier ones"
        )
    return found


def _persistent(functions: Iterable[profile.Function]) -> list[str]:
    """What to know of persistent collectives, if there are any."""
    made = [each.name for each in functions if PERSISTENT.fullmatch(each.name)]
    if not made:
        return []
    return [
        f"persistent collectives ({', '.join(sorted(made))}) have no lines: their time is in MPI_Start and MPI_Wait "
        "and their like, among the other functions of MPI"
    ]


def _ranks(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")
    return f"rank {shown}" if len(numbers) == 1 else f"{len(numbers)} ranks ({shown})"


def _rate(each: Image) -> float:
    """Seconds of a tick. Of a file that says no more, a tick is a nanosecond: it was not begun."""
    ticks = each.later_moment.ticks - each.first_moment.ticks
    nanoseconds = each.later_moment.nanoseconds - each.first_moment.nanoseconds
    return nanoseconds / ticks * 1e-9 if ticks > 0 else 1e-9


def _seconds_between(each: Image, begin: int, end: int) -> float:
    return max(end - begin, 0) * _rate(each)


class _Clocks:
    """One clock for all ranks: that of rank 0's machine. Seconds."""

    def __init__(self, ranks: Sequence[Image]) -> None:
        self.error = 0.0
        self.missing: list[str] = []
        machines: dict[int, list[Image]] = defaultdict(list)
        for each in ranks:
            machines[each.owner.machine].append(each)
        self._of_machine = {}
        for machine, theirs in machines.items():
            # Ranks of a machine have the same ticks: the one that was there longest knows best what a tick is.
            longest = max(theirs, key=lambda each: each.later_moment.ticks - each.first_moment.ticks)
            leader = next((each for each in theirs if each.owner.rank == machine), None)
            self._of_machine[machine] = (longest.first_moment, _rate(longest), leader.offsets if leader else [])
        if len(machines) > 1:
            self._judge(machines)

    def _judge(self, machines: dict[int, list[Image]]) -> None:
        offsets = [self._of_machine[machine][2] for machine in machines if machine != 0]
        self.error = max((each.error for some in offsets for each in some), default=0) * 1e-9
        if any(len(some) < 2 for some in offsets):
            self.missing.append(
                "the machines' clocks were compared at MPI_Init only: waiting is as uncertain as they drifted since"
            )
        if any(not some for some in offsets):
            self.missing.append("of a machine nobody knows what its clock shows beside the others'")

    def seconds(self, each: Image, tick: int) -> float:
        """A tick of a rank, on the common clock."""
        first, rate, offsets = self._of_machine[each.owner.machine]
        nanoseconds = first.nanoseconds + (tick - first.ticks) * rate * 1e9
        if not offsets or each.owner.machine == 0:
            return nanoseconds * 1e-9
        begin, end = offsets[0], offsets[-1]
        share = (nanoseconds - begin.when) / (end.when - begin.when) if end.when > begin.when else 0.0
        return (nanoseconds + begin.nanoseconds + share * (end.nanoseconds - begin.nanoseconds)) * 1e-9


@dataclass
class _Together:
    """A line, with what each rank has of it."""

    first: image.Line
    communicator: int
    site: int
    shares: dict[int, profile.Share] = field(default_factory=dict)
    bytes: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    ranges: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Bytes of the shortest and the longest vector."""

    def lengths(self, name: str) -> tuple[int, int]:
        """Of the whole vectors: where only the root knows them, its own."""
        if name.removesuffix("_c").lower().endswith(("gatherv", "scatterv")) and "all" not in name.lower():
            return self.ranges[max(self.bytes, key=self.bytes.__getitem__)]
        return min(low for low, _ in self.ranges.values()), max(high for _, high in self.ranges.values())


class _Merger:
    """Ranks' tables to those of all."""

    def __init__(self, ranks: Sequence[Image]) -> None:
        self.images = ranks
        self.clocks = _Clocks(ranks)
        self.size = ranks[0].owner.size if ranks else 0
        nodes: dict[int, str] = {}
        for each in ranks:
            nodes.setdefault(each.owner.node, each.owner.host)
        self.nodes = {node: index for index, node in enumerate(sorted(nodes))}
        self.hosts = [nodes[node] for node in self.nodes]
        self.communicators: list[profile.Communicator] = []
        self._communicators: dict[tuple, int] = {}
        self.sites: list[image.Site] = []
        """Those that lines speak of."""
        self._sites: dict[image.Site, int] = {}
        self._collectives = {each["name"] for each in _core.collectives()}
        self._number_communicators()

    def _number_communicators(self) -> None:
        numbers: dict[tuple, int] = defaultdict(int)
        for each in self.images:
            used = {line.communicator for line in each.lines}
            for position, some in enumerate(each.communicators):
                if some.number > 0 or position in used:  # else it has another name now
                    numbers[some[:5]] += some.number
        for key, number in numbers.items():
            self._communicators[key] = len(self.communicators)
            # Each of its ranks has counted it.
            self.communicators.append(profile.Communicator(*key, number=max(round(number / max(key[2], 1)), 1)))

    def _site(self, each: Image, number: int) -> int:
        site = each.sites[number] if number < len(each.sites) else SITE_UNKNOWN
        if site not in self._sites:
            self._sites[site] = len(self.sites)
            self.sites.append(site)
        return self._sites[site]

    def ranks(self) -> list[profile.Rank]:
        """Of all ranks, also those without a file: others speak of them by their numbers."""
        found = [profile.Rank(0, 0.0, 0.0, profile.CUT_OFF) for _ in range(self.size)]
        for each in self.images:
            ticks = sum(some.ticks for some in each.functions)
            ticks += sum(some.ticks + some.completing for some in each.lines)
            found[each.owner.rank] = profile.Rank(
                node=self.nodes[each.owner.node],
                run=_seconds_between(each, each.begin, each.last),
                in_mpi=ticks * _rate(each),
                ended=ENDINGS[each.state],
            )
        return found

    def functions(self) -> list[profile.Function]:
        found: dict[str, profile.Function] = {}
        for each in self.images:
            rate = _rate(each)
            for some in each.functions:
                if some.calls == 0:
                    continue
                function = found.setdefault(some.name, profile.Function(some.name, 0, [0.0] * self.size))
                function.calls += some.calls
                function.bytes += some.bytes
                function.seconds[each.owner.rank] += some.ticks * rate
        return sorted(found.values(), key=lambda function: -sum(function.seconds))

    def lines(self) -> list[profile.Line]:
        together: dict[tuple, _Together] = {}
        sampled = compared(self.images, self.clocks.seconds)
        for each in self.images:
            rate = _rate(each)
            for number, line in enumerate(each.lines):
                if line.calls == 0:
                    continue
                communicator = self._communicators[each.communicators[line.communicator][:5]]
                site = self._site(each, line.site)
                name = each.functions[line.function].name
                key = (name, communicator, site, line.size_class, *line[4:9])
                some = together.setdefault(key, _Together(line, communicator, site))
                some.bytes[each.owner.rank] += line.bytes
                low, high = some.ranges.get(each.owner.rank, (line.smallest, line.largest))
                some.ranges[each.owner.rank] = min(low, line.smallest), max(high, line.largest)
                share = some.shares.setdefault(each.owner.rank, profile.Share(each.owner.rank, 0, 0.0, None, None, 0))
                _add(share, line, rate, sampled.get((each.owner.rank, number)))
        found = [self._line(key[0], some) for key, some in together.items()]
        return sorted(found, key=lambda line: -sum(share.seconds for share in line.shares))

    def _line(self, name: str, some: _Together) -> profile.Line:
        collective = _collective_of(name)
        smallest, largest = some.lengths(name)
        return profile.Line(
            function=name,
            collective=collective if collective in self._collectives else "",
            communicator=some.communicator,
            site=some.site,
            root=some.first.root if some.first.root >= 0 else None,
            operator=some.first.op,
            commutative=some.first.commutative,
            datatype=some.first.datatype,
            element=some.first.element,
            smallest=smallest,
            largest=largest,
            bytes=max(some.bytes.values()),
            calls=max(share.calls for share in some.shares.values()),
            shares=[some.shares[rank] for rank in sorted(some.shares)],
        )


def _add(share: profile.Share, line: image.Line, rate: float, sampled: Sampled | None) -> None:
    """Adds a rank's line, split as its sampled calls are."""
    seconds = line.ticks * rate
    share.calls += line.calls
    share.seconds += seconds + line.completing * rate
    share.completing += line.completing * rate
    if sampled is not None and sampled.seconds > 0:
        part = sampled.waiting / sampled.seconds
        share.waiting = (share.waiting or 0.0) + part * seconds
        share.moving = (share.moving or 0.0) + (1 - part) * seconds
        share.critical = (share.critical or 0.0) + sampled.critical / sampled.seconds * seconds
        share.sampled += sampled.calls


def _collective_of(function: str) -> str:
    """As `rondo list` has it; empty of what Rondo leaves alone."""
    name = function.removeprefix("MPI_").removesuffix("_c").lower()
    renamed = {each.lower(): collective for collective, several in forms.SEVERAL.items() for each in several}
    return renamed.get(name, name)
