"""What a launcher leaves behind, or does not end, ends with its user."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import are_running

ROOT = Path(__file__).resolve().parents[2]
LAUNCHERS = {
    "that does not listen": "trap '' TERM; sleep {0} & wait",
    "that forgets a rank": "setsid sleep {0} & exec sleep {0}",
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_launcher_ends_with_its_user(launcher: str) -> None:
    seconds = f"601.{os.getpid()}{len(launcher)}"  # no other test sleeps for so long
    command = ["bash", "-c", LAUNCHERS[launcher].format(seconds)]
    guard = subprocess.Popen(
        [sys.executable, "-P", "-m", "measuring.launcher_guard", *command],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
    )
    assert guard.stdin is not None
    while not are_running("sleep\0", seconds):
        assert guard.poll() is None
        time.sleep(0.01)
    guard.stdin.close()
    guard.wait()
    assert not are_running(seconds)
