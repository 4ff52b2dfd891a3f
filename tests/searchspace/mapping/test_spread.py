from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.mapping.refinement import Refinement
from searchspace.mapping.spread import spread_out
from searchspace.traffic import Traffic


def all_to_all(ranks: int) -> Traffic:
    one, other = np.triu_indices(ranks, k=1)
    return Traffic.from_pairs(ranks, one, other, np.full(len(one), 100))


def hosts_of(traffic: Traffic, machine: HopMachine) -> list[int]:
    hosts: list[int] = machine.place_hosts[spread_out(traffic, machine)].tolist()
    return hosts


@given(ranks=st.integers(1, 24))
def test_every_host_has_as_many_ranks_but_for_one(ranks: int) -> None:
    machine = HopMachine.uniform(Tree((4,)), 6, (2, 3))
    places = spread_out(all_to_all(ranks), machine)
    assert len(set(places.tolist())) == ranks
    counts = np.bincount(machine.place_hosts[places], minlength=4)
    assert counts.max() - counts.min() <= 1


def test_partners_share_a_host_where_they_are_spread() -> None:
    pairs = Traffic.from_pairs(8, [0, 1, 2, 3], [4, 5, 6, 7], [9, 9, 9, 9])
    hosts = hosts_of(pairs, HopMachine.uniform(Grid((2, 2), wrapped=True), 4))
    assert hosts[:4] == hosts[4:]
    assert sorted(hosts[:4]) == [0, 1, 2, 3]


def test_hosts_that_are_not_allocated_stay_free() -> None:
    part = HopMachine(Tree((6,)), (4, 0, 4, 0, 0, 4))
    assert sorted(hosts_of(all_to_all(6), part)) == [0, 0, 2, 2, 5, 5]


@pytest.mark.parametrize("start", [[0, 1, 2, 3], [3, 7, 11, 15]])
def test_a_refinement_looks_at_both_packed_and_spread_whatever_it_begins_with(
    start: list[int],
) -> None:
    machine = HopMachine.uniform(Tree((4,)), 4)
    search = Refinement(all_to_all(4), machine, [np.array(start, dtype=np.uint32)])
    seen = set()
    for _ in range(3):
        places = search.ask()
        assert places is not None
        search.tell(places, 1.0)
        seen.add(len(set(machine.place_hosts[places].tolist())))
    assert {1, 4} <= seen
