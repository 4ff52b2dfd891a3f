"""The search for wide bisections: what its kernels promise, and that it finds known widths."""

from __future__ import annotations

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native
from searchspace.topology import generate
from searchspace.topology.bisection import bisection_width
from searchspace.topology.optimise import begin, optimise
from searchspace.topology.optimise.sa import starting_orbits
from searchspace.topology.optimise.search import Problem
from searchspace.topology.rotation import orbit_array, orbits_of, unroll


def orbit_list(array: np.ndarray) -> list[tuple[int, int, int]]:
    return [(i, j, turn) for i, j, turn in array.tolist()]


@pytest.mark.parametrize(
    ("nodes", "degree", "width"),
    [
        (14, 3, 7),  # Heawood
        (16, 3, 6),  # Deng et al. 2019, table 1
        (64, 4, 28),  # what careful searches reached
    ],
)
def test_it_finds_the_widths_that_are_known(nodes: int, degree: int, width: int) -> None:
    search = begin("symmetric", Problem(nodes, degree, objective="bisection", seed=3))
    for _ in range(30):
        if (search.best.bisection_width or 0) >= width:
            break
        search.step()
    assert bisection_width(search.best.graph, seed=99).width >= width


@given(st.data())
@settings(deadline=None, max_examples=12)
def test_a_widened_network_keeps_size_symmetry_and_ring(data: st.DataObject) -> None:
    symmetry = data.draw(st.sampled_from([1, 2, 3, 4, 6, 65]))
    nodes = symmetry * data.draw(st.integers(2, 4))
    degree = data.draw(st.integers(3, 5))
    if nodes <= degree or nodes * degree % 2:
        return
    orbits = starting_orbits(nodes, degree, symmetry)
    ring = orbits[:1]
    widening = _native.Widening(
        nodes, degree, symmetry, orbit_array(ring), orbit_array(orbits[1:]), 5
    )
    before = unroll(nodes, symmetry, orbits)
    width = bisection_width(before, effort="quick").width
    aim = widening.run(300, width)
    if aim == width:
        return
    graph = unroll(nodes, symmetry, [*ring, *orbit_list(widening.best)])
    assert set(graph.degrees) == {degree}
    assert set(ring) <= set(orbits_of(graph, symmetry))
    assert width < bisection_width(graph, verifiers=("local-search",)).width <= aim


@pytest.mark.parametrize(
    ("nodes", "degree", "unit"),
    [(27, 4, 1), (32, 5, 1), (36, 5, 3), (42, 3, 1), (44, 11, 2), (63, 4, 1), (64, 5, 1)],
)
def test_networks_drawn_are_covers(nodes: int, degree: int, unit: int) -> None:
    """They look the same from all nodes over a base node, and turning them changes nothing."""
    survey = _native.CoverSurvey(nodes, degree, unit)
    found = survey.run(500, 0, 7)
    assert found is not None
    width, symmetry, orbits = found
    graph = unroll(nodes, symmetry, orbit_list(orbits))
    assert symmetry % unit == 0
    assert set(graph.degrees) == {degree}
    assert 0 < bisection_width(graph).width <= width
    orbits_of(graph, unit)
    distances = np.sort(igraph.Graph(nodes, graph.edges).distances(), axis=1)
    views, times = np.unique(distances, axis=0, return_counts=True)
    assert any(
        len(views) <= bases and (times % (nodes // bases) == 0).all()
        for bases in (1, 2, 3, 4)
        if nodes % bases == 0
    )
    again = survey.run(500, width, 8)
    assert again is None or again[0] > width


def test_a_survey_goes_on_from_its_walkers() -> None:
    def surveys() -> tuple[_native.CoverSurvey, _native.CoverSurvey]:
        return _native.CoverSurvey(36, 4, 1), _native.CoverSurvey(36, 4, 1)

    first, second = surveys()
    found = first.run(300, 0, 1)
    assert found is not None
    second.restore(first.walkers())
    np.testing.assert_equal(first.run(300, found[0], 2), second.run(300, found[0], 2))
    np.testing.assert_equal(first.walkers(), second.walkers())


def test_walkers_of_another_size_are_refused() -> None:
    survey = _native.CoverSurvey(36, 4, 1)
    survey.run(100, 0, 1)
    for other in (_native.CoverSurvey(36, 5, 1), _native.CoverSurvey(35, 4, 1)):
        with pytest.raises(ValueError, match="a walker"):
            other.restore(survey.walkers())


def test_the_seed_and_the_threads_decide_the_network() -> None:
    def found(threads: int) -> Graph:
        return optimise(
            24, 4, objective="bisection", method="symmetric", iterations=300, threads=threads
        )

    assert found(1) == found(1)
    assert found(2) == found(2)


def test_a_start_is_widened() -> None:
    start = generate("torus-2d", 36)
    graph = optimise(36, 4, objective="bisection", method="symmetric", iterations=3000, start=start)
    assert set(graph.degrees) == {4}
    assert bisection_width(graph).width > bisection_width(start).width


def test_a_symmetry_asked_for_is_kept() -> None:
    graph = optimise(36, 4, objective="bisection", method="symmetric", iterations=300, symmetry=12)
    orbits_of(graph, 12)


def test_what_it_cannot_do_is_refused() -> None:
    start = generate("random", 16, degree=3, seed=1)
    with pytest.raises(InvalidInput, match="at most 1024 nodes"):
        begin("symmetric", Problem(2024, 4, objective="bisection"))
    with pytest.raises(InvalidInput, match="does not divide"):
        begin("symmetric", Problem(16, 3, objective="bisection", symmetry=5))
    with pytest.raises(InvalidInput, match="keeps a ring only in networks of its own"):
        begin("symmetric", Problem(16, 3, objective="bisection", start=start, ring="keep"))
    with pytest.raises(InvalidInput, match="no symmetry of 4"):
        begin("symmetric", Problem(16, 3, objective="bisection", start=start, symmetry=4))
