"""Runs a launcher and takes everything it started with it, however its user ends.

A launcher that is told to end ends its ranks, those on other hosts too, but one that is told so
while it starts them may forget some. So it is told first, and what is left of it here is killed.

Usage: python -m measuring.launcher_guard COMMAND..., with a pipe for standard input that its user
holds open for as long as the command is wanted. Ends with the command's status. To be started in a
session of its own: Ctrl-C and hang-up go to a whole group, and would end it before it ends others.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys

from workers.capture_guard import adopt_descendants, end_descendants

_LAUNCHER_SECONDS = 5
"""For which a launcher may end its ranks."""


def main() -> None:
    """Run the command to its end, or to the end of standard input."""
    adopt_descendants()
    try:
        command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.exit(f"{sys.argv[1]} cannot be started: {error.strerror}")
    ready, _, _ = select.select([os.pidfd_open(command.pid), sys.stdin], [], [])
    if sys.stdin in ready:
        command.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(_LAUNCHER_SECONDS)
        command.kill()
    status = command.wait()
    end_descendants()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
