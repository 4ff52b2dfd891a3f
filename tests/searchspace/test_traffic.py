from __future__ import annotations

import hashlib
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

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


Matrix = NDArray[np.int64]
directed = st.integers(1, 8).flatmap(
    lambda n: arrays(np.int64, (n, n), elements=st.sampled_from([0, 0, 0, 1, 7, 2**40]))
)


def assert_is(traffic: Traffic, sent: Matrix) -> None:
    """Every array is what the dense matrix says, down to its type."""
    both = sent + sent.T
    np.fill_diagonal(both, 0)
    rows, columns = np.nonzero(both)
    upper = rows < columns
    expected: dict[str, NDArray[Any]] = {
        "first": np.searchsorted(rows, np.arange(len(both) + 1)).astype(np.int64),
        "partner": columns.astype(np.uint32),
        "size": both[rows, columns],
    }
    found: dict[str, NDArray[Any]] = {name: getattr(traffic, name) for name in expected}
    expected |= {"low": rows[upper], "high": columns[upper], "bytes": both[rows, columns][upper]}
    found |= dict(zip(("low", "high", "bytes"), traffic.pairs, strict=True))
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        assert found[name].tolist() == array.tolist(), name
    assert traffic.ranks == len(both)
    assert traffic.total == both.sum() // 2
    text = b"".join(expected[name].astype("<i8").tobytes() for name in ("first", "partner", "size"))
    assert traffic.sha256 == hashlib.sha256(text).hexdigest()


def sparse(sent: Matrix) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    rows, columns = np.nonzero(sent)
    first = np.searchsorted(rows, np.arange(len(sent) + 1)).astype(np.int64)
    return first, columns.astype(np.uint32), sent[rows, columns]


@given(directed)
def test_sparse_rows_of_what_is_sent_are_what_the_dense_matrix_is(sent: Matrix) -> None:
    assert_is(Traffic.from_sent(*sparse(sent)), sent)
    assert_is(Traffic.from_directed(sent), sent)


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(
                    st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0, 1, 5, 2**40])
                )
            ),
        )
    )
)
def test_pairs_that_come_several_times_are_what_the_dense_matrix_is(
    drawn: tuple[int, list[tuple[int, int, int]]],
) -> None:
    ranks, messages = drawn
    sent = np.zeros((ranks, ranks), dtype=np.int64)
    for one, other, size in messages:
        sent[one, other] += size

    lists = np.array(messages, dtype=np.int64).reshape(-1, 3).T
    assert_is(Traffic.from_pairs(ranks, *lists), sent)


@given(st.lists(directed, min_size=1, max_size=3))
def test_applications_stand_on_the_diagonal(parts: list[Matrix]) -> None:
    whole = np.zeros((sum(map(len, parts)),) * 2, dtype=np.int64)
    begin = 0
    for part in parts:
        end = begin + len(part)
        whole[begin:end, begin:end] = part
        begin = end

    assert_is(Traffic.together([Traffic.from_directed(part) for part in parts]), whole)


def test_applications_that_exchange_too_much_together_are_refused() -> None:
    half = Traffic.from_pairs(2, [0], [1], [2**61])

    assert Traffic.together([half]) is half
    with pytest.raises(InvalidInput, match="scale it down"):
        Traffic.together([half, half])


@pytest.mark.parametrize(("size", "said"), [(-5, "exchanges -5 bytes"), (2**62, "scale it down")])
def test_what_cannot_be_sent_is_refused_even_to_oneself(size: int, said: str) -> None:
    sent = np.diag([size, 0])

    for make in (Traffic.from_directed, lambda matrix: Traffic.from_sent(*sparse(matrix))):
        with pytest.raises(InvalidInput, match=said):
            make(sent)


@pytest.mark.parametrize("ranks", [(0, 3), (-1, 0), (2**32, 1)])
def test_ranks_that_there_are_not_exchange_nothing(ranks: tuple[int, int]) -> None:
    one, other = ranks
    assert Traffic.from_pairs(3, [one], [other], [0]).total == 0
    with pytest.raises(IndexError, match="a rank that there is not"):
        Traffic.from_pairs(3, [one], [other], [1])


def test_arrays_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        Traffic.from_pairs(3, [0, 1], [1, 2], [1])
    receiver, size = np.zeros(2, dtype=np.uint32), np.ones(2, dtype=np.int64)
    for first in ([], [0, 1], [1, 2], [0, 2, 1, 2]):
        with pytest.raises(ValueError, match="do not go together"):
            Traffic.from_sent(np.array(first, dtype=np.int64), receiver, size)


def test_memory_goes_by_pairs_not_by_the_square_of_ranks() -> None:
    """A 3-D stencil of 65,536 ranks; one number for each two of them takes 32 GiB."""
    number = np.arange(65_536).reshape(64, 32, 32)
    one = np.tile(number.ravel(), 3)
    other = np.concatenate([np.roll(number, 1, axis=axis).ravel() for axis in range(3)])
    tracemalloc.start()
    try:
        traffic = Traffic.from_pairs(number.size, one, other, np.full(len(one), 8192))
        assert len(traffic.pairs[0]) == 3 * number.size
        assert traffic.sha256
        python = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    kernels = sum(array.nbytes for array in (traffic.first, traffic.partner, traffic.size))
    assert kernels == 8 * (number.size + 1) + 12 * 6 * number.size
    assert python < 32 * 2**20
