"""Deng et al. (2019), figure 2: latency of a ping-pong between two nodes over their hops."""

from __future__ import annotations

import itertools
import random

from searchspace.graph import Graph
from searchspace.kernels import hop_distances
from searchspace.topology.metrics import measure
from studies.deng_networks import TABLES, network
from studies.laboratory import DENG, Laboratory
from studies.statistics import line_fit
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = ["DENG_LATENCY", "mean_latency"]

_BYTES = 1024
_FEW, _MANY = 1, 11
_PAPER_START, _PAPER_SLOPE, _PAPER_CORRELATION = 107.17, 121.15, 0.977
_PAIRS_QUICK = 30


def _latencies(laboratory: Laboratory, graph: Graph) -> tuple[list[float], list[float]]:
    """Hops between pairs of nodes, and their round trips in microseconds; quick: of some pairs."""
    few = laboratory.program("pingpong", 2, bytes=_BYTES, repeats=_FEW)
    many = laboratory.program("pingpong", 2, bytes=_BYTES, repeats=_MANY)
    hops = hop_distances(graph.nodes, graph.edges)
    pairs = list(itertools.combinations(range(graph.nodes), 2))
    if laboratory.quick:
        pairs = random.Random(laboratory.seed).sample(pairs, _PAIRS_QUICK)  # noqa: S311 - no secret
    machine = laboratory.machine(DENG)
    distances, latencies = [], []
    for pair in pairs:
        # The difference of two runs leaves out what is not ping-pong.
        longer = many.time(graph, machine, hosts=pair) - few.time(graph, machine, hosts=pair)
        distances.append(float(hops[pair]))
        latencies.append(longer / (_MANY - _FEW) * 1e6)
    return distances, latencies


def mean_latency(laboratory: Laboratory, graph: Graph) -> float:
    """Seconds of a round trip, mean over all pairs of nodes (by the line fit when quick)."""
    start, slope, _ = line_fit(*_latencies(laboratory, graph))
    return (start + slope * measure(graph).aspl) / 1e6


def _run(laboratory: Laboratory) -> Findings:
    rows: list[tuple[Cell, ...]] = []
    points = []
    for row in TABLES[1]:
        laboratory.say(f"bouncing between pairs of {row.name}")
        distances, latencies = _latencies(laboratory, network(row, laboratory))
        start, slope, correlation = line_fit(distances, latencies)
        rows.append((row.name, round(start, 2), round(slope, 2), round(correlation, 4)))
        points.append(Points(row.name, tuple(distances), tuple(latencies)))
    paper = ("paper, mean", _PAPER_START, _PAPER_SLOPE, f"> {_PAPER_CORRELATION}")
    title = f"Round trip of {_BYTES} bytes, T = T0 + a h"
    table = Table(title, ("network", "T0, us", "a, us", "correlation"), (*rows, paper))
    plot = Plot(
        "latency",
        "Ping-pong latency over hop distance",
        "hops",
        "round trip, us",
        tuple(points),
    )
    return Findings((table,), (plot,), _claims(rows), _REMARKS)


def _claims(rows: list[tuple[Cell, ...]]) -> tuple[Claim, ...]:
    correlations = [float(row[3]) for row in rows if row[3] is not None]
    slopes = [float(row[2]) for row in rows if row[2] is not None]
    return (
        Claim(
            f"latency is linear in hops, correlation > {_PAPER_CORRELATION} on every network",
            f"least correlation {min(correlations):.4f}",
            min(correlations) > _PAPER_CORRELATION,
        ),
        Claim(
            f"one line fits all networks, {_PAPER_SLOPE} us a hop",
            f"{min(slopes):.2f} to {max(slopes):.2f} us a hop",
            max(slopes) / min(slopes) < 1.1 and 0.9 < min(slopes) / _PAPER_SLOPE < 1.1,
        ),
    )


_REMARKS = (
    "The network is idle but for the two nodes, and every cable is alike, so points of all "
    "networks lie on one line; the paper's scatter is that of its hardware. The offset T0 is "
    "smaller than the paper's: the simulated hosts spend little on sending a message, those of the "
    "cluster ran a kernel's network stack.",
)


DENG_LATENCY = Study(
    "deng-figure-2",
    "Deng et al. 2019, figure 2",
    "latency of a ping-pong over the hops between two nodes",
    _run,
    "2 minutes",
    network_chosen=True,
)
