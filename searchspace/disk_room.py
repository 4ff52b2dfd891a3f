"""Whether a disk of this host has room for what is to be written."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from searchspace.errors import HamtuneError
from searchspace.units import format_size

__all__ = ["NoRoom", "check_room", "free_entries", "told_when_full"]

_FULL = (errno.ENOSPC, errno.EDQUOT)
_MEBIBYTE = 1 << 20
_SPARE_BYTES = 64 * _MEBIBYTE
_SPARE_ENTRIES = 1000
"""What has to remain for others, who write at the same time."""


class NoRoom(HamtuneError):
    """This host has too little room on its disk; another one may do what was asked for.

    Args:
        message: What lacks room, and where.
        before: Whether that was seen before anything was tried.
    """

    def __init__(self, message: str, *, before: bool) -> None:
        super().__init__(
            f"{message}; make room there, or set TMPDIR to a directory on another disk"
        )
        self.before = before
        self.__cause__ = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def free_entries(disk: os.statvfs_result) -> float:
    """How many files and directories a disk still takes; infinite where it makes inodes as needed.

    Args:
        disk: What `os.statvfs` says of it.
    """
    return disk.f_favail if disk.f_files else math.inf


def check_room(directory: Path, what: str, size: int, entries: int = 0) -> None:
    """Refuse what would fill a disk.

    Args:
        directory: Where it is to be written.
        what: What that is, for the message.
        size: Its bytes.
        entries: Its files, directories and links.

    Raises:
        NoRoom: There is too little of either, or none would remain for others.
    """
    disk = os.statvfs(directory)
    free = disk.f_bavail * disk.f_frsize
    if free < size + _SPARE_BYTES:
        raise NoRoom(
            f"{what} takes {format_size(-(-size // _MEBIBYTE) * _MEBIBYTE)} in {directory}, where "
            f"{format_size(free // _MEBIBYTE * _MEBIBYTE)} are free and "
            f"{format_size(_SPARE_BYTES)} have to remain",
            before=True,
        )
    left = free_entries(disk)
    if left < entries + _SPARE_ENTRIES:
        raise NoRoom(
            f"{what} takes {entries} files and directories in {directory}, where {left:.0f} can "
            f"be made and {_SPARE_ENTRIES} have to remain",
            before=True,
        )


@contextmanager
def told_when_full(what: str) -> Iterator[None]:
    """Say plainly that a disk came to be full, whatever was to become of other errors.

    Args:
        what: What was written.

    Raises:
        NoRoom: It is full.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        message = f"the disk of this host came to be full while {what} was written"
        raise NoRoom(message, before=False) from error
