"""What launchers of MPI take for a remote shell: `agent.py [-OPTION ...] HOST COMMAND ...`.

It has the process that keeps a run start the command on the host, with its own files and
environment, and ends as it ends. Imports the standard library alone, for each host starts one.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys

SOCKET = "HAMTUNE_TESTBED_RUN"
"""The variable that names the socket of the run."""


def main(words: list[str]) -> int:
    """Run a command on a host."""
    while words and words[0].startswith("-"):
        words = words[1:]
    if len(words) < 2:
        print("agent: HOST COMMAND ...", file=sys.stderr)
        return 2
    request = {
        "host": words[0],
        "command": ["/bin/sh", "-c", " ".join(words[1:])],
        "environment": dict(os.environ),
        "directory": os.getcwd(),  # noqa: PTH109 (pathlib would start later)
    }
    folder, name = os.path.split(os.environ[SOCKET])
    descriptor = os.open(folder, os.O_PATH)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as run:
        run.connect(f"/proc/self/fd/{descriptor}/{name}")
        text = json.dumps(request).encode()
        socket.send_fds(run, [struct.pack("=I", len(text))], [0, 1, 2])
        run.sendall(text)
        answer = run.makefile("rb").read()
    if len(answer) < 4:
        return 255
    document = json.loads(answer[4:])
    if "error" in document:
        print(f"agent: {document['error']}", file=sys.stderr)
    return int(document["status"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
