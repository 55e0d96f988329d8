# SPDX-License-Identifier: BSD-3-Clause
"""Rondo for Spack. Nothing is published yet, so it is built from a checkout: `spack dev-build rondo@1.0.0`."""

import glob
import json
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # before Spack 1.0, spack.package has it
    pass


class Rondo(CMakePackage):
    """Makes the collective operations of MPI programs faster, by a library that is preloaded.
    Programs stay as they are."""

    # Spack's way for sources that it cannot fetch: they lie in the folder in which it is called.
    url = f"file://{os.getcwd()}/rondo-1.0.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    version("1.0.0")

    variant("prefix_sums", default=True, description="Build the libraries of prefix sums, too")
    variant("profiler", default=True, description="Build the libraries of `rondo profile`, too")

    generator("ninja")

    depends_on("cmake@3.23:", type="build")
    depends_on("mpi")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-nanobind@3.1:3", type="build")
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-msgspec@0.18:", type=("build", "run"))
    depends_on("py-tomli@2:", type=("build", "run"), when="^python@:3.10")

    def cmake_args(self):
        """Libraries for the ABI of this MPI, and for the standard ABI where its headers have that."""
        headers = self.spec["mpi"].prefix.include
        abi = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
        directories = {abi: headers}
        if os.path.exists(join_path(headers, "mpi_abi.h")):
            directories["mpiabi"] = headers
        return [
            self.define("RONDO_BUILD_PYTHON", True),
            self.define("RONDO_ABIS", list(directories)),
            *(self.define(f"RONDO_{name.upper()}_INCLUDE", path) for name, path in directories.items()),
            self.define_from_variant("RONDO_BUILD_PREFIX", "prefix_sums"),
            self.define_from_variant("RONDO_BUILD_PROFILER", "profiler"),
        ]

    @run_after("install")
    def keep_program_of_the_test(self):
        """For test_preload, which may run long after the sources are gone."""
        cache_extra_test_sources(self, join_path("examples", "particle_filter.c"))

    def test_command(self):
        """The command knows its version, and has its core."""
        rondo = which(join_path(self.prefix.bin, "rondo"))
        assert str(self.version) in rondo("--version", output=str.split)
        assert "doubling_123" in rondo("list", "exscan", output=str.split)

    def test_preload(self):
        """An unmodified program has Rondo's scan, and its ranks report so."""
        source = join_path(self.test_suite.current_test_cache_dir, "examples", "particle_filter.c")
        Executable(self.spec["mpi"].mpicc)("-O2", source, "-o", "particle_filter", "-lm")
        mkdirp("reports")
        mpiexec = Executable(join_path(self.spec["mpi"].prefix.bin, "mpiexec"))
        mpiexec.add_default_env("LD_PRELOAD", join_path(self.prefix.lib, "librondo.so"))
        mpiexec.add_default_env("RONDO_EXSCAN", "doubling_123")
        mpiexec.add_default_env("RONDO_REPORT", os.path.abspath("reports"))
        mpiexec("-n", "2", "./particle_filter", "out")
        reports = []
        for path in glob.glob(join_path("reports", "*.json")):
            with open(path) as report:
                reports.append(json.load(report))
        assert len(reports) == 2, "each rank leaves a report"
        for report in reports:
            served = {(entry["collective"], entry["algorithm"]) for entry in report["entries"]}
            assert ("exscan", "doubling_123") in served, f"rank {report['rank']} did {sorted(served)}"
