# SPDX-License-Identifier: BSD-3-Clause
"""Programs that others wrote, as Debian builds them: LAMMPS and the HPC Challenge. They end as they do natively,
whatever serves their collectives.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from launching import launch
from mpi_libraries import MpiLibrary

pytestmark = [
    pytest.mark.soak,
    pytest.mark.parametrize("mpi", ["debian_openmpi"], indirect=True),  # which both are linked with
]

RONDO = Path(sys.executable).with_name("rondo")
FLAT = {
    "allgather": "ring",
    "allreduce": "recursive_doubling",
    "barrier": "dissemination",
    "bcast": "binomial",
    "reduce": "binomial",
    "reduce_scatter": "pairwise",
    "scan": "doubling",
}
LEADERS = dict.fromkeys(FLAT, "leaders")
NODES = {2: "1,1", 3: "2,1", 4: "2x2"}  # if they are asked for
WAYS = [
    ("rules", {}, "off"),
    ("rules", {}, "on"),
    ("flat", FLAT, "off"),
    ("flat", FLAT, "on"),
    ("leaders", LEADERS, "on"),
]
EVERY_WAY = pytest.mark.parametrize(
    ("used", "shared_memory"), [each[1:] for each in WAYS], ids=[f"{each[0]}-{each[2]}" for each in WAYS]
)

# Lennard-Jones atoms that melt; energies are sums over all ranks.
MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 5 delay 0
fix 1 all nve
thermo_style custom step temp epair etotal press
thermo 20
run 200
write_data atoms.txt
"""

# Of 300 unknowns, and vectors of as many bytes, so that everything takes some seconds; see hpcc's README.html.
CHALLENGE = """\
HPLinpack benchmark input file
for a test
HPL.out      output file name
8            device out (a file)
1            # of problem sizes
300          Ns
1            # of NBs
40           NBs
0            PMAP process mapping (0=Row-)
1            # of process grids
{rows}       Ps
{columns}    Qs
16.0         threshold
1            # of panel fact
2            PFACTs (2=Right)
1            # of recursive stopping criterium
4            NBMINs
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (1=Crout)
1            # of broadcast
1            BCASTs (1=1rM)
1            # of lookahead depth
1            DEPTHs
2            SWAP (2=mix)
64           swapping threshold
0            L1 in (0=transposed) form
0            U  in (0=transposed) form
1            Equilibration (1=yes)
8            memory alignment in double
##### ignored
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""


@dataclass
class Application:
    """A program in a directory with its input, on so many ranks."""

    mpi: MpiLibrary
    directory: Path
    ranks: int
    command: list[str]

    def run(self, *rondo: object, **variables: str) -> str:
        """What it prints; `rondo`: what stands before the launcher."""
        launcher = self.mpi.command(self.ranks, {}, [])
        command = [*rondo, launcher[0], "-wdir", self.directory, *launcher[1:], *self.command]
        environment = {**os.environ, **self.mpi.environment, **variables}
        return launch(command, environment, 180).check().stdout

    def run_under_rondo(self, used: dict[str, str], shared_memory: str) -> tuple[str, dict]:
        """What it prints, and the report."""
        report = self.directory / "report.json"
        words = [word for each in used.items() for word in ("--use", "=".join(each))]
        words += ["--nodes", NODES[self.ranks]] if "leaders" in used.values() else []
        output = self.run(RONDO, "run", *words, "--report", report, "--", RONDO_SHARED_MEMORY=shared_memory)
        return output, json.loads(report.read_text())


def program(name: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"no {name}")
    return name


def check_report(report: dict, ranks: int, used: dict[str, str], shared_memory: str) -> None:
    """Everything that could be served was, by what was to serve it, through memory if that is shared."""
    assert (report["size"], report["missing"], report["cut_short"]) == (ranks, [], [])
    served: Counter[str] = Counter()
    for entry in report["entries"]:
        if entry["algorithm"] != "native":
            served[entry["collective"]] += entry["calls"]
        if entry["collective"] not in used:
            continue
        if entry["algorithm"] == "native":
            assert entry["reason"] in {"empty", "one process"} or " needs " in entry["reason"], entry
        else:
            assert entry["algorithm"] == used[entry["collective"]]
    if used:
        assert all(served[collective] > 0 for collective in ("allreduce", "barrier", "bcast")), report["entries"]
        through_memory = sum((rank["shared_memory"] or {"messages": 0})["messages"] for rank in report["ranks"])
        assert (through_memory > 100) == (shared_memory == "on")


def energies(output: str) -> list[list[float]]:
    """The rows that LAMMPS prints every 20 steps."""
    rows = re.findall(r"^ +(\d+(?: +-?\d[\d.e+-]*){4}) *$", output, re.MULTILINE)
    return [[float(word) for word in row.split()] for row in rows]


@EVERY_WAY
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_lammps_computes_the_same(
    mpi: MpiLibrary, tmp_path: Path, ranks: int, used: dict[str, str], shared_memory: str
) -> None:
    (tmp_path / "in.melt").write_text(MELT)
    melt = Application(mpi, tmp_path, ranks, [program("lmp"), "-in", "in.melt", "-log", "none"])
    native = energies(melt.run())
    atoms = (tmp_path / "atoms.txt").read_text()
    output, report = melt.run_under_rondo(used, shared_memory)
    check_report(report, ranks, used, shared_memory)
    assert len(native) == 11
    # Printed with 8 digits. The order of a sum may differ, but nothing that moves an atom.
    assert energies(output) == [pytest.approx(row, rel=1e-6) for row in native]
    assert (tmp_path / "atoms.txt").read_text() == atoms


def verdicts(output: str) -> list[str]:
    """What the HPC Challenge says of its own results. (A test that took no time by its clock has no line.)"""
    words = (
        r"FAILED|\d+ tests? completed and (?:passed|failed)|Found \d+ errors in \d+ locations \(\w+\)|"
        r"Node\(s\) with error \d+|Solution Validates|Success=\d|Errors=\d+"
    )
    return re.findall(words, output)


@EVERY_WAY
@pytest.mark.parametrize("ranks", [2, 4])
def test_the_hpc_challenge_passes(
    mpi: MpiLibrary, tmp_path: Path, ranks: int, used: dict[str, str], shared_memory: str
) -> None:
    (tmp_path / "hpccinf.txt").write_text(CHALLENGE.format(rows=ranks // 2, columns=2))
    challenge = Application(mpi, tmp_path, ranks, [program("hpcc")])
    results = tmp_path / "hpccoutf.txt"  # to which it appends
    challenge.run()
    native = verdicts(results.read_text())
    results.unlink()
    _, report = challenge.run_under_rondo(used, shared_memory)
    check_report(report, ranks, used, shared_memory)
    found = verdicts(results.read_text())
    assert found == native
    assert "Success=1" in found
    assert "FAILED" not in found
