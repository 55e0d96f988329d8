# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmark driver writes while it measures (apps/bench/records.hpp), collected into results."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rondo.bench import results
from rondo.bench.plans import Plan
from rondo.bench.results import Configuration, Machine, Network, Repetition
from rondo.errors import Error
from rondo.forms import BLOCKING

WARMUP = "warmup"


class EnvironmentRecord(Machine, tag_field="kind", tag="environment"):
    """Where the ranks run."""

    shared_memory: int = 0
    """1: Rondo's messages inside nodes go through memory that their ranks share."""
    domains: int = 1
    """Of the only node, to which its ranks are bound."""
    computing: str = ""


class NetworkRecord(Network, tag_field="kind", tag="network"):
    """What a ping-pong says."""


class ConfigurationRecord(msgspec.Struct, tag_field="kind", tag="configuration"):
    """A configuration that is measured from now on."""

    id: int
    candidate: str
    form: str
    start: str
    count: int
    bytes: int
    bus_factor: float


class RepetitionRecord(msgspec.Struct, tag_field="kind", tag="repetition"):
    """One repetition, or a warm-up."""

    id: int
    seconds: float
    mean: float
    fastest: float
    skew: float
    state: str
    wrong: int
    computing: float = 0.0
    overlapped: float = 0.0


class RefusedRecord(msgspec.Struct, tag_field="kind", tag="refused"):
    """A candidate, or one of its configurations, that Rondo would not serve."""

    reason: str
    candidate: str = ""
    id: int = -1


class EndRecord(msgspec.Struct, tag_field="kind", tag="end"):
    """Everything has been measured."""

    retransmissions: int
    dropped: int
    clock_error: float
    true_clock_error: float | None = None


Record = EnvironmentRecord | NetworkRecord | ConfigurationRecord | RepetitionRecord | RefusedRecord | EndRecord


class Collector:
    """Reads the records of a run, also while it goes on."""

    def __init__(self, path: Path, plan: Plan) -> None:
        """Of a driver that writes to `path`, where nothing may be yet."""
        self.plan = plan
        self.machine: Machine | None = None
        self.shared_memory = False
        self.domains = 1
        self.computing = ""
        self.network: Network | None = None
        self.end: EndRecord | None = None
        self.refusals: dict[str, str] = {}
        """Candidate, with its count if it is about that alone -> reason."""
        self.wrong_warmups = 0
        self.current: Configuration | None = None
        """That of the latest repetition."""
        self._path = path
        self._position = 0
        self._configurations: dict[int, Configuration] = {}
        self._refused: set[int] = set()
        self._decoder = msgspec.json.Decoder(Record)

    def read(self) -> None:
        """Takes in what is new. A line that is not complete yet, or for ever, is left."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                new = file.read()
        except FileNotFoundError:
            return
        complete, newline, _ = new.rpartition(b"\n")
        self._position += len(complete) + len(newline)
        for line in complete.splitlines():
            try:
                self._take(self._decoder.decode(line))
            except msgspec.DecodeError as error:
                raise Error(f"the benchmark driver wrote what cannot be read: {line[:200]!r}: {error}") from None

    def configurations(self) -> list[Configuration]:
        """Those of which there is at least one repetition."""
        return [each for key, each in self._configurations.items() if each.repetitions and key not in self._refused]

    def _take(self, record: Record) -> None:
        match record:
            case EnvironmentRecord():
                self.machine = Machine(**{name: getattr(record, name) for name in Machine.__struct_fields__})
                self.shared_memory = record.shared_memory != 0
                self.domains = record.domains
                self.computing = record.computing
            case NetworkRecord():
                self.network = Network(**msgspec.structs.asdict(record))
            case ConfigurationRecord():
                self._configurations[record.id] = self._configuration(record)
            case RepetitionRecord():
                self._take_repetition(record)
            case RefusedRecord():
                self._take_refusal(record)
            case EndRecord():
                self.end = record

    def _configuration(self, record: ConfigurationRecord) -> Configuration:
        algorithm, _, parameters = record.candidate.partition(":")
        return Configuration(
            collective=self.plan.collective,
            algorithm=algorithm,
            parameters=parameters,
            start=record.start,
            count=record.count,
            bytes=record.bytes,
            type=self.plan.type,
            operator=self.plan.operator,
            bus_factor=record.bus_factor,
            repetitions=[],
            parts=self.plan.parts,
            form=record.form,
            pieces=self.plan.pieces if record.form != BLOCKING else 0,
        )

    def _take_repetition(self, record: RepetitionRecord) -> None:
        self.current = self._configurations[record.id]
        if record.state == WARMUP:
            self.wrong_warmups += record.wrong > 0
            return
        assert record.state in (results.VALID, results.LATE, results.DISTURBED)
        repetition = Repetition(*(getattr(record, name) for name in Repetition.__struct_fields__))
        self.current.repetitions.append(repetition)

    def _take_refusal(self, record: RefusedRecord) -> None:
        if record.id < 0:
            self.refusals[record.candidate] = record.reason
            return
        self._refused.add(record.id)
        configuration = self._configurations[record.id]
        form = f"{configuration.form}, " if configuration.form != BLOCKING else ""
        self.refusals[f"{configuration.label}, {form}count {configuration.count}"] = record.reason
