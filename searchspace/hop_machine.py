"""Machines of which only hops are known: what mappings are made for and judged on."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import edge_array
from searchspace.kernels._native import CoreHops

__all__ = ["Dragonfly", "Grid", "HopMachine", "Network", "Shape", "Tree"]

MAX_NODES = 65_535
MAX_CORES = 1_048_576
_LARGEST_TABLE = 16_384
"""Hosts or routers between which hops are kept in a table."""


@dataclass(frozen=True)
class Tree:
    """Hosts are the leaves; `arity` goes from the root to them."""

    arity: tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """A torus (`wrapped`) or mesh; hosts are numbered row by row, the last axis runs fastest."""

    dims: tuple[int, ...]
    wrapped: bool

    def coordinates(self, hosts: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Where hosts are, shape (hosts, axes)."""
        return np.stack(np.unravel_index(hosts.astype(np.int64), self.dims), axis=-1)


@dataclass(frozen=True)
class Dragonfly:
    """Routers of a group are joined all to all, and every two groups by one cable.

    Groups x < y meet at router (y - 1) % routers of x and router x % routers of y.
    """

    groups: int
    routers: int
    nodes: int


@dataclass(frozen=True)
class Network:
    """A network given by its cables."""

    graph: Graph


Shape = Tree | Grid | Dragonfly | Network


