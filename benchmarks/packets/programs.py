"""The built-in programs with messages as packets and as a fluid: what an evaluation costs."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.packets.cost import evaluate
from searchspace.errors import InvalidInput
from workers.capture import capture_builtin

__all__ = ["show_programs"]

RANKS = 64
PROGRAMS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
CLASSES = ("S", "A")
MOST_RATIO, MOST_MEAN = 1.1, 0.3


def show_programs(bars: Bars) -> Iterator[dict[str, Any]]:
    """Print a line a program and class; gives the figures.

    The dearest programs run for minutes beside a fluid.
    """
    print(f"programs on {RANKS} ranks: CPU s of packets over those of the fluid")
    ratios = []
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        for program in PROGRAMS:
            for class_ in CLASSES:
                trace = Path(scratch) / f"{program}.{class_}.ht"
                try:
                    capture_builtin(program, class_, RANKS, {}, trace)
                except InvalidInput:
                    print(f"  {program.upper()}.{class_} is too small for {RANKS} ranks")
                    continue
                fluid, packets = (evaluate(trace, RANKS, model) for model in ("fluid", "packets"))
                ratios.append(packets["cpu_seconds"] / fluid["cpu_seconds"])
                bars.at_most(
                    f"{program.upper()}.{class_}: {packets['cpu_seconds']:.3g} s of "
                    f"{fluid['cpu_seconds']:.3g} s",
                    ratios[-1],
                    MOST_RATIO,
                )
                yield {
                    "program": f"{program}.{class_}",
                    "ranks": RANKS,
                    "packets_cpu_seconds": packets["cpu_seconds"],
                    "fluid_cpu_seconds": fluid["cpu_seconds"],
                    "packets_simulated_time": packets["simulated_time"],
                    "fluid_simulated_time": fluid["simulated_time"],
                }
    bars.at_most("geometric mean", math.exp(sum(map(math.log, ratios)) / len(ratios)), MOST_MEAN)
