"""Processes of this machine, any of which may end while one looks at it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

__all__ = ["are_running", "children", "ended_with_us", "is_alive", "ticks_below"]


def ended_with_us(*command: str, by: Literal["KILL", "TERM"] = "KILL") -> list[str]:
    """A command that the kernel ends by a signal once the thread that starts it is no more.

    Who is killed has no time to end what it started, and a service that is asked to end waits for
    evaluations, which a test may be holding up.
    """
    program = shutil.which("setpriv")  # by our path, not by that which the command may be given
    assert program is not None
    return [program, "--pdeathsig", by, "--", *command]


def are_running(*parts: str) -> bool:
    """Whether there is a process in whose command line all of these stand."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = process.read_bytes()
        except OSError:
            continue
        if all(part.encode() in command for part in parts):
            return True
    return False


def is_alive(pid: int) -> bool:
    """Whether a process has not ended, or has ended and not been waited for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state != b"Z"


def children(pid: int) -> list[int]:
    """The processes that the threads of a process have started; none where it has ended."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            found += map(int, (task / "children").read_text().split())
        except OSError:  # the thread has ended
            continue
    return found


def ticks_below(pid: int) -> int:
    """CPU time, in ticks, of what a process has started, and so on, and that has not ended."""
    ticks = 0
    for child in children(pid):
        try:
            times = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(times[11]) + int(times[12]) + ticks_below(child)
    return ticks
