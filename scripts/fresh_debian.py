# SPDX-License-Identifier: BSD-3-Clause
"""Tries the README's commands on a fresh Debian, which has nothing but python3, make and g++. Needs root.

    python scripts/fresh_debian.py                           bookworm and trixie, as root and as an ordinary user
    python scripts/fresh_debian.py trixie user               one of these four
    python scripts/fresh_debian.py trixie root -- make demo  any command; its exit code is the script's

The Debian lies in a temporary folder, below TMPDIR or /var/tmp. It has a copy of this checkout, with what is not
committed. Packages come from where this machine's come from: its first apt source, its pip configuration and
certificates.

Both `make demo` and `make test` are tried. Of the latter, set-up and builds are whole, and a few tests run: all of them
take an hour, and are about Rondo more than about Debian. An ordinary user, who cannot install, is to be told in one
line what is missing. With the packages that this line names, the same has to work.

Ends with 0; with 1 if something is wrong; with 77 if it cannot be tried here. Nothing is left of it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITES = ("bookworm", "trixie")
PACKAGES = ("g++", "python3", "make", "ca-certificates")  # the last for those of this machine
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
COPIED_FILES = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
KEPT_VARIABLES = re.compile(r"(PIP_(?!FIND_LINKS)|SSL_|REQUESTS_|CURL_|HTTPS?_|https?_|NO_PROXY|no_proxy)")
SEARCHED = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEMO = ("make", "demo")
FEW_TESTS = "tests/python/test_list.py tests/python/test_demo.py tests/mpi/test_barriers.py"
TEST = ("make", "test", "CTEST=-R shared_memory", f"PYTEST={FEW_TESTS}")
MPI_KINDS = (
    (("mpich", "libmpich-dev"), None),  # bookworm's hangs, trixie's does not
    (("openmpi-bin",), "the headers of its MPI are missing, so this runs with"),
    (("libopenmpi-dev",), ""),
)
"""Packages on top of what there is, and why `make demo` takes another MPI. Where Open MPI is, mpicc is its."""
INSTALL_SECONDS, REFUSAL_SECONDS, DEMO_SECONDS, TEST_SECONDS = 1200, 60, 2400, 7200
TIMED_OUT, UNTRIABLE = 124, 77
LAST_LINES = 60
# The first process is a shell, which buries the orphans of launchers. Shared memory is the folder's own.
ENTER = """
{ [ "$1" = online ] || ip link set lo up; } || exit 125
shift
mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
    mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" || exit 125
