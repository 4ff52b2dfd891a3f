"""Temporary files of a process that may be killed: whoever starts next on the host removes them."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["scratch"]

_PREFIX = "hamtune-scratch-"
_LOCK = "lock"


@contextmanager
def scratch() -> Iterator[Path]:
    """Within the block, the temporary files of this process lie in a directory of its own.

    The directory is locked while the process lives; those of dead processes are removed first. It
    changes a setting of the whole process, so one block at a time.
    """
    before = tempfile.tempdir
    base = Path(tempfile.gettempdir())
    _sweep(base)
    own = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    with (own / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tempfile.tempdir = str(own)
        try:
            yield own
        finally:
            tempfile.tempdir = before
            shutil.rmtree(own, ignore_errors=True)


def _sweep(base: Path) -> None:
    for directory in base.glob(f"{_PREFIX}*"):
        try:
            with (directory / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            continue  # its process lives, or is just making it, or belongs to somebody else
