"""The files of an emulated cluster that is up, by name, and where they are.

A directory per user holds a directory per cluster. What is up is known by the socket that its
holder listens on, which no crash can leave behind as if it were: nobody answers there then.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from searchspace.errors import InvalidInput

__all__ = [
    "ADDRESSES",
    "AGENT",
    "BUILD_LOG",
    "DESCRIPTION",
    "ERROR",
    "HOSTS_FILE",
    "NODES",
    "SOCKET",
    "WISHES",
    "directory_of",
    "root",
    "waiting_library",
]

WISHES = "wishes.json"
"""What was asked for."""
NODES = "nodes.json"
"""The host names of the nodes."""
ADDRESSES = "hosts"
"""What its hosts see as `HOSTS_FILE`."""
DESCRIPTION = "testbed.json"
"""What is up; written when it is."""
ERROR = "error.txt"
"""Why it could not be brought up, in a sentence."""
BUILD_LOG = "build.log"
SOCKET = "holder.sock"
AGENT = "agent"
"""The launchers' remote shell."""
HOSTS_FILE = "/etc/hosts"

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,30}[a-z0-9])?")


def root() -> Path:
    """Where the emulated clusters of this user are kept: `HAMTUNE_TESTBEDS`, or a run directory."""
    given = os.environ.get("HAMTUNE_TESTBEDS")
    if given:
        return Path(given)
    user = os.geteuid()
    if user == 0:
        return Path("/run/hamtune-testbeds")
    run = os.environ.get("XDG_RUNTIME_DIR")
    return Path(run, "hamtune-testbeds") if run else Path(f"/tmp/hamtune-testbeds-{user}")  # noqa: S108


def waiting_library(library: str) -> str:
    """The file that lets waiting ranks of an MPI library sleep."""
    return f"waiting_{library}.so"


def directory_of(name: str) -> Path:
    """The directory of a cluster.

    Raises:
        InvalidInput: That is no name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:60]!r} is no name of a testbed: up to 32 of a-z, 0-9, '.', '_' and '-'",
            field="name",
        )
    return root() / name
