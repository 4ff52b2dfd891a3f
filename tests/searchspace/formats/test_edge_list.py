from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.edge_list import read_edge_list, write_edge_list
from searchspace.graph import Graph


def test_a_ring_in_any_order_with_comments() -> None:
    graph = read_edge_list("# a ring\n2 1\n\n0 1  # first cable\n0 2\n")

    assert graph == Graph(nodes=3, edges=((0, 1), (0, 2), (1, 2)))


@given(st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_what_is_written_is_read_back(pairs: set[tuple[int, int]]) -> None:
    graph = Graph.from_edges(31, {(min(p), max(p)) for p in pairs if p[0] != p[1]})

    assert read_edge_list(write_edge_list(graph), nodes=31) == graph


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0 1\n1 2 3\n", "line 2"),
        ("0 x\n", "two node numbers"),
        ("0 -1\n", "two node numbers"),
        ("0 1\n4 4\n", "joins node 4 to itself"),
        ("0 1\n1 0\n", "line 2 of the edge list repeats the edge of line 1"),
        ("0 99999999999\n", "the last one can be"),
        ("", "empty"),
    ],
)
def test_a_bad_line_is_named(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_edge_list(text)


def test_a_node_beyond_the_machine_is_refused() -> None:
    with pytest.raises(InvalidInput, match="names node 4; the last one can be 3"):
        read_edge_list("0 4\n", nodes=4)
