# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark driver and Rondo, compiled for SimGrid's SMPI: measurements in simulated time.

It needs Debian's libsimgrid-dev.
"""

from __future__ import annotations

import datetime
import shutil
import subprocess
import tempfile
from pathlib import Path

import msgspec
from rondo.bench.plans import Plan
from rondo.bench.records import Collector
from rondo.bench.results import Environment, Results
from rondo.cluster.shapes import Shape
from rondo.errors import Error

import rondo

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs" / "benchmarks" / "data"
DRIVER = ROOT / "build" / "simgrid" / "rondo_bench_simgrid"
RUN_SECONDS = 1200
# The alpha-beta model and nothing else: no factors fitted to some other cluster, no slow start, no traffic of
# acknowledgements, no time for computing or for asking whether something has arrived.
SETTINGS = [
    "--cfg=network/model:CM02",
    "--cfg=network/TCP-gamma:1e12",
    "--cfg=network/crosstraffic:0",
    # Before the first call, other algorithms send p messages from each rank: its default selection's, and MPICH's of
    # these, of which two do so on each new communicator.
    "--cfg=smpi/coll-selector:mpich",
    "--cfg=smpi/allgather:bruck",
    "--cfg=smpi/allreduce:rdb",
    "--cfg=smpi/bcast:binomial_tree",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/grow-injected-times:no",
    "--cfg=smpi/test:0",  # nobody tests without end: Rondo waits
    "--cfg=smpi/wtime:1e-5",  # of simulated time for each look at the clock: ranks poll it before they start
    "--log=root.thres:error",
]
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Full">
    <cluster id="cluster" prefix="node" suffix="" radical="0-{last}" speed="1Gf" bw="{rate}bps" lat="{half}s"/>
  </zone>
</platform>
"""


def build() -> None:
    """The driver, as it is in this checkout."""
    if shutil.which("smpicxx") is None or shutil.which("smpirun") is None:
        raise Error("there is no smpicxx or smpirun on PATH; install SimGrid (Debian: libsimgrid-dev)")
    for command in (["cmake", "--preset", "simgrid"], ["cmake", "--build", "--preset", "simgrid"]):
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Error(f"{' '.join(command)} failed\n{result.stdout[-3000:]}{result.stderr[-3000:]}")


def words_of(shape: Shape, eager: int, directory: Path) -> list[str]:
    """A command that runs a program on that shape, without the program; the platform is written into the directory.

    Messages of up to `eager` bytes leave at once, longer ones when their receive is there.
    """
    platform = directory / "platform.xml"
    platform.write_text(PLATFORM.format(last=shape.nodes - 1, rate=shape.rate, half=shape.latency / 2))
    first_that_waits = [f"--cfg=smpi/{each}:{eager + 1}" for each in ("async-small-thresh", "send-is-detached-thresh")]
    return ["smpirun", "-np", str(shape.ranks), "-platform", str(platform), *SETTINGS, *first_that_waits]


def simulate(shape: Shape, plan: Plan, eager: int, command: str) -> Results:
    """What the driver measures. Time is simulated, so repetitions differ only in what came before them.

    `command`: of whoever asks, for the records.
    """
    with tempfile.TemporaryDirectory(prefix="rondo-simgrid-") as name:
        directory = Path(name)
        (directory / "plan").write_text(plan.text())
        words = [*words_of(shape, eager, directory), str(DRIVER), "plan", "records"]
        result = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
        collector = Collector(directory / "records", plan)
        if result.returncode == 0:
            collector.read()
    if collector.machine is None or collector.end is None:
        raise Error(f"{' '.join(words)} failed\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    machine = msgspec.structs.asdict(collector.machine) | {"processor": "simulated", "cores": 1}
    environment = Environment(
        **machine,
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        command=command,
        rondo=rondo.__version__,
        abi="simgrid",
        launcher="smpirun",
        clock_error=0.0,
        seed=plan.seed,
        network=collector.network,
    )
    return Results(environment, collector.configurations())


def show(results: Results) -> int:
    """Prints the times; returns how many results were wrong."""
    for each in results.configurations:
        times = each.seconds()
        milliseconds = f"{1e3 * min(times):12.3f} ms" if times else "no valid repetition"
        print(f"{results.environment.ranks:6} ranks {each.count:8} elements  {each.label:20} {milliseconds}")
    return sum(each.wrong() for each in results.configurations)
