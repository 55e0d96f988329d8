# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo bench` shall measure: read from what users write, checked before anything starts, told to the driver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rondo import _core, forms
from rondo.bench.results import EQUAL, NATIVE
from rondo.cluster import shapes
from rondo.errors import Error
from rondo.forms import BLOCKING

# What the driver can call (apps/bench/collectives.cpp): whether it takes an operator.
COLLECTIVES = {
    "exscan": True,
    "scan": True,
    "allreduce": True,
    "reduce_scatter": True,
    "allgather": False,
    "alltoall": False,
    "gather": False,
    "scatter": False,
    "reduce": True,
    "bcast": False,
    "barrier": False,
}
OF_LOCAL_LENGTHS = ("alltoallv", "gatherv", "scatterv")
"""As well, where each part has a length of its own. No rule may ask for their bytes, so nobody tunes them by length."""
WITHOUT_DATA = ("barrier",)
"""Of no elements, whatever counts are asked for."""
DIVIDED = ("reduce_scatter", "allgather", "alltoall", "gather", "scatter", *OF_LOCAL_LENGTHS)
"""Where a call's count is of the part of one rank; the whole vector has as many parts as there are ranks."""
PATTERNS = ("ping_pong", "incast", "ring_shift", "half_shift", "stream", "reduce_local", "first_pass", "second_pass")
"""Traffic, to see what a network does: no collectives, so there are no algorithms."""
MEASURED = (*COLLECTIVES, *OF_LOCAL_LENGTHS, *PATTERNS)
PAIR_TYPES = {"float_int": 8, "double_int": 12, "long_int": 12, "2int": 8}
TYPES = {"int": 4, "long": 8, "float": 4, "double": 8, **PAIR_TYPES}
"""Bytes of data in an element."""
BIT_OPERATORS = ("bxor", "bor")
PAIR_OPERATORS = ("maxloc", "minloc")
OPERATORS = ("sum", *BIT_OPERATORS, "max", "min", *PAIR_OPERATORS)
PARTS = (EQUAL, "skewed", "uniform", "normal", "heavy", "sparse")
"""How a vector is divided, where a call says the length of each part (apps/bench/division.hpp)."""
FORMS = {**{each: (each,) for each in forms.FORMS}, "all": forms.FORMS}
PIECES = 100
"""Of what is computed beside a call, if nothing else is said."""
STARTS = {"clock": ("clock",), "barrier": ("barrier",), "both": ("clock", "barrier")}

MOST_ELEMENTS = 2**31 - 1
MOST_PROCESSES = 1 << 20
MOST_PIECES = 10**6
MOST_COMPUTING = 60
SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
EXPECTED_COUNTS = (
    "expected numbers of elements as in 1,10,64Ki, or a range as in 1:100000 (1 2 5 10 20 ...) or "
    "1:100000:decades (1 10 100 ...)"
)


@dataclass(frozen=True)
class Plan:
    """A measurement that can be made, as far as can be known before it starts. `make` checks and makes it."""

    collective: str
    candidates: tuple[str, ...]
    """"native", or algorithms with parameters as given."""
    counts: tuple[int, ...]
    type: str
    operator: str
    """Empty where nothing is reduced."""
    starts: tuple[str, ...]
    repetitions: int
    warmup: int
    seconds: float
    seed: int
    learned_clock: bool = False
    parts: str = EQUAL
    forms: tuple[str, ...] = (BLOCKING,)
    pieces: int = 0
    """Of what the program computes beside each call that is not blocking, once more after it alone; 0: nothing."""
    computing: float = 0.0
    """Seconds of that; 0: as many as the call took alone."""
    left_out: frozenset[tuple[int, str]] = frozenset()
    """Counts, and candidates that are not measured with them."""

    @property
    def needs_rondo(self) -> bool:
        """Whether a candidate is Rondo's."""
        return any(each != NATIVE for each in self.candidates)

    @property
    def instructions(self) -> dict[str, str] | None:
        """Variables for Rondo, if a candidate is Rondo's: an algorithm on nodes makes it find out where ranks are.

        It does so under the default rules, too. Candidates are chosen later, in the program.
        """
        if not self.needs_rondo:
            return None
        on_nodes = [each["name"] for each in _core.algorithms(self.collective) if each["uses_nodes"]]
        return {f"RONDO_{self.collective.upper()}": on_nodes[0]} if on_nodes else {}

    @property
    def configurations(self) -> int:
        """How many there are to measure."""
        return (len(self.candidates) * len(self.counts) - len(self.left_out)) * self.ways

    @property
    def ways(self) -> int:
        """Configurations of a candidate with one count."""
        return len(self.starts) * len(self.forms)

    def text(self) -> str:
        """As the driver reads it (apps/bench/plan.cpp)."""
        lines = [f"collective {self.collective}", f"type {self.type}"]
        lines += [f"operator {self.operator}"] if self.operator else []
        lines += [f"parts {self.parts}"] if self.parts != EQUAL else []
        lines += [f"candidate {each}" for each in self.candidates]
        lines += [f"count {each}" for each in self.counts]
        lines += [f"without {count} {candidate}" for count, candidate in sorted(self.left_out)]
        lines += [f"form {each}" for each in self.forms]
        lines += [f"pieces {self.pieces}", f"computing {self.computing:g}"] if self.pieces else []
        lines += [f"start {each}" for each in self.starts]
        lines += [f"repetitions {self.repetitions}", f"warmup {self.warmup}", f"seconds {self.seconds:g}"]
        lines += [f"seed {self.seed}", f"clock {'learned' if self.learned_clock else 'auto'}"]
        return "\n".join(lines) + "\n"


