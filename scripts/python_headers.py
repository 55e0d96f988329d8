# SPDX-License-Identifier: BSD-3-Clause
"""Headers of the versions of Python that a wheel serves, and interpreters of them to try it with.

Debian has one version a release, and python.org none of the old ones as a package. JavaCPP's artifacts of CPython, in
Maven's registry, have every version from 3.10 on in one form: the whole installation of x86-64. Its headers serve
aarch64, too. Between the two, Debian's pyconfig.h differs in the support tier and in what the interpreter itself
does with floating-point registers and wchar_t.
"""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

ARTIFACTS = {"3.10": "3.10.8-1.5.8", "3.11": "3.11.3-1.5.9", "3.12": "3.12.1-1.5.10"}
"""From the last one on, there is one module for all later versions: nanobind's stable interface begins there."""
PACKED = "org/bytedeco/cpython/linux-x86_64/"
SECONDS = 600


class HeadersError(Exception):
    """Why there are none; the message says what to do."""


def prefix(folder: Path, version: str) -> Path:
    """The installation of a version of Python below a folder, fetched if it is not there yet."""
    target = folder / version
    if target.is_dir():
        return target / PACKED
    archive = fetch(folder, ARTIFACTS[version])
    partial = folder / f"{version}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(partial, [name for name in packed.namelist() if name.startswith(PACKED)])
    (partial / PACKED / "bin" / f"python{version}").chmod(0o755)
    partial.rename(target)
    archive.unlink()
    return target / PACKED


def fetch(folder: Path, artifact: str) -> Path:
    if shutil.which("mvn") is None:
        raise HeadersError("Python's headers come from Maven's registry: apt install maven, or name them: --headers")
    words = ["mvn", "--quiet", "--batch-mode", "dependency:copy", f"-DoutputDirectory={folder}"]
    words.append(f"-Dartifact=org.bytedeco:cpython:{artifact}:jar:linux-x86_64")
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS)
    if result.returncode != 0:
        raise HeadersError(f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return folder / f"cpython-{artifact}-linux-x86_64.jar"


def headers(folder: Path, named: dict[str, Path]) -> dict[str, Path]:
    """For each version the folder with its Python.h: the named one, else one below `folder`."""
    found = {v: named.get(v) or prefix(folder, v) / "include" / f"python{v}" for v in ARTIFACTS}
    for version, path in found.items():
        if not (path / "Python.h").is_file():
            raise HeadersError(f"Python {version}: there is no Python.h in {path}")
    return found


def interpreter(folder: Path, version: str) -> Path:
    """A program of a version of Python."""
    return prefix(folder, version) / "bin" / f"python{version}"
