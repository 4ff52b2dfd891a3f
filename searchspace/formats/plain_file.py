"""Checks of files that users name, before they are opened.

A pipe that nobody writes to, a terminal or `/dev/zero` keeps its reader waiting for ever.
"""

from __future__ import annotations

import stat
from pathlib import Path

from searchspace.errors import InvalidInput

__all__ = ["check_file", "check_plain"]

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
_OF_THE_KERNEL = ("/proc", "/sys")
_HANDED_OVER = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def check_plain(path: Path, *, read_once: bool = False, field: str | None = None) -> None:
    """Check that what has this name, if anything has it, is a file or a directory.

    Args:
        path: The name; links are followed.
        read_once: Whether the file is opened once and read from start to end. A pipe that the shell
            handed over open (`<(command)`, `/dev/stdin`) then does too: there is a writer.
        field: Named in the error.

    Raises:
        InvalidInput: It is a pipe, a device, a socket, or a view of the kernel such as a process's
            memory, which is not what it says it is.
    """
    try:
        kind = _KINDS.get(stat.S_IFMT(path.stat().st_mode))
        if any(path.resolve().is_relative_to(folder) for folder in _OF_THE_KERNEL):
            kind = kind or "a view of the kernel"
    except (OSError, RuntimeError, ValueError):
        return  # who opens it says why it cannot be opened
    handed_over = read_once and kind == "a pipe" and str(path).startswith(_HANDED_OVER)
    if kind is not None and not handed_over:
        raise InvalidInput(
            f"{path} is {kind}, not a file; save what comes out of it in a file and name that",
            field=field,
        )


def check_file(path: Path, *, field: str | None = None) -> None:
    """Check that a file has this name.

    Raises:
        InvalidInput: There is none, or it is a directory, a pipe, a device or a socket.
    """
    check_plain(path, field=field)
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}", field=field)
