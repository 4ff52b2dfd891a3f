"""Every topology family: what it promises, and what it refuses."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology import FAMILIES, generate, obstacle, options_of, read_options
from searchspace.topology.finite_field import field_of, prime_power
from searchspace.topology.grid import cubic_extents
from searchspace.topology.metrics import measure
from searchspace.topology.xgft import switches_of
from searchspace.traffic import Traffic

OPTIONS: dict[str, dict[str, Any]] = {
    "xgft": {"children": "4,3", "parents": "1,2"},
    "optimised": {"iterations": 50},
    "tailored": {"iterations": 64},
}
"""What families need to be told, or take too long without."""


def traffic_for(name: str, nodes: int) -> Traffic | None:
    """A ring of messages, for families that are made for some."""
    ranks = range(nodes)
    ring = Traffic.from_pairs(nodes, ranks, [(rank + 1) % nodes for rank in ranks], [8] * nodes)
    return ring if FAMILIES[name].uses_traffic else None


@settings(max_examples=300)
@given(
    st.sampled_from(sorted(FAMILIES)), st.integers(1, 40), st.integers(1, 40), st.integers(0, 99)
)
def test_a_family_builds_a_connected_network_or_says_why_not(
    name: str, nodes: int, degree: int, seed: int
) -> None:
    options = OPTIONS.get(name, {}) | {"traffic": traffic_for(name, nodes)}
    reason = obstacle(name, nodes, degree=degree, **OPTIONS.get(name, {}))
    if reason is not None:
        with pytest.raises(InvalidInput, match=name):
            generate(name, nodes, degree=degree, seed=seed, **options)
        return
    network = generate(name, nodes, degree=degree, seed=seed, **options)
    assert network.hosts == nodes
    assert network.connected
    assert bool(network.switches) == FAMILIES[name].indirect
    assert network == generate(name, nodes, degree=degree, seed=seed, **options)
    if not FAMILIES[name].uses_seed:
        assert network == generate(name, nodes, degree=degree, seed=seed + 1, **options)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family_has_a_network_near_any_size(name: str) -> None:
    reason = obstacle(name, 1, degree=4, **OPTIONS.get(name, {}))
    assert reason is not None
    assert "can be had" in reason
    near = int(reason.rpartition("(")[2].split()[0])
    assert obstacle(name, near, degree=4, **OPTIONS.get(name, {})) is None


@given(st.integers(2, 30), st.integers(1, 29), st.integers(0, 10**6))
def test_random_networks_are_regular(nodes: int, degree: int, seed: int) -> None:
    assume(obstacle("random", nodes, degree=degree) is None)
    assert set(generate("random", nodes, degree=degree, seed=seed).degrees) == {degree}


@pytest.mark.parametrize(
    ("nodes", "degree", "message"),
    [
        (15, 3, r"nodes x degree must be even, not 15 x 3 \(14 or 16 nodes can be had\)"),
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
    draws = 3500
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


@pytest.mark.parametrize(("nodes", "dimensions"), [(7, 2), (1, 2), (4, 3), (26, 3), (16, 5)])
def test_some_numbers_make_no_grid(nodes: int, dimensions: int) -> None:
    assert cubic_extents(nodes, dimensions) is None
    for family in ("mesh", "torus"):
        assert "extents of at least 2" in str(obstacle(f"{family}-{dimensions}d", nodes, degree=6))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(
    ("nodes", "extents"),
    [(12, (4, 3)), (64, (8, 8)), (24, (4, 3, 2)), (36, (3, 3, 2, 2)), (243, (3,) * 5)],
)
def test_meshes_and_tori_are_those_of_networkx(
    nodes: int, extents: tuple[int, ...], periodic: bool
) -> None:
    name = f"{'torus' if periodic else 'mesh'}-{len(extents)}d"
    # networkx takes the extents from the fastest-varying coordinate on.
    grid = nx.grid_graph(extents[::-1], periodic=periodic)
    numbered = nx.relabel_nodes(grid, {node: i for i, node in enumerate(sorted(grid.nodes))})
    expected = {tuple(sorted(e)) for e in numbered.edges}
    assert expected == set(generate(name, nodes).edges)
    assert expected == set(generate(name, nodes, dims="x".join(map(str, extents))).edges)


def test_extents_can_be_given() -> None:
    assert generate("mesh-2d", 12, dims="6,2") != generate("mesh-2d", 12)
    assert obstacle("mesh-2d", 12, degree=None, dims="4x4") == (
        "4x4 nodes are 16, not 12 (16 nodes can be had)"
    )
    assert "needs 3 extents" in str(obstacle("torus-3d", 64, degree=None, dims="8x8"))


@pytest.mark.parametrize(
    ("family", "nodes", "degree", "diameter", "mean"),
    [
        ("ring", 16, None, 8, 4.27),
        ("ring", 32, None, 16, 8.26),
        ("ring", 256, None, 128, 64.25),
        ("wagner", 16, None, 4, 2.60),
        ("wagner", 32, None, 8, 4.61),
        ("wagner", 256, None, 64, 32.62),
        ("bidiakis", 16, None, 5, 2.53),
        ("bidiakis", 32, None, 9, 4.06),
        ("bidiakis", 256, None, 65, 25.09),
        ("torus-2d", 16, None, 4, 2.13),
        ("torus-2d", 32, None, 6, 3.10),
        ("torus-2d", 256, None, 16, 8.03),
        ("torus-3d", 256, None, 10, 5.02),
        ("torus-4d", 256, None, 8, 4.02),
        ("dragonfly", 20, 4, 3, 2.26),
        ("dragonfly", 30, 5, 3, 2.38),
        ("dragonfly", 36, 5, 3, 2.34),
        ("dragonfly", 252, 11, 3, 2.71),
        ("dragonfly", 264, 11, 3, 2.69),
    ],
)
def test_diameters_and_mean_path_lengths_of_deng(
    family: str, nodes: int, degree: int | None, diameter: int, mean: float
) -> None:
    """Deng et al. 2019, tables 1, 2, 4 and 5, in the two decimals they print."""
    found = measure(generate(family, nodes, degree=degree))
    assert (found.diameter, round(found.aspl, 2)) == (diameter, mean)


def isomorphic(graph: Graph, other: nx.Graph) -> bool:
    ours = nx.Graph(list(graph.edges))
    ours.add_nodes_from(range(graph.nodes))
    return bool(nx.is_isomorphic(ours, other))


def test_networks_that_others_know() -> None:
    assert isomorphic(generate("chvatal", 12), nx.chvatal_graph())
    assert isomorphic(generate("wagner", 8), nx.circulant_graph(8, [1, 4]))
    assert isomorphic(generate("bidiakis", 12), nx.LCF_graph(12, [6, 4, -4], 4))
    assert isomorphic(generate("hypercube", 32), nx.hypercube_graph(5))
    assert isomorphic(generate("slim-fly", 50), nx.hoffman_singleton_graph())
    assert isomorphic(generate("k-ary-n-cube", 81), nx.grid_graph([3] * 4, periodic=True))
    assert isomorphic(generate("circulant", 20, jumps="1,3,10"), nx.circulant_graph(20, [1, 3, 10]))


@pytest.mark.parametrize(
    ("q", "degree"), [(3, 5), (4, 6), (5, 7), (7, 11), (8, 12), (9, 13), (11, 17), (13, 19)]
)
def test_slim_flies_have_diameter_two(q: int, degree: int) -> None:
    """Degree (3 q - delta) / 2 with q = 4 w + delta (Besta and Hoefler 2014)."""
    network = generate("slim-fly", 2 * q * q)
    assert set(network.degrees) == {degree}
    assert measure(network).diameter == 2


@pytest.mark.parametrize("order", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27])
def test_finite_fields(order: int) -> None:
    field = field_of(order)
    everything = range(order)
    for a in everything:
        assert field.sums[a][field.negatives[a]] == 0
        assert (field.products[a][0], field.products[a][1], field.sums[a][0]) == (0, a, a)
        for b in everything:
            assert field.products[a][b] == field.products[b][a]
            for c in (1, order - 1):
                left = field.products[a][field.sums[b][c]]
                assert left == field.sums[field.products[a][b]][field.products[a][c]]
    assert sorted(field.powers()) == list(range(1, order))


def test_fields_have_prime_power_order() -> None:
    powers = {p**e for p in (2, 3, 5, 7, 11, 13, 17, 19) for e in range(1, 5) if p**e < 20}
    assert {n for n in range(1, 20) if prime_power(n)} == powers
    with pytest.raises(ValueError, match="6 is not a prime power"):
        field_of(6)


@pytest.mark.parametrize(
    ("nodes", "degree", "routers"), [(20, 4, 4), (36, 5, 4), (252, 11, 9), (2064, 23, 16)]
)
@pytest.mark.parametrize("arrangement", ["relative", "absolute"])
def test_dragonflies_join_every_two_groups_by_one_cable(
    nodes: int, degree: int, routers: int, arrangement: str
) -> None:
    network = generate("dragonfly", nodes, degree=degree, arrangement=arrangement)
    assert set(network.degrees) == {degree}
    between = Counter((u // routers, v // routers) for u, v in network.edges)
    pairs = {pair: count for pair, count in between.items() if pair[0] != pair[1]}
    groups = nodes // routers
    assert set(pairs.values()) == {1}
    assert len(pairs) == groups * (groups - 1) // 2


@pytest.mark.parametrize(("ports", "levels"), [(4, 3), (4, 2), (6, 3), (8, 2), (4, 4), (2, 1)])
def test_fat_trees_use_every_port(ports: int, levels: int) -> None:
    hosts = 2 * (ports // 2) ** levels
    network = generate("fat-tree", hosts, levels=levels)
    assert network.hosts == hosts
    assert set(network.degrees[:hosts]) == {1}
    assert set(network.degrees[hosts:]) == {ports}
    assert measure(network).diameter == 2 * levels


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3))
def test_fat_trees_of_any_shape(shape: list[tuple[int, int]]) -> None:
    children, parents = [m for m, _ in shape], [w for _, w in shape]
    hosts = 1
    for m in children:
        hosts *= m
    network = generate(
        "xgft",
        hosts,
        children=",".join(map(str, children)),
        parents=",".join(map(str, parents)),
    )
    assert network.switches == switches_of(children, parents)
    assert network.connected
    degrees = network.degrees
    assert set(degrees[:hosts]) == {parents[0]}
    first = hosts
    for level in range(len(shape)):
        count = _switches(children, parents, level)
        up = parents[level + 1] if level + 1 < len(shape) else 0
        assert set(degrees[first : first + count]) == {children[level] + up}
        first += count


def _switches(children: list[int], parents: list[int], level: int) -> int:
    count = 1
    for m in children[level + 1 :]:
        count *= m
    for w in parents[: level + 1]:
        count *= w
    return count


def test_hosts_on_the_switches_of_a_direct_network() -> None:
    network = generate("torus-2d", 36, hosts_per_switch=4)
    assert (network.hosts, network.switches) == (36, 9)
    assert all(len(near) == 1 for near in network.neighbors[:36])
    assert network.neighbors[5] == (37,)
    assert obstacle("torus-2d", 35, degree=None, hosts_per_switch=4) == (
        "35 hosts are not a multiple of 4, the hosts of a switch (32 or 36 hosts can be had)"
    )


def test_jellyfish_is_a_random_network_of_switches() -> None:
    jellyfish = generate("jellyfish", 64, degree=3, seed=5, hosts_per_switch=8)
    random = generate("random", 8, degree=3, seed=5)
    assert jellyfish == generate("random", 64, degree=3, seed=5, hosts_per_switch=8)
    between = [(u - 64, v - 64) for u, v in jellyfish.edges if u >= 64]
    assert tuple(between) == random.edges


@pytest.mark.parametrize("nodes", [*range(3, 20), 30, 64])
def test_circulants_have_every_degree_that_there_is(nodes: int) -> None:
    for degree in range(2, min(nodes, 13)):
        if nodes * degree % 2 == 0:
            assert set(generate("circulant", nodes, degree=degree).degrees) == {degree}


@pytest.mark.parametrize(("family", "nodes"), [("de-bruijn", 16), ("kautz", 12)])
def test_no_network_of_words_has_more_cables_than_were_asked_for(family: str, nodes: int) -> None:
    assert max(generate(family, nodes, degree=4).degrees) == 4
    assert generate(family, nodes, degree=3, base=2) == generate(family, nodes, degree=4)
    with pytest.raises(InvalidInput, match="a degree of at least 4 is needed, not 3"):
        generate(family, nodes, degree=3)


@pytest.mark.parametrize(
    ("family", "nodes", "options", "message"),
    [
        ("ring", 10**9, {}, "1000000000 nodes are too many; at most 1048576 can be generated"),
        ("hypercube", 100, {}, r"power of two nodes, not 100 \(64 or 128 nodes can be had\)"),
        ("slim-fly", 100, {}, r"for a prime power q from 3 to 181 \(98 or 128 nodes can be had\)"),
        ("dragonfly", 64, {}, r"degree 4 = a - 1 \+ h, .*\(21 nodes can be had\)"),
        ("fat-tree", 64, {"levels": 3}, r"\(54 or 128 hosts can be had\)"),
        ("circulant", 12, {"jumps": "2,4"}, "divisor 2 in common: not connected"),
        ("circulant", 12, {"jumps": "1,7"}, "at most 6, half the nodes"),
        ("kautz", 13, {}, r"13 is not 3 times a power of 2 \(12 or 24 nodes can be had\)"),
        ("xgft", 12, {"children": "4,3"}, "needs children and parents"),
        ("xgft", 12, {"children": "4,3", "parents": "1"}, "2 levels of children but 1 of parents"),
    ],
)
def test_impossible_networks(
    family: str, nodes: int, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        generate(family, nodes, degree=4, **options)


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        ("ring", {"dims": "4"}, "dims: unknown parameter of ring; allowed: hosts_per_switch"),
        ("mesh-2d", {"dims": "4x"}, "dims: must be whole numbers like 8,8,4"),
        ("mesh-2d", {"dims": "1x4"}, "dims: each number must be at least 2, not 1"),
        ("fat-tree", {"levels": 9}, "levels: must be a whole number from 1 to 5, not 9"),
        ("fat-tree", {"levels": True}, "levels: must be a whole number, not True"),
        (
            "dragonfly",
            {"arrangement": "any"},
            "arrangement: unknown value 'any'; allowed: relative",
        ),
    ],
)
def test_wrong_parameters(family: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_options(family, options)


def test_parameters_have_one_form() -> None:
    assert read_options("mesh-2d", {"dims": "8 x 8", "hosts_per_switch": "0"}) == {"dims": "8,8"}
    assert read_options("dragonfly", {"arrangement": "relative"}) == {}
    assert list(options_of("ring")) == ["hosts_per_switch"]


def test_unknown_family() -> None:
    with pytest.raises(InvalidInput, match="unknown topology 'rung'; allowed: random, mesh-2d"):
        generate("rung", 4)
