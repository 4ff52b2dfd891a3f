"""The mapper `auto` on machines that are hard to bound: optimal, and in little memory."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network
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


def test_a_long_ring_is_annealed_in_memory_that_grows_with_its_length() -> None:
    program = """
import resource
import numpy as np
from searchspace.hop_machine import Grid, HopMachine
from searchspace.mapping.auto import improve
from searchspace.traffic import Traffic
machine = HopMachine.uniform(Grid((20_000,), wrapped=True))
ranks = np.arange(64)
traffic = Traffic.from_pairs(64, ranks, (ranks + 1) % 64, np.full(64, 10))
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
print(len(improve(traffic, machine, seed=1, steps=10)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("64\n", 0), done.stderr
