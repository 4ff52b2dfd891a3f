"""What one evaluation costs with messages as packets: bars of CPU seconds and of memory."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machines import designed
from benchmarks.packets.bars import Bars
from benchmarks.packets.traces import allreduce, alltoall, stencil
from searchspace.configuration import Configuration
from searchspace.kernels import aspl_diameter
from searchspace.machine import Machine, parse_machine
from searchspace.platform import resolve
from searchspace.topology import generate
from workers.simulator_client import Simulator

__all__ = [
    "CASES",
    "GROWING",
    "MOST_GROWTH",
    "Case",
    "evaluate",
    "growth",
    "machine_of",
    "show_costs",
]

REPEATS = 5  # of which the least counts: whatever else the machine does only adds
MOST_GROWTH = 2.3  # per doubling of the ranks
GROWING = ("stencil", "all-reduce 64 KiB")  # of which that is asked
NETWORK = Configuration.from_json({"topology": "random", "topology_seed": 1})
_KIB, _MIB = 1 << 10, 1 << 20
_MEGABYTE = 1e6


@dataclass(frozen=True)
class Case:
    """An application of so many ranks, and what one evaluation of it may cost."""

    name: str
    ranks: int
    write: Callable[[Path, int], Path]
    cpu_seconds: float
    bytes: float | None = None


CASES = (
    Case("all-to-all 1 KiB", 256, lambda path, n: alltoall(path, n, _KIB), 0.25),
    Case("all-to-all 1 KiB", 1024, lambda path, n: alltoall(path, n, _KIB), 6, 600e6),
    Case("all-to-all 1 MiB", 64, lambda path, n: alltoall(path, n, _MIB), 0.5),
    Case("stencil", 512, stencil, 0.15),
    Case("stencil", 1024, stencil, 0.3),
    Case("stencil", 4096, stencil, 1.5),
    Case("stencil", 16384, stencil, 8, 8 * 2**30),
    Case("all-reduce 64 KiB", 1024, lambda path, n: allreduce(path, n, 64 * _KIB), 0.15),
    Case("all-reduce 64 KiB", 4096, lambda path, n: allreduce(path, n, 64 * _KIB), 0.8),
    Case("all-reduce 64 KiB", 16384, lambda path, n: allreduce(path, n, 64 * _KIB), 5),
)


def machine_of(hosts: int, model: str) -> Machine:
    """Hosts of one core on a network of degree 8."""
    return parse_machine(designed(hosts, 8, network=model))


def evaluate(trace: Path, ranks: int, model: str, wall_seconds: float = 600) -> dict[str, Any]:
    """The first evaluation of a new simulator, with all that has to be prepared for it."""
    request = resolve(NETWORK, machine_of(ranks, model), ranks).simulator_request()
    with Simulator([trace]) as simulator:
        return simulator.evaluate(request, wall_seconds=wall_seconds)


def show_costs(bars: Bars) -> Iterator[dict[str, Any]]:
    """Print a line a case, then the growth; gives the figures."""
    print("cost of one evaluation, random network of degree 8, protocol tcp-openmpi")
    seconds: dict[str, list[tuple[int, float]]] = {}
    crossings: dict[str, list[tuple[int, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        for case in CASES:
            trace = case.write(Path(scratch) / "trace.ht", case.ranks)
            answers = [evaluate(trace, case.ranks, "packets") for _ in range(REPEATS)]
            cpu = min(answer["cpu_seconds"] for answer in answers)
            memory = max(answer["peak_rss_bytes"] for answer in answers)
            name = f"{case.name}, {case.ranks} ranks"
            bars.at_most(f"{name}: CPU s", cpu, case.cpu_seconds)
            if case.bytes is not None:
                bars.at_most(f"{name}: MB", memory / _MEGABYTE, case.bytes / _MEGABYTE)
            crossed = answers[0]["messages"] * _mean_path(case.ranks)
            seconds.setdefault(case.name, []).append((case.ranks, cpu))
            crossings.setdefault(case.name, []).append((case.ranks, crossed))
            yield {
                "case": case.name,
                "ranks": case.ranks,
                "messages": answers[0]["messages"],
                "cables_crossed": crossed,
                "cpu_seconds": [answer["cpu_seconds"] for answer in answers],
                "peak_rss_bytes": memory,
                "simulated_time": answers[0]["simulated_time"],
            }
    for name in GROWING:
        bars.at_most(f"{name}: growth per doubling of ranks", growth(seconds[name]), MOST_GROWTH)
        told = f"{name}: the same of messages times cables crossed"
        print(f"  {told:52} {growth(crossings[name]):10.4g}")


def _mean_path(hosts: int) -> float:
    """Cables that messages between random hosts cross."""
    graph = generate("random", hosts, degree=8, seed=1)
    return aspl_diameter(graph.nodes, graph.edges)[0]


def growth(points: Sequence[tuple[int, float]]) -> float:
    """The largest growth per doubling, from each number of ranks to the next."""
    return max(
        math.pow(after / before, 1 / ((more // fewer).bit_length() - 1))
        for (fewer, before), (more, after) in itertools.pairwise(points)
    )
