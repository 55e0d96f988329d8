# SPDX-License-Identifier: BSD-3-Clause
"""`prefix`: what `cmake --install` installs of the build. Tests read it, and change nothing in it."""

from __future__ import annotations

import pytest
from installed_prefix import BUILD, Prefix, install, is_built


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Prefix:
    if not is_built():
        pytest.skip(f"{BUILD} has no complete build: make install")
    return install(tmp_path_factory.mktemp("prefix"))
