# SPDX-License-Identifier: BSD-3-Clause
"""What librondo.so, the preload of a whole site, adds to the start of a program that knows no MPI.

/bin/true is started in turn as it is, with an empty preload library, and with librondo.so; medians, in microseconds.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from rondo.launching import installation

STARTS = 1000


def seconds_of_a_start(preload: Path | None) -> float:
    """One start, to its end."""
    environment = {} if preload is None else {"LD_PRELOAD": str(preload)}
    began = time.perf_counter()
    subprocess.run(["/bin/true"], env=environment, check=True)
    return time.perf_counter() - began


def main() -> None:
    """Prints the three medians, and what the libraries add."""
    with tempfile.TemporaryDirectory() as directory:
        empty = Path(directory) / "empty.so"
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", empty], check=True)
        preloads = {"as it is": None, "an empty library": empty, "librondo.so": installation.LIBRARIES / "librondo.so"}
        times: dict[str, list[float]] = {name: [] for name in preloads}
        for _ in range(STARTS):
            for name, preload in preloads.items():
                times[name].append(seconds_of_a_start(preload))
    medians = {name: 1e6 * statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        print(f"{name:16}  {median:6.0f} us  +{median - medians['as it is']:.0f}")


if __name__ == "__main__":
    main()
