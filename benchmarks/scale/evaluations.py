"""Evaluations of thousands of ranks: extrapolated programs, and a long trace."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.packets.cost import NETWORK, evaluate, machine_of
from benchmarks.packets.traces import stencil
from searchspace.extrapolation import extrapolate
from searchspace.platform import resolve
from workers.capture import capture_builtin
from workers.simulator_client import Simulator

__all__ = ["MOST_CPU_SECONDS", "MOST_LOAD_SECONDS", "MOST_MEGABYTES", "show_evaluations"]

# From captures on so many ranks: a square of them each for CG, and as many planes as FT wants.
_PROGRAMS = {("cg", "A"): (16, 64, 256), ("ft", "W"): (64, 128, 256)}
_REPEATS = 3  # of which the least counts: whatever else the machine does only adds
MOST_CPU_SECONDS = 60.0
_ITERATIONS, _POINTS = 100, 64
MOST_MEGABYTES, MOST_LOAD_SECONDS = 20.0, 2.0
_MEGABYTE = 1e6
_AT_ONCE = 1e-12  # s: simulated time after which nothing has been done


def show_evaluations(ranks: int, bars: Bars) -> Iterator[dict[str, Any]]:
    """Print CPU seconds of evaluations, and size and load of a trace; gives the figures."""
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        place = Path(scratch)
        for (program, class_), known in _PROGRAMS.items():
            trace = _extrapolated(program, class_, known, ranks, place)
            answers = [evaluate(trace, ranks, "packets") for _ in range(_REPEATS)]
            for answer in answers:
                if answer["status"] != "completed":
                    raise RuntimeError(f"{program}: {answer['status']}: {answer['reason']}")
            cpu = [answer["cpu_seconds"] for answer in answers]
            name = f"{program}.{class_}, {ranks} ranks"
            bars.at_most(f"{name}: CPU s", min(cpu), MOST_CPU_SECONDS)
            yield {
                "case": name,
                "from_ranks": known,
                "messages": answers[0]["messages"],
                "cpu_seconds": cpu,
                "peak_rss_bytes": max(answer["peak_rss_bytes"] for answer in answers),
                "simulated_time": answers[0]["simulated_time"],
            }
        trace = stencil(place / "stencil.ht", ranks, _POINTS, _ITERATIONS)
        size, seconds = trace.stat().st_size, _load_seconds(trace, ranks)
        name = f"trace of the stencil, {ranks} ranks"
        bars.at_most(f"{name}: MB", size / _MEGABYTE, MOST_MEGABYTES)
        bars.at_most(f"{name}: seconds to load", seconds, MOST_LOAD_SECONDS)
        yield {"case": name, "bytes": size, "load_seconds": seconds}


def _extrapolated(
    program: str, class_: str, known: tuple[int, ...], ranks: int, place: Path
) -> Path:
    captures = [place / f"{program}-{few}.ht" for few in known]
    for few, capture in zip(known, captures, strict=True):
        capture_builtin(program, class_, few, {}, capture)
    trace = place / f"{program}.ht"
    extrapolate(captures, ranks, trace, check=False)
    return trace


def _load_seconds(trace: Path, ranks: int) -> float:
    """Of the clock: by how much the first evaluation, ended at once, takes longer than the next.

    Those of several simulators; the median counts, since the clock moves with all that runs.
    """
    request = resolve(NETWORK, machine_of(ranks, "packets"), ranks).simulator_request()
    seconds = []
    for _ in range(_REPEATS):
        with Simulator([trace]) as simulator:
            passed = []
            for _ in range(1 + _REPEATS):
                began = time.monotonic()
                simulator.evaluate(request, cutoff=_AT_ONCE)
                passed.append(time.monotonic() - began)
        seconds.append(passed[0] - min(passed[1:]))
    return statistics.median(seconds)
