"""Networks from SimGrid's platform files: clusters, and zones whose routes are single cables.

What a file says of speeds, bandwidths and latencies belongs to the machine and is not read here.
"""

from __future__ import annotations

import itertools
import math
import re
from xml.etree.ElementTree import Element

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric, check_size
from searchspace.formats.graphml import parse_xml, tag_of
from searchspace.formats.host_list import LONGEST_NAME, expand
from searchspace.graph import Graph
from searchspace.topology.grid import grid_edges
from searchspace.topology.xgft import fat_tree

__all__ = ["read_simgrid"]

_MOST_NUMBERS = 32  # of a topology's parameter: dimensions of a torus, levels of a tree


def read_simgrid(text: str) -> Fabric:
    """Reads a platform of one cluster, or of one zone with full routing over single cables.

    A flat cluster is hosts on one switch, a torus is direct, a fat tree has the switches that its
    parameters say. In a zone, a route of one link is a cable between its hosts.

    Raises:
        InvalidInput: It is no platform, or of a kind that is not a network of hosts, switches and
            cables (a dragonfly cluster, several zones, links that several hosts share).
    """
    root = parse_xml(text)
    if tag_of(root) != "platform":
        raise InvalidInput("not a SimGrid platform")
    top = [element for element in root if tag_of(element) not in ("config", "prop")]
    if len(top) == 1 and tag_of(top[0]) in ("zone", "AS"):
        inner = [e for e in top[0] if tag_of(e) in ("cluster", "zone", "AS")]
        if len(inner) == 1 and len(list(top[0])) == 1:
            top = inner
    if len(top) != 1 or tag_of(top[0]) not in ("cluster", "zone", "AS"):
        raise InvalidInput("only platforms of one cluster or one zone can be imported")
    return _cluster(top[0]) if tag_of(top[0]) == "cluster" else _zone(top[0])


def _cluster(cluster: Element) -> Fabric:
    names = _names(cluster)
    kind = (cluster.get("topology") or "FLAT").upper()
    parameters = cluster.get("topo_parameters") or ""
    if kind == "FLAT":
        return build_fabric(names, ["backbone"], ((name, "backbone") for name in names))
    if kind == "TORUS":
        extents = _numbers(parameters)
        _check_count(names, math.prod(extents), parameters)
        # SimGrid's first dimension is the one along which numbers follow each other.
        edges = set(grid_edges(extents[::-1], wrap=True))
        return Fabric(Graph.from_edges(len(names), edges), tuple(names))
    if kind == "FAT_TREE":
        return _fat_tree(names, parameters)
    raise InvalidInput(f"clusters of topology {kind} cannot be imported")


def _names(cluster: Element) -> list[str]:
    radical = re.sub(r"\s", "", cluster.get("radical") or "")
    prefix, suffix = cluster.get("prefix") or "", cluster.get("suffix") or ""
    numbers = expand(f"[{radical}]") if radical else []
    # Each host has them, of which a short radical makes many.
    beside = len(prefix) + len(suffix)
    if beside + max(map(len, numbers), default=0) > LONGEST_NAME:
        raise InvalidInput(
            f"the hosts of the cluster have names of more than {LONGEST_NAME} characters; make its "
            "prefix and suffix shorter"
        )
    return [f"{prefix}{number}{suffix}" for number in numbers]


def _fat_tree(names: list[str], parameters: str) -> Fabric:
    parts = parameters.split(";")
    if len(parts) != 4:
        raise InvalidInput(f"'{parameters}' is not 'levels;children;parents;cables' of a fat tree")
    levels, children, parents, cables = map(_numbers, parts)
    if not [len(children)] == [len(parents)] == [len(cables)] == levels:
        raise InvalidInput(f"'{parameters}' does not have as many numbers in each part as levels")
    _check_count(names, math.prod(children), parameters)
    sizes = [
        math.prod(children[level:]) * math.prod(parents[:level]) for level in range(levels[0] + 1)
    ]
    check_size(sum(sizes), sum(size * up for size, up in zip(sizes, parents, strict=False)))
    graph = fat_tree(children, parents)
    first, widths = 0, []
    starts = list(itertools.accumulate(sizes, initial=0))
    for u, _ in graph.edges:
        while u >= starts[first + 1]:
            first += 1
        widths.append(cables[first])
    switches = [f"switch-{n}" for n in range(graph.switches)]
    uneven = tuple(widths) if max(widths) > 1 else ()
    return Fabric(Graph(graph.nodes, graph.edges, graph.switches, uneven), (*names, *switches))


def _check_count(names: list[str], wanted: int, parameters: str) -> None:
    if len(names) != wanted:
        raise InvalidInput(f"the cluster has {len(names)} hosts, '{parameters}' makes {wanted}")


def _numbers(text: str) -> list[int]:
    count = text.count(",") + 1
    if count > _MOST_NUMBERS:
        raise InvalidInput(
            f"'{text[:60]}' is a list of {count} numbers; at most {_MOST_NUMBERS} are read"
        )
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"\d{1,6}", word) for word in words) or "0" in words:
        raise InvalidInput(f"'{text[:60]}' is not a list of numbers from 1 on")
    return [int(word) for word in words]


def _zone(zone: Element) -> Fabric:
    known = ("host", "link", "route", "prop", "router")
    for element in zone:
        if tag_of(element) not in known:
            raise InvalidInput(f"<{tag_of(element)}> inside a zone cannot be imported")
    if (zone.get("routing") or "").lower() not in ("full", "floyd", "dijkstra", "dijkstracache"):
        raise InvalidInput(f"zones with routing '{zone.get('routing')}' cannot be imported")
    hosts = [e.get("id") or "" for e in zone if tag_of(e) == "host"]
    switches = [e.get("id") or "" for e in zone if tag_of(e) == "router"]
    known_ends = {*hosts, *switches}
    joined: dict[str, frozenset[str]] = {}
    used: dict[str, None] = {}
    for route in (e for e in zone if tag_of(e) == "route"):
        ends = frozenset({route.get("src") or "", route.get("dst") or ""})
        links = [e.get("id") or "" for e in route if tag_of(e) == "link_ctn"]
        cables = [link for link in links if not link.startswith("switch-")]
        if len(ends) == 1:
            continue  # loopback
        if not ends <= known_ends:
            raise InvalidInput(
                f"a route joins {' and '.join(sorted(ends))}, of which one is unknown"
            )
        used |= dict.fromkeys(cables)
        if len(cables) == 1 and joined.setdefault(cables[0], ends) != ends:
            raise InvalidInput(f"the link {cables[0]} is shared by several pairs of hosts")
    lost = next((link for link in used if link not in joined), None)
    if lost is not None:
        raise InvalidInput(f"no route shows which two nodes the link {lost} joins")
    pairs = [(low, high) for low, high in (sorted(ends) for ends in joined.values())]
    return build_fabric(hosts, switches, pairs)
