"""Traces that are written without a program are what its capture would have been."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.packets.traces import cube, stencil
from searchspace.formats.trace import read_operations
from workers.capture import capture_builtin


@pytest.mark.parametrize("ranks", [8, 16, 32])
def test_the_stencil_is_what_a_capture_holds(ranks: int, tmp_path: Path) -> None:
    captured, written = tmp_path / "captured.ht", tmp_path / "written.ht"
    capture_builtin("stencil3d", None, ranks, {"points": 16, "iterations": 3}, captured)
    stencil(written, ranks, points=16, iterations=3)
    for rank in range(ranks):
        assert read_operations(written, rank) == read_operations(captured, rank)


def test_grids_are_as_cubic_as_they_can_be() -> None:
    assert [cube(ranks) for ranks in (8, 64, 512, 1024, 4096, 16384)] == [
        (2, 2, 2), (4, 4, 4), (8, 8, 8), (16, 8, 8), (16, 16, 16), (32, 32, 16)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="not a power of two"):
        cube(12)