@dataclass(frozen=True)
class HopMachine:
    """Hosts in a network, the cores in each of them that ranks may use, and hops between these.

    A core that ranks may use is a place; places are numbered host by host. Within a host without a
    tree inside, hops are 0; with one, twice the levels up to what two cores share. Between hosts
    they are those of the network, and with trees inside also the way up and down these.

    Attributes:
        shape: What the network looks like.
        cores_per_host: Cores of each host that ranks may use; 0 for a host that is not allocated.
        inside: Arity of the tree in each host, from the host to its cores; empty when the cores of
            a host are all alike.

    Raises:
        InvalidInput: It has too many hosts or cores, none that may be used, or more than the tree
            inside a host has.
    """

    shape: Shape
    cores_per_host: tuple[int, ...] = field(repr=False)
    inside: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.cores_per_host) != self.hosts:
            raise InvalidInput(
                f"cores are given for {len(self.cores_per_host)} hosts, but there are {self.hosts}",
                field="cores_per_host",
            )
        if min(self.cores_per_host) < 0 or not 1 <= self.places <= MAX_CORES:
            raise InvalidInput(
                f"the hosts must have 1 to {MAX_CORES} cores together", field="cores_per_host"
            )
        most = math.prod(self.inside)
        if self.inside and max(self.cores_per_host) > most:
            raise InvalidInput(
                f"a host has {max(self.cores_per_host)} cores, but the tree inside has {most}",
                field="cores_per_host",
            )

    @classmethod
    def uniform(cls, shape: Shape, cores: int = 1, inside: tuple[int, ...] = ()) -> HopMachine:
        """A machine all of whose hosts have the same cores."""
        return cls(shape, (cores,) * _hosts(shape), inside)

    @functools.cached_property
    def hosts(self) -> int:
        """How many hosts there are, used or not."""
        return _hosts(self.shape)

    @functools.cached_property
    def places(self) -> int:
        """How many cores ranks may use."""
        return sum(self.cores_per_host)

    @functools.cached_property
    def place_hosts(self) -> NDArray[np.uint32]:
        """The host of each place."""
        return np.repeat(np.arange(self.hosts, dtype=np.uint32), self.cores_per_host)

    @functools.cached_property
    def place_cores(self) -> NDArray[np.uint32]:
        """The number that each place has in its host."""
        first = np.concatenate(([0], np.cumsum(self.cores_per_host)[:-1]))
        numbers = np.arange(self.places) - first[self.place_hosts]
        return numbers.astype(np.uint32)

    @property
    def plain(self) -> bool:
        """Whether places are hosts: each has one core, and all may be used."""
        return not self.inside and set(self.cores_per_host) == {1}

    @functools.cached_property
    def hops(self) -> CoreHops:
        """Hops between places, for the kernels.

        Raises:
            InvalidInput: The network is not connected, or too large to be tabulated.
        """
        rest = (self.place_hosts, self.place_cores, list(self.inside))
        match self.shape:
            case Tree(arity):
                return CoreHops.tree(list(arity), *rest)
            case Grid(dims, wrapped):
                return CoreHops.grid(list(dims), wrapped, *rest)
            case Dragonfly(groups, routers, nodes):
                _tabulated(groups * routers, "routers")
                return CoreHops.dragonfly(groups, routers, nodes, *rest)
            case Network(graph):
                _tabulated(graph.hosts, "hosts")
                if not graph.connected:
                    raise InvalidInput(graph.why_apart)
                edges = edge_array(graph.edges)
                return CoreHops.network(graph.nodes, edges, graph.hosts, *rest)

    @functools.cached_property
    def most_hops(self) -> int:
        """No two places are further apart than this."""
        match self.shape:
            case Tree(arity):
                most = 2 * len(arity)
            case Grid(dims, wrapped):
                most = sum(extent // 2 if wrapped else extent - 1 for extent in dims)
            case Dragonfly():
                most = 5
            case Network(graph):
                most = graph.nodes
        return most + 2 * len(self.inside)

    @functools.cached_property
    def network(self) -> Graph:
        """Hosts are the nodes 0 to `hosts` - 1; switches, where there are any, come after them."""
        match self.shape:
            case Tree(arity):
                return _tree(arity)
            case Grid(dims, wrapped):
                return _grid(dims, wrapped=wrapped)
            case Dragonfly():
                return _dragonfly(self.shape)
            case Network(graph):
                return graph


def _hosts(shape: Shape) -> int:
    match shape:
        case Tree(arity):
            return _checked(math.prod(arity))
        case Grid(dims):
            return _checked(math.prod(dims))
        case Dragonfly(groups, routers, nodes):
            _checked(groups * routers * (nodes + 1))
            return groups * routers * nodes
        case Network(graph):
            return _checked(graph.nodes) - graph.switches


def _checked(nodes: int) -> int:
    if nodes > MAX_NODES:
        raise InvalidInput(f"the machine has more than {MAX_NODES} hosts and switches")
    return nodes


def _tabulated(count: int, what: str) -> None:
    if count > _LARGEST_TABLE:
        raise InvalidInput(f"mappings are made for at most {_LARGEST_TABLE} {what}, not {count}")


def _tree(arity: tuple[int, ...]) -> Graph:
    hosts = math.prod(arity)
    edges: list[tuple[int, int]] = []
    below, first_free = list(range(hosts)), hosts
    for children in reversed(arity):
        parents = list(range(first_free, first_free + len(below) // children))
        first_free += len(parents)
        edges += [(parents[index // children], node) for index, node in enumerate(below)]
        below = parents
    return Graph.from_edges(first_free, edges)


def _grid(dims: tuple[int, ...], *, wrapped: bool) -> Graph:
    strides = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
    edges: set[tuple[int, int]] = set()
    for node, place in enumerate(itertools.product(*map(range, dims))):
        for extent, stride, at in zip(dims, strides, place, strict=True):
            last = at == extent - 1
            if extent == 1 or (last and not wrapped):
                continue
            other = node - at * stride if last else node + stride
            edges.add((min(node, other), max(node, other)))
    return Graph.from_edges(math.prod(dims), edges)


def _dragonfly(shape: Dragonfly) -> Graph:
    groups, routers = shape.groups, shape.routers
    hosts = groups * routers * shape.nodes
    edges = [(host, hosts + host // shape.nodes) for host in range(hosts)]
    for group in range(groups):
        first = hosts + group * routers
        edges += itertools.combinations(range(first, first + routers), 2)
    for low, high in itertools.combinations(range(groups), 2):
        edges.append(
            (hosts + low * routers + (high - 1) % routers, hosts + high * routers + low % routers)
        )
    return Graph.from_edges(hosts + groups * routers, edges)
