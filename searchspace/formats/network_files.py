"""Every format of networks in one table, and telling which one a file is in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from searchspace.documents import read_document
from searchspace.errors import InvalidInput
from searchspace.formats.edge_list import read_edge_list, write_edge_list
from searchspace.formats.fabric import Fabric, check_size
from searchspace.formats.graph_golf import read_graph_golf, write_graph_golf
from searchspace.formats.graphml import read_graphml, write_graphml
from searchspace.formats.hwloc_xml import read_hwloc
from searchspace.formats.ib_discover import IB_DISCOVER, read_ib_discover
from searchspace.formats.metis_graph import read_metis, write_metis
from searchspace.formats.simgrid_platform import read_simgrid
from searchspace.formats.simgrid_xml import write_simgrid
from searchspace.formats.slurm_topology import read_slurm_topology
from searchspace.machine import NetworkDescription
from searchspace.validation import check

__all__ = [
    "FORMATS",
    "NetworkFormat",
    "format_of",
    "read_network",
    "recognised",
    "write_network",
]

_IB = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid)=|(Switch|Ca)\s")


@dataclass(frozen=True)
class NetworkFormat:
    """A format of files that hold networks.

    Attributes:
        name: What it is called.
        description: One line for people.
        endings: How names of such files end; the first one of the table is meant.
        read: Reads a file's text.
        write: Writes one; None where we only read.
    """

    name: str
    description: str
    endings: tuple[str, ...]
    read: Callable[[str], Fabric]
    write: Callable[[Fabric], str] | None = None


def _read_edges(text: str) -> Fabric:
    check_size(0, text.count("\n"))
    return Fabric(read_edge_list(text))


def _write_edges(fabric: Fabric) -> str:
    return write_edge_list(fabric.graph)


def _read_json(text: str) -> Fabric:
    document = read_document(text)
    description = check(NetworkDescription, document)
    nodes = 1 + max(max(edge[:2]) for edge in description.edges)
    check_size(nodes, len(description.edges))
    graph = description.graph(nodes - description.switches)
    names = description.host_names
    if names and len(names) != graph.hosts:
        raise InvalidInput(f"there are {len(names)} host_names for {graph.hosts} hosts")
    switches = [f"switch-{n}" for n in range(graph.switches)] if names else []
    return Fabric(graph, (*names, *switches))


def _write_json(fabric: Fabric) -> str:
    description: dict[str, Any] = NetworkDescription.of(fabric.graph, fabric.host_names)
    return json.dumps(description) + "\n"


FORMATS: dict[str, NetworkFormat] = {
    entry.name: entry
    for entry in (
        NetworkFormat("edges", "edge list: 'u v' a line", (".edges",), _read_edges, _write_edges),
        NetworkFormat("graphml", "GraphML", (".graphml",), read_graphml, write_graphml),
        NetworkFormat("metis", "METIS graph", (".graph", ".metis"), read_metis, write_metis),
        NetworkFormat(
            "graph-golf", "Graph Golf: 'u v' or 'x,y x,y' a line", (".golf",), read_graph_golf,
            write_graph_golf,
        ),
        NetworkFormat("json", "a machine's topology", (".json",), _read_json, _write_json),
        NetworkFormat(
            "simgrid", "SimGrid platform (cluster or zone)", (".xml",), read_simgrid, write_simgrid
        ),
        NetworkFormat(IB_DISCOVER, "output of ibnetdiscover", (), read_ib_discover),
        NetworkFormat("slurm", "Slurm's topology.conf", (".conf",), read_slurm_topology),
        NetworkFormat("hwloc", "hwloc's XML: the inside of a host", (), read_hwloc),
    )
}  # fmt: skip


def format_of(name: str, text: str | None = None) -> str:
    """Tells the format of a file by what is in it, else by how its name ends.

    Raises:
        InvalidInput: Neither says.
    """
    found = _by_content(text) if text is not None else None
    if found is not None:
        return found
    for entry in FORMATS.values():
        if name.endswith(entry.endings):
            return entry.name
    if text is not None:
        return "edges"
    endings = ", ".join(e for entry in FORMATS.values() if entry.write for e in entry.endings)
    raise InvalidInput(f"the name of a network's file must end in one of: {endings}")


def recognised(text: str) -> NetworkFormat | None:
    """The format that a text certainly is in; None of JSON, which may describe anything."""
    found = _by_content(text)
    if found is None or found == "json" or (found == "graphml" and "<graphml" not in text):
        return None
    return FORMATS[found]


def _by_content(text: str) -> str | None:
    head = text[:100_000]
    first = next(
        (line for line in head.splitlines() if line.strip() and not line.startswith("#")), ""
    )
    if first.lstrip().startswith("<"):
        for mark, name in (
            ("<graphml", "graphml"),
            ("<platform", "simgrid"),
            ("<topology", "hwloc"),
        ):
            if mark in head:
                return name
        return "graphml"
    if first.lstrip().startswith("{"):
        return "json"
    if first.lower().startswith(("switchname=", "blockname=")):
        return "slurm"
    if _IB.match(first):
        return "ibnetdiscover"
    return None


def read_network(text: str, name: str, *, format_name: str | None = None) -> Fabric:
    """Reads a network.

    Args:
        text: The file's content.
        name: The file's name.
        format_name: A key of `FORMATS`; None to tell by content and name.

    Raises:
        InvalidInput: The file is empty or not in that format; names the file, and the line where
            that is known.
    """
    if not text.strip():
        raise InvalidInput(f"{name}: the file is empty")
    try:
        return FORMATS[format_name or format_of(name, text)].read(text)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def write_network(fabric: Fabric, name: str, *, format_name: str | None = None) -> str:
    """Writes a network in the format that is asked for or that the file's name ends in.

    Raises:
        InvalidInput: The format is only read, or cannot hold this network.
    """
    entry = FORMATS[format_name or format_of(name)]
    if entry.write is None:
        writable = ", ".join(entry.name for entry in FORMATS.values() if entry.write)
        raise InvalidInput(f"{entry.name} files are only read; these are written: {writable}")
    return entry.write(fabric)