def make(
    collective: str,
    *,
    algorithms: Sequence[str] = (),
    counts: str = "1:100000",
    type_name: str = "long",
    operator: str = "sum",
    start: str = "clock",
    repetitions: int = 30,
    warmup: int = 2,
    seconds: float = 60.0,
    seed: int = 1,
    learned_clock: bool = False,
    parts: str = EQUAL,
    form: str = BLOCKING,
    overlap: bool = False,
    computing: str | None = None,
    pieces: int | None = None,
) -> Plan:
    """A plan from what users write; no algorithms: native and all that there are. Error for what is wrong in it."""
    if collective not in MEASURED:
        raise Error(f"cannot measure {collective!r}; {suggestion(collective, MEASURED)}")
    if type_name not in TYPES:
        raise Error(f"unknown type {type_name!r}; {suggestion(type_name, TYPES)}")
    if operator not in OPERATORS:
        raise Error(f"unknown operator {operator!r}; {suggestion(operator, OPERATORS)}")
    reduces = COLLECTIVES.get(collective, False)
    if reduces:
        _check_operator(operator, type_name)
    if parts not in PARTS:
        raise Error(f"unknown parts {parts!r}; {suggestion(parts, PARTS)}")
    if parts != EQUAL and collective not in OF_LOCAL_LENGTHS:
        raise Error(f"the parts of {collective} are equal; expected {', '.join(OF_LOCAL_LENGTHS)} for {parts} ones")
    if start not in STARTS:
        raise Error(f"unknown way to start {start!r}; {suggestion(start, STARTS)}")
    if form not in FORMS:
        raise Error(f"unknown form {form!r}; {suggestion(form, FORMS)}")
    if form != BLOCKING and collective in PATTERNS:
        raise Error(f"{collective} is no collective, and has one form alone; leave out --form {form}")
    pieces, seconds_computing = _overlap(form, overlap, computing, pieces)
    if repetitions < 1 or warmup < 0 or not seconds > 0 or seed < 0:
        raise Error("expected at least one repetition, a time of more than 0 seconds, no negative warm-up or seed")
    return Plan(
        collective,
        candidates_of(collective, algorithms),
        counts_of(counts) if collective not in WITHOUT_DATA else (0,),
        type_name,
        operator if reduces else "",
        STARTS[start],
        repetitions,
        warmup,
        seconds,
        seed,
        learned_clock,
        parts,
        FORMS[form],
        pieces,
        seconds_computing,
    )


def _overlap(form: str, overlap: bool, computing: str | None, pieces: int | None) -> tuple[int, float]:
    """Pieces and seconds of what is computed; Error if nothing can be, or if it shall not be."""
    if not overlap:
        if computing is not None or pieces is not None:
            raise Error("--computing and --pieces go with --overlap")
        return 0, 0.0
    if form == BLOCKING:
        raise Error("--overlap: nothing overlaps with a blocking call; add --form nonblocking, persistent or all")
    if pieces is not None and not 1 <= pieces <= MOST_PIECES:
        raise Error(f"--pieces {pieces}: expected 1 to {MOST_PIECES}")
    seconds = shapes.time(computing, "computing") if computing is not None else 0.0
    if computing is not None and not 0 < seconds <= MOST_COMPUTING:
        raise Error(f"--computing {computing}: expected more than 0s, and at most {MOST_COMPUTING}s")
    return PIECES if pieces is None else pieces, seconds


