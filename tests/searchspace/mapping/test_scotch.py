"""Scotch, whose library has random numbers and threads of its own."""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine, Network
from searchspace.mapping import map_ranks
from searchspace.topology import generate
from searchspace.traffic import Traffic


def halves(ranks: int) -> Traffic:
    """Two programs beside each other, of different traffic."""
    matrix = np.zeros((ranks, ranks), dtype=np.int64)
    half = ranks // 2
    matrix[:half, :half] = 100
    matrix[half:, half:] = 1 + 10 * (np.arange(half)[:, None] ^ np.arange(half))
    np.fill_diagonal(matrix, 0)
    return Traffic.from_dense(matrix)


def test_a_network_that_is_no_tree_is_divided_by_the_seed_alone() -> None:
    network = generate("xgft", 16, children="4,4", parents="1,2")
    where = HopMachine.uniform(Network(network))
    traffic = halves(where.places)
    placed = {tuple(map_ranks("scotch", traffic, where, seed=7).tolist()) for _ in range(300)}
    assert len(placed) == 1
