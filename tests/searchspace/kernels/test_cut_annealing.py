"""The annealing of many splits at once: what it returns is a split, on every processor the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.graph import Graph
from searchspace.kernels import _native
from searchspace.topology import generate


def annealed(graph: Graph, sweeps: int, seed: int, counted: int = 0) -> tuple[int, np.ndarray]:
    edges = np.asarray(graph.edges, dtype=np.uint32).reshape(-1, 2)
    return _native.anneal_splits(graph.nodes, edges, sweeps, seed, counted)


@st.composite
def networks(draw: st.DrawFn) -> Graph:
    """Some with one degree, which has its own code for most degrees, some with several."""
    nodes = draw(st.integers(3, 40))
    degree = draw(st.integers(2, min(nodes - 1, 20)))
    if draw(st.booleans()) and nodes * degree % 2 == 0:
        return generate("random", nodes, degree=degree, seed=draw(st.integers(0, 9)))
    some = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    pairs = draw(st.lists(some.filter(lambda pair: pair[0] != pair[1]), max_size=80))
    return Graph.from_edges(nodes, {(min(pair), max(pair)) for pair in pairs})


@given(networks(), st.integers(0, 20), st.integers(0, 99), st.data())
@settings(deadline=None, max_examples=60)
def test_halves_are_equal_and_cut_what_is_said(
    graph: Graph, sweeps: int, seed: int, data: st.DataObject
) -> None:
    counted = data.draw(st.integers(1, graph.nodes))
    width, sides = annealed(graph, sweeps, seed, counted)
    assert abs(2 * int(sides[:counted].sum()) - counted) <= 1
    assert width == sum(sides[u] != sides[v] for u, v in graph.edges)


@pytest.mark.parametrize("instructions", ["avx2", "avx512"])
@pytest.mark.parametrize(("degree", "counted"), [(3, 0), (8, 0), (13, 0), (8, 51)])
def test_every_set_of_instructions_finds_the_same_split(
    instructions: str, degree: int, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = generate("random", 62, degree=degree, seed=2)
    found = []
    for chosen in ("portable", instructions):
        monkeypatch.setenv("HAMTUNE_INSTRUCTIONS", chosen)
        found.append(annealed(graph, 10, 4, counted))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_more_sweeps_find_what_few_do_not() -> None:
    """Of a network of 256 nodes the widths of few sweeps lie far above the least one known."""
    graph = generate("random", 256, degree=6, seed=1)
    few, many = (annealed(graph, sweeps, 1)[0] for sweeps in (1, 1000))
    assert many < few
