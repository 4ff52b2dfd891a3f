"""The search for networks that suit some traffic: better with every move, and resumable."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology.optimise import OPTIMISERS, begin, optimise
from searchspace.topology.optimise.search import Problem, Search
from searchspace.topology.optimise.traffic import too_symmetric, usual_moves
from searchspace.topology.rotation import orbits_of, unroll
from searchspace.traffic import Traffic

TRAFFIC = Traffic.from_pairs(24, range(24), [(7 * rank + 3) % 24 for rank in range(24)], [5] * 24)


def problem(**other: object) -> Problem:
    fields = {"seed": 1, "objective": "traffic", "traffic": TRAFFIC} | other
    return Problem(24, 3, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("symmetry", [None, 4])
@pytest.mark.parametrize("iterations", [None, 5000])
def test_a_search_taken_up_again_goes_on_the_same(
    iterations: int | None, symmetry: int | None
) -> None:
    asked = problem(iterations=iterations, symmetry=symmetry)
    search = begin("traffic", asked)
    search.step()
    resumed = OPTIMISERS["traffic"].resume(asked, json.loads(json.dumps(search.state())))
    for _ in range(3):
        if not search.finished:
            search.step()
            resumed.step()
    assert resumed.state() == search.state()
    assert resumed.best == search.best
    assert resumed.moves == search.moves


def test_one_annealing_follows_the_other_and_the_best_of_all_stays() -> None:
    search = begin("traffic", problem())
    found = []
    while search.state()["round"] < 2:
        search.step()
        found.append(hops(search))
    assert found == sorted(found, reverse=True)
    assert search.moves > usual_moves(24)
    assert not search.finished


@settings(max_examples=60)
@given(st.integers(2, 5), st.integers(2, 8), st.integers(2, 6), st.integers(0, 9))
def test_a_rotation_is_kept_by_every_exchange(
    bases: int, symmetry: int, degree: int, seed: int
) -> None:
    nodes = bases * symmetry
    assume(degree < nodes and nodes * degree % 2 == 0)
    assume(not too_symmetric(nodes, degree, symmetry))
    rank = range(nodes)
    traffic = Traffic.from_pairs(nodes, rank, [(3 * one + 1) % nodes for one in rank], [5] * nodes)
    found = begin(
        "traffic",
        Problem(nodes, degree, "traffic", seed, iterations=256, symmetry=symmetry, traffic=traffic),
    )
    while not found.finished:
        found.step()
    assert found.best.symmetry == symmetry
    cables = found.state()["annealing"]["cables"]
    for network in (found.best.graph, Graph.from_edges(nodes, [(u, v) for u, v in cables])):
        assert set(network.degrees) == {degree}
        assert network.connected
        assert unroll(nodes, symmetry, orbits_of(network, symmetry)) == network


@pytest.mark.parametrize("degree", [3, 4])
def test_a_rotation_finds_what_the_free_search_finds_where_the_traffic_has_it(degree: int) -> None:
    ring = Traffic.from_pairs(24, range(24), [(rank + 5) % 24 for rank in range(24)], [5] * 24)
    turned, free = (
        begin(
            "traffic",
            Problem(24, degree, "traffic", 1, iterations=20_000, symmetry=symmetry, traffic=ring),
        )
        for symmetry in (6, None)
    )
    for search in (turned, free):
        while not search.finished:
            search.step()
    assert hops(turned) <= 1.1 * hops(free)


def hops(search: Search) -> float:
    """What the best network costs: both numbers of hops."""
    words = search.best.note.split()
    return float(words[0]) + float(words[4])


def test_begins_at_a_given_network() -> None:
    start = optimise(24, 3, method="sa", iterations=1000, seed=1)
    search = begin("traffic", problem(start=start, iterations=32))
    cables = search.state()["annealing"]["cables"]
    assert {(u, v) for u, v in cables} == set(start.edges)


@pytest.mark.parametrize(
    ("method", "fields", "message"),
    [
        ("traffic", {"traffic": None}, "needs the traffic"),
        ("traffic", {"ring": "keep"}, "belong to method sa"),
        ("traffic", {"symmetry": 5}, "a symmetry of 5 does not divide 24 nodes; use one of 1, 2"),
        (
            "traffic",
            {"symmetry": 4, "start": Graph.from_edges(24, [(0, 1), (1, 2)])},
            "the network has no symmetry of 4",
        ),
        ("traffic", {"symmetry": 24}, "a symmetry of 24 leaves no cables to exchange"),
        ("traffic", {"threads": 2}, "searches in one thread"),
        ("sa", {"objective": "aspl"}, "--traffic belongs to method traffic"),
        ("sa", {}, "method 'sa' does not optimise 'traffic'; use traffic"),
    ],
)
def test_what_cannot_be_is_refused(method: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        begin(method, problem(**fields))


def test_too_large_a_network_is_refused() -> None:
    large = Problem(8192, 4, objective="traffic", traffic=Traffic.silent(8192))
    with pytest.raises(InvalidInput, match="at most 4096 nodes, not 8192"):
        begin("traffic", large)


@pytest.mark.parametrize(("nodes", "moves"), [(16, 100_000), (256, 8192), (4096, 0)])
def test_the_usual_moves_take_about_as_long_on_any_network(nodes: int, moves: int) -> None:
    assert usual_moves(nodes) == moves
