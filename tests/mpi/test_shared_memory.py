# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks of a node through memory that they share. test_results.py has every algorithm's results."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from launching import Run
from mpi_libraries import (
    FORCED,
    FORCED_ALL_TO_ALL,
    LIBRARIES,
    OF_PARTS,
    ROOT,
    MpiLibrary,
    results_command,
    results_of_data,
)

from rondo import _core

pytestmark = pytest.mark.parallel

ON, OFF = {"RONDO_SHARED_MEMORY": "on"}, {"RONDO_SHARED_MEMORY": "off"}
AUTOMATIC: dict[str, str] = {}
TWO_LIBRARIES = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
ALL = FORCED | FORCED_ALL_TO_ALL


def carried(run: Run) -> list[tuple[int, int]]:
    """For each rank, how many messages the library had, and how many regions were mapped."""
    lines = sorted(
        tuple(map(int, each)) for each in re.findall(r"^carried (\d+) (\d+) (\d+)$", run.stdout, re.MULTILINE)
    )
    assert [rank for rank, _, _ in lines] == list(range(len(lines)))
    return [(messages, regions) for _, messages, regions in lines]


def counted(mpi: MpiLibrary, command: list[object], ranks: int, variables: Mapping[str, str], **forced: str) -> Run:
    counter = mpi.compile("message_counter.c", "-shared", "-fPIC", "-ldl")
    environment = {"LD_PRELOAD": f"{{rondo}}:{counter}", **variables}
    return mpi.run_under_rondo(command, ranks, environment=environment, timeout=200, **forced).check()


@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_messages_go_through_shared_memory_if_asked(mpi: MpiLibrary) -> None:
    program = mpi.compile("profiled.c")
    off = carried(counted(mpi, [program], 3, OFF, **FORCED))
    assert sum(messages for messages, _ in off) > 0
    assert [regions for _, regions in off] == [0, 0, 0]
    assert carried(counted(mpi, [program], 3, ON, **FORCED)) == [(0, 3)] * 3


# A broadcast has a message for each rank but the root. The program broadcasts a vector of longs and an int in turn.
@TWO_LIBRARIES
@pytest.mark.parametrize("elements", ["1", "20000"])
def test_the_report_says_what_went_through_shared_memory(mpi: MpiLibrary, elements: str) -> None:
    command = [mpi.compile("struck_rank.c"), "none", elements]
    run = mpi.run_under_rondo(command, 3, environment=ON, bcast="binomial").check()
    sent = [rank["shared_memory"] for rank in run.report.ranks]
    calls = run.report.calls("bcast")["binomial"] // 3
    assert sum(each["messages"] for each in sent) == 2 * calls
    assert sum(each["bytes"] for each in sent) == calls * (8 * int(elements) + 4)


# What the rules leave alone between two ranks of a node: what libraries do as fast that read in the other process. None
# of it is short.
@TWO_LIBRARIES
@pytest.mark.parametrize("sharing", [True, False], ids=["sharing", "not sharing"])
@pytest.mark.parametrize("collective", ALL)
def test_the_default_rules_serve_two_ranks_that_share_memory(mpi: MpiLibrary, collective: str, sharing: bool) -> None:
    program = "results_of_parts.cpp" if collective in OF_PARTS else "results.cpp"
    command = [mpi.compile(program), collective, "100", "brief", "tame"]
    rules = {"RONDO_RULES": str(ROOT / "tuning" / "default.rules")}
    run = mpi.run_under_rondo(command, 2, environment={**rules, **(ON if sharing else OFF)}).check()
    served = {name for name, calls in run.report.calls(collective).items() if calls > 0} - {"native"}
    entries = [each for rank in run.report.ranks for each in rank["entries"] if each["collective"] == collective]
    left = [each for entry in entries if entry["reason"] in ("chosen", "no rule") for each in entry["classes"]]
    sent = sum(rank.get("shared_memory", {"messages": 0})["messages"] for rank in run.report.ranks)
    if sharing and not collective.startswith("alltoall") and (mpi.name, collective) != ("openmpi", "allgather"):
        assert len(served) == 1 and all(each["smallest"] > 1024 for each in left) and sent > 0
    else:
        assert not served and left and sent == 0


