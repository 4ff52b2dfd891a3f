"""Deng et al. (2019), figure 2: latency of a ping-pong between two nodes over their hops."""

from __future__ import annotations

import itertools

from searchspace.kernels import hop_distances
from studies.deng_networks import TABLES, network
from studies.laboratory import DENG, Laboratory
from studies.statistics import line_fit
from studies.study import Cell, Findings, Plot, Points, Study, Table

__all__ = ["DENG_LATENCY"]

_BYTES = 1024
_FEW, _MANY = 1, 11
_PAPER = "107.17 + 121.15 h"  # mean fit over the clusters, microseconds, round trip
_PAIRS_QUICK = 40


def _run(laboratory: Laboratory) -> Findings:
    few = laboratory.program("pingpong", 2, bytes=_BYTES, repeats=_FEW)
    many = laboratory.program("pingpong", 2, bytes=_BYTES, repeats=_MANY)
    rows: list[tuple[Cell, ...]] = []
    points = []
    for row in TABLES[1]:
        laboratory.say(f"bouncing between all pairs of {row.name}")
        graph = network(row, laboratory)
        hops = hop_distances(graph.nodes, graph.edges)
        pairs = list(itertools.combinations(range(graph.nodes), 2))
        pairs = pairs[:: max(1, len(pairs) // _PAIRS_QUICK)] if laboratory.quick else pairs
        distances, latencies = [], []
        for pair in pairs:
            # The difference of two runs leaves out what is not ping-pong.
            longer = many.time(graph, DENG, hosts=pair) - few.time(graph, DENG, hosts=pair)
            distances.append(float(hops[pair]))
            latencies.append(longer / (_MANY - _FEW) * 1e6)
        start, slope, correlation = line_fit(distances, latencies)
        rows.append((row.name, round(start, 2), round(slope, 2), round(correlation, 4)))
        points.append(Points(row.name, tuple(distances), tuple(latencies)))
    table = Table(
        f"Round trip of {_BYTES} bytes, T = T0 + a h (paper: {_PAPER} us, correlation > 0.977)",
        ("network", "T0 us", "a us", "correlation"),
        tuple(rows),
    )
    plot = Plot(
        "latency",
        "Ping-pong latency over hop distance",
        "hops",
        "round trip, us",
        tuple(points),
    )
    remark = (
        "The paper measures a cluster whose nodes forward in software, which costs some 60 us a "
        "hop; the machine simulated here has the 30 us a link of the paper's simulations."
    )
    return Findings((table,), (plot,), (remark,))


DENG_LATENCY = Study(
    "deng-figure-2",
    "Deng et al. 2019, figure 2",
    "latency of a ping-pong over the hops between two nodes",
    _run,
)
