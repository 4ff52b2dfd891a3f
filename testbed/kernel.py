"""The few calls of Linux that Python 3.11 has no names for."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "CLONE_NEWIPC",
    "CLONE_NEWNET",
    "CLONE_NEWNS",
    "CLONE_NEWPID",
    "CLONE_NEWUSER",
    "CLONE_NEWUTS",
    "MS_BIND",
    "MS_PRIVATE",
    "MS_REC",
    "enter",
    "mount",
    "setns",
    "short_path",
    "unmount",
    "unshare",
]

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
_MNT_DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave namespaces for new ones.

    Raises:
        OSError: The kernel does not allow it.
    """
    _checked(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace that a descriptor stands for; `kind` is its `CLONE_NEW...`."""
    _checked(_libc.setns(descriptor, kind), "setns")


@contextlib.contextmanager
def enter(descriptor: int, kind: int, home: int) -> Iterator[None]:
    """Be in a namespace within the block, and in that of `home` afterwards."""
    setns(descriptor, kind)
    try:
        yield
    finally:
        setns(home, kind)


def mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    """Mount a file system.

    Raises:
        OSError: The kernel does not allow it.
    """
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), None), f"mount {target}")


def unmount(target: str) -> None:
    """Take a file system away, once nobody uses it."""
    _checked(_libc.umount2(target.encode(), _MNT_DETACH), f"umount {target}")


@contextlib.contextmanager
def short_path(path: Path) -> Iterator[str]:
    """A short name of a socket's path, which may have no more than 107 bytes."""
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