EVERY_ALGORITHM = [
    (collective["name"], each["name"])
    for collective in _core.collectives()
    for each in _core.algorithms(collective["name"])
]
# The five ranks on each node, of two that MPICH makes up: dealt out in turn, or one node after the other.
RANKS_ON = {"dealt out": [3, 2, 3, 2, 3], "in blocks": [3, 3, 3, 2, 2]}
# Where ranks are dealt out, these only send to ranks of the other node.
ONLY_TO_NEXT = {(each, name) for each in ("exscan", "scan") for name in ("full_lane", "leaders", "linear_pipeline")}


def check_command(mpi: MpiLibrary, collective: str) -> list[object]:
    return [mpi.compile("barriers.c")] if collective == "barrier" else results_command(mpi, collective)


@functools.cache
def native_results(name: str, collective: str) -> dict[str, str]:
    mpi = LIBRARIES[name]
    return results_of_data(mpi.run(check_command(mpi, collective), 5, timeout=200).check().stdout)


# Every second one, in turn on the one nodes and the other; all on both in `make soak`.
@pytest.mark.parametrize(
    ("collective", "algorithm", "nodes"),
    [
        pytest.param(
            *each, nodes, marks=[] if i % 2 == 0 and (nodes == "in blocks") == is_in_blocks else pytest.mark.soak
        )
        for i, each in enumerate(EVERY_ALGORITHM)
        for is_in_blocks in [i % 4 == 2 or each in ONLY_TO_NEXT]
        for nodes in RANKS_ON
    ],
)
@MPICH
def test_every_algorithm_goes_both_ways_in_one_call(
    mpi: MpiLibrary, collective: str, algorithm: str, nodes: str
) -> None:
    where = {**ON, "MPIR_CVAR_NUM_CLIQUES": "2", "MPIR_CVAR_CLIQUES_BY_BLOCK": str(int(nodes == "in blocks"))}
    run = counted(mpi, check_command(mpi, collective), 5, where, **{collective: algorithm})
    native = native_results(mpi.name, collective)
    found = results_of_data(run.stdout)
    assert {name: found.get(name) for name in native} == native
    check_served(run, collective, algorithm)
    assert [regions for _, regions in carried(run)] == RANKS_ON[nodes]
    assert sum(messages for messages, _ in carried(run)) > 0
    shared = sum(rank["shared_memory"]["messages"] for rank in run.report.ranks)
    assert shared > 0 or (nodes == "dealt out" and (collective, algorithm) in ONLY_TO_NEXT)


def check_served(run: Run, collective: str, algorithm: str) -> None:
    """By the algorithm, but for calls that it refuses on such nodes, and those that have nothing to do."""
    requirements = next(each["requirements"] for each in _core.algorithms(collective) if each["name"] == algorithm)
    others = {"unusual datatype", "one process", "empty", "inter-communicator"}
    allowed = others | {f"{algorithm} needs {each}" for each in requirements}
    assert run.report.native_reasons(collective).keys() <= allowed
    assert run.report.calls(collective)[algorithm] > 0


# Those that cannot have a region say so once; who is left shares memory, or nobody.
@TWO_LIBRARIES
@pytest.mark.parametrize("refused", [[1], [0, 1, 2]])
def test_ranks_without_shared_memory_send_messages_of_the_library(
    mpi: MpiLibrary, refused: list[int], tmp_path: Path
) -> None:
    limited = tmp_path / "limited.sh"
    limited.write_text(
        "#!/bin/bash\n"
        'case " $REFUSED " in *" ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} "*) ulimit -f 100000;; esac\n'
        'exec "$@"\n'
    )
    variables = {**ON, "REFUSED": " ".join(map(str, refused))}
    run = counted(mpi, ["/bin/bash", limited, mpi.compile("profiled.c")], 3, variables, **FORCED)
    said = [line for line in run.stderr.splitlines() if line.startswith("rondo: ")]
    assert len(said) == 1, run.stderr
    assert "RONDO_SHARED_MEMORY: the limit on the size of files" in said[0]
    expected = [0 if rank in refused else 3 - len(refused) for rank in range(3)]
    assert [regions for _, regions in carried(run)] == expected
    assert all(messages > 0 for messages, _ in carried(run))


