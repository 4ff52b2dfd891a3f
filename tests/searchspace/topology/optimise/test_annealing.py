"""Annealed networks: what they keep, what they reach, how a search goes on after a pause."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology import generate
from searchspace.topology.metrics import measure
from searchspace.topology.optimise import OPTIMISERS, begin, optimise
from searchspace.topology.optimise.search import Problem, Ring, Search
from searchspace.topology.rotation import orbits_of


def finish(search: Search) -> Search:
    while not search.finished:
        search.step()
    return search


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_size_symmetry_and_ring_are_kept(data: st.DataObject) -> None:
    symmetry = data.draw(st.integers(1, 6))
    nodes = symmetry * data.draw(st.integers(1, 8))
    if nodes < 3:
        return
    degree = data.draw(st.integers(2, nodes - 1))
    if nodes * degree % 2:
        return
    rings: list[Ring] = ["keep", "free"]
    ring = data.draw(st.sampled_from(rings))
    graph = optimise(nodes, degree, iterations=3000, seed=1, symmetry=symmetry, ring=ring)
    assert graph.nodes == nodes
    assert set(graph.degrees) == {degree}
    assert graph.connected
    orbits_of(graph, symmetry)
    if ring == "keep":
        assert {(v, v + 1) for v in range(nodes - 1)} | {(0, nodes - 1)} <= set(graph.edges)


@pytest.mark.parametrize(("nodes", "degree"), [(16, 3), (32, 3), (32, 4)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_small_networks_come_close_to_the_bound(nodes: int, degree: int, seed: int) -> None:
    metrics = measure(optimise(nodes, degree, iterations=1_000_000, seed=seed))
    assert metrics.aspl == pytest.approx(metrics.aspl_lower_bound)


def test_the_diameter_counts_first_when_asked() -> None:
    graph = optimise(256, 6, iterations=400_000, seed=1, symmetry=32, diameter_first=True)
    assert measure(graph).diameter == 4


def test_it_is_better_than_where_it_started() -> None:
    start = generate("random", 48, degree=3, seed=5)
    graph = optimise(48, 3, iterations=20_000, seed=1, start=start)
    assert measure(graph).aspl < measure(start).aspl


def test_an_irregular_network_keeps_its_degrees() -> None:
    start = generate("mesh-2d", 36)
    graph = optimise(36, 4, iterations=20_000, seed=1, start=start)
    assert graph.degrees == start.degrees
    assert measure(graph).aspl < measure(start).aspl


@pytest.mark.parametrize("threads", [1, 3])
def test_the_seed_and_the_threads_decide_the_network(threads: int) -> None:
    first, again = (optimise(64, 4, iterations=60_000, seed=9, threads=threads) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_search_taken_up_again_ends_as_if_it_had_gone_on(steps: int) -> None:
    problem = Problem(nodes=40, degree=4, seed=4, iterations=4_000_000)
    search = begin("sa", problem)
    for _ in range(steps):
        search.step()
    state = json.loads(json.dumps(search.state()))
    resumed = OPTIMISERS["sa"].resume(problem, state)
    assert resumed.best == search.best
    assert resumed.moves == search.moves
    for _ in range(3):
        search.step()
        resumed.step()
    assert resumed.state() == search.state()


def test_complete_networks_and_rings_need_no_search() -> None:
    assert measure(optimise(6, 5, iterations=1000, seed=0)).aspl == 1.0
    assert optimise(2, 1, iterations=1000, seed=0) == Graph(2, ((0, 1),))
    assert measure(optimise(9, 2, iterations=1000, seed=0)).aspl == 2.5


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ({"nodes": 5, "degree": 3}, "must be even"),
        ({"nodes": 8, "degree": 8}, "from 1 to 7"),
        ({"nodes": 8, "degree": 1}, "degree 1"),
        ({"nodes": 12, "degree": 3, "symmetry": 5}, "use one of 1, 2, 3, 4, 6, 12"),
        ({"nodes": 65536, "degree": 8, "symmetry": 1}, "larger symmetry"),
    ],
)
def test_what_cannot_be_is_refused(problem: dict[str, int], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        begin("sa", Problem(**problem))  # type: ignore[arg-type]


def test_a_start_without_the_ring_or_the_symmetry_is_refused() -> None:
    start = generate("random", 16, degree=3, seed=1)
    with pytest.raises(InvalidInput, match="does not hold the ring"):
        begin("sa", Problem(16, 3, start=start, ring="keep"))
    with pytest.raises(InvalidInput, match="no symmetry of 4"):
        begin("sa", Problem(16, 3, start=start, symmetry=4))


def test_unknown_methods_are_named() -> None:
    words = "unknown method 'magic'; allowed: sa, symmetric, spectral, 2opt, traffic, exhaustive"
    with pytest.raises(InvalidInput, match=words):
        begin("magic", Problem(16, 3))
