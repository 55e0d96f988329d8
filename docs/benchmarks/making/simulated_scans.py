# SPDX-License-Identifier: BSD-3-Clause
"""The exclusive scans in simulated time: the benchmark driver and Rondo, compiled for SimGrid's SMPI.

    python docs/benchmarks/making/simulated_scans.py       36 and 1152 ranks (five minutes), into docs/benchmarks/data
    python docs/benchmarks/making/simulated_scans.py --ranks 36 --counts 1,100000 --output /tmp

A second opinion on the order of the algorithms: SimGrid knows nothing of our switch, of sockets or of this machine's
processor. It needs Debian's libsimgrid-dev. SMPI's own MPI_Exscan is naive and no baseline; it serves to check results.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from rondo.bench import plans
from rondo.bench.records import Collector
from rondo.bench.results import Environment, Results, write
from rondo.cluster import shapes
from rondo.errors import Error

import rondo

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs" / "benchmarks" / "data"
DRIVER = ROOT / "build" / "simgrid" / "rondo_bench_simgrid"
MOST_RANKS_OF_NATIVE = 100  # SMPI's own sends p (p - 1) / 2 messages
ALGORITHMS = ["native", "two_op_doubling", "one_doubling", "doubling_123", "cyclic_doubling"]
RUN_SECONDS = 1200
# By ranks. What SMPI does before the first measurement grows with the square of them: the large run is a short one.
COUNTS = {36: "1,100,10000,100000", 1152: "1,10000"}
REPETITIONS = {36: 2, 1152: 1}
# The alpha-beta model and nothing else: no factors fitted to some other cluster, no slow start, no traffic of
# acknowledgements, no time for computing or for asking whether something has arrived.
SETTINGS = [
    "--cfg=network/model:CM02",
    "--cfg=network/TCP-gamma:1e12",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/coll-selector:mpich",  # its default selection sends p messages from each rank
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/grow-injected-times:no",
    "--cfg=smpi/test:1e-6",
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
    if shutil.which("smpicxx") is None or shutil.which("smpirun") is None:
        raise Error("there is no smpicxx or smpirun on PATH; install SimGrid (Debian: libsimgrid-dev)")
    for command in (["cmake", "--preset", "simgrid"], ["cmake", "--build", "--preset", "simgrid"]):
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Error(f"{' '.join(command)} failed\n{result.stdout[-3000:]}{result.stderr[-3000:]}")


def simulate(shape: shapes.Shape, counts: str, algorithms: list[str], repetitions: int, eager: int) -> Results:
    """One rank on each node. Time is simulated, so repetitions differ only in what came before them.

    Messages of up to `eager` bytes leave at once, longer ones when their receive is there.
    """
    plan = plans.make(
        "exscan",
        algorithms=algorithms,
        counts=counts,
        operator="bxor",
        repetitions=repetitions,
        warmup=1,
        seconds=1e6,
    )
    with tempfile.TemporaryDirectory(prefix="rondo-simgrid-") as name:
        directory = Path(name)
        platform = PLATFORM.format(last=shape.nodes - 1, rate=shape.rate, half=shape.latency / 2)
        (directory / "platform.xml").write_text(platform)
        (directory / "plan").write_text(plan.text())
        words = ["smpirun", "-np", str(shape.ranks), "-platform", "platform.xml", *SETTINGS]
        words += [f"--cfg=smpi/async-small-thresh:{eager}", f"--cfg=smpi/send-is-detached-thresh:{eager}"]
        words += [str(DRIVER), "plan", "records"]
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
        command="python docs/benchmarks/making/simulated_scans.py",
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, action="append", help="36 and 1152; may be repeated")
    parser.add_argument("--counts", help="1,100,10000,100000; of 1152 ranks 1,10000")
    parser.add_argument("--latency", default="10ms", help="%(default)s")
    parser.add_argument("--rate", default="100Mbit", help="%(default)s")
    parser.add_argument("--repetitions", type=int, help="2; of 1152 ranks 1")
    parser.add_argument(
        "--eager", type=int, default=65536, help="bytes up to which messages leave at once (%(default)s)"
    )
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    wrong = 0
    try:
        build()
        arguments.output.mkdir(parents=True, exist_ok=True)
        for ranks in arguments.ranks or list(COUNTS):
            counts = arguments.counts or COUNTS.get(ranks, COUNTS[36])
            repetitions = arguments.repetitions or REPETITIONS.get(ranks, REPETITIONS[36])
            latency, rate = shapes.latency(arguments.latency), shapes.rate(arguments.rate)
            shape = shapes.Shape(ranks, 1, latency, rate)
            algorithms = ALGORITHMS if ranks <= MOST_RANKS_OF_NATIVE else ALGORITHMS[1:]
            results = simulate(shape, counts, algorithms, repetitions, arguments.eager)
            wrong += show(results)
            write(results, arguments.output / f"simulated-{ranks}.json")
    except (Error, subprocess.TimeoutExpired) as error:
        print(f"simulated_scans: {error}", file=sys.stderr)
        return 1
    if wrong:
        print(f"simulated_scans: {wrong} wrong results", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
