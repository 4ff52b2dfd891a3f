"""What files of a cluster tell of its machine: its network, and the inside of its hosts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric
from searchspace.formats.hwloc_xml import read_arity
from searchspace.formats.ib_discover import IB_DISCOVER, prevailing_bandwidths
from searchspace.formats.network_files import format_of, read_network
from searchspace.machine import MAX_NODES, MAX_SWITCHES, NetworkDescription

__all__ = ["HostInside", "NetworkFile", "beside_network", "read_host_file", "read_network_file"]

_HWLOC = "hwloc"


@dataclass(frozen=True)
class NetworkFile:
    """A network that exists, as a file has it.

    Attributes:
        format: A key of `FORMATS`.
        fabric: The network.
        told: Fields of a machine that the file tells, `nodes` and `topology` among them.
    """

    format: str
    fabric: Fabric
    told: dict[str, Any]


@dataclass(frozen=True)
class HostInside:
    """The inside of a host.

    Attributes:
        cores: How many cores it has.
        levels: Parts of each part, from the host to its cores; empty where parts of a level differ.
    """

    cores: int
    levels: tuple[int, ...]


def read_network_file(text: str, name: str) -> NetworkFile:
    """Reads the network of a cluster, in any format of `FORMATS` but the inside of a host.

    Args:
        text: The file's content.
        name: Its name, for messages and where the content does not tell the format.

    Raises:
        InvalidInput: It holds none; one line.
    """
    form = format_of(name, text)
    if form == _HWLOC:
        raise InvalidInput(f"{name}: the inside of a host, not a network; send it as host")
    fabric = read_network(text, name, format_name=form)
    graph = fabric.graph
    for count, most, what in (
        (graph.hosts, MAX_NODES, "hosts"), (graph.switches, MAX_SWITCHES, "switches")
    ):  # fmt: skip
        if count > most:
            raise InvalidInput(f"{name} has {count} {what}; a machine has at most {most}")
    described = NetworkDescription.of(graph, fabric.host_names)
    told = {"nodes": graph.hosts, "topology": described, **beside_network(fabric, form, text)}
    return NetworkFile(form, fabric, told)


def beside_network(
    fabric: Fabric, form: str, text: str, *, said: Collection[str] = ()
) -> dict[str, Any]:
    """What the file of a network tells of a machine beside the network, by field.

    Routes use all shortest paths where switches leave several. Of `ibnetdiscover` the bandwidths
    are those of most links, and messages go over verbs.

    Args:
        fabric: The network.
        form: What it was read as, a key of `FORMATS`.
        text: The file's content.
        said: Fields that the machine says itself. A `link_bandwidth` is said of all links.
    """
    told: dict[str, Any] = {}
    if "tie_rule" not in said:
        several = fabric.graph.switches and fabric.graph.has_equal_paths
        told["tie_rule"] = "spread" if several else "lowest-id"
    if form == IB_DISCOVER and "link_bandwidth" not in said:
        told |= prevailing_bandwidths(text)
    if form == IB_DISCOVER and "protocol" not in said:
        told["protocol"] = "verbs"
    return told


def read_host_file(text: str, name: str) -> HostInside:
    """Reads the inside of a host from hwloc's XML (`lstopo host.xml`).

    Raises:
        InvalidInput: It is not hwloc's XML, or has no core; one line.
    """
    cores = read_network(text, name, format_name=_HWLOC).graph.hosts
    try:
        levels = read_arity(text)
    except InvalidInput:
        levels = ()
    return HostInside(cores, levels)
