"""The inside of a host from hwloc's XML (`lstopo host.xml`): cores below caches, dies and packages.

As a network: cores are the hosts, and what several of them share is a switch.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric
from searchspace.formats.graphml import parse_xml, tag_of

__all__ = ["read_arity", "read_hwloc"]

_LEVELS = ("Machine", "Package", "Die", "Group", "NUMANode", "L3Cache", "L2Cache", "L4Cache")
_LEAVES = ("Core", "PU")


def read_hwloc(text: str) -> Fabric:
    """Reads the tree of a host; levels with one child and nothing else are left out.

    Raises:
        InvalidInput: It is not hwloc's XML or has no core.
    """
    root = parse_xml(text)
    machine = next((e for e in root if tag_of(e) == "object"), None)
    if tag_of(root) != "topology" or machine is None:
        raise InvalidInput("not hwloc's XML (made by lstopo)")
    cores: list[str] = []
    switches: list[str] = []
    cables: list[tuple[str, str]] = []

    def visit(element: Element, switch: str | None) -> None:
        kind = element.get("type") or ""
        if kind in _LEAVES:
            cores.append(f"{kind.lower()}-{len(cores)}")
            if switch is not None:
                cables.append((cores[-1], switch))
            return
        below = [e for e in element if tag_of(e) == "object" and _holds_cores(e)]
        if len(below) != 1 and kind in _LEVELS:
            switches.append(f"{kind.lower()}-{len(switches)}")
            if switch is not None:
                cables.append((switches[-1], switch))
            switch = switches[-1]
        for child in below:
            visit(child, switch)

    visit(machine, None)
    if not cores:
        raise InvalidInput("the host has no core")
    return build_fabric(cores, switches, cables)


def _holds_cores(element: Element) -> bool:
    return (element.get("type") or "") in _LEAVES or any(
        _holds_cores(child) for child in element if tag_of(child) == "object"
    )


def read_arity(text: str) -> tuple[int, ...]:
    """Reads the tree of a host as its arity, from the host to its cores.

    Levels with one child are left out. hwloc's XML of a synthetic topology is read as well.

    Raises:
        InvalidInput: It is not hwloc's XML, or the parts of a level differ.
    """
    network = read_hwloc(text).graph
    below: list[list[int]] = [[] for _ in range(network.nodes)]
    for u, v in network.edges:
        # A switch is numbered before the switches below it.
        parent, child = (u, v) if u >= network.hosts else (v, u)
        below[parent].append(child)
    level = [network.hosts] if network.switches else []
    arity: list[int] = []
    while level and level[0] >= network.hosts:
        widths = {len(below[node]) for node in level}
        if len(widths) > 1:
            raise InvalidInput("the parts of the host differ; describe it by its cores_per_host")
        arity.append(widths.pop())
        level = [child for node in level for child in below[node]]
        if len({node < network.hosts for node in level}) > 1:
            raise InvalidInput("the parts of the host differ; describe it by its cores_per_host")
    return tuple(arity) or (1,)
