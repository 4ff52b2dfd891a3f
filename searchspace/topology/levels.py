"""Indirect networks seen as trees: levels of switches, and the tree that a scheduler is told of."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from searchspace.graph import Graph

__all__ = ["Branch", "is_layered", "roots", "switch_levels", "switch_tree"]


@dataclass
class Branch:
    """A switch of the tree, which may stand for several of the network.

    Attributes:
        hosts: Those plugged into it, if it is a leaf.
        switches: The switches of the network that it stands for.
        below: Its branches, if it is none.
    """

    hosts: list[int] = field(default_factory=list)
    switches: list[int] = field(default_factory=list)
    below: list[Branch] = field(default_factory=list)


def switch_levels(graph: Graph) -> dict[int, int]:
    """The level of each switch: hops to the nearest one that hosts are plugged into.

    Every node of a direct network is at level 0.
    """
    first = graph.hosts if graph.switches else 0
    near = graph.neighbors
    switches = range(first, graph.nodes)
    found = {s: 0 for s in switches if first == 0 or any(n < first for n in near[s])}
    queue = deque(found)
    while queue:
        at = queue.popleft()
        for other in near[at]:
            if other >= first and other not in found:
                found[other] = found[at] + 1
                queue.append(other)
    return dict(sorted(found.items()))


def is_layered(graph: Graph) -> bool:
    """Tells whether switches are only cabled to the level above and below, as in a fat tree."""
    if not graph.switches:
        return False
    level = switch_levels(graph)
    return all(u < graph.hosts or abs(level[u] - level[v]) == 1 for u, v in graph.edges)


def roots(graph: Graph) -> list[int]:
    """The switches that routes go up to.

    Those of the highest level; in a network without levels, the ones from which the farthest
    switch is nearest.
    """
    level = switch_levels(graph)
    highest = max(level.values())
    if highest:
        return [switch for switch, at in level.items() if at == highest]
    far = {switch: _farthest(graph, switch, min(level)) for switch in level}
    return [switch for switch in level if far[switch] == min(far.values())]


def _farthest(graph: Graph, start: int, first: int) -> int:
    hops = {start: 0}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        for other in graph.neighbors[at]:
            if other >= first and other not in hops:
                hops[other] = hops[at] + 1
                queue.append(other)
    return max(hops.values())


def switch_tree(graph: Graph) -> Branch:
    """The tree over the leaf switches of an indirect network.

    Switches that are connected without going higher form one switch of the tree, so that several
    spines, or a group of a dragonfly, become one. A host of several switches hangs below the first;
    switches that no host hangs below then are left out.
    """
    level = switch_levels(graph)
    leaves: dict[int, Branch] = {s: Branch(switches=[s]) for s, at in level.items() if at == 0}
    for host in range(graph.hosts):
        leaves[graph.neighbors[host][0]].hosts.append(host)
    branches = [leaf for leaf in leaves.values() if leaf.hosts]
    of = {leaf.switches[0]: leaf for leaf in branches}
    for highest in range(max(level.values()) + 1):
        groups: dict[int, Branch] = {}
        for switch, component in _components(graph, level, highest).items():
            group = groups.setdefault(component, Branch())
            if level[switch] == highest and switch not in of:
                group.switches.append(switch)
            if switch in of and of[switch] not in group.below:
                group.below.append(of[switch])
        of = {}
        for switch, component in _components(graph, level, highest).items():
            group = groups[component]
            if group.below:
                of[switch] = group if len(group.below) > 1 else group.below[0]
        branches = list({id(branch): branch for branch in of.values()}.values())
    return branches[0] if len(branches) == 1 else Branch(below=branches)


def _components(graph: Graph, level: dict[int, int], highest: int) -> dict[int, int]:
    """The component of each switch up to a level, by the smallest switch in it."""
    found: dict[int, int] = {}
    for start in level:
        if start in found or level[start] > highest:
            continue
        found[start] = start
        queue = deque([start])
        while queue:
            for other in graph.neighbors[queue.popleft()]:
                if other in level and other not in found and level[other] <= highest:
                    found[other] = start
                    queue.append(other)
    return found
