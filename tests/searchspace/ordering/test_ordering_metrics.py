from __future__ import annotations

import pytest

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering.metrics import adjacency, aspl_of_blocks, gorder_score, task_dilation

RING = Graph(nodes=6, edges=((0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5)))


def test_consecutive_nodes_of_a_ring() -> None:
    blocks = aspl_of_blocks(RING)

    assert blocks[2] == 1.0
    assert blocks[4] == pytest.approx((3 * 1 + 2 * 2 + 1 * 3) / 6)
    assert blocks[6] == pytest.approx((2 * 1 + 2 * 2 + 3) / 5)


def test_a_scattered_numbering_is_farther_apart() -> None:
    scattered = RING.relabel((0, 3, 1, 4, 2, 5))

    assert aspl_of_blocks(scattered)[2] == 3.0


def test_a_network_in_two_parts_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not connected"):
        aspl_of_blocks(Graph(nodes=3, edges=((0, 1),)))


def test_adjacency_counts_consecutive_numbers_that_share_a_cable() -> None:
    assert adjacency(RING) == 1.0
    assert adjacency(RING.relabel((0, 3, 1, 4, 2, 5))) == 0.0


def test_gorder_score_of_a_ring() -> None:
    # In a window of 1 the five pairs (i, i + 1) share a cable (2) and no neighbour; in a window of
    # 2 the four pairs (i, i + 2) have one common neighbour each.
    assert gorder_score(RING, window=1) == 10
    assert gorder_score(RING, window=2) == 14


def test_a_task_on_any_block_of_a_ring() -> None:
    dilation = task_dilation(RING, 3)

    assert dilation.neighbors_mean == 1.0
    assert dilation.neighbors_worst == 1
    assert dilation.pairs_mean == pytest.approx((1 + 1 + 2) / 3)
    assert dilation.pairs_worst == 2


def test_a_task_on_scattered_numbers_is_spread_out() -> None:
    dilation = task_dilation(RING.relabel((0, 3, 1, 4, 2, 5)), 2)

    assert dilation.neighbors_worst == 3
    assert dilation.neighbors_mean == pytest.approx((3 + 2 + 3 + 2 + 3) / 5)


def test_a_task_larger_than_the_network() -> None:
    with pytest.raises(InvalidInput, match="a task has 2 to 6 ranks here, not 7"):
        task_dilation(RING, 7)
