"""The list of cubic networks: as many as are published, each once, taken up again where it was."""

from __future__ import annotations

import json

import igraph
import pytest

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native
from searchspace.topology.metrics import measure
from searchspace.topology.optimise import OPTIMISERS, begin
from searchspace.topology.optimise.search import Problem, Search


def finish(search: Search) -> Search:
    while not search.finished:
        search.step()
    return search


@pytest.mark.parametrize(
    ("girth", "counts"),
    [
        # Connected cubic graphs of least girth 3 to 8: OEIS A002851, A014371, A014372, A014374,
        # A014375, A014376.
        (3, {4: 1, 6: 2, 8: 5, 10: 19, 12: 85, 14: 509}),
        (4, {4: 0, 6: 1, 8: 2, 10: 6, 12: 22, 14: 110}),
        (5, {8: 0, 10: 1, 12: 2, 14: 9, 16: 49, 18: 455}),
        (6, {12: 0, 14: 1, 16: 1, 18: 5, 20: 32}),
        (7, {22: 0, 24: 1, 26: 3, 28: 21}),
        (8, {28: 0, 30: 1, 32: 0, 34: 1}),
    ],
)
def test_there_are_as_many_as_published(girth: int, counts: dict[int, int]) -> None:
    for nodes, count in counts.items():
        search = _native.CubicSearch(nodes, girth)
        while not search.finished:
            search.run(1_000_000)
        assert search.found == count, nodes


def test_every_network_is_what_it_should_be_and_no_two_are_alike() -> None:
    search = _native.CubicSearch(14, 4)
    listed = search.run(10**9)
    networks = [igraph.Graph(14, edges.tolist()) for edges, _, _ in listed]
    for network, (edges, distances, diameter) in zip(networks, listed, strict=True):
        assert network.is_simple()
        assert network.degree() == [3] * 14
        assert network.girth() >= 4
        metrics = measure(Graph.from_edges(14, edges.tolist()))
        assert metrics.diameter == diameter
        assert metrics.aspl == pytest.approx(distances / 14 / 13)
    for index, network in enumerate(networks):
        assert not any(network.isomorphic(other) for other in networks[:index])


def test_the_best_of_sixteen_nodes_is_that_of_deng() -> None:
    """Deng et al. 2019, table 1: diameter 3, ASPL 2.20, bisection width 6."""
    best = finish(begin("exhaustive", Problem(16, 3, girth=5))).best
    assert (best.diameter, best.bisection_width) == (3, 6)
    assert best.aspl == pytest.approx(2.2)
    assert best.note == "best of 49 networks, 100% of the search"


def test_the_width_can_count_first() -> None:
    widest = finish(begin("exhaustive", Problem(12, 3, objective="bisection"))).best
    shortest = finish(begin("exhaustive", Problem(12, 3))).best
    assert (widest.bisection_width or 0) >= (shortest.bisection_width or 0)
    assert (widest.aspl or 0) >= (shortest.aspl or 9)


def test_a_list_taken_up_again_goes_on_the_same() -> None:
    problem = Problem(16, 3)
    search = begin("exhaustive", problem)
    search.step()
    state = json.loads(json.dumps(search.state()))
    resumed = finish(OPTIMISERS["exhaustive"].resume(problem, state))
    assert finish(search).state() == resumed.state()
    assert (search.moves, resumed.moves) == (4060, 4060)
    assert resumed.best == search.best


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem(16, 4), "degree 3"),
        (Problem(15, 3), "even number of nodes"),
        (Problem(32, 3), "use a girth of 7 or more"),
        (Problem(64, 3), "at most 42 nodes"),
        (Problem(16, 3, girth=9), "from 3 to 8"),
        (Problem(12, 3, girth=6), "no connected network of 12 nodes"),
        (Problem(16, 3, ring="keep"), "do not go with"),
        (Problem(16, 3, threads=2), "one thread"),
    ],
)
def test_what_cannot_be_listed_is_refused(problem: Problem, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        begin("exhaustive", problem)


def test_a_girth_is_for_the_list_only() -> None:
    with pytest.raises(InvalidInput, match="belongs to method exhaustive"):
        begin("sa", Problem(16, 3, girth=5))
