"""The guard says by what limit a command ended, however late it comes to look."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import workers.capture_guard
from tests.processes import children

# Both wait for the guard to be stopped, which `stopped` in the working directory tells.
WAITS = """import os, sys, time
os.write(1, b'here')
while not os.path.exists('stopped'):
    time.sleep(0.01)
"""
SPINS = WAITS + "while True: pass"
FAILS = WAITS + "sys.exit(9)"


def state_of(process: int) -> str:
    """`T` of a stopped process, `Z` of one that has ended."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize(
    ("program", "answer"),
    [(SPINS, {"limit": "cpu"}), (FAILS, {"status": 9})],
    ids=["spins", "fails"],
)
def test_a_command_that_ended_while_the_guard_did_not_look_ended_by_its_cpu_time(
    program: str, answer: dict[str, object], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    bounds = {
        "wall_seconds": 600,
        "cpu_seconds": 1,
        "stall_seconds": 600,
        "idle_seconds": 600,
        "memory_bytes": 1 << 34,
        "processes": 64,
        "file_bytes": 1 << 20,
        "disk_bytes": 1 << 30,
        "entries": 1000,
        "reserve_bytes": 0,
        "reserve_entries": 0,
        "log_bytes": 1 << 16,
        "log": str(log),
        "watched": [str(tmp_path)],
        "in_memory": [],
        "progress": "",
        "passed": [],
    }
    script = str(workers.capture_guard.__file__)
    guard = subprocess.Popen(
        [sys.executable, script, json.dumps(bounds), sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    )
    while not log.exists() or b"here" not in log.read_bytes():
        time.sleep(0.01)
    os.kill(guard.pid, signal.SIGSTOP)
    while state_of(guard.pid) != "T":
        time.sleep(0.01)
    (command,) = children(guard.pid)
    (tmp_path / "stopped").touch()
    while state_of(command) != "Z":
        time.sleep(0.01)
    os.kill(guard.pid, signal.SIGCONT)

    said, _ = guard.communicate()

    assert json.loads(said) == answer
