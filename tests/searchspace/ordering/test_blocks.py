from __future__ import annotations

import pytest

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering.blocks import aspl_of_blocks

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
