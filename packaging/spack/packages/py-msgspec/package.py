# SPDX-License-Identifier: BSD-3-Clause
"""msgspec, which Rondo's command needs, and which not every Spack knows."""

from spack.package import *

try:
    from spack_repo.builtin.build_systems.python import PythonPackage
except ImportError:  # before Spack 1.0, spack.package has it
    pass


class PyMsgspec(PythonPackage):
    """JSON, MessagePack, YAML and TOML, read into checked types."""

    homepage = "https://jcristharif.com/msgspec/"
    pypi = "msgspec/msgspec-0.22.0.tar.gz"

    license("BSD-3-Clause")

    version("0.22.0", sha256="0a13624a4969159fe35d8c2a3d377b2b61bbd8585e327440d5e52725affcce38")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-setuptools@80:", type="build")
    depends_on("py-setuptools-scm@8:", type="build")
