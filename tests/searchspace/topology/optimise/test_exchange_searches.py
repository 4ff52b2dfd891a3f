"""2-opt, spectral and symmetric search: what they keep, that they improve and resume."""

from __future__ import annotations

import json

import pytest

from searchspace.errors import InvalidInput
from searchspace.topology import generate
from searchspace.topology.bisection import bisection_width
from searchspace.topology.metrics import measure
from searchspace.topology.optimise import OPTIMISERS, begin, check, optimise
from searchspace.topology.optimise.search import Objective, Problem

SEARCHES: list[tuple[str, Objective]] = [
    ("2opt", "aspl"),
    ("2opt", "bisection"),
    ("spectral", "bisection"),
    ("symmetric", "bisection"),
]


@pytest.mark.parametrize(("method", "objective"), SEARCHES)
def test_the_network_stays_regular_and_gets_better(method: str, objective: Objective) -> None:
    start = generate("random", 32, degree=4, seed=2)
    graph = optimise(32, 4, objective=objective, method=method, iterations=60, seed=2, start=start)
    assert set(graph.degrees) == {4}
    assert graph.connected
    if objective == "aspl":
        assert measure(graph).aspl < measure(start).aspl
    else:
        assert bisection_width(graph).width > bisection_width(start).width


@pytest.mark.parametrize(("method", "objective"), SEARCHES)
def test_a_search_taken_up_again_goes_on_the_same(method: str, objective: Objective) -> None:
    problem = Problem(24, 3, objective=objective, seed=1)
    search = begin(method, problem)
    search.step()
    resumed = OPTIMISERS[method].resume(problem, json.loads(json.dumps(search.state())))
    search.step()
    resumed.step()
    assert resumed.state() == search.state()
    assert resumed.best == search.best


def test_2opt_ends_after_so_many_failures_in_a_row() -> None:
    search = begin("2opt", Problem(16, 3, seed=1, patience=40))
    while not search.finished:
        search.step()
    assert search.state()["failures"] == 40


def test_a_complete_network_leaves_2opt_nothing_to_do() -> None:
    assert measure(optimise(6, 5, method="2opt", iterations=1000)).aspl == 1.0


def test_what_a_method_cannot_do_is_refused() -> None:
    with pytest.raises(InvalidInput, match="use symmetric or spectral or 2opt or exhaustive"):
        check("sa", "bisection")
    with pytest.raises(InvalidInput, match="belong to method sa"):
        begin("2opt", Problem(16, 4, symmetry=4))
