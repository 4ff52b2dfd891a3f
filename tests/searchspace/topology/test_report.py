"""Structure, layout, cost, and the report that holds them all."""

from __future__ import annotations

import itertools
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology import generate
from searchspace.topology.cost import Prices, cables, cost, ports
from searchspace.topology.layout import Floor, line_length, ring_length
from searchspace.topology.metrics import measure
from searchspace.topology.report import report
from searchspace.topology.structure import (
    edge_connectivity,
    girth,
    hop_histogram,
    node_connectivity,
    switch_network,
)


def of_networkx(graph: Graph) -> nx.Graph:
    network = nx.Graph(list(graph.edges))
    network.add_nodes_from(range(graph.nodes))
    return network


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    nodes = draw(st.integers(2, 9))
    pairs = list(itertools.combinations(range(nodes), 2))
    return Graph.from_edges(nodes, draw(st.lists(st.sampled_from(pairs), unique=True)))


@settings(max_examples=200)
@given(graphs())
def test_structure_as_networkx_finds_it(graph: Graph) -> None:
    network = of_networkx(graph)
    assert node_connectivity(graph) == nx.node_connectivity(network)
    assert edge_connectivity(graph) == nx.edge_connectivity(network)
    found = nx.girth(network)
    assert girth(graph) == (None if found == float("inf") else found)


@given(st.sampled_from(["random", "torus-2d"]), st.integers(0, 99))
def test_hop_histograms_of_direct_networks(family: str, seed: int) -> None:
    graph = generate(family, 24, degree=3, seed=seed)
    lengths = dict(nx.all_pairs_shortest_path_length(of_networkx(graph)))
    pairs = itertools.combinations(range(24), 2)
    assert hop_histogram(graph) == dict(sorted(Counter(lengths[u][v] for u, v in pairs).items()))


@pytest.mark.parametrize(
    "graph",
    [
        generate("fat-tree", 16),
        generate("jellyfish", 24, degree=3),
        generate("xgft", 8, children="4,2", parents="2,2"),  # every host has two cables
        Graph.from_edges(5, [(0, 3), (1, 3), (1, 4), (2, 4), (3, 4)], switches=2),
        generate("xgft", 4, children="4", parents="1"),
    ],
)
def test_hosts_on_switches_are_measured_between_hosts(graph: Graph) -> None:
    network = of_networkx(graph)
    found: Counter[int] = Counter()
    for u, v in itertools.combinations(range(graph.hosts), 2):
        others = [host for host in range(graph.hosts) if host not in (u, v)]
        found[nx.shortest_path_length(network.subgraph(set(network) - set(others)), u, v)] += 1
    assert hop_histogram(graph) == dict(sorted(found.items()))
    metrics = measure(graph)
    assert metrics.nodes == graph.hosts
    assert metrics.diameter == max(found)
    pairs = found.total()
    assert metrics.aspl == pytest.approx(sum(h * n for h, n in found.items()) / pairs)
    assert metrics.aspl >= metrics.aspl_lower_bound > 0
    assert metrics.diameter >= metrics.diameter_lower_bound


def test_the_bound_of_hosts_on_switches_can_be_reached() -> None:
    complete = measure(generate("jellyfish", 20, degree=4, hosts_per_switch=4))
    assert complete.aspl == pytest.approx(complete.aspl_lower_bound)
    star = measure(generate("xgft", 6, children="6", parents="1"))
    assert (star.aspl, star.aspl_lower_bound, star.diameter_lower_bound) == (2.0, 2.0, 2)


def test_not_connected() -> None:
    apart = Graph.from_edges(6, [(0, 3), (1, 4), (2, 5), (3, 4)], switches=3)
    with pytest.raises(InvalidInput, match="not connected"):
        measure(apart)


