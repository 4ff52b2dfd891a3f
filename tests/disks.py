"""Disks that have little room, as the system tells of them."""

from __future__ import annotations

import os

import pytest

__all__ = ["leave_free"]

_BLOCK = 4096


def leave_free(patch: pytest.MonkeyPatch, size: int, entries: int | None = None) -> None:
    """Let every disk have so many bytes free, and so many files; None for as many as it likes."""
    blocks, files = size // _BLOCK, entries or 0
    disk = (_BLOCK, _BLOCK, 1 << 30, blocks, blocks, files and 1 << 20, files, files, 0, 255)
    patch.setattr(os, "statvfs", lambda _path: os.statvfs_result(disk))
