"""Runs one command with limits and takes everything it started with it when it ends.

Started by `workers.capture_sandbox` as a script of its own in a session of its own: the session's
process group is killed when the command ends and when standard input closes, which happens however
the starter ends. The exit status of the command is written to standard output; what the command
prints goes to standard error.

Usage: capture_guard.py MEMORY_BYTES FILE_BYTES COMMAND...
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import sys


def main() -> None:
    """Run the command to its end or to the end of standard input."""
    memory, file_size = int(sys.argv[1]), int(sys.argv[2])

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    command = subprocess.Popen(
        sys.argv[3:], stdin=subprocess.DEVNULL, stdout=sys.stderr, preexec_fn=limit
    )
    ended = os.pidfd_open(command.pid)
    ready, _, _ = select.select([ended, sys.stdin], [], [])
    if ended in ready:
        print(command.wait(), flush=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
