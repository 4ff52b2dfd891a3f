"""What Score-P counts of a collective, turned back into its arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.otf2_collectives import OPERATIONS, Call, fields_of

ranks = st.integers(2, 9)
sizes = st.integers(1, 10**6)


@given(ranks, sizes, st.data())
def test_regular_collectives_come_back_as_they_were(n: int, size: int, data: Any) -> None:
    root = data.draw(st.integers(0, n - 1))
    me = data.draw(st.integers(0, n - 1))
    all_parts = [n * size] * n
    at_root = [n * size if rank == root else 0 for rank in range(n)]

    def of(name: str, sent: list[int], received: list[int]) -> dict[str, Any]:
        return dict(fields_of(Call(name, root, sent, received), me))

    assert of("bcast", at_root, [size] * n) == {"root": root, "count": size, "size": 1}
    assert of("reduce", [size] * n, at_root)["count"] == size
    assert of("allreduce", all_parts, all_parts)["count"] == size
    assert of("alltoall", all_parts, all_parts)["send_count"] == size
    assert of("allgather", all_parts, all_parts)["recv_count"] == size
    assert of("gather", [size] * n, at_root)["send_count"] == size
    assert of("scatter", at_root, [size] * n)["recv_count"] == size
    assert of("reduce_scatter_block", all_parts, all_parts)["count"] == size
    scan = [(n - rank) * size for rank in range(n)]
    assert of("scan", scan, [(rank + 1) * size for rank in range(n)])["count"] == size
    exscan = [(n - rank - 1) * size for rank in range(n)]
    assert of("exscan", exscan, [rank * size for rank in range(n)])["count"] == size


@given(st.lists(sizes, min_size=2, max_size=7), st.data())
def test_irregular_collectives_know_the_part_of_each_rank(parts: list[int], data: Any) -> None:
    n = len(parts)
    me = data.draw(st.integers(0, n - 1))
    whole = [sum(parts) if rank == 1 else 0 for rank in range(n)]
    assert fields_of(Call("gatherv", 1, parts, whole), 1)["recv_counts"] == parts
    assert fields_of(Call("gatherv", 1, parts, whole), me)["send_count"] == parts[me]
    assert fields_of(Call("scatterv", 1, whole, parts), 1)["send_counts"] == parts
    gathered = Call("allgatherv", 0, [n * part for part in parts], [sum(parts)] * n)
    assert fields_of(gathered, me)["recv_counts"] == parts
    scattered = Call("reduce_scatter", 0, [sum(parts)] * n, [n * part for part in parts])
    assert fields_of(scattered, me)["counts"] == parts


@given(st.lists(st.tuples(sizes, sizes), min_size=2, max_size=6))
def test_what_an_alltoallv_sends_is_what_it_receives(totals: list[tuple[int, int]]) -> None:
    call = Call("alltoallv", 0, [sent for sent, _ in totals], [got for _, got in totals])
    rows: list[Any] = [fields_of(call, rank) for rank in range(len(totals))]
    for i, sender in enumerate(rows):
        for j, receiver in enumerate(rows):
            assert sender["send_counts"][j] == receiver["recv_counts"][i]


@given(
    st.sampled_from(sorted(OPERATIONS)),
    st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1),
    st.data(),
)
def test_any_sizes_make_an_operation_or_are_refused(name: str, totals: Any, data: Any) -> None:
    n = len(totals)
    call = Call(name, n - 1, [sent for sent, _ in totals], [got for _, got in totals])
    try:
        fields = fields_of(call, data.draw(st.integers(0, n - 1)))
    except InvalidInput as error:
        assert "2 GiB" in error.message
    else:
        assert encode(name, **fields)


def test_in_place_forms_leave_the_rank_itself_out() -> None:
    assert fields_of(Call("allreduce", 0, [3 * 5] * 4, [3 * 5] * 4), 2)["count"] == 5
    assert fields_of(Call("reduce", 1, [8, 0], [0, 8]), 1)["count"] == 8


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_one_rank_alone_can_make_every_call(name: str) -> None:
    assert encode(name, **fields_of(Call(name, 0, [8], [8]), 0))
