"""How many frames may wait for a core of this host: the one queue that all emulated cables share.

Frames cross a virtual cable by waiting for a core. The kernel drops what does not fit into that
queue, a thousand frames unless told otherwise, which is little where all hosts send at once. TCP
then waits for its time-out, and the run tells nothing of the cables. The limit is the host's alone;
it is put back when the last cluster goes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from testbed.files import taken_lock

__all__ = ["FRAMES", "put_back", "raise_limit"]

FRAMES = 100_000
_LIMIT = Path("/proc/sys/net/core/netdev_max_backlog")
_BEFORE = ".backlog"
_LOCK = ".backlog.lock"


def raise_limit(directory: Path, limit: Path = _LIMIT) -> str | None:
    """Let more frames wait, unless as many may already.

    Args:
        directory: Where the limit that was before is remembered.
        limit: The kernel's.

    Returns:
        Where the kernel does not allow it: what that means, in a sentence.

    Raises:
        OSError: The directory cannot be written to.
    """
    before = directory / _BEFORE
    with taken_lock(directory / _LOCK):
        try:
            now = int(limit.read_text())
        except OSError:
            # Only the host's own network namespace has it, so most containers do not.
            return (
                "how many frames may wait for a core of this host cannot be seen from here; what "
                "is more is lost, which root can change outside of the container (sysctl "
                f"net.core.netdev_max_backlog={FRAMES})"
            )
        if now >= FRAMES:
            return None
        before.write_text(f"{now}\n")  # first, so that whatever ends this can be made undone
        try:
            limit.write_text(f"{FRAMES}\n")
        except OSError:
            before.unlink()
            return (
                f"at most {now} frames may wait for a core of this host; what is more is lost, "
                "which only root can change (sysctl net.core.netdev_max_backlog)"
            )
        return None


def put_back(directory: Path, needed: Callable[[], object], limit: Path = _LIMIT) -> None:
    """Set the limit that was before, if it was raised and nobody has set another one since.

    Args:
        directory: Where the limit that was before is remembered.
        needed: Tells whether there is a cluster, which needs what was raised. Asked while nobody
            can raise the limit: a cluster that comes up is there before it does.
        limit: The kernel's.

    Raises:
        OSError: The directory cannot be written to.
    """
    before = directory / _BEFORE
    if not before.exists():
        return
    with taken_lock(directory / _LOCK), contextlib.suppress(OSError, ValueError):
        if needed():
            return
        if int(limit.read_text()) == FRAMES:
            limit.write_text(before.read_text())
        before.unlink()
