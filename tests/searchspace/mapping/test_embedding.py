"""Embeddings of virtual topologies: every rank on a node of its own, joined ranks close."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import hop_distances
from searchspace.mapping.embedding import Embedding, embed, embed_closest
from searchspace.topology import generate


def worst_hops(virtual: Graph, network: Graph, found: Embedding) -> int:
    hops = hop_distances(network.nodes, network.edges)
    return max(int(hops[found.hosts[u], found.hosts[v]]) for u, v in virtual.edges)


@given(st.integers(0, 500), st.integers(1, 3), st.sampled_from(["ring", "torus-2d", "hypercube"]))
@settings(max_examples=25)
def test_an_embedding_is_what_it_says(seed: int, dilation: int, pattern: str) -> None:
    virtual, network = generate(pattern, 16), generate("random", 20, degree=4, seed=seed)
    found = embed(virtual, network, dilation, seed=seed, effort=200)

    assert len(set(found.hosts)) == 16
    assert worst_hops(virtual, network, found) == found.dilation
    assert (found.stretched == 0) == (found.dilation <= dilation)
    assert found == embed(virtual, network, dilation, seed=seed, effort=200)


def test_a_ring_lies_on_a_hamiltonian_cycle() -> None:
    for seed in range(5):
        network = generate("random", 64, degree=3, seed=seed)
        assert embed(generate("ring", 64), network, 1, seed=seed).stretched == 0


def test_a_scattered_torus_is_found_again() -> None:
    torus = generate("torus-2d", 16)
    scattered = torus.relabel((5, 2, 15, 8, 11, 0, 7, 12, 1, 14, 3, 10, 13, 6, 9, 4))
    assert embed_closest(torus, scattered).dilation == 1


@pytest.mark.parametrize(
    ("pattern", "dilation"), [("torus-2d", 2), ("mesh-3d", 2), ("torus-3d", 3)]
)
def test_grids_in_a_random_network(pattern: str, dilation: int) -> None:
    network = generate("random", 64, degree=6, seed=1)
    assert embed_closest(generate(pattern, 64), network).dilation == dilation


def test_what_cannot_be_is_reported_with_the_best_met() -> None:
    # A star's centre has more neighbours than any node of a ring.
    star = Graph.from_edges(5, [(0, leaf) for leaf in range(1, 5)])
    found = embed(star, generate("ring", 5), 1)
    assert (found.dilation, found.stretched) == (2, 2)


def test_ranks_that_exchange_nothing() -> None:
    assert embed(Graph(3, ()), generate("ring", 4), 1).dilation == 0


def test_impossible_requests() -> None:
    ring = generate("ring", 4)
    with pytest.raises(InvalidInput, match="5 ranks do not fit on 4 nodes"):
        embed(generate("ring", 5), ring, 1)
    with pytest.raises(InvalidInput, match="a dilation is at least 1, not 0"):
        embed(ring, ring, 0)
    with pytest.raises(InvalidInput, match="not connected"):
        embed(Graph(2, ((0, 1),)), Graph(4, ((0, 1), (2, 3))), 1)
