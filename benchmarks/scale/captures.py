"""Captures of programs on thousands of ranks."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.scale.memory import PeakMemory
from workers.capture import capture_builtin

__all__ = ["MOST_GIB", "MOST_SECONDS", "show_captures"]

_PROGRAMS: tuple[tuple[str, str | None, dict[str, object]], ...] = (
    ("stencil3d", None, {"points": 128, "iterations": 20}),
    ("cg", "A", {}),
)
MOST_SECONDS, MOST_GIB = 600.0, 20.0
_GIB = 2**30


def show_captures(ranks: int, bars: Bars) -> Iterator[dict[str, Any]]:
    """Print seconds of the clock, build included, and memory of each; gives the figures."""
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        for program, class_, parameters in _PROGRAMS:
            began = time.monotonic()
            with PeakMemory() as memory:
                trace = Path(scratch) / f"{program}.ht"
                capture_builtin(program, class_, ranks, parameters, trace)
            seconds = time.monotonic() - began
            name = f"capture of {program}, {ranks} ranks"
            bars.at_most(f"{name}: seconds of the clock", seconds, MOST_SECONDS)
            bars.at_most(f"{name}: GiB", memory.bytes / _GIB, MOST_GIB)
            yield {
                "program": program,
                "class": class_,
                **parameters,
                "ranks": ranks,
                "wall_seconds": seconds,
                "peak_bytes": memory.bytes,
            }
