"""Gorder (Wei, Yu, Lu and Lin, "Speedup graph processing by graph ordering", SIGMOD 2016)."""

from __future__ import annotations

from typing import Any

from searchspace.graph import Graph
from searchspace.kernels.orderings import gorder
from searchspace.options import Whole
from searchspace.ordering.ordering import Ordering

__all__ = ["GORDER"]


def _order(graph: Graph, *, seed: int, **options: Any) -> tuple[int, ...]:
    return tuple(gorder(graph, window=options["window"]))


GORDER = Ordering(
    "gorder",
    "nodes with common neighbours get neighbouring numbers (Wei et al. 2016)",
    _order,
    (Whole("window", "how many of the last nodes the next one is compared with", 1, default=5),),
)
