"""The `M.json` format: machines that mappings are judged on, as hosts, switches and cables.

`tree` (arity from the root to the leaves), `torus` and `mesh` (extents, row-major), `dragonfly`
(groups of routers joined all to all, groups x < y by one cable between router (y - 1) % r of x and
router x % r of y), and `graph` (an edge list).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["HopMachine", "read_hop_machine"]

MAX_NODES = 65_535

Extent = Annotated[int, Field(ge=1, le=MAX_NODES)]


@dataclass(frozen=True)
class HopMachine:
    """A machine of which only hops are known.

    Attributes:
        network: Hosts are the nodes 0 to `hosts` - 1, switches come after them.
        hosts: Where ranks can run.
        cores_per_host: Ranks that one host can run.
    """

    network: Graph
    hosts: int
    cores_per_host: int


class _Description(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    cores_per_host: int = Field(default=1, ge=1, le=1024)


class _Tree(_Description):
    type: Literal["tree"]
    arity: list[Extent] = Field(min_length=1, max_length=16)


class _Grid(_Description):
    type: Literal["torus", "mesh"]
    dims: list[Extent] = Field(min_length=1, max_length=8)


class _Dragonfly(_Description):
    type: Literal["dragonfly"]
    groups: Extent
    routers: Extent
    nodes: Extent


class _Graph(_Description):
    type: Literal["graph"]
    edges: str


_ADAPTER: TypeAdapter[_Tree | _Grid | _Dragonfly | _Graph] = TypeAdapter(
    Annotated[_Tree | _Grid | _Dragonfly | _Graph, Field(discriminator="type")]
)


def read_hop_machine(document: Any, *, read_graph: Callable[[str], Graph]) -> HopMachine:
    """Build the network that a description stands for.

    Args:
        document: The JSON document.
        read_graph: Reads the edge list that a `graph` names.

    Raises:
        InvalidInput: It is not a machine, or one of more than 65,535 hosts and switches.
    """
    try:
        description = _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"][1:]) or None
        raise InvalidInput(first["msg"], field=field) from error
    match description:
        case _Tree():
            network, hosts = _tree(description.arity)
        case _Grid():
            network, hosts = _grid(description.dims, wrapped=description.type == "torus")
        case _Dragonfly():
            network, hosts = _dragonfly(description)
        case _Graph():
            network = read_graph(description.edges)
            hosts = network.hosts
    return HopMachine(network, hosts, description.cores_per_host)


def _tree(arity: list[int]) -> tuple[Graph, int]:
    hosts = _checked(math.prod(arity))
    edges: list[tuple[int, int]] = []
    below, first_free = list(range(hosts)), hosts
    for children in reversed(arity):
        parents = list(range(first_free, first_free + len(below) // children))
        first_free = _checked(first_free + len(parents))
        edges += [(parents[index // children], node) for index, node in enumerate(below)]
        below = parents
    return Graph.from_edges(first_free, edges), hosts


def _grid(dims: list[int], *, wrapped: bool) -> tuple[Graph, int]:
    nodes = _checked(math.prod(dims))
    strides = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
    edges: set[tuple[int, int]] = set()
    for node, place in enumerate(itertools.product(*map(range, dims))):
        for extent, stride, at in zip(dims, strides, place, strict=True):
            last = at == extent - 1
            if extent == 1 or (last and not wrapped):
                continue
            other = node - at * stride if last else node + stride
            edges.add((min(node, other), max(node, other)))
    return Graph.from_edges(nodes, edges), nodes


def _dragonfly(description: _Dragonfly) -> tuple[Graph, int]:
    groups, routers = description.groups, description.routers
    hosts = _checked(groups * routers * description.nodes)
    nodes = _checked(hosts + groups * routers)
    edges = [(host, hosts + host // description.nodes) for host in range(hosts)]
    for group in range(groups):
        first = hosts + group * routers
        edges += itertools.combinations(range(first, first + routers), 2)
    for low, high in itertools.combinations(range(groups), 2):
        edges.append(
            (hosts + low * routers + (high - 1) % routers, hosts + high * routers + low % routers)
        )
    return Graph.from_edges(nodes, edges), hosts


def _checked(nodes: int) -> int:
    if nodes > MAX_NODES:
        raise InvalidInput(f"the machine has more than {MAX_NODES} hosts and switches")
    return nodes
