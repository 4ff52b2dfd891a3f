"""The `M.json` format: machines that mappings are judged on.

`tree` (arity from the root to the leaves), `torus` and `mesh` (extents, row-major), `dragonfly`
(groups of routers joined all to all, groups x < y by one cable between router (y - 1) % r of x and
router x % r of y), and `graph` (an edge list). `cores_per_host` is one number or one for each host;
`inside` is the arity of the tree in a host, from the host to its cores, or names an XML file of
hwloc; `allocated` lists the hosts that may be used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from searchspace.errors import InvalidInput
from searchspace.formats.hwloc_xml import read_arity
from searchspace.graph import Graph
from searchspace.hop_machine import MAX_NODES, Dragonfly, Grid, HopMachine, Network, Shape, Tree
from searchspace.validation import Description, describe

__all__ = ["read_hop_machine"]

MAX_CORES_OF_HOST = 1024

Extent = Annotated[int, Field(ge=1, le=MAX_NODES)]
Cores = Annotated[int, Field(ge=0, le=MAX_CORES_OF_HOST)]


class _Description(Description):
    cores_per_host: Annotated[int, Field(ge=1, le=MAX_CORES_OF_HOST)] | list[Cores] | None = None
    inside: Annotated[list[Extent], Field(min_length=1, max_length=16)] | str | None = None
    allocated: list[Annotated[int, Field(ge=0, le=MAX_NODES)]] | None = None


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

_TYPES = [
    tag
    for kind in (_Tree, _Grid, _Dragonfly, _Graph)
    for tag in get_args(kind.model_fields["type"].annotation)
]


def _no_file(name: str) -> str:
    raise InvalidInput(f"names a file, which cannot be read here: {name}", field="inside")


def read_hop_machine(
    document: Any,
    *,
    read_graph: Callable[[str], Graph],
    read_text: Callable[[str], str] = _no_file,
) -> HopMachine:
    """Build the machine that a description stands for.

    Args:
        document: The JSON document.
        read_graph: Reads the edge list that a `graph` names.
        read_text: Reads the file that `inside` names.

    Raises:
        InvalidInput: It is not a machine, or one of more than 65,535 hosts and switches.
    """
    try:
        description = _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"].startswith("union_tag"):
            given = document.get("type")
            said = "is required" if given is None else f"unknown value {given!r}"
            raise InvalidInput(f"{said}; one of {', '.join(_TYPES)}", field="type") from error
        field = ".".join(str(part) for part in first["loc"][1:]) or None
        raise InvalidInput(describe(first), field=field) from error
    shape: Shape
    match description:
        case _Tree():
            shape = Tree(tuple(description.arity))
        case _Grid():
            shape = Grid(tuple(description.dims), wrapped=description.type == "torus")
        case _Dragonfly():
            shape = Dragonfly(description.groups, description.routers, description.nodes)
        case _Graph():
            shape = Network(read_graph(description.edges))
    inside = _inside(description.inside, read_text)
    cores = description.cores_per_host
    if cores is None:
        cores = math.prod(inside)
        if cores > MAX_CORES_OF_HOST:
            raise InvalidInput(f"a host has at most {MAX_CORES_OF_HOST} cores", field="inside")
    hosts = HopMachine.uniform(shape).hosts
    each = [cores] * hosts if isinstance(cores, int) else cores
    if description.allocated is not None:
        each = _allocated(description.allocated, each)
    return HopMachine(shape, tuple(each), inside)


def _inside(given: list[int] | str | None, read_text: Callable[[str], str]) -> tuple[int, ...]:
    if given is None:
        return ()
    return read_arity(read_text(given)) if isinstance(given, str) else tuple(given)


def _allocated(hosts: list[int], cores: list[int]) -> list[int]:
    wrong = [host for host in hosts if host >= len(cores)]
    if wrong:
        raise InvalidInput(f"host {wrong[0]} is outside 0 to {len(cores) - 1}", field="allocated")
    if not hosts:
        raise InvalidInput("names no host", field="allocated")
    if len(set(hosts)) < len(hosts):
        raise InvalidInput("names a host twice", field="allocated")
    chosen = set(hosts)
    return [count if host in chosen else 0 for host, count in enumerate(cores)]
