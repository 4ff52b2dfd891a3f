"""How many frames may wait for a core of this host: the one queue that all emulated cables share.

Frames cross a virtual cable by waiting for a core. The kernel drops what does not fit into that
queue, a thousand frames unless told otherwise, which is little where all hosts send at once. TCP
then waits for its time-out, and the run tells nothing of the cables. The limit is the host's alone;
it is put back when the last cluster goes.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FRAMES", "put_back", "raise_limit"]

FRAMES = 100_000
_LIMIT = Path("/proc/sys/net/core/netdev_max_backlog")
_BEFORE = ".backlog"


def raise_limit(directory: Path, limit: Path = _LIMIT) -> str | None:
    """Let more frames wait, unless as many may already.

    Args:
        directory: Where the limit that was before is remembered.
        limit: The kernel's.

    Returns:
        Where the kernel does not allow it: what that means, in a sentence.
    """
    with _locked(directory):
        now = int(limit.read_text())
        if now >= FRAMES:
            return None
        try:
            limit.write_text(f"{FRAMES}\n")
        except OSError:
            return (
                f"at most {now} frames may wait for a core of this host; what is more is lost, "
                "which only root can change (sysctl net.core.netdev_max_backlog)"
            )
        (directory / _BEFORE).write_text(f"{now}\n")
        return None


def put_back(directory: Path, limit: Path = _LIMIT) -> None:
    """Set the limit that was before, if it was raised and nobody has set another one since."""
    before = directory / _BEFORE
    with _locked(directory), contextlib.suppress(OSError, ValueError):
        if int(limit.read_text()) == FRAMES:
            limit.write_text(before.read_text())
        before.unlink()


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / f"{_BEFORE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
