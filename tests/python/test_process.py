# SPDX-License-Identifier: BSD-3-Clause
"""Running a launcher: its exit code, its signals."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from rondo.errors import Error
from rondo.launching import process


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def start(script: str) -> subprocess.Popen[str]:
    """Another Rondo that runs a shell script, which says "ready" when its traps are set."""
    # Tests that run in the background ignore SIGINT, and SIGHUP under nohup; a shell cannot trap what it ignores from
    # birth.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    heed += "; signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    imports = "import os, sys; from rondo.launching import process"
    code = f"{heed}; {imports}; sys.exit(process.run({shell(script)!r}, os.environ))"
    started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


# A shell runs a trap when the command that it waits for has ended.
WAIT = "i=0; while [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done"


@pytest.mark.parametrize("code", [0, 1, 77, 255])
def test_the_exit_code_is_the_command_s(code):
    assert process.run(shell(f"exit {code}"), os.environ) == code


def test_death_by_a_signal_is_128_and_its_number():
    assert process.run(shell("kill -KILL $$"), os.environ) == 128 + signal.SIGKILL


def test_the_command_gets_the_environment_and_usual_signals():
    # Python ignores SIGPIPE, and Rondo blocks signals: neither may be inherited.
    for function in ("run", "replace"):
        words = shell('echo "$A"; cat /proc/self/status')
        code = (
            f"from rondo.launching import process; process.{function}({words!r}, {{'PATH': '/usr/bin:/bin', 'A': 'b'}})"
        )
        status = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert status.startswith("b\n")
        assert not {signal.SIGPIPE, signal.SIGXFSZ} & signals_in(status, "SigIgn")
        assert not signals_in(status, "SigBlk")


def signals_in(status: str, field: str) -> set[int]:
    """The numbers of the signals in one of the masks of /proc/self/status."""
    (mask,) = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(field)]
    return {number for number in range(1, 32) if mask >> (number - 1) & 1}


def test_a_replaced_process_has_the_command_s_exit_code():
    code = f"import os; from rondo.launching import process; process.replace({shell('exit 9')!r}, os.environ)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9


@pytest.mark.parametrize("function", [process.run, process.replace])
def test_a_command_that_cannot_be_run_is_an_error(tmp_path, function):
    with pytest.raises(Error, match=r"cannot run .*missing") as failure:
        function([str(tmp_path / "missing")], os.environ)
    assert failure.value.exit_code == 127
    assert all(signal.getsignal(number) is signal.SIG_IGN for number in process.IGNORED_BY_PYTHON)


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_signals_are_passed_on(name):
    started = start(f"trap 'exit 42' {name}; echo ready; {WAIT}")
    started.send_signal(getattr(signal, f"SIG{name}"))
    assert started.wait(20) == 42


def test_a_key_of_the_terminal_reaches_the_command_once():
    # The terminal sends it to both of them: what Rondo passed on would be the second.
    counting = (
        "import signal, time\n"
        "received = []\n"
        "signal.signal(signal.SIGINT, lambda number, frame: received.append(number))\n"
        "print('ready', flush=True)\n"
        "for _ in range(20): time.sleep(0.1)\n"
        "print('received', len(received), flush=True)\n"
    )
    imports = "import os, sys; from rondo.launching import process"
    code = f"{imports}; process.run([sys.executable, '-c', {counting!r}], os.environ)"
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", code])
    output = b""
    while b"ready" not in output:
        output += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while not re.search(rb"received \d", output):
        output += os.read(terminal, 1000)
    os.waitpid(child, 0)
    os.close(terminal)
    assert b"received 1" in output


def test_the_third_request_to_end_kills():
    started = start(f"trap '' TERM; echo ready; {WAIT}")
    for _ in range(2):
        started.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert started.poll() is None
    started.send_signal(signal.SIGTERM)
    assert started.wait(20) == 128 + signal.SIGKILL


def test_another_thread_may_swallow_the_news_of_the_end():
    # Numerical libraries start threads, in which nothing is blocked: the kernel may give them SIGCHLD, which is lost.
    code = (
        "import os, threading, time; from rondo.launching import process\n"
        "for _ in range(4): threading.Thread(target=time.sleep, args=(3,), daemon=True).start()\n"
        f"for _ in range(40): assert process.run({shell('exit 3')!r}, os.environ) == 3"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