def refused_to(
    mpi: MpiLibrary, what: str, ranks: list[int], sharing: Mapping[str, str] = ON, processes: int = 3
) -> Run:
    """Some ranks are refused something by the system."""
    refusals = mpi.compile("refusals.c", "-shared", "-fPIC")
    counter = mpi.compile("message_counter.c", "-shared", "-fPIC", "-ldl")
    variables = {
        **sharing,
        "LD_PRELOAD": f"{refusals}:{{rondo}}:{counter}",
        "REFUSED": what,
        "REFUSED_RANKS": f" {' '.join(map(str, ranks))} ",
    }
    command = [mpi.compile("struck_rank.c"), "none", "20000"]
    forced = {"allreduce": "circulant", "bcast": "binomial", "exscan": "doubling_123"}
    return mpi.run_under_rondo(command, processes, environment=variables, **forced).check()


def complaints(run: Run) -> list[str]:
    return [line for line in run.stderr.splitlines() if line.startswith("rondo: RONDO_SHARED_MEMORY: ")]


# Each pair of ranks shares memory both ways, or sends messages of the library both ways.
@TWO_LIBRARIES
@pytest.mark.parametrize("refused", [[1], [0, 1, 2]])
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("memfd_create:EPERM", "no memory to share to be had (memfd_create): Operation not permitted"),
        ("memfd_create:ENOSYS", "no memory to share to be had (memfd_create): Function not implemented"),
        ("mapping", "no room among the addresses for"),
    ],
)
def test_a_rank_that_cannot_share_memory_says_so_and_goes_on(
    mpi: MpiLibrary, what: str, reason: str, refused: list[int]
) -> None:
    run = refused_to(mpi, what, refused)
    assert len(complaints(run)) == 1
    assert f"RONDO_SHARED_MEMORY: {reason}" in complaints(run)[0]
    assert complaints(run)[0].endswith("; messages of the library are used there")
    sharing = 3 - len(refused)
    assert [regions for _, regions in carried(run)] == [0 if rank in refused else sharing for rank in range(3)]
    assert all(messages > 0 for messages, _ in carried(run))


