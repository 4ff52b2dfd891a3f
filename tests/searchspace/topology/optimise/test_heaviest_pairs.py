"""Networks that join the heaviest pairs: regular and connected, whatever the traffic is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.topology.family import NetworkSpec
from searchspace.topology.optimise.heaviest_pairs import join_heaviest
from searchspace.topology.random_regular import RANDOM
from searchspace.traffic import Traffic


@given(st.integers(3, 40), st.integers(2, 8), st.integers(0, 99), st.data())
def test_is_regular_and_connected(nodes: int, degree: int, seed: int, data: st.DataObject) -> None:
    if RANDOM.obstacle(NetworkSpec(nodes, degree)) is not None:
        return
    rank = st.integers(0, nodes - 1)
    pairs = data.draw(st.lists(st.tuples(rank, rank, st.integers(1, 5)), min_size=1, max_size=200))
    network = join_heaviest(Traffic.from_pairs(nodes, *zip(*pairs, strict=True)), degree, seed)
    assert set(network.degrees) == {degree}
    assert network.connected


@pytest.mark.parametrize("seed", range(5))
def test_parts_that_exchange_nothing_with_each_other_are_joined(seed: int) -> None:
    # Four times five ranks, each of which exchanges something with those of its five alone.
    pairs = [(5 * five + i, 5 * five + j) for five in range(4) for i in range(5) for j in range(i)]
    one, other = zip(*pairs, strict=True)
    network = join_heaviest(Traffic.from_pairs(20, one, other, [10] * len(pairs)), 4, seed)
    assert network.connected
    assert len({tuple(sorted(pair)) for pair in pairs} & set(network.edges)) >= len(pairs) - 8


def test_the_heaviest_pairs_come_first() -> None:
    traffic = Traffic.from_pairs(6, [0, 0, 0, 0], [1, 2, 3, 4], [9, 8, 7, 6])
    near = join_heaviest(traffic, 3, 0).neighbors[0]
    assert sorted(near) == [1, 2, 3]
