"""The search for networks that suit some traffic: better with every move, and resumable."""

from __future__ import annotations

import json

import pytest

from searchspace.errors import InvalidInput
from searchspace.topology.optimise import OPTIMISERS, begin, optimise
from searchspace.topology.optimise.search import Problem
from searchspace.topology.optimise.traffic import usual_moves
from searchspace.traffic import Traffic

TRAFFIC = Traffic.from_pairs(24, range(24), [(7 * rank + 3) % 24 for rank in range(24)], [5] * 24)


def problem(**other: object) -> Problem:
    fields = {"seed": 1, "objective": "traffic", "traffic": TRAFFIC} | other
    return Problem(24, 3, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("iterations", [None, 5000])
def test_a_search_taken_up_again_goes_on_the_same(iterations: int | None) -> None:
    asked = problem(iterations=iterations)
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
        found.append(float(search.best.note.split()[0]) + float(search.best.note.split()[4]))
    assert found == sorted(found, reverse=True)
    assert search.moves > usual_moves(24)
    assert not search.finished


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
