"""What would fill a disk is refused, with what it takes, what is free and what to do."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from searchspace.disk_room import NoRoom, check_room, told_when_full
from tests.disks import leave_free

MIB = 1 << 20


def test_what_would_leave_no_room_for_others_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_free(monkeypatch, 100 * MIB)
    check_room(tmp_path, "the tree", 36 * MIB, 1 << 40)
    with pytest.raises(NoRoom) as refused:
        check_room(tmp_path, "the tree", 36 * MIB + 1)
    assert str(refused.value) == (
        f"the tree takes 37 MiB in {tmp_path}, where 100 MiB are free and 64 MiB have to remain; "
        "make room there, or set TMPDIR to a directory on another disk"
    )
    assert refused.value.before
    assert isinstance(refused.value.__cause__, OSError)


def test_what_has_more_files_than_can_be_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_free(monkeypatch, 1 << 30, entries=1500)
    check_room(tmp_path, "the tree", 0, 500)
    with pytest.raises(NoRoom, match=r"takes 501 files and directories in .*, where 1500 can be"):
        check_room(tmp_path, "the tree", 0, 501)


def test_a_disk_that_came_to_be_full_is_told_of() -> None:
    @told_when_full("a tree")
    def write(number: int) -> None:
        raise OSError(number, "failed")

    with pytest.raises(NoRoom, match="came to be full while a tree was written; make room"):
        write(errno.ENOSPC)
    with pytest.raises(OSError, match="failed"):
        write(errno.EIO)
