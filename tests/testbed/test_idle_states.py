"""Idle cores are kept awake while a program runs, where the host allows it."""

from __future__ import annotations

import struct
from pathlib import Path

from testbed.idle_states import awake


def test_no_time_to_wake_is_asked_for(tmp_path: Path) -> None:
    device = tmp_path / "latency"
    device.touch()
    with awake(device) as allowed:
        assert allowed
        assert struct.unpack("i", device.read_bytes()) == (0,)


def test_a_run_goes_on_where_that_is_not_allowed(tmp_path: Path) -> None:
    with awake(tmp_path / "none") as allowed:
        assert not allowed
