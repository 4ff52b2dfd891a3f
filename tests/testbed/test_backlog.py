"""The queue of frames that wait for a core is lengthened while clusters are up."""

from __future__ import annotations

from pathlib import Path

from testbed.backlog import FRAMES, put_back, raise_limit


def test_the_limit_is_raised_and_put_back(tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text("1000\n")
    for _ in range(2):  # clusters
        assert raise_limit(tmp_path, limit) is None
        assert int(limit.read_text()) == FRAMES
    put_back(tmp_path, limit)
    assert int(limit.read_text()) == 1000
    put_back(tmp_path, limit)
    assert int(limit.read_text()) == 1000


def test_what_somebody_else_has_set_stays(tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text(f"{2 * FRAMES}\n")
    assert raise_limit(tmp_path, limit) is None
    put_back(tmp_path, limit)
    assert int(limit.read_text()) == 2 * FRAMES

    limit.write_text("1000\n")
    raise_limit(tmp_path, limit)
    limit.write_text("5000\n")
    put_back(tmp_path, limit)
    assert int(limit.read_text()) == 5000
