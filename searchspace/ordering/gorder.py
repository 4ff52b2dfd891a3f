"""Gorder (Wei, Yu, Lu and Lin, "Speedup graph processing by graph ordering", SIGMOD 2016)."""

from __future__ import annotations

from typing import Any

from searchspace.graph import Graph
from searchspace.kernels.orderings import gorder
from searchspace.ordering.ordering import Option, Ordering

__all__ = ["GORDER"]


def _order(graph: Graph, *, seed: int, **options: Any) -> tuple[int, ...]:
    return tuple(gorder(graph, window=options["window"]))


GORDER = Ordering(
    "gorder",
    "nodes with common neighbours get neighbouring numbers (Wei et al. 2016)",
    _order,
    {"window": Option("how many of the last nodes the next one is compared with", 5, 1)},
)
