# SPDX-License-Identifier: BSD-3-Clause
"""nanobind 3, which Rondo's Python module needs, and which not every Spack knows."""

from spack.package import *

try:
    from spack_repo.builtin.build_systems.python import PythonPackage
except ImportError:  # before Spack 1.0, spack.package has it
    pass


class PyNanobind(PythonPackage):
    """Small and fast bindings of C++ for Python."""

    homepage = "https://nanobind.readthedocs.io"
    pypi = "nanobind/nanobind-3.1.0.tar.gz"

    license("BSD-3-Clause")

    version("3.1.0", sha256="6661e3dc1434d78781ccf7913442d90361dab395c3424efadb63bbb6ddea7ea3")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
