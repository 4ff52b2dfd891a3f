from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from searchspace.errors import InvalidInput
from searchspace.traffic import Traffic


def test_pairs_are_added_up_in_either_direction_and_ranks_that_talk_to_themselves_left_out() -> (
    None
):
    traffic = Traffic.from_pairs(3, [0, 1, 2, 1], [1, 0, 2, 2], [10, 4, 9, 0])

    assert traffic.to_dense().tolist() == [[0, 14, 0], [14, 0, 0], [0, 0, 0]]
    assert traffic.total == 14
    assert [part.tolist() for part in traffic.pairs] == [[0], [1], [14]]


def test_ranks_that_exchange_nothing() -> None:
    assert Traffic.silent(4).to_dense().sum() == 0
    assert Traffic.silent(4).total == 0


@given(st.integers(1, 8).flatmap(lambda n: arrays(np.int64, (n, n), elements=st.integers(0, 99))))
def test_directed_traffic_adds_up_both_ways(sent: np.ndarray) -> None:
    both = sent + sent.T
    np.fill_diagonal(both, 0)

    assert np.array_equal(Traffic.from_directed(sent).to_dense(), both)
    assert np.array_equal(Traffic.from_dense(both).to_dense(), both)


def test_renumbering_moves_what_ranks_exchange() -> None:
    traffic = Traffic.from_pairs(3, [0], [1], [5]).renumbered([2, 0, 1])

    assert [part.tolist() for part in traffic.pairs] == [[1], [2], [5]]


def test_scaling_down_keeps_every_pair() -> None:
    traffic = Traffic.from_pairs(4, [0, 1, 2], [1, 2, 3], [1, 10**18, 10**6])

    scaled = traffic.within(10**6)

    assert scaled.total <= 10**6
    assert scaled.size.min() == 1
    assert traffic.within(2 * 10**18) is traffic


@pytest.mark.parametrize("sizes", [[-1, 5], [2**61, 2**61]])
def test_sizes_that_cannot_be_are_refused(sizes: list[int]) -> None:
    with pytest.raises(InvalidInput):
        Traffic.from_pairs(3, [0, 1], [1, 2], sizes)


def test_what_hosts_exchange_whose_ranks_are_in_equal_blocks() -> None:
    traffic = Traffic.from_pairs(6, [0, 1, 2, 4], [1, 2, 5, 5], [7, 5, 3, 2])

    assert [part.tolist() for part in traffic.on_hosts(3).pairs] == [[0, 1], [1, 2], [5, 3]]
    assert [part.tolist() for part in traffic.on_hosts(8).pairs] == [
        [0, 1, 2, 4],
        [1, 2, 5, 5],
        [7, 5, 3, 2],
    ]
    assert traffic.on_hosts(8).ranks == 8


def test_the_same_traffic_has_the_same_identity_and_no_other_has_it() -> None:
    traffic = Traffic.from_pairs(3, [0, 1], [1, 2], [4, 5])

    assert traffic.sha256 == Traffic.from_pairs(3, [2, 1], [1, 0], [5, 4]).sha256
    others = [
        Traffic.from_pairs(4, [0, 1], [1, 2], [4, 5]),
        Traffic.from_pairs(3, [0, 1], [1, 2], [4, 6]),
        Traffic.from_pairs(3, [0, 0], [1, 2], [4, 5]),
    ]
    assert traffic.sha256 not in {other.sha256 for other in others}
