"""Deng et al. (2019), tables 1, 2, 4 and 5: diameter, mean path length and bisection width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from searchspace.topology.bisection import bisection_width
from searchspace.topology.metrics import Metrics, measure
from studies.deng_networks import TABLES, Row, network
from studies.laboratory import Laboratory
from studies.study import Claim, Findings, Study, Table

__all__ = ["DENG_GRAPHS"]

_ROUNDED = 0.005  # the paper gives two decimals
_REMARKS = (
    "The paper's bisection widths are single runs of KaHIP, ours the least of several heuristics; "
    "both are upper bounds of the true width, so of two values for one graph the lower is right. "
    "Optimal networks are other graphs than the paper's, and may have another width.",
    "A torus of 2 x n nodes or 4 nodes a side has double cables merged into one where they would "
    "join the same two nodes.",
)

_QUICK = "Optimal networks of more than 64 nodes: a quick search, longer ones find shorter paths."


def _table(laboratory: Laboratory, number: int) -> Findings:
    found: list[tuple[Row, Metrics, int]] = []
    for row in TABLES[number]:
        laboratory.say(f"measuring {row.name}")
        graph = network(row, laboratory)
        width = bisection_width(
            graph, seed=laboratory.seed, effort="quick" if laboratory.quick else "normal"
        )
        found.append((row, measure(graph), width.width))
    rows = tuple(
        (
            row.name,
            metrics.diameter,
            row.diameter,
            round(metrics.aspl, 4),
            row.aspl,
            round(metrics.aspl_lower_bound, 4),
            width,
            row.bisection,
        )
        for row, metrics, width in found
    )
    columns = ("network", "D", "paper", "MPL", "paper", "MPL bound", "BW", "paper")
    title = f"Graph properties of the networks of table {number}"
    remarks = (*_REMARKS, _QUICK) if laboratory.quick else _REMARKS
    return Findings((Table(title, columns, rows),), claims=_claims(found), remarks=remarks)


def _claims(found: Sequence[tuple[Row, Metrics, int]]) -> tuple[Claim, ...]:
    optimal = [each for each in found if each[0].kind == "Optimal"]
    others = [
        (row.name, metrics, width, best_metrics, best_width)
        for row, metrics, width in found
        for best, best_metrics, best_width in optimal
        if row.kind != "Optimal" and (row.nodes, row.degree) == (best.nodes, best.degree)
    ]
    shorter = [
        name
        for name, metrics, _, best, _ in others
        if metrics.aspl <= best.aspl or metrics.diameter < best.diameter
    ]
    wider = [name for name, _, width, _, best_width in others if width > best_width]
    gaps = [metrics.aspl_gap for _, metrics, _ in optimal]
    longer = [row.name for row, metrics, _ in optimal if metrics.aspl >= row.aspl + _ROUNDED]
    return (
        Claim(
            "the optimal network of each size and degree has the least MPL and diameter",
            f"in {len(others) - len(shorter)} of {len(others)} comparisons",
            not shorter,
            ", ".join(shorter),
        ),
        Claim(
            "and the greatest bisection width",
            f"in {len(others) - len(wider)} of {len(others)} comparisons",
            not wider,
            ", ".join(wider),
        ),
        Claim(
            "MPL of the optimal networks, as short as the paper's",
            f"{len(optimal) - len(longer)} of {len(optimal)}; within {max(gaps):.2%} of the bound",
            not longer,
            f"longer: {', '.join(longer)}" if longer else "",
        ),
    )


def _study(number: int, description: str, takes: str = "a minute") -> Study:
    run: Callable[[Laboratory], Findings] = partial(_table, number=number)
    source = f"Deng et al. 2019, table {number}"
    return Study(f"deng-table-{number}", source, description, run, takes)


DENG_GRAPHS = (
    _study(1, "graph properties of the low-radix networks of 16 and 32 nodes"),
    _study(2, "graph properties of optimal networks and dragonflies of 20 to 36 nodes"),
    _study(4, "graph properties of the low-radix networks of 256 nodes", "30 s"),
    _study(5, "graph properties of optimal networks and dragonflies of 252 and 264 nodes", "10 s"),
)
