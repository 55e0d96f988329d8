# SPDX-License-Identifier: BSD-3-Clause
"""How each MPI library is started on an emulated cluster: by its own launcher, which reaches the nodes by a stand-in
for ssh, over the emulated network only.

Every setting was found by experiment; docs/explanation/emulated-cluster.md says why.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rondo.launching.mpi_library import MpiLibrary

INTERFACE = "lane0"
# Ranks that poll keep the cores from the ranks that have work. After some polls in vain they wait this long instead;
# with several ranks in a node shorter, for shared memory wakes nobody.
PATIENCE_ALONE_US = 1000
PATIENCE_TOGETHER_US = 100
PRELOAD = "LD_PRELOAD"

Recipe = Callable[[Path, int, int, Mapping[str, str]], list[str]]


def words(
    library: MpiLibrary,
    directory: Path,
    per_node: int,
    ranks: int,
    program: Sequence[str],
    *,
    variables: Mapping[str, str],
    shim: Path,
) -> list[str]:
    """The launcher's command line, to be run on the head node. `shim` is the library that keeps ranks from polling."""
    variables = dict(variables)
    if library.name != "openmpi" or per_node == 1:
        patience = PATIENCE_ALONE_US if per_node == 1 else PATIENCE_TOGETHER_US
        variables.setdefault("RONDO_PATIENCE_US", str(patience))
        variables[PRELOAD] = os.pathsep.join(filter(None, [variables.get(PRELOAD), str(shim)]))
    recipe: Recipe = {"mpich": _mpich, "openmpi": _openmpi, "impi": _impi}[library.name]
    if library.name == "openmpi" and not (library.launcher.parent / "prterun").exists():
        recipe = functools.partial(_openmpi, is_version_4=True)
    return [str(library.launcher), *recipe(directory, per_node, ranks, variables), *program]


def environment(library: MpiLibrary) -> dict[str, str]:
    """What the launcher needs in its environment."""
    if library.name != "openmpi":
        return {}
    # Without privileges of its own, an ordinary user is root inside the cluster.
    willing = {f"{part}_ALLOW_RUN_AS_ROOT{suffix}": "1" for part in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")}
    return {**willing, "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def _hydra(directory: Path, per_node: int, ranks: int, variables: Mapping[str, str]) -> list[str]:
    options = ["-iface", INTERFACE, "-f", str(directory / "hosts"), "-ppn", str(per_node)]
    for name, value in variables.items():
        options += ["-genv", name, value]
    return [*options, "-n", str(ranks)]


def _mpich(directory: Path, per_node: int, ranks: int, variables: Mapping[str, str]) -> list[str]:
    settings = {"UCX_NET_DEVICES": INTERFACE, "UCX_TLS": "tcp,self,sysv,posix,cma"}
    launcher = ["-launcher", "ssh", "-launcher-exec", str(directory / "ssh")]
    return [*launcher, *_hydra(directory, per_node, ranks, {**settings, **variables})]


def _impi(directory: Path, per_node: int, ranks: int, variables: Mapping[str, str]) -> list[str]:
    settings = {
        "I_MPI_FABRICS": "shm:ofi",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": INTERFACE,
        "I_MPI_PIN": "off",
    }
    launcher = ["-bootstrap", "ssh", "-bootstrap-exec", str(directory / "ssh")]
    return [*launcher, *_hydra(directory, per_node, ranks, {**settings, **variables})]


def _openmpi(
    directory: Path, per_node: int, ranks: int, variables: Mapping[str, str], *, is_version_4: bool = False
) -> list[str]:
    host_file = directory / f"hosts.{per_node}"
    if not host_file.exists():
        hosts = (directory / "hosts").read_text().split()
        host_file.write_text("".join(f"{host} slots={per_node}\n" for host in hosts))
    if is_version_4:
        options = ["--mca", "plm_rsh_agent", str(directory / "ssh"), "--mca", "oob_tcp_if_include", INTERFACE]
    else:
        options = ["--prtemca", "plm_ssh_agent", str(directory / "ssh"), "--prtemca", "prte_if_include", INTERFACE]
    options += ["--hostfile", str(host_file), "--map-by", f"ppr:{per_node}:node", "--bind-to", "none"]
    shared_memory = "vader" if is_version_4 else "sm"
    settings = {"pml": "ob1", "btl": f"self,{shared_memory},tcp", "btl_tcp_if_include": INTERFACE}
    if per_node > 1:
        settings["mpi_yield_when_idle"] = "1"
    for name, value in settings.items():
        options += ["--mca", name, value]
    for name, value in variables.items():
        options += ["-x", f"{name}={value}"]
    return [*options, "-n", str(ranks)]