def test_lengths_of_cables() -> None:
    square = generate("ring", 4)
    assert (line_length(square), ring_length(square)) == (6, 4)
    floor = Floor(rack_nodes=1, width=1.0, depth=1.0, inside=0.5, overhead=0.25)
    assert floor.columns(4) == 2
    # Racks 0 1 / 2 3: 0-1 and 2-3 are neighbours, 1-2 and 0-3 lie across.
    assert floor.lengths(square) == [1.25, 2.25, 2.25, 1.25]
    assert Floor(rack_nodes=4).lengths(square) == [2.0] * 4
    with pytest.raises(InvalidInput, match="at least one node"):
        Floor(rack_nodes=0)


def test_cables_and_ports_and_their_cost() -> None:
    prices = Prices(
        port=10, adapter=7, copper=1, copper_metre=1, optical=100, optical_metre=0, reach=2
    )
    ring = generate("ring", 4)
    assert (cables(ring), ports(ring)) == (4, 8)
    assert cost(ring, [1.0, 1.0, 1.0, 3.0], prices)["cables"] == 106
    tree = generate("fat-tree", 16)
    assert (cables(tree), ports(tree)) == (48, 80)
    assert cost(tree, [0.0] * 48, prices) == {
        "ports": 800, "adapters": 112, "cables": 48, "total": 960,
    }  # fmt: skip
    trunk = Graph.from_cables(2, [(0, 1), (0, 1)])
    assert (cables(trunk), ports(trunk)) == (2, 4)


def test_prices_are_read() -> None:
    assert Prices.read("port=1, reach=0") == Prices(port=1, reach=0)
    with pytest.raises(InvalidInput, match="unknown price 'ports'; allowed: port, adapter"):
        Prices.read("ports=1")
    for bad in ("port=cheap", "port=-1", "port=nan"):
        with pytest.raises(InvalidInput, match="the price port must be a number"):
            Prices.read(bad)


def test_a_report() -> None:
    found = report(generate("hypercube", 16))
    expected = {
        "nodes": 16, "switches": 16, "degree": 4, "diameter": 4, "degrees": {"4": 16}, "girth": 4,
        "edge_connectivity": 4, "node_connectivity": 4, "bisection_width": 8,
        "bisection_lower_bound": 8, "bisection_exact": True, "cables": 32, "ports": 64,
        "diameter_gap": 2, "notes": [],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert found["aspl_gap"] == pytest.approx(found["aspl"] / found["aspl_lower_bound"] - 1)


def test_a_report_says_what_it_leaves_out() -> None:
    found = report(generate("ring", 8), depth="quick")
    assert [found[n] for n in ("girth", "bisection_width", "edge_connectivity")] == [None] * 3
    assert len(found["notes"]) == 3


def test_the_bisection_of_switches_with_unequal_hosts_halves_the_hosts() -> None:
    tree = report(generate("fat-tree", 16))
    assert tree["bisection_width"] == 8
    assert "it halves the hosts" in tree["notes"][0]
    jellyfish = report(generate("jellyfish", 32, degree=4))
    assert jellyfish["bisection_width"] is not None
    assert not any("halves the hosts" in note for note in jellyfish["notes"])


def test_parallel_cables_count_where_cables_are_counted() -> None:
    ring = [(node, (node + 1) % 6) for node in range(6)]
    doubled = report(Graph.from_cables(6, ring * 2))
    counted = ("cables", "edge_connectivity", "bisection_width", "bisection_lower_bound")
    assert [doubled[name] for name in counted] == [12, 4, 4, 4]
    assert doubled["degree"] == 2

    uneven = report(Graph.from_cables(6, [*ring, ring[0]]))
    assert (uneven["edge_connectivity"], uneven["bisection_width"]) == (2, 2)
    assert "parallel cables count once, since not all have as many" in uneven["notes"][0]


def test_the_switches_of_a_network() -> None:
    ring = generate("ring", 5)
    assert switch_network(ring) is ring
    assert switch_network(generate("ring", 10, hosts_per_switch=2)) == ring