chroot "$@"
exit $?
"""


class UntriableError(Exception):
    """What this machine lacks; the message says what."""


class FaultError(Exception):
    """What is wrong on the fresh Debian."""


@dataclass(frozen=True)
class User:
    """Who tries."""

    number: int
    home: str


USERS = {"root": User(0, "/root"), "user": User(1000, "/home/user")}


@dataclass(frozen=True)
class Run:
    """A command that has ended."""

    words: Sequence[str]
    code: int
    output: str
    seconds: float

    def __str__(self) -> str:
        """What ended, how and when."""
        return f"{' '.join(self.words)}: exit code {self.code} after {self.seconds:.0f} s"

    def expect(self, is_right: bool, what: str) -> None:
        """FaultError with the end of the output, unless all is right."""
        if not is_right:
            last = "\n".join(self.output.splitlines()[-LAST_LINES:])
            raise FaultError(f"{self}, where {what} was expected; it ended with\n{last}")


@dataclass(frozen=True)
class Debian:
    """A fresh one in a folder."""

    root: Path

    def project(self, user: str) -> Path:
        """The user's copy of the checkout."""
        return self.root / USERS[user].home.lstrip("/") / "project"

    def run(
        self, user: str, words: Sequence[str], seconds: float, *, aloud: bool = False, offline: bool = False,
        variables: Mapping[str, str] | None = None,
    ) -> Run:  # fmt: skip
        """Runs a command in that copy. With its namespaces ends all that it has mounted and started."""
        number, home = USERS[user].number, USERS[user].home
        spaces = ["--mount", "--propagation", "private", "--ipc", "--pid", "--fork", "--kill-child"]
        spaces += ["--net"] if offline else []
        chroot = [f"--userspec={number}:{number}", str(self.root)]
        environment = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.match(name)}
        environment |= {"HOME": home, "USER": user, "LC_ALL": "C.UTF-8", "PATH": SEARCHED}
        environment |= variables or {}
        network = "offline" if offline else "online"
        enter = ["unshare", *spaces, "sh", "-c", ENTER, str(self.root), network, *chroot]
        in_project = ["sh", "-c", 'cd "$HOME/project" && exec "$@"', "sh", *words]
        start = time.monotonic()
        with tempfile.TemporaryFile("w+", errors="replace") as file:
            output = None if aloud else file
            process = subprocess.Popen(
                [*enter, *in_project], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                code = TIMED_OUT
            finally:
                process.kill()
                process.wait()
            file.seek(0)
            return Run(words, code, file.read(), time.monotonic() - start)


def mirror() -> str:
    """The first package source of this machine."""
    apt = Path("/etc/apt")
    lists = [
        *sorted(apt.glob("sources.list.d/*.sources")),
        apt / "sources.list",
        *sorted(apt.glob("sources.list.d/*.list")),
    ]
    pattern = re.compile(r"^(?:URIs:\s*|deb\s+(?:\[[^]]*\]\s+)?)(\S+)", re.MULTILINE)
    for each in lists:
        found = pattern.search(each.read_text()) if each.is_file() else None
        if found:
            return found[1]
    raise UntriableError("this machine has no package source in /etc/apt")


def checkout() -> list[str]:
    """All files of this checkout that git knows or would add."""
    command = ["git", "-C", str(ROOT), "ls-files", "-coz", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise UntriableError(f"git does not list the files of {ROOT}: {listed.stderr.strip()}")
    return [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def require_tools(*spaces: str) -> None:
    """UntriableError without what makes a Debian in a folder, or without these namespaces besides."""
    if os.geteuid() != 0:
        raise UntriableError("only root can make a Debian in a folder")
    if shutil.which("mmdebstrap") is None:
        subprocess.run([sys.executable, str(ROOT / "scripts" / "setup.py"), "debian", "mmdebstrap"], check=False)
    lacking = [name for name in ("mmdebstrap", "git", "unshare", "ip") if shutil.which(name) is None]
    lacking += [] if Path(KEYRING).exists() else ["debian-archive-keyring"]
    if lacking:
        raise UntriableError(f"there is no {', no '.join(lacking)}")
    command = ["unshare", "--mount", "--pid", "--fork", *spaces, "true"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        raise UntriableError("this machine does not let root make namespaces")


def bootstrap(suite: str, root: Path) -> None:
    source = f"deb [signed-by={KEYRING}] {mirror()} {suite} main"
    command = ["mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(PACKAGES)}", suite, str(root), source]
    spaces = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    try:
        environment = {**os.environ, "TMPDIR": str(root.parent)}
        result = subprocess.run(
            [*spaces, *command], env=environment, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise UntriableError(f"mmdebstrap made no {suite} within {INSTALL_SECONDS} s") from None
    if result.returncode != 0:
        raise UntriableError(f"mmdebstrap made no {suite}: {result.stderr.strip()[-1000:]}")


def furnish(debian: Debian, files: Sequence[str]) -> None:
    """What the packages come from, an ordinary user, and a copy of these files of the checkout for each."""
    for name in COPIED_FILES:
        if Path("/", name).is_file():
            (debian.root / name).unlink(missing_ok=True)
            shutil.copyfile(Path("/", name), debian.root / name)
    number, home = USERS["user"].number, USERS["user"].home
    for name, line in (("passwd", f"user:x:{number}:{number}::{home}:/bin/sh"), ("group", f"user:x:{number}:")):
        with (debian.root / "etc" / name).open("a") as table:
            print(line, file=table)
    for user, each in USERS.items():
        for name in files:
            target = debian.project(user) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        owner = f"{each.number}:{each.number}"
        subprocess.run(["chown", "-R", owner, str(debian.project(user).parent)], check=True)


@contextlib.contextmanager
def fresh(suite: str, files: Sequence[str] | None = None) -> Iterator[Debian]:
    """A Debian of this release with these files of the checkout; without, with all. It is gone afterwards."""
    folder = tempfile.mkdtemp(prefix=f"fresh-{suite}-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    try:
        debian = Debian(Path(folder) / "root")
        debian.root.mkdir(mode=0o755)
        bootstrap(suite, debian.root)
        furnish(debian, checkout() if files is None else files)
        yield debian
    finally:
        # Processes that were killed may take a moment to be gone.
        for _ in range(10):
            if subprocess.run(["rm", "-rf", "--one-file-system", folder], check=False).returncode == 0:
                break
            time.sleep(1)


def demonstrated(debian: Debian, user: str, place: str) -> Run:
    run = debian.run(user, DEMO, DEMO_SECONDS)
    run.expect(run.code == 0, "exit code 0")
    run.expect(place in run.output, f"a demonstration on {place}")
    run.expect(re.search(r"[1-9]\d* of \d+ by \w", run.output) is not None, "a call that Rondo serves")
    return run


def tested(debian: Debian, user: str) -> Run:
    run = debian.run(user, TEST, TEST_SECONDS)
    run.expect(run.code == 0, "exit code 0")
    run.expect(re.search(r"^=* ?\d+ passed", run.output, re.MULTILINE) is not None, "a summary of tests")
    return run


def refused(debian: Debian, words: Sequence[str]) -> tuple[Run, list[str]]:
    """Besides the run, the packages that its one line names."""
    run = debian.run("user", words, REFUSAL_SECONDS)
    lines = [line for line in run.output.splitlines() if not line.startswith("make: ")]
    found = re.search(r"apt install ([-a-z0-9.+ ]+?)(?: \(|$)", lines[0]) if len(lines) == 1 else None
    run.expect(run.code not in (0, TIMED_OUT) and found is not None, "one line that names the packages")
    run.expect(not (debian.project("user") / ".venv").exists(), "this line before anything else")
    return run, found[1].split() if found else []


def try_as_root(debian: Debian) -> Iterator[Run]:
    """Whatever is missing is installed. Root can have an emulated cluster in a folder."""
    yield demonstrated(debian, "root", "an emulated cluster")
    for kind in MPI_KINDS:
        yield demonstrated_with(debian, *kind)
    yield tested(debian, "root")


def install(debian: Debian, packages: Sequence[str], *recommends: str) -> None:
    """Installs packages, by default without what they recommend."""
    options = recommends or ("--no-install-recommends",)
    for words in (("apt-get", "-qq", "update"), ("apt-get", "-qq", "-y", *options, "install", *packages)):
        installed = debian.run("root", words, INSTALL_SECONDS)
        installed.expect(installed.code == 0, "exit code 0")


def demonstrated_with(debian: Debian, packages: Sequence[str], excuse: str | None) -> Run:
    """With an MPI of Debian's. `excuse`: why another is taken; "": none is; None: either way."""
    install(debian, packages)
    run = demonstrated(debian, "root", "an emulated cluster")
    run.expect((excuse or "") in run.output, f"'{excuse}'")
    run.expect(excuse != "" or "so this runs with" not in run.output, "this very MPI")
    return run


def try_as_user(debian: Debian) -> Iterator[Run]:
    """What is missing is named. In a folder the kernel gives this user no namespaces."""
    yield refused(debian, TEST)[0]
    run, packages = refused(debian, DEMO)
    yield run
    install(debian, packages, "--install-recommends")
    yield demonstrated(debian, "user", "2 ranks of this machine")
    yield tested(debian, "user")


TRIALS: dict[str, Callable[[Debian], Iterator[Run]]] = {"root": try_as_root, "user": try_as_user}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", help=f"a release of Debian; without, {' and '.join(SUITES)}")
    parser.add_argument("user", nargs="?", choices=USERS, help="without, both")
    parser.add_argument("command", nargs="*", help="instead of the README's commands, after --")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    place = ""
    try:
        require_tools()
        if options.command:
            with fresh(options.suite) as debian:
                return debian.run(options.user, options.command, TEST_SECONDS, aloud=True).code
        for suite in [options.suite] if options.suite else SUITES:
            for user in [options.user] if options.user else USERS:
                place = f"{suite}, {user}: "
                with fresh(suite) as debian:
                    for run in TRIALS[user](debian):
                        print(f"{place}{run}, as it should be", flush=True)
    except UntriableError as reason:
        print(f"fresh_debian: {place}cannot be tried here: {reason}", file=sys.stderr)
        return UNTRIABLE
    except FaultError as fault:
        print(f"fresh_debian: {place}{fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
