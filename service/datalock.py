"""One embedded service for a data directory at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from searchspace.errors import HamtuneError

__all__ = ["DataDirectoryInUse", "DataLock"]


class DataDirectoryInUse(HamtuneError):
    """Another living process runs on the data directory."""


class DataLock:
    """An exclusive lock on a data directory, held until it is released or the process dies.

    The kernel holds the lock (flock), so one left by a killed process is free at once; the
    file only tells whom to blame.

    Args:
        directory: The data directory; made if there is none.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            DataDirectoryInUse: Another process holds it; the message names it.
        """
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._directory / "lock"
        # Not inherited: a child that outlives this process must not keep the directory.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise DataDirectoryInUse(
                f"process {holder} already runs on {self._directory}; "
                "stop it, use it as the server, or choose another data directory"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def holder(self) -> int | None:
        """Id of the living process that has taken the lock; None where there is none."""
        try:
            process = int((self._directory / "lock").read_text())
        except (OSError, ValueError):
            return None
        return process if Path(f"/proc/{process}").exists() else None

    def release(self) -> None:
        """Give the lock back; the file stays, as removing it would race with who waits."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> DataLock:
        self.acquire()
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()
