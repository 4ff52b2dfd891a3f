"""Blocks: our own ordering, which serves two goals at once.

Consecutive numbers share a cable, as in a Hamiltonian cycle, and blocks of 4, 8 and 16 consecutive
numbers lie close together, as Gorder's do. Annealing with guided swaps, shifts and reversals starts
from a Hamiltonian walk and lowers the mean hops within the blocks, while at least a given share of
the consecutive numbers stays adjacent.
"""

from __future__ import annotations

from typing import Any

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels.orderings import block_order
from searchspace.options import Amount, Whole
from searchspace.ordering.hamiltonian import cable_walk
from searchspace.ordering.ordering import Ordering

__all__ = ["BLOCKS"]

_SIZES = (4, 8, 16)
_RESTARTS = 100
_MOST_NODES = 16_384  # the kernel holds all distances: 512 MiB at this size
_MOST_MOVES = 16_000_000


def _order(graph: Graph, *, seed: int, **options: Any) -> tuple[int, ...]:
    if graph.nodes > _MOST_NODES:
        raise InvalidInput(f"the ordering 'blocks' takes at most {_MOST_NODES} nodes")
    if not graph.connected:
        raise InvalidInput("the network is not connected")
    return tuple(
        block_order(
            graph,
            cable_walk(graph, seed=seed, restarts=_RESTARTS),
            sizes=_SIZES,
            adjacent_share=options["adjacent"],
            moves=min(options["effort"] * graph.nodes, _MOST_MOVES),
            seed=seed,
        )
    )


BLOCKS = Ordering(
    "blocks",
    "consecutive numbers share a cable and blocks of 4, 8, 16 lie close together (our own)",
    _order,
    (
        Amount("adjacent", "least share of consecutive numbers that share a cable", 0, 1, 0.9),
        Whole("effort", "moves of the annealing for each node", 1, default=8000),
    ),
)
