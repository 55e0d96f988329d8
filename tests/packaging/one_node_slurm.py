# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on this machine alone: one node, daemons that are children of the tests, all files in one folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_packages import missing, unpacked
from launching import Run, ended_with_us, launch

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "libpmi2-0")
CPUS = 4  # of the node, whatever the machine has
START_SECONDS = 60
END_SECONDS = 20
KEY_BYTES = 128
OWN = ("PATH", "LD_LIBRARY_PATH", "SLURM_CONF")

# Slurm's daemons listen on the loopback interface. The node has as many processors as this says (config_overrides).
CONFIGURATION = """\
ClusterName=rondo
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
TaskProlog={folder}/task-prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
MailProg=/bin/true
KillWait=2
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus}
PartitionName=all Nodes=one Default=YES MaxTime=5
"""


@dataclass(frozen=True)
class Programs:
    """Slurm as it is installed, or its unpacked packages."""

    path: str
    libraries: str
    plugins: Path | None  # None: where Slurm itself looks
    pmi2: Path

    def find(self, *names: str) -> str:
        """One of the names that a program has: Debian's alternatives are made by installing alone."""
        for name in names:
            if (found := shutil.which(name, path=self.path)) is not None:
                return found
        pytest.skip(f"no {' or '.join(names)}")


def programs(folder: Path) -> Programs:
    lacking = missing(*PACKAGES)
    root = unpacked(folder, *lacking) if lacking else Path("/")
    system = f"{os.environ['PATH']}:/usr/sbin:/usr/bin"
    plugins = next(root.glob("usr/lib/*/slurm-wlm"), None)
    pmi2 = next(iter([*root.glob("usr/lib/*/libpmi2.so.0"), *Path("/usr/lib").glob("*/libpmi2.so.0")]), None)
    if pmi2 is None:
        pytest.skip("no libpmi2.so.0")
    if not lacking or plugins is None:
        return Programs(system, "", None, pmi2)
    return Programs(f"{root}/usr/bin:{root}/usr/sbin:{system}", f"{plugins}:{plugins.parent}", plugins, pmi2)


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as open_at_once:
        sockets = [open_at_once.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@dataclass(frozen=True)
class Slurm:
    folder: Path
    programs: Programs
    environment: Mapping[str, str]

    @property
    def own(self) -> dict[str, str]:
        """The variables without which the commands of this Slurm are not found."""
        return {name: self.environment[name] for name in OWN if name in self.environment}

    @property
    def task_prolog(self) -> Path:
        """What it prints, as `export NAME=VALUE`, tasks have in their environment. It may be written anew."""
        return self.folder / "task-prolog"

    def run(self, command: Sequence[object], environment: Mapping[str, str] | None = None, timeout: float = 90) -> Run:
        """Runs a command of a user, in an empty folder, when the jobs of earlier ones have left the node."""
        wait_for(self.is_idle, END_SECONDS)
        variables = {**self.environment, **(environment or {})}
        paths = (variables.get("LD_LIBRARY_PATH"), self.programs.libraries)
        variables["LD_LIBRARY_PATH"] = ":".join(filter(None, paths))
        run = launch(command, variables, timeout)
        if run.timed_out:
            self.cancel_all()
        return run

    def batch(self, script: str, *options: str, environment: Mapping[str, str] | None = None) -> Run:
        """Runs a script as a job. Its output is the job's: one text, as sbatch writes it."""
        output, file = self.folder / "job.out", self.folder / "job.sh"
        output.unlink(missing_ok=True)
        file.write_text(f"#!/bin/bash\n{script}")
        run = self.run(["sbatch", "--wait", "--quiet", f"--output={output}", *options, file], environment, 120)
        run.stdout = output.read_text() if output.exists() else ""
        return run

    def is_idle(self) -> bool:
        return self.ask("sinfo", "--noheader", "--format=%t").strip() == "idle"

    def ask(self, *words: str) -> str:
        try:
            return subprocess.run(
                words, env=self.environment, capture_output=True, text=True, timeout=10, check=True
            ).stdout
        except (OSError, subprocess.SubprocessError):
            return "unknown"

    def cancel_all(self) -> None:
        """Ends all jobs, and waits for it."""
        self.ask("scancel", "--quiet", f"--user={os.geteuid()}")
        wait_for(lambda: not self.ask("squeue", "--noheader").strip(), END_SECONDS)


def wait_for(happened, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def last_words(folder: Path) -> str:
    return "\n".join(path.read_text(errors="replace")[-500:] for path in sorted(folder.glob("*.log")))


def end_daemons(daemons: Sequence[subprocess.Popen]) -> None:
    for each in reversed(daemons):
        each.terminate()
    for each in daemons:
        try:
            each.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            each.kill()
            each.wait()


def end_orphans(conf: Path) -> None:
    """Ends the guardians of steps, which are no children of slurmd's, by what is in their environment."""
    mine = f"SLURM_CONF={conf}".encode()
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and mine in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


@contextlib.contextmanager
def one_node(folder: Path) -> Iterator[Slurm]:
    """A Slurm that has started. Skips where it cannot be had, or does not start."""
    packages, conf = folder / "packages", folder / "slurm.conf"
    packages.mkdir()
    found = programs(packages)
    for each in ("state", "spool"):
        (folder / each).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(KEY_BYTES))
    key.chmod(0o600)
    controller_port, node_port = free_ports(2)
    text = CONFIGURATION.format(
        host=socket.gethostname().partition(".")[0], folder=folder, user=os.geteuid(), cpus=CPUS,
        controller_port=controller_port, node_port=node_port,
    )  # fmt: skip
    conf.write_text(text + (f"PluginDir={found.plugins}\n" if found.plugins is not None else ""))
    known = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_", "PMI"))}
    paths = {"PATH": found.path, "LD_LIBRARY_PATH": found.libraries} if found.libraries else {"PATH": found.path}
    slurm = Slurm(folder, found, {**known, **paths, "SLURM_CONF": str(conf)})
    slurm.task_prolog.write_text("#!/bin/sh\n")
    slurm.task_prolog.chmod(0o755)

    stepd = ["-d", found.find("slurmstepd-wlm", "slurmstepd")] if found.plugins is not None else []
    files = (f"--{each}-file={folder}/munge.{each}" for each in ("key", "pid", "seed"))
    commands = [
        # It would refuse a folder that others may not enter.
        [found.find("munged"), "--foreground", "--force", f"--socket={folder}/munge.socket",
         f"--log-file={folder}/munged.log", *files],
        [found.find("slurmctld-wlm", "slurmctld"), "-D"],
        [found.find("slurmd-wlm", "slurmd"), "-D", "-N", "one", *stepd],
    ]  # fmt: skip
    daemons: list[subprocess.Popen] = []
    try:
        for command in commands:
            with (folder / f"{Path(command[0]).name}.out.log").open("w") as output:
                daemons.append(
                    subprocess.Popen(
                        ended_with_us(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                        cwd=folder, env=slurm.environment, start_new_session=True,
                    )
                )  # fmt: skip
            if "munge" in command[0]:
                wait_for((folder / "munge.socket").exists, START_SECONDS)
        if not wait_for(slurm.is_idle, START_SECONDS):
            pytest.skip(f"Slurm does not start here: {last_words(folder)}")
        yield slurm
        slurm.cancel_all()
    finally:
        end_daemons(daemons)
        end_orphans(conf)
