"""The tree of switches that a scheduler is told of, where hosts have several."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from searchspace.graph import Graph
from searchspace.topology import generate
from searchspace.topology.levels import Branch, switch_tree


def branches(tree: Branch) -> Iterator[Branch]:
    """All branches of a tree, the lower ones first."""
    for below in tree.below:
        yield from branches(below)
    yield tree


def rails(*cables: tuple[int, int], hosts: int = 4, switches: int) -> Graph:
    """Four hosts, each on one leaf of two on both rails: 4 and 5, 6 and 7."""
    plugged = [(host, leaf + host // 2) for host in range(hosts) for leaf in (hosts, hosts + 2)]
    return Graph.from_edges(hosts + switches, [*plugged, *cables], switches=switches)


@pytest.mark.parametrize(
    "network",
    [
        rails((4, 8), (5, 8), (6, 9), (7, 9), switches=6),  # a spine for each rail
        rails((4, 8), (5, 8), (6, 8), (7, 8), switches=5),  # and one for both
        rails((4, 8), (5, 8), (6, 8), (7, 8), (8, 9), switches=6),  # and a core above it
    ],
    ids=["apart", "joined", "cored"],
)
def test_switches_that_no_host_hangs_below_first_are_left_out(network: Graph) -> None:
    tree = switch_tree(network)

    assert [branch.hosts for branch in tree.below] == [[0, 1], [2, 3]]
    assert [branch.switches for branch in tree.below] == [[4], [5]]
    assert all(branch.hosts or branch.below for branch in branches(tree))


def test_two_leaves_for_every_host_are_one_switch() -> None:
    graph = Graph.from_edges(5, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)], switches=3)

    assert switch_tree(graph) == Branch(hosts=[0, 1], switches=[2])


def test_all_switches_of_a_fat_tree_stay() -> None:
    graph = generate("xgft", 8, degree=4, seed=0, children="2,4", parents="1,2")

    tree = switch_tree(graph)
    kept = [switch for branch in branches(tree) for switch in branch.switches]
    assert sorted(kept) == list(range(graph.hosts, graph.nodes))