# MPICH itself reads in other processes unless told not to, and ends where it cannot.
@TWO_LIBRARIES
@pytest.mark.parametrize("refused", [[1], [0, 1, 2]])
def test_a_rank_whose_memory_is_hidden_is_sent_messages(
    mpi: MpiLibrary, refused: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPIR_CVAR_CH4_CMA_ENABLE", "0")
    run = refused_to(mpi, "reading", refused)
    assert len(complaints(run)) == 1
    assert re.search(r"the memory of process \d+ is not to be seen in /proc: Permission denied", complaints(run)[0])
    sharing = 3 - len(refused)
    assert [regions for _, regions in carried(run)] == [0 if rank in refused else sharing for rank in range(3)]
    assert all(messages > 0 for messages, _ in carried(run))


# Open MPI itself reads in other processes unless told not to.
@TWO_LIBRARIES
@pytest.mark.parametrize(("refused", "error"), [([1], "EPERM"), ([0, 1], "ENOSYS")])
def test_where_reading_processes_is_forbidden_memory_is_shared_all_the_same(
    mpi: MpiLibrary, error: str, refused: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_smsc", "^cma")
    monkeypatch.setenv("MPIR_CVAR_CH4_CMA_ENABLE", "0")
    run = refused_to(mpi, f"process_vm_readv:{error}", refused, processes=2)
    assert complaints(run) == []
    assert carried(run) == [(0, 2)] * 2


@TWO_LIBRARIES
def test_ranks_that_differ_about_it_are_left_to_the_library(mpi: MpiLibrary, tmp_path: Path) -> None:
    differing = tmp_path / "differing.sh"
    differing.write_text(
        '#!/bin/bash\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && export RONDO_SHARED_MEMORY=on\nexec "$@"\n'
    )
    run = counted(mpi, ["/bin/bash", differing, mpi.compile("profiled.c")], 3, {}, **FORCED)
    assert set(run.report.native_reasons("scan")) == {"the ranks were given different instructions"}
    assert carried(run) == [(0, 0)] * 3


@TWO_LIBRARIES
def test_another_value_is_off(mpi: MpiLibrary) -> None:
    run = counted(mpi, [mpi.compile("profiled.c")], 2, {"RONDO_SHARED_MEMORY": "maybe"}, **FORCED)
    assert run.stderr.count("rondo: RONDO_SHARED_MEMORY: 'maybe' is none of auto, on, off; it is off") == 1
    assert [regions for _, regions in carried(run)] == [0, 0]


# Each on its own communicator, so that a message often stands behind one that another thread asks for.
@TWO_LIBRARIES
@pytest.mark.parametrize(("rounds", "segment"), [(500, ""), (80, ":segment=64")], ids=["short", "pipelines"])
def test_threads_share_memory_at_the_same_time(mpi: MpiLibrary, rounds: int, segment: str) -> None:
    forced = dict.fromkeys(FORCED, f"linear_pipeline{segment}") if segment else FORCED
    run = mpi.run_under_rondo(
        [mpi.compile("threads.cpp"), str(rounds)], 3, environment=ON, timeout=120, **forced
    ).check()
    if "not provided" in run.stdout:
        pytest.skip(f"{mpi.name} was built without MPI_THREAD_MULTIPLE")
    assert run.stdout == "failures 0\n"


# Whoever waits for a message in shared memory must let the library move what the program has under way.
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_messages_of_the_program_go_on_meanwhile(mpi: MpiLibrary) -> None:
    run = counted(mpi, [mpi.compile("messages_meanwhile.c")], 2, ON, allreduce="ring", bcast="binomial")
    assert "wrong 0\n" in run.stdout
    assert carried(run) == [(0, 2)] * 2


@TWO_LIBRARIES
def test_no_process_is_left_where_a_rank_was_killed(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = shutil.copy(mpi.compile("killed_rank.c"), tmp_path)  # which nobody else runs
    run = mpi.run_under_rondo([program], 3, environment=ON, exscan="doubling_123")
    assert not run.timed_out, run.stderr
    assert run.returncode != 0
    running = [each for each in Path("/proc").glob("[0-9]*/cmdline") if str(program) in read(each)]
    assert running == []


def read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.fixture
def one_processor() -> Iterator[None]:
    """All that is started meanwhile has to do with it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


NEEDS_TWO = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")


@NEEDS_TWO
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
@pytest.mark.parametrize("said", ["", "auto"], ids=["nothing said", "auto"])
def test_two_ranks_with_a_processor_each_share_memory_unasked(mpi: MpiLibrary, said: str) -> None:
    variables = {"RONDO_SHARED_MEMORY": said} if said else AUTOMATIC
    run = counted(mpi, [mpi.compile("profiled.c")], 2, variables, **FORCED)
    assert carried(run) == [(0, 2)] * 2
    assert "rondo" not in run.stderr


@TWO_LIBRARIES
@pytest.mark.parametrize("variables", [AUTOMATIC, ON], ids=["unasked", "asked"])
@pytest.mark.usefixtures("one_processor")
def test_ranks_on_one_processor_share_memory_if_asked(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    run = counted(mpi, [mpi.compile("profiled.c")], 2, variables, **FORCED)
    assert [regions for _, regions in carried(run)] == [2 if variables else 0] * 2
    assert complaints(run) == []


# Each rank sees its own; what they are together decides, alike on all.
@NEEDS_TWO
@TWO_LIBRARIES
@pytest.mark.parametrize(("of_one", "shared"), [("first", False), ("second", True), ("both", True)])
def test_ranks_add_up_their_processors(mpi: MpiLibrary, of_one: str, shared: bool, tmp_path: Path) -> None:
    first, second, *_ = sorted(os.sched_getaffinity(0))
    processors = {"first": first, "second": second, "both": f"{first},{second}"}[of_one]
    bound = tmp_path / "bound.sh"
    bound.write_text(
        f'#!/bin/bash\n[ "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = 1 ] && exec taskset -c {processors} "$@"\n'
        f'exec taskset -c {first} "$@"\n'
    )
    run = counted(mpi, ["/bin/bash", bound, mpi.compile("profiled.c")], 2, AUTOMATIC, **FORCED)
    assert [regions for _, regions in carried(run)] == [2 if shared else 0] * 2


# As far as processors go, all could.
@MPICH
@pytest.mark.parametrize(
    ("ranks", "variables", "shared"),
    [
        (3, {}, True),
        (4, {"MPIR_CVAR_NUM_CLIQUES": "2"}, False),  # nodes
        (3, {"RONDO_NODES": "2,1"}, False),
        (3, {"RONDO_NODES": "1x3"}, False),
        (17, {}, False),
        (3, {"ON_THE_FIRST": " 0 "}, True),
        (3, {"ON_THE_FIRST": " 0 1 "}, False),  # though the three have 64 together
    ],
    ids=["one node", "two nodes", "imposed nodes", "one imposed node", "many ranks", "one bound", "two bound alike"],
)
def test_only_few_ranks_of_one_node_share_memory_unasked(
    mpi: MpiLibrary, ranks: int, variables: dict[str, str], shared: bool
) -> None:
    processors = mpi.compile("many_processors.c", "-shared", "-fPIC")
    counter = mpi.compile("message_counter.c", "-shared", "-fPIC", "-ldl")
    environment = {**variables, "LD_PRELOAD": f"{processors}:{{rondo}}:{counter}"}
    command = [mpi.compile("struck_rank.c"), "none", "1"]
    run = mpi.run_under_rondo(command, ranks, environment=environment, bcast="binomial").check()
    assert [regions for _, regions in carried(run)] == [ranks if shared else 0] * ranks
    assert complaints(run) == []


# Those that were spawned compute where those compute that spawned them.
@MPICH
def test_spawned_ranks_do_not_share_memory_unasked(mpi: MpiLibrary) -> None:
    processors = mpi.compile("many_processors.c", "-shared", "-fPIC")
    counter = mpi.compile("message_counter.c", "-shared", "-fPIC", "-ldl")
    for variables, regions in ((AUTOMATIC, "0"), (ON, "2")):
        environment = {**variables, "LD_PRELOAD": f"{processors}:{{rondo}}:{counter}"}
        run = mpi.run_under_rondo([mpi.compile("spawning.c"), "2"], 1, environment=environment).check()
        assert sorted(re.findall(r"^carried (\d+) \d+ (\d+)$", run.stdout, re.MULTILINE)) == [
            ("0", "0"), ("0", regions), ("1", regions)
        ]  # fmt: skip


# There each region takes addresses that the program may need, however little of it is memory.
@NEEDS_TWO
@TWO_LIBRARIES
@pytest.mark.parametrize("variables", [AUTOMATIC, ON], ids=["unasked", "asked"])
def test_ranks_with_few_addresses_share_memory_if_asked(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    command = ["/bin/bash", "-c", 'ulimit -v 8000000; exec "$@"', "-", mpi.compile("profiled.c")]
    run = counted(mpi, command, 2, variables, **FORCED)
    assert [regions for _, regions in carried(run)] == [2 if variables else 0] * 2
    assert complaints(run) == []


# Ranks that decided by their own answers would wait for each other.
@NEEDS_TWO
@TWO_LIBRARIES
def test_ranks_that_are_told_different_things_decide_alike(mpi: MpiLibrary) -> None:
    lost = mpi.compile("lost_parent.c", "-shared", "-fPIC", "-ldl")
    counter = mpi.compile("message_counter.c", "-shared", "-fPIC", "-ldl")
    environment = {"LD_PRELOAD": f"{{rondo}}:{lost}:{counter}"}
    run = mpi.run_under_rondo([mpi.compile("profiled.c")], 2, environment=environment, timeout=30, **FORCED).check()
    assert [regions for _, regions in carried(run)] == [0, 0]
    assert complaints(run) == []


@NEEDS_TWO
@TWO_LIBRARIES
@pytest.mark.parametrize("what", ["memfd_create:EPERM", "mapping"])
def test_where_nobody_asked_a_refusal_is_not_worth_a_word(mpi: MpiLibrary, what: str) -> None:
    run = refused_to(mpi, what, [1], AUTOMATIC, processes=2)
    assert "rondo" not in run.stderr
    assert [regions for _, regions in carried(run)] == [0, 0]
    assert all(messages > 0 for messages, _ in carried(run))
