"""The inside of a host from hwloc's XML (`lstopo host.xml`): cores below caches, dies and packages.

As a network: cores are the hosts, and what several of them share is a switch.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric
from searchspace.formats.graphml import parse_xml, tag_of

__all__ = ["read_hwloc"]

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
