"""The `G.edges` format: one undirected edge `u v` a line, nodes counted from 0, `#` comments.

Where hosts are plugged into switches of their own, the comment `# switches: 20` says that the last
20 nodes are switches.
"""

from __future__ import annotations

import re

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["read_edge_list", "write_edge_list"]

MAX_NODES = 1 << 20
_NODE = re.compile(r"\d{1,18}", re.ASCII)
_SWITCHES = re.compile(r"#\s*switches:\s*(\d{1,7})")


def read_edge_list(text: str, *, nodes: int | None = None) -> Graph:
    """Read a graph.

    Args:
        text: The file's content.
        nodes: Number of nodes; the highest named node plus one when not given.

    Raises:
        InvalidInput: A line is not two node numbers, an edge is a loop or stands twice, or a node
            is out of range; the message names the line.
    """
    edges: dict[tuple[int, int], int] = {}
    switches = 0
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            said = _SWITCHES.fullmatch(line.strip())
            switches = int(said[1]) if said else switches
            continue
        if len(words) == 3 and "#" not in line:
            raise InvalidInput(
                f"line {number} of the edge list has three columns; edges here have no weight"
            )
        if len(words) != 2 or not all(map(_NODE.fullmatch, words)):
            raise InvalidInput(
                f"line {number} of the edge list is not 'u v' (two node numbers from 0): "
                f"{line.strip()[:60]!r}"
            )
        low, high = sorted((int(words[0]), int(words[1])))
        if low == high:
            raise InvalidInput(f"line {number} of the edge list joins node {low} to itself")
        if high >= (nodes if nodes is not None else MAX_NODES):
            limit = nodes if nodes is not None else MAX_NODES
            raise InvalidInput(
                f"line {number} of the edge list names node {high}; the last one can be {limit - 1}"
            )
        if (low, high) in edges:
            raise InvalidInput(
                f"line {number} of the edge list repeats the edge of line {edges[low, high]}"
            )
        edges[low, high] = number
    if not edges and nodes is None:
        raise InvalidInput("the edge list is empty")
    count = nodes if nodes is not None else 1 + max(high for _, high in edges)
    return Graph(count, tuple(sorted(edges)), switches)


def write_edge_list(graph: Graph) -> str:
    """The text of a graph, edges in ascending order.

    Raises:
        InvalidInput: It has parallel cables, which an edge list cannot say.
    """
    if graph.widths:
        raise InvalidInput("an edge list cannot say that cables are parallel; write .graphml")
    head = f"# switches: {graph.switches}\n" if graph.switches else ""
    return head + "".join(f"{u} {v}\n" for u, v in graph.edges)