def suggestion(word: str, known: Iterable[str]) -> str:
    """What was meant instead, perhaps."""
    names = list(known)
    bare = word.lower().removeprefix("mpi_")  # people write the name of the function: MPI_Exscan
    nearest = [bare] if bare in names else _core.nearest(bare, names)
    return f"did you mean {' or '.join(nearest)}?" if nearest else f"expected one of: {', '.join(names)}"


def _check_operator(operator: str, type_name: str) -> None:
    """Error if MPI does not define the operator on the type."""
    undefined = f"MPI defines no {operator} of type {type_name}; expected"
    if type_name in PAIR_TYPES and operator not in PAIR_OPERATORS:
        raise Error(f"{undefined} --op {' or '.join(PAIR_OPERATORS)}")
    if operator in PAIR_OPERATORS and type_name not in PAIR_TYPES:
        raise Error(f"{undefined} one of the pairs {', '.join(PAIR_TYPES)}")
    if operator in BIT_OPERATORS and type_name not in ("int", "long"):
        raise Error(f"{undefined} int or long, or sum, max or min")


def split_algorithms(text: str) -> list[str]:
    """The algorithms of a list with commas, which also stand between an algorithm's own settings."""
    found: list[str] = []
    for part in text.split(",") if text else []:
        if found and "=" in part and ":" not in part:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def candidates_of(collective: str, algorithms: Sequence[str]) -> tuple[str, ...]:
    """The candidates, in the order given; Error if one is unknown, or is there twice."""
    has_algorithms = collective in {each["name"] for each in _core.collectives()}
    if not algorithms:
        known = [each["name"] for each in _core.algorithms(collective)] if has_algorithms else []
        return (NATIVE, *known)
    checked: dict[str, str] = {}
    for algorithm in (each.strip() for each in algorithms):
        if algorithm != NATIVE and not has_algorithms:
            raise Error(f"Rondo has no algorithms for {collective}, so no {algorithm!r}; expected native alone")
        try:
            complete = _core.check_choice(collective, algorithm) if algorithm != NATIVE else NATIVE
        except ValueError as error:
            raise Error(f"cannot measure {algorithm!r}: {error}") from None
        if complete in checked:
            raise Error(f"{algorithm} and {checked[complete]} are the same ({complete}); name it once")
        checked[complete] = algorithm
    return tuple(checked.values())


def counts_of(text: str) -> tuple[int, ...]:
    """The numbers of elements, rising. Error if the text says none."""
    found: set[int] = set()
    for part in text.split(","):
        ends = part.split(":")
        if len(ends) == 1:
            found.add(_count(part, text))
        elif len(ends) == 2 or (len(ends) == 3 and ends[2] == "decades"):
            found.update(_range(_count(ends[0], text), _count(ends[1], text), (1, 2, 5) if len(ends) == 2 else (1,)))
        else:
            raise Error(f"counts {text!r}: cannot read {part!r}; {EXPECTED_COUNTS}")
    return tuple(sorted(found))


def processes_of(text: str) -> tuple[int, ...]:
    """Rising numbers of processes, of a text like 2..36 or 2,3,4,8..16; Error if it says none."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\s*\.\.\s*(\d+))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 2 <= first <= last <= MOST_PROCESSES:
            raise Error(
                f"processes {text!r}: cannot take {part.strip()!r}; expected numbers from 2 on, as in 2..36 or 2,3,4,8"
            )
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def single_number(processes: str | None) -> int | None:
    """The number of processes of a measurement that is no map, if one was asked for; Error if it is not one."""
    numbers = processes_of(processes) if processes is not None else ()
    if len(numbers) > 1:
        raise Error(f"--processes {processes}: several numbers make a map; add --map, or name one")
    return numbers[0] if numbers else None


def _count(word: str, text: str) -> int:
    match = re.fullmatch(r"\s*(\d+)(k|M|G|Ki|Mi|Gi|)\s*", word)
    if match is None:
        raise Error(f"counts {text!r}: cannot read {word!r}; {EXPECTED_COUNTS}")
    value = int(match[1]) * SUFFIXES[match[2]]
    if not 1 <= value <= MOST_ELEMENTS:
        raise Error(f"counts {text!r}: {word} is out of range; expected 1 to {MOST_ELEMENTS}")
    return value


def _range(first: int, last: int, digits: Sequence[int]) -> list[int]:
    if first > last:
        raise Error(f"counts {first}:{last}: the range is empty; expected the smaller number first")
    steps = [digit * 10**power for power in range(len(str(last))) for digit in digits]
    return [first, *(each for each in steps if first < each < last), last]
