from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine
from searchspace.kernels import hop_distances


def machine(document: Any) -> HopMachine:
    return read_hop_machine(document, read_graph=lambda name: Graph(nodes=2, edges=((0, 1),)))


def no_graph(name: str) -> Graph:
    raise AssertionError(name)


def hops(document: Any, source: int, target: int) -> int:
    network = machine(document).network
    return int(hop_distances(network.nodes, network.edges)[source, target])


def test_hops_in_a_tree_are_twice_the_levels_to_the_common_ancestor() -> None:
    tree = {"type": "tree", "arity": [2, 3, 2]}

    assert machine(tree).hosts == 12
    assert [hops(tree, 0, other) for other in (0, 1, 2, 5, 6, 11)] == [0, 2, 4, 4, 6, 6]


def test_a_torus_wraps_and_a_mesh_does_not() -> None:
    assert hops({"type": "torus", "dims": [4, 8]}, 0, 3 * 8 + 7) == 2
    assert hops({"type": "mesh", "dims": [4, 8]}, 0, 3 * 8 + 7) == 10
    assert hops({"type": "torus", "dims": [2, 1, 3]}, 0, 5) == 2


def test_hops_in_a_dragonfly_go_through_its_routers() -> None:
    dragonfly = {"type": "dragonfly", "groups": 3, "routers": 2, "nodes": 2}

    assert machine(dragonfly).hosts == 12
    assert hops(dragonfly, 0, 1) == 2  # same router
    assert hops(dragonfly, 0, 2) == 3  # other router of the group
    # Groups 0 and 1 meet at router 0 of group 0 and router 0 of group 1.
    assert hops(dragonfly, 0, 4) == 3
    assert hops(dragonfly, 2, 6) == 5


def test_a_graph_comes_from_its_edge_list() -> None:
    found = machine({"type": "graph", "edges": "G.edges", "cores_per_host": 4})

    assert (found.hosts, found.cores_per_host) == (2, (4, 4))


def test_hosts_may_differ_in_cores_and_only_some_may_be_allocated() -> None:
    torus = {"type": "torus", "dims": [4]}

    assert machine({**torus, "cores_per_host": [2, 0, 1, 3]}).cores_per_host == (2, 0, 1, 3)
    some = machine({**torus, "cores_per_host": 2, "allocated": [3, 1]})
    assert some.cores_per_host == (0, 2, 0, 2)
    assert some.place_hosts.tolist() == [1, 1, 3, 3]


def test_a_host_may_have_a_tree_inside() -> None:
    inside = machine({"type": "mesh", "dims": [2], "inside": [2, 2]})

    assert inside.places == 8
    every = np.arange(8, dtype=np.uint32)
    assert inside.hops.table(every[:1], every).tolist() == [[0, 2, 4, 4, 5, 5, 5, 5]]


def test_the_tree_inside_may_come_from_hwloc() -> None:
    pus = '<object type="L2Cache"><object type="Core"/><object type="Core"/></object>'
    package = f'<object type="Package">{pus}{pus}</object>'
    xml = f'<topology><object type="Machine">{package}{package}</object></topology>'
    document = {"type": "tree", "arity": [3], "inside": "host.xml"}

    found = read_hop_machine(document, read_graph=no_graph, read_text={"host.xml": xml}.__getitem__)

    assert (found.inside, found.places) == ((2, 2, 2), 24)


@pytest.mark.parametrize(
    "document",
    [
        {"type": "tree", "arity": [2, 3, 2], "cores_per_host": 2},
        {"type": "tree", "arity": [1, 4, 1, 2]},
        {"type": "torus", "dims": [4, 1, 3, 2], "inside": [2, 3]},
        {"type": "mesh", "dims": [3, 4]},
        {"type": "dragonfly", "groups": 5, "routers": 3, "nodes": 2},
        {"type": "dragonfly", "groups": 4, "routers": 1, "nodes": 1},
        {"type": "dragonfly", "groups": 3, "routers": 8, "nodes": 1},
    ],
)
def test_hops_are_those_of_the_network(document: Any) -> None:
    found = machine(document)
    every = np.arange(found.places, dtype=np.uint32)
    hosts = found.place_hosts
    expected = hop_distances(found.network.nodes, found.network.edges)[np.ix_(hosts, hosts)]
    apart = hosts[:, None] != hosts[None, :]

    hops = found.hops.table(every, every)

    climb = 2 * len(found.inside)
    assert np.array_equal(hops[apart], expected[apart] + climb)
    assert hops.max() <= found.most_hops
    if not found.inside:
        assert (hops[~apart] == 0).all()


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"type": "ring"},
        {"type": "tree"},
        {"type": "tree", "arity": []},
        {"type": "torus", "dims": [0]},
        {"type": "torus", "dims": [1000, 1000]},
        {"type": "torus", "dims": [4], "arity": [2]},
        {"type": "dragonfly", "groups": 2, "routers": 2},
        {"type": "torus", "dims": [4], "cores_per_host": [1, 2]},
        {"type": "torus", "dims": [4], "cores_per_host": [0, 0, 0, 0]},
        {"type": "torus", "dims": [4], "cores_per_host": 5, "inside": [2, 2]},
        {"type": "torus", "dims": [4], "inside": "host.xml"},
        {"type": "torus", "dims": [4], "allocated": [4]},
        {"type": "torus", "dims": [4], "allocated": [1, 1]},
        {"type": "torus", "dims": [4], "allocated": []},
    ],
)
def test_what_is_no_machine_is_refused(document: Any) -> None:
    with pytest.raises(InvalidInput):
        machine(document)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "tree"}, "type: is required; one of tree, torus, mesh, dragonfly, graph"),
        (
            {"type": "ring"},
            "type: unknown value 'ring'; one of tree, torus, mesh, dragonfly, graph",
        ),
        ({"type": "tree"}, "arity: is required"),
        ({"type": "mesh", "dims": [4], "arity": [2]}, "arity: unknown field; allowed: .*dims"),
        ([4], "must be a group of fields"),
    ],
)
def test_a_refusal_says_what_is_allowed(document: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        machine(document)
