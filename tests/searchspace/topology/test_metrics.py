"""Metrics and bounds of networks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology import generate
from searchspace.topology.metrics import aspl_lower_bound, diameter_lower_bound, measure


@pytest.mark.parametrize(
    ("nodes", "degree", "bound"),
    [
        (16, 3, 2.2),
        (16, 4, 1.7333),
        (32, 3, 2.93548),
        (64, 4, 2.85714),
        (64, 6, 2.33333),
        (256, 8, 2.7176),
        (1024, 11, 2.8710),
    ],
)
def test_aspl_lower_bounds_of_the_literature(nodes: int, degree: int, bound: float) -> None:
    assert aspl_lower_bound(nodes, degree) == pytest.approx(bound, abs=5e-5)


def test_a_complete_network_and_a_ring_reach_their_bounds() -> None:
    complete = measure(generate("random", 8, degree=7))
    assert (complete.aspl, complete.diameter) == (1.0, 1)
    ring = measure(generate("random", 9, degree=2))
    assert ring.aspl == ring.aspl_lower_bound == 2.5
    assert ring.diameter == ring.diameter_lower_bound == 4


@given(st.integers(0, 1000), st.sampled_from([(10, 3), (64, 4), (33, 6)]))
def test_no_network_beats_its_bounds(seed: int, size: tuple[int, int]) -> None:
    nodes, degree = size
    metrics = measure(generate("random", nodes, degree=degree, seed=seed))
    assert metrics.degree == degree
    assert metrics.aspl >= metrics.aspl_lower_bound
    assert metrics.diameter >= metrics.diameter_lower_bound


def test_small_and_impossible_cases() -> None:
    assert (aspl_lower_bound(1, 0), diameter_lower_bound(1, 0)) == (0.0, 0)
    assert aspl_lower_bound(2, 1) == 1.0
    with pytest.raises(InvalidInput, match="no connected network of 5 nodes has degree 1"):
        aspl_lower_bound(5, 1)
    with pytest.raises(InvalidInput, match="not connected"):
        measure(Graph.from_edges(3, [(0, 1)]))
