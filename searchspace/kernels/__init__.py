"""The kernels in C++: hop distances and routes of networks, reading of traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.kernels import _native

__all__ = [
    "UNREACHABLE",
    "CannotCut",
    "Routes",
    "TraceLoop",
    "TraceSummary",
    "TruncatedBlocks",
    "aspl_diameter",
    "edge_array",
    "hop_distances",
    "routes",
    "trace_loops",
    "trace_summary",
    "traffic_matrix",
    "truncate_blocks",
]

UNREACHABLE = 0xFFFF
"""The hop distance of two nodes without a path between them."""

Edges = Sequence[tuple[int, int]]


def edge_array(edges: Edges) -> NDArray[np.uint32]:
    """Lays edges out as the kernels take them: one (u, v) a row."""
    return np.asarray(edges, dtype=np.uint32).reshape(-1, 2)


def hop_distances(nodes: int, edges: Edges) -> NDArray[np.uint16]:
    """Counts the hops of a shortest path between every two nodes.

    Args:
        nodes: How many nodes there are, at most 65,535.
        edges: The edges (u, v) of a simple undirected graph, u < v < nodes.

    Returns:
        A symmetric matrix of shape (nodes, nodes); `UNREACHABLE` where there is no path.

    Raises:
        ValueError: The edges are not those of a simple graph, or there are too many nodes.
    """
    return _native.hop_distances(nodes, edge_array(edges))


def aspl_diameter(nodes: int, edges: Edges) -> tuple[float, int]:
    """Finds the average shortest path length and the diameter, without the distance matrix.

    Args:
        nodes: How many nodes there are.
        edges: The edges (u, v) of a simple undirected graph, u < v < nodes.

    Returns:
        The mean distance over all pairs of distinct nodes and the longest distance, in hops; the
        mean is 0.0 for a single node.

    Raises:
        ValueError: The graph is not simple or not connected.
    """
    total, pairs, diameter = _native.distance_summary(nodes, edge_array(edges))
    if pairs != nodes * (nodes - 1):
        raise ValueError("the network is not connected")
    return (total / pairs if pairs else 0.0), diameter


@dataclass(frozen=True)
class Routes:
    """The routes between all hosts of a network, from `routes`."""

    hosts: int
    _first: NDArray[np.int64]
    _edges: NDArray[np.uint32]
    _forward: NDArray[np.uint8]

    def path(self, source: int, target: int) -> list[tuple[int, bool]]:
        """Lists the cables from source to target in travel order.

        Returns:
            For every hop the index of its edge (u, v), u < v, and whether it is crossed from u
            to v; nothing when source and target are the same node.
        """
        pair = source * self.hosts + target
        hops = slice(int(self._first[pair]), int(self._first[pair + 1]))
        return list(zip(self._edges[hops].tolist(), map(bool, self._forward[hops]), strict=True))


def routes(
    nodes: int, edges: Edges, *, hosts: int | None = None, tie_rule: str = "lowest-id"
) -> Routes:
    """Finds the minimal-hop routes between hosts under a tie rule.

    Under `lowest-id`, for s < t the route is the path from s to t in the breadth-first tree rooted
    at s whose search visits neighbours in increasing id. Under `spread` it is walked from t to s:
    where k neighbours in increasing id are closer to s, it takes number q mod k and goes on with
    q // k, beginning with q = s (D-mod-k in a fat tree). The route from t to s is the same path
    backwards. The simulator routes with the same code.

    Args:
        nodes: How many nodes there are.
        edges: The edges (u, v) of a simple undirected graph, u < v < nodes.
        hosts: How many of the first nodes are hosts; the others are switches, and hosts do not
            forward. None when every node is a host and forwards.
        tie_rule: `lowest-id` or `spread`.

    Raises:
        ValueError: The graph is not simple or not connected, or there is no such rule.
    """
    hosts = nodes if hosts is None else hosts
    return Routes(hosts, *_native.routes(nodes, edge_array(edges), hosts, tie_rule))


class TraceSummary(TypedDict):
    """What a trace holds, in numbers.

    Attributes:
        ranks: Ranks of the captured run.
        program: Its program.
        arguments: The program's arguments.
        captured_by: Recorder and MPI library.
        host_speed: Flop/s with which measured seconds became flops; None when declared.
        operations: Operations in the file, over all ranks.
        calls: How often each operation was called, over all ranks, without computations; the
            non-blocking forms of collectives begin with `i`.
        communicators: The communicators that each blocking collective is called on, each once, as
            ranks of the world in order; an empty list stands for the world in its own order. Of
            more than 65,536 members in all, one communicator of each size.
        non_commutative: The blocking reductions that are called with an operation that does not
            commute, and so have to keep the order of the ranks.
        sizes: At which sizes each blocking collective is called whose algorithm libraries choose by
            size: for each power of two the least and the most bytes of the calls between it and the
            next, and how many there are. Bytes are those of the whole vector, but of the block of
            one rank for gather, scatter, allgather and alltoall; calls of 0 bytes are left out.
        messages: Point-to-point messages.
        bytes: Payload bytes of these.
        pairs: Unordered pairs that exchange messages; a rank that sends to itself is one.
        least_partners: How many ranks the rank with the fewest partners sends to.
        most_partners: The same of the rank with the most.
        flops: Computed by all ranks together.
    """

    ranks: int
    program: str
    arguments: list[str]
    captured_by: str
    host_speed: float | None
    operations: int
    calls: dict[str, int]
    communicators: dict[str, list[list[int]]]
    non_commutative: list[str]
    sizes: dict[str, list[tuple[int, int, int]]]
    messages: int
    bytes: int
    pairs: int
    least_partners: int
    most_partners: int
    flops: float


def trace_summary(path: Path) -> TraceSummary:
    """Read a trace, checking all of it, and sum up what it holds.

    Raises:
        InvalidInput: The file is no trace, or one that cannot be replayed.
    """
    try:
        return cast(TraceSummary, _native.trace_summary(str(path)))
    except RuntimeError as error:
        raise InvalidInput(str(error)) from error


def traffic_matrix(path: Path) -> NDArray[np.int64]:
    """Read a trace and add up the payload of its point-to-point messages.

    Collectives are left out: which messages they become depends on the algorithm.

    Returns:
        Bytes that rank i of the world sends to rank j, shape (ranks, ranks).

    Raises:
        InvalidInput: The file is no trace, one that cannot be replayed, or has more than 16,384
            ranks.
    """
    try:
        return _native.traffic_matrix(str(path))
    except RuntimeError as error:
        raise InvalidInput(str(error)) from error


class CannotCut(InvalidInput):
    """A trace whose loops, if it has any, cannot be cut short, and why."""


class TraceLoop(TypedDict):
    """A loop that all ranks go through together.

    Attributes:
        depth: 0 for a loop within no other.
        iterations: How many there are; at least three.
        regularity: `exact` (in each rank the same calls with the same arguments), `sizes` (the same
            but for sizes of messages), `shape` (the same operations on the same communicators) or
            `uneven` (only known by the program's marks).
        marked: Whether the program marks its iterations (`MPI_Pcontrol`, level 1).
        calls: MPI calls of one iteration, over all ranks.
    """

    depth: int
    iterations: int
    regularity: str
    marked: bool
    calls: float


def trace_loops(path: Path) -> list[TraceLoop]:
    """Find the loops of a trace: the outermost in order, each followed by those within it.

    Raises:
        CannotCut: What its ranks do cannot be matched with each other.
        InvalidInput: The file is no trace, or one that cannot be replayed.
    """
    try:
        return cast("list[TraceLoop]", _native.trace_loops(str(path)))
    except _native.CannotCut as error:
        raise CannotCut(str(error)) from error
    except RuntimeError as error:
        raise InvalidInput(str(error)) from error


class TruncatedBlocks(TypedDict):
    """The operations of a trace with fewer iterations of its loops.

    Attributes:
        blocks: The encoded operations of each rank.
        operations: How many these are, of each rank.
        weights: As in `searchspace.formats.trace.TraceHeader`.
        whole_operations: Operations of all ranks in the whole trace.
    """

    blocks: list[bytes]
    operations: list[int]
    weights: list[list[float]]
    whole_operations: int


def truncate_blocks(path: Path, iterations: int) -> TruncatedBlocks:
    """Keep that many iterations of every loop of a trace, from two on.

    Raises:
        CannotCut: It has no loop that can be cut short.
        InvalidInput: The file is no trace, or one that cannot be replayed.
    """
    try:
        return cast(TruncatedBlocks, _native.truncate_trace(str(path), iterations))
    except _native.CannotCut as error:
        raise CannotCut(f"the trace cannot be cut short: {error}") from error
    except RuntimeError as error:
        raise InvalidInput(str(error)) from error
