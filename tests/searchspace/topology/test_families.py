"""Every topology family: what it promises, and what it refuses."""

from __future__ import annotations

import hashlib
from collections import Counter

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.topology import FAMILIES, generate, obstacle
from searchspace.topology.grid import cubic_extents


@settings(max_examples=200)
@given(
    st.sampled_from(sorted(FAMILIES)), st.integers(1, 40), st.integers(1, 40), st.integers(0, 99)
)
def test_a_family_builds_a_connected_network_or_says_why_not(
    name: str, nodes: int, degree: int, seed: int
) -> None:
    reason = obstacle(name, nodes, degree=degree)
    if reason is not None:
        with pytest.raises(InvalidInput, match=name):
            generate(name, nodes, degree=degree, seed=seed)
        return
    network = generate(name, nodes, degree=degree, seed=seed)
    assert network.nodes == nodes
    assert network.connected
    assert network == FAMILIES[name].generate(nodes, degree=degree, seed=seed)


@given(st.integers(2, 30), st.integers(1, 29), st.integers(0, 10**6))
def test_random_networks_are_regular(nodes: int, degree: int, seed: int) -> None:
    assume(obstacle("random", nodes, degree=degree) is None)
    assert set(generate("random", nodes, degree=degree, seed=seed).degrees) == {degree}


@pytest.mark.parametrize(
    ("nodes", "degree", "message"),
    [
        (15, 3, "nodes x degree must be even, not 15 x 3"),
        (4, 4, r"degree \(4\) must be less than the number of nodes \(4\)"),
        (4, 1, "no connected network of 4 nodes has degree 1"),
        (4, None, "needs the machine's degree"),
    ],
)
def test_impossible_random_networks(nodes: int, degree: int | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        generate("random", nodes, degree=degree)


def test_every_random_network_of_six_nodes_and_degree_three_is_about_as_likely() -> None:
    """There are 70: 10 complete bipartite networks and 60 prisms."""
    draws = 7000
    found = Counter(generate("random", 6, degree=3, seed=seed).edges for seed in range(draws))
    assert len(found) == 70
    # Chi-squared with 69 degrees of freedom stays below 119 with probability 0.9998.
    assert sum((n - draws / 70) ** 2 / (draws / 70) for n in found.values()) < 119


@pytest.mark.parametrize(
    ("nodes", "degree", "digest"),
    [(64, 6, "88d9e57654ca3aae"), (16, 2, "7f61b4aa24f82c12"), (16, 12, "1a69464feb210f51")],
)
def test_a_seed_means_the_same_network_for_ever(nodes: int, degree: int, digest: str) -> None:
    """Stored results name networks by their seed."""
    edges = generate("random", nodes, degree=degree, seed=7).edges
    assert hashlib.sha256(repr(edges).encode()).hexdigest().startswith(digest)


@pytest.mark.parametrize(
    ("nodes", "dimensions", "extents"),
    [(64, 2, (8, 8)), (64, 3, (4, 4, 4)), (32, 3, (4, 4, 2)), (12, 2, (4, 3)), (30, 3, (5, 3, 2))],
)
def test_grids_are_as_cubic_as_possible(
    nodes: int, dimensions: int, extents: tuple[int, ...]
) -> None:
    assert cubic_extents(nodes, dimensions) == extents


@pytest.mark.parametrize(("nodes", "dimensions"), [(7, 2), (1, 2), (4, 3), (26, 3)])
def test_some_numbers_make_no_grid(nodes: int, dimensions: int) -> None:
    assert cubic_extents(nodes, dimensions) is None
    for family in ("mesh", "torus"):
        assert "extents of at least 2" in str(obstacle(f"{family}-{dimensions}d", nodes, degree=6))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("nodes", "extents"), [(12, (4, 3)), (64, (8, 8)), (24, (4, 3, 2))])
def test_meshes_and_tori_are_those_of_networkx(
    nodes: int, extents: tuple[int, ...], periodic: bool
) -> None:
    name = f"{'torus' if periodic else 'mesh'}-{len(extents)}d"
    # networkx takes the extents from the fastest-varying coordinate on.
    grid = nx.grid_graph(extents[::-1], periodic=periodic)
    numbered = nx.relabel_nodes(grid, {node: i for i, node in enumerate(sorted(grid.nodes))})
    assert {tuple(sorted(e)) for e in numbered.edges} == set(generate(name, nodes).edges)


def test_unknown_family() -> None:
    with pytest.raises(InvalidInput, match="unknown topology 'ring'; allowed: random, mesh-2d"):
        generate("ring", 4)
