"""Machines whose network is in a file of its own: `topology: {file: fabric.txt}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.files import read_fabric
from searchspace.errors import InvalidInput
from searchspace.formats.network_files import FORMATS
from searchspace.machine import NetworkDescription

__all__ = ["with_network"]

_FIELDS = ("file", "format")


def with_network(machine: Any, folder: Path) -> Any:
    """Puts the network of a machine's file in the place of its name; `nodes` may be left out.

    Args:
        machine: The description, as it was read; anything without such a file is returned as it is.
        folder: Where relative names begin.

    Raises:
        InvalidInput: The file does not exist, holds no network, or one of another number of hosts.
    """
    topology = machine.get("topology") if isinstance(machine, Mapping) else None
    if not isinstance(topology, Mapping) or "file" not in topology:
        return machine
    for name in topology:
        if name not in _FIELDS:
            raise InvalidInput(
                "unknown field; beside file only format is allowed",
                field=f"topology.{name}",
            )
    form = topology.get("format")
    if form is not None and form not in FORMATS:
        raise InvalidInput(
            f"unknown format '{form}'; allowed: {', '.join(FORMATS)}", field="topology.format"
        )
    path = folder / str(topology["file"])
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}", field="topology.file")
    try:
        fabric = read_fabric(path, form)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="topology.file") from None
    hosts = fabric.graph.hosts
    if machine.get("nodes", hosts) != hosts:
        raise InvalidInput(f"{path} has {hosts} hosts, not {machine['nodes']}", field="nodes")
    described = NetworkDescription.of(fabric.graph, fabric.host_names)
    return {**machine, "nodes": hosts, "topology": described}
