"""Deng et al. (2019), tables 1, 2, 4 and 5: diameter, mean path length and bisection width."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from searchspace.topology.bisection import bisection_width
from searchspace.topology.metrics import measure
from studies.deng_networks import TABLES, network
from studies.laboratory import Laboratory
from studies.study import Findings, Study, Table

__all__ = ["DENG_GRAPHS"]

_REMARKS = (
    "The paper's bisection widths are single runs of KaHIP, ours the least of several heuristics; "
    "both are upper bounds of the true width, so of two values for one graph the lower is right. "
    "Optimal networks are other graphs than the paper's, and may have a larger width.",
    "A torus of 2 x n nodes or 4 nodes a side has double cables merged into one where they would "
    "join the same two nodes.",
)


def _table(laboratory: Laboratory, number: int) -> Findings:
    rows = []
    for row in TABLES[number]:
        laboratory.say(f"measuring {row.name}")
        graph = network(row, laboratory)
        found = measure(graph)
        width = bisection_width(
            graph, seed=laboratory.seed, effort="quick" if laboratory.quick else "normal"
        )
        rows.append(
            (
                row.name,
                found.diameter,
                row.diameter,
                round(found.aspl, 4),
                row.aspl,
                round(found.aspl_lower_bound, 4),
                width.width,
                row.bisection,
            )
        )
    columns = ("network", "D", "paper", "MPL", "paper", "MPL bound", "BW", "paper")
    title = f"Graph properties of the networks of table {number}"
    return Findings((Table(title, columns, tuple(rows)),), remarks=_REMARKS)


def _study(number: int, description: str) -> Study:
    run: Callable[[Laboratory], Findings] = partial(_table, number=number)
    return Study(f"deng-table-{number}", f"Deng et al. 2019, table {number}", description, run)


DENG_GRAPHS = (
    _study(1, "graph properties of the low-radix networks of 16 and 32 nodes"),
    _study(2, "graph properties of optimal networks and dragonflies of 20 to 36 nodes"),
    _study(4, "graph properties of the low-radix networks of 256 nodes"),
    _study(5, "graph properties of optimal networks and dragonflies of 252 and 264 nodes"),
)
