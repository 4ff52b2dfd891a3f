"""The simulator behind a valve: so many evaluations pass, and the others wait until it is opened.

What a job is prepared with (`workers/probes.py`) is no evaluation.

A job whose evaluations wait cannot be over before a test has disturbed it, however fast the machine
is, and need not be long for that.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from workers.simulator_client import BINARY

__all__ = ["Valve"]

PROGRAM = """\
#!{python} -IS
import os, subprocess, sys, time
from pathlib import Path

simulator, folder, started_by = {simulator!r}, Path({folder!r}), os.getppid()
if "--server" not in sys.argv:
    os.execv(simulator, [simulator, *sys.argv[1:]])
probes = any(Path(word).name.startswith("probe-") for word in sys.argv)


def may_pass():
    if probes or (folder / "open").exists():
        return True
    for one in folder.glob("pass-*"):
        try:
            one.unlink()
        except FileNotFoundError:  # another took it
            continue
        # A worker keeps the outcomes of quick trials for a while; these are stored one by one.
        time.sleep(0.1)
        return True
    return False


server = subprocess.Popen([simulator, *sys.argv[1:]], stdin=subprocess.PIPE, close_fds=False)
for request in sys.stdin.buffer:
    while not may_pass():
        time.sleep(0.01)
        if os.getppid() != started_by:
            server.kill()
            sys.exit(1)
    server.stdin.write(request)
    server.stdin.flush()
server.stdin.close()
sys.exit(server.wait())
"""


class Valve:
    """What `HAMTUNE_SIMULATOR` may name: the simulator, whose evaluations pass as the test wishes.

    Args:
        folder: A directory of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir()
        self._program = folder / "simulator"
        self._program.write_text(
            PROGRAM.format(python=sys.executable, simulator=str(BINARY), folder=str(folder))
        )
        self._program.chmod(0o755)
        self.open()

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process needs to be given to simulate behind it."""
        return {"HAMTUNE_SIMULATOR": str(self._program)}

    def open(self) -> None:
        """Let everything pass."""
        (self._folder / "open").touch()

    def shut(self, passes: int = 0) -> None:
        """Let so many further evaluations pass, of all who simulate behind it together."""
        (self._folder / "open").unlink(missing_ok=True)
        for left in self._folder.glob("pass-*"):
            left.unlink(missing_ok=True)
        for number in range(passes):
            (self._folder / f"pass-{number}").touch()
