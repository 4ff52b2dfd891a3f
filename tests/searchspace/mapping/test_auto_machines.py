"""The mapper `auto` on machines that are hard to bound: optimal, and in little memory."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network, Tree
from searchspace.mapping.auto import improve
from searchspace.mapping.metrics import metrics_of
from searchspace.traffic import Traffic

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("parts", "each"), [(2, 8), (4, 4)])
def test_a_ring_goes_along_cables_where_hosts_that_are_alike_are_not_adjacent(
    parts: int, each: int
) -> None:
    """Complete multipartite networks: hosts of a part are two hops from each other."""
    hosts = parts * each
    edges = [(a, b) for a, b in itertools.combinations(range(hosts), 2) if a // each != b // each]
    machine = HopMachine.uniform(Network(Graph.from_edges(hosts, edges)))
    there = np.arange(hosts)
    ring = Traffic.from_pairs(hosts, there, (there + 1) % hosts, np.ones(hosts, dtype=int))
    places = improve(ring, machine, seed=1, steps=10_000)
    assert metrics_of(ring, machine, places).hop_bytes == hosts


def in_two_gibibytes(program: str) -> str:
    """What a program writes that may take so much memory."""
    before = """
import resource
import numpy as np
from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.mapping.auto import improve
from searchspace.traffic import Traffic
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
"""
    done = subprocess.run(
        [sys.executable, "-c", before + program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_long_ring_is_annealed_in_memory_that_grows_with_its_length() -> None:
    program = """
machine = HopMachine.uniform(Grid((20_000,), wrapped=True))
ranks = np.arange(64)
traffic = Traffic.from_pairs(64, ranks, (ranks + 1) % 64, np.full(64, 10))
print(len(improve(traffic, machine, seed=1, steps=10)))
"""
    assert in_two_gibibytes(program) == "64\n"


def test_many_leaf_switches_take_memory_that_grows_with_their_number() -> None:
    program = """
ranks = 32_000
machine = HopMachine.uniform(Tree((ranks // 2, 2)))
pairs = np.random.default_rng(1).permutation(ranks).reshape(2, -1)
traffic = Traffic.from_pairs(ranks, *pairs, np.full(ranks // 2, 10))
places = improve(traffic, machine, seed=1)
print(np.count_nonzero(places[pairs[0]] // 2 == places[pairs[1]] // 2))
"""
    assert int(in_two_gibibytes(program)) > 15_000  # of 16,000 pairs on a switch of their own


def test_large_trees_are_annealed_in_memory_that_does_not_grow_with_slots_times_hosts() -> None:
    program = """
machine = HopMachine.uniform(Tree((40, 100)), 32)
one, other = np.random.default_rng(1).integers(0, 500, (2, 2000))
traffic = Traffic.from_pairs(500, one, other, np.full(2000, 10))
print(len(set(improve(traffic, machine, seed=1, steps=20_000))))
"""
    assert in_two_gibibytes(program) == "500\n"


def test_a_tree_of_more_levels_than_its_codes_have_bits_is_refused() -> None:
    """Each level of 2^15 hosts and each within the first of them tells places apart."""
    cores = [0] * 2**15
    cores[0] = 2**18
    for level in range(15):
        cores[2**level] = 1
    machine = HopMachine(Tree((2,) * 15), tuple(cores), (2,) * 18)
    traffic = Traffic.from_pairs(2, [0], [1], [10])
    with pytest.raises(InvalidInput, match=r"'auto' cannot be made: the tree .* too many levels"):
        improve(traffic, machine, start=np.array([0, 1], dtype=np.uint32))
