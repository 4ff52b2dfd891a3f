"""METIS's `.graph`: a line of nodes and edges, then the neighbours of each node, counted from 1."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, check_size
from searchspace.graph import Graph

__all__ = ["read_metis", "write_metis"]

_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_MOST_TRAILING = 100  # empty lines at the end that are passed over


def read_metis(text: str) -> Fabric:
    """Reads a graph without weights; `%` begins a comment line.

    Raises:
        InvalidInput: A line does not say what it should, an edge stands at one of its ends only, or
            there are weights; names the line.
    """
    numbered = (
        (number, line.split())
        for number, line in enumerate(io.StringIO(text), start=1)
        if not line.lstrip().startswith("%")
    )
    header = next((line for line in numbered if line[1]), None)
    if header is None:
        raise InvalidInput("the file is empty")
    # A network that is too large is refused before its lines are taken apart.
    nodes, edges = _header(*header)
    lines = list(itertools.islice(numbered, nodes + _MOST_TRAILING))
    while len(lines) > nodes and not lines[-1][1]:
        lines.pop()
    if len(lines) != nodes:
        found = f"{len(lines)}" if len(lines) < nodes else f"more than {nodes}"
        raise InvalidInput(f"the file has {found} lines of neighbours for {nodes} nodes")
    ends: dict[tuple[int, int], int] = {}
    for node, (number, words) in enumerate(lines):
        for neighbor in _neighbors(number, words, node, nodes):
            ends[node, neighbor] = number
    for (u, v), number in ends.items():
        if (v, u) not in ends:
            raise InvalidInput(
                f"line {number}: {v + 1} is a neighbour of {u + 1}, but not the other way round; "
                "networks here are undirected"
            )
    if len(ends) != 2 * edges:
        raise InvalidInput(f"the file announces {edges} edges and has {len(ends) // 2}")
    return Fabric(Graph.from_edges(nodes, [pair for pair in ends if pair[0] < pair[1]]))


def _header(number: int, words: list[str]) -> tuple[int, int]:
    if not 2 <= len(words) <= 4 or not all(map(_NUMBER.fullmatch, words)):
        raise InvalidInput(f"line {number} is not 'nodes edges'")
    check_size(int(words[0]), int(words[1]))
    if len(words) > 2 and int(words[2]):
        raise InvalidInput(f"line {number} announces weights, which networks here do not have")
    return int(words[0]), int(words[1])


def _neighbors(number: int, words: list[str], node: int, nodes: int) -> Iterator[int]:
    seen: set[int] = set()
    for word in words:
        if not _NUMBER.fullmatch(word) or not 1 <= int(word) <= nodes:
            raise InvalidInput(f"line {number}: '{word}' is not a node from 1 to {nodes}")
        neighbor = int(word) - 1
        if neighbor == node:
            raise InvalidInput(f"line {number} joins node {word} to itself")
        if neighbor in seen:
            raise InvalidInput(f"line {number} names the neighbour {word} twice")
        seen.add(neighbor)
        yield neighbor


def write_metis(fabric: Fabric) -> str:
    """Writes the graph.

    Raises:
        InvalidInput: It has switches of their own or parallel cables, which the format cannot say.
    """
    graph = fabric.graph
    if graph.switches or graph.widths:
        raise InvalidInput(
            "METIS files know neither hosts on switches nor parallel cables; write .graphml"
        )
    rows = [" ".join(str(node + 1) for node in near) for near in graph.neighbors]
    return "\n".join([f"{graph.nodes} {len(graph.edges)}", *rows]) + "\n"
