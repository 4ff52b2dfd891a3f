from __future__ import annotations

from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.hop_machine import HopMachine, read_hop_machine
from searchspace.graph import Graph
from searchspace.kernels import hop_distances


def machine(document: Any) -> HopMachine:
    return read_hop_machine(document, read_graph=lambda name: Graph(nodes=2, edges=((0, 1),)))


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

    assert (found.hosts, found.cores_per_host) == (2, 4)


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
    ],
)
def test_what_is_no_machine_is_refused(document: Any) -> None:
    with pytest.raises(InvalidInput):
        machine(document)
