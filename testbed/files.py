"""The files of an emulated cluster that is up, by name, and where they are.

A directory per user holds a directory per cluster, and may hold what is none: a cluster's is known
by the file of what was asked for, which it has from its first moment to its last. What is up is
known by the socket that its holder listens on, which no crash can leave behind as if it were:
nobody answers there then.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from pathlib import Path
from typing import IO

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
    "is_testbed",
    "make_root",
    "root",
    "taken_lock",
    "waiting_library",
]

WISHES = "wishes.json"
"""What was asked for; tells a cluster's directory from others."""
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
_GIVEN = "HAMTUNE_TESTBEDS"
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def root() -> Path:
    """Where the emulated clusters of this user are kept: `HAMTUNE_TESTBEDS`, or a run directory."""
    given = os.environ.get(_GIVEN)
    if given:
        return Path(given)
    user = os.geteuid()
    if user == 0:
        return Path("/run/hamtune-testbeds")
    run = os.environ.get("XDG_RUNTIME_DIR")
    return Path(run, "hamtune-testbeds") if run else Path(f"/tmp/hamtune-testbeds-{user}")  # noqa: S108


def make_root() -> None:
    """Make the directory of this user's clusters, where there is none.

    Raises:
        OSError: It cannot be made, or is there and not this user's alone. One that
            `HAMTUNE_TESTBEDS` names may also be open to others, or a link.
    """
    directory = root()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.environ.get(_GIVEN):
        return
    # Its name is known beforehand, so where everybody may write, another user can have made it.
    found = directory.lstat()
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & _OF_OTHERS
    if not private or found.st_uid != os.geteuid():
        raise PermissionError(
            errno.EACCES, "it has to be a directory, no link, of this user alone (mode 0700)"
        )


def taken_lock(path: Path) -> IO[bytes]:
    """A lock that is held until what is returned is closed; waits for whoever else has it.

    Args:
        path: The file of the lock, which is made where there is none.

    Raises:
        OSError: It cannot be opened, or is a link: that could lead to any file of this user.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.fdopen(os.open(path, flags, 0o600), "wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


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


def is_testbed(directory: Path) -> bool:
    """Whether a directory is that of a cluster of this user: no other is trusted, or deleted."""
    try:
        found = directory.lstat()
        return (
            _NAME.fullmatch(directory.name) is not None
            and stat.S_ISDIR(found.st_mode)
            and found.st_uid == os.geteuid()
            and (directory / WISHES).is_file()
        )
    except OSError:
        return False
