"""Compromises between ASPL, width and cable length: weights, archive, what the kernel keeps."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.graph import Graph
from searchspace.kernels import _native, edge_array
from searchspace.topology import generate
from searchspace.topology.metrics import measure
from searchspace.topology.optimise.pareto import ParetoSearch, weights


def line(nodes: int) -> np.ndarray:
    places = np.arange(nodes, dtype=np.float64)
    return np.asarray(np.abs(places[:, None] - places[None, :]))


def test_the_weights_fill_the_triangle() -> None:
    found = [weights(number) for number in range(300)]
    assert all(sum(one) == pytest.approx(1.0) and min(one) > 0.0 for one in found)
    assert len(set(found)) == len(found)
    for goal in range(3):  # each goal counts most in about a third of them
        assert 70 < sum(max(one) == one[goal] for one in found) < 130


@given(st.integers(4, 24), st.integers(2, 4), st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_annealing_keeps_a_simple_connected_network(nodes: int, degree: int, seed: int) -> None:
    if nodes <= degree or nodes * degree % 2:
        return
    start = generate("random", nodes, degree=degree, seed=seed)
    for prices in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.1, 0.1, 1.0)):
        search = _native.Tradeoff(
            nodes, degree, edge_array(start.edges), line(nodes), *prices, 1.0, 0.1, 300, seed
        )
        search.run(1000)
        assert (search.finished, search.done) == (True, 300)
        graph = Graph.from_edges(nodes, search.best.tolist())
        assert set(graph.degrees) == {degree}
        assert graph.connected


def test_each_price_alone_lowers_what_it_is_for() -> None:
    start = generate("random", 32, degree=4, seed=3)
    edges = edge_array(start.edges)

    def annealed(hop: float, length: float) -> Graph:
        search = _native.Tradeoff(32, 4, edges, line(32), hop, length, 0.0, 0.5, 0.05, 5000, 1)
        search.run(5000)
        return Graph.from_edges(32, search.best.tolist())

    def cables(graph: Graph) -> int:
        return sum(v - u for u, v in graph.edges)

    near, short = annealed(1.0, 0.0), annealed(0.0, 1.0)
    assert measure(near).aspl < measure(start).aspl < measure(short).aspl
    assert cables(short) < cables(start) / 2


def test_a_search_taken_up_again_goes_on_the_same() -> None:
    search = ParetoSearch(20, 3, line(20), seed=4)
    for _ in range(4):
        search.step()
    state = json.loads(json.dumps(search.state()))
    again = ParetoSearch(20, 3, line(20), seed=4, state=state)
    for _ in range(4):
        search.step()
        again.step()
    assert again.state() == search.state()
    assert again.archive == search.archive
