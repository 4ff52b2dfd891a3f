"""An assignment under swaps says what judging each mapping anew says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Shape, Tree
from searchspace.mapping.cables import congestion_assignment
from searchspace.mapping.metrics import cable_loads, metrics_of
from searchspace.traffic import Traffic

MACHINES: list[tuple[Shape, int]] = [
    (Grid((3, 4), wrapped=True), 1),
    (Tree((2, 3)), 2),
    (Dragonfly(groups=3, routers=2, nodes=2), 1),
    (Network(Graph(nodes=3, edges=((0, 1), (1, 2)), widths=(2, 1))), 4),
]


@given(
    where=st.sampled_from(MACHINES),
    data=st.data(),
    flows=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 10**9))),
)
def test_a_swap_changes_the_measures_as_judging_anew_does(
    where: tuple[Shape, int], data: st.DataObject, flows: list[tuple[int, int, int]]
) -> None:
    machine = HopMachine.uniform(*where)
    traffic = Traffic.from_pairs(9, *zip(*flows, strict=True)) if flows else Traffic.silent(9)
    assignment = congestion_assignment(traffic, machine, np.arange(9, dtype=np.uint32))
    moves = data.draw(
        st.lists(st.tuples(st.integers(0, 8), st.integers(0, machine.places - 1)), max_size=4)
    )

    for rank, place in moves:
        foreseen = assignment.after(rank, place)
        assignment.swap(rank, place)
        assert foreseen[:3] == assignment.measures()[:3]

    places = assignment.places()
    found = metrics_of(traffic, machine, places)
    assert len(set(places.tolist())) == 9
    assert assignment.measures()[:3] == (found.hop_bytes, found.dilation, found.congestion)
    assert assignment.loads() == cable_loads(traffic, machine, places)


def test_who_crosses_a_cable() -> None:
    line = HopMachine.uniform(Grid((4,), wrapped=False))
    traffic = Traffic.from_pairs(4, [0, 0, 2], [1, 3, 3], [5, 7, 11])

    assignment = congestion_assignment(traffic, line, np.arange(4, dtype=np.uint32))

    assert [assignment.crossing(edge) for edge in range(3)] == [
        [(0, 1, 5), (0, 3, 7)],
        [(0, 3, 7)],
        [(0, 3, 7), (2, 3, 11)],
    ]


@pytest.mark.parametrize(("weights", "measure"), [((1, 0, 0), 0), ((0, 1, 0), 1), ((0, 0, 1), 2)])
def test_annealing_lowers_what_has_weight_and_is_repeatable(
    weights: tuple[float, float, float], measure: int
) -> None:
    machine = HopMachine.uniform(Grid((4, 4), wrapped=True))
    ring = np.random.default_rng(1).permutation(16)
    traffic = Traffic.from_pairs(16, ring, np.roll(ring, 1), [100] * 16)
    found = []
    for _ in range(2):
        assignment = congestion_assignment(traffic, machine, np.arange(16, dtype=np.uint32))
        before = assignment.measures()
        assignment.anneal(*weights, 0.0, 20_000, 7, None)
        assert assignment.measures()[measure] < before[measure]
        found.append(assignment.places().tolist())
    # A ring goes round a torus: one hop each, and never two flows on a cable.
    assert assignment.measures()[measure] == (1600, 1, 100)[measure]
    assert found[0] == found[1]


def test_networks_that_are_too_large_or_apart() -> None:
    large = HopMachine.uniform(Grid((128, 128), wrapped=True))
    apart = HopMachine.uniform(Network(Graph(nodes=4, edges=((0, 1), (2, 3)))))
    for machine, message in ((large, "keeps routes for at most"), (apart, "not connected")):
        with pytest.raises(InvalidInput, match=message):
            congestion_assignment(Traffic.silent(4), machine, np.arange(4, dtype=np.uint32))
