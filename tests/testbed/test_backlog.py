"""The queue of frames that wait for a core is lengthened while clusters are up."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from testbed.backlog import FRAMES, put_back, raise_limit


def nobody() -> bool:
    """No cluster needs the limit."""
    return False


def test_the_limit_is_raised_and_put_back(tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text("1000\n")
    for _ in range(2):  # clusters
        assert raise_limit(tmp_path, limit) is None
        assert int(limit.read_text()) == FRAMES
    put_back(tmp_path, nobody, limit)
    assert int(limit.read_text()) == 1000
    put_back(tmp_path, nobody, limit)
    assert int(limit.read_text()) == 1000


def test_what_somebody_else_has_set_stays(tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text(f"{2 * FRAMES}\n")
    assert raise_limit(tmp_path, limit) is None
    put_back(tmp_path, nobody, limit)
    assert int(limit.read_text()) == 2 * FRAMES

    limit.write_text("1000\n")
    raise_limit(tmp_path, limit)
    limit.write_text("5000\n")
    put_back(tmp_path, nobody, limit)
    assert int(limit.read_text()) == 5000


def test_whether_it_is_needed_is_asked_while_nobody_can_raise_it(tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text("1000\n")
    raise_limit(tmp_path, limit)

    def somebody() -> bool:
        with (tmp_path / ".backlog.lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True

    put_back(tmp_path, somebody, limit)
    assert int(limit.read_text()) == FRAMES
    put_back(tmp_path, nobody, limit)
    assert int(limit.read_text()) == 1000


def test_without_a_limit_there_is_a_note(tmp_path: Path) -> None:
    note = raise_limit(tmp_path, tmp_path / "none")
    assert note is not None
    assert "outside of the container" in note
    put_back(tmp_path, nobody, tmp_path / "none")
