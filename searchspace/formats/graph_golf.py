"""The edge lists of the Graph Golf competition: `u v`, or `x,y x,y` on a grid, a line."""

from __future__ import annotations

import re

from searchspace.errors import InvalidInput
from searchspace.formats.edge_list import read_edge_list
from searchspace.formats.fabric import Fabric, build_fabric, check_size

__all__ = ["read_graph_golf", "write_graph_golf"]

_GRID = re.compile(r"(\d{1,6},\d{1,6})\s+(\d{1,6},\d{1,6})\s*(?:\{\})?")


def read_graph_golf(text: str) -> Fabric:
    """Reads a network; nodes of a grid are numbered by x, then y, and keep `x,y` as their name.

    Raises:
        InvalidInput: A line is in neither form, or the network is not simple; names the line.
    """
    lines = text.splitlines()
    check_size(0, len(lines))
    written = [(n, line.strip()) for n, line in enumerate(lines, start=1) if line.strip()]
    if not written or "," not in written[0][1]:
        plain = (line.removesuffix("{}") for line in lines)
        return Fabric(read_edge_list("\n".join(plain)))
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for number, line in written:
        found = _GRID.fullmatch(line)
        if found is None:
            raise InvalidInput(f"line {number} is not 'x,y x,y': {line[:60]!r}")
        if found[1] == found[2]:
            raise InvalidInput(f"line {number} joins node {found[1]} to itself")
        if frozenset(found.groups()) in pairs:
            raise InvalidInput(f"line {number} repeats an edge")
        pairs[frozenset(found.groups())] = (found[1], found[2])
    nodes = {end for pair in pairs.values() for end in pair}
    ordered = sorted(nodes, key=lambda node: tuple(map(int, node.split(","))))
    return build_fabric(ordered, [], pairs.values())


def write_graph_golf(fabric: Fabric) -> str:
    """Writes the plain form.

    Raises:
        InvalidInput: It has switches of their own or parallel cables, which the format cannot say.
    """
    if fabric.graph.switches or fabric.graph.widths:
        raise InvalidInput(
            "Graph Golf files know neither hosts on switches nor parallel cables; write .graphml"
        )
    return "".join(f"{u} {v}\n" for u, v in fabric.graph.edges)
