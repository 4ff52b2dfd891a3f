"""Machines that are described in files of their own: the network, and the inside of a host.

`topology: {file: fabric.txt}` and `cores_per_host: {file: host.xml}` (of hwloc's `lstopo`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from searchspace.documents import read_document
from searchspace.errors import InvalidInput
from searchspace.formats.plain_file import check_file

if TYPE_CHECKING:
    from searchspace.formats.fabric import Fabric

__all__ = ["read_description", "with_network"]

_HWLOC = "hwloc"
_FLUID = "fluid"


def read_description(text: str | bytes, name: str, *, of: str) -> Any:
    """Reads a description of a job or machine, as `read_document` does.

    Args:
        text: YAML or JSON.
        name: Of the file that it stands in.
        of: What is described: `job` or `machine`.

    Raises:
        InvalidInput: It is none; of the file of a network or host, it says who names such a file.
    """
    try:
        document = read_document(text)
    except InvalidInput:
        _refuse_network(text, name, of)
        raise
    if isinstance(document, str):  # as YAML takes any text without colons for one
        _refuse_network(text, name, of)
    return document


def _refuse_network(text: str | bytes, name: str, of: str) -> None:
    from searchspace.formats.network_files import recognised

    found = recognised(text if isinstance(text, str) else text.decode(errors="replace"))
    if found is None:
        return
    field = "cores_per_host" if found.name == _HWLOC else "topology"
    named = f"{{{field}: {{file: {name}}}}}"
    place = f"machine: {named}" if of == "job" else f"{named} and its other fields"
    raise InvalidInput(f"this is {found.description}; a {of} names it: {place}")


def with_network(machine: Any, folder: Path, *, model: str = _FLUID) -> Any:
    """Puts the network and the cores of a machine's files in the place of their names.

    `nodes` may be left out where the network is in a file. What else the file tells is taken where
    the machine does not say it: the tie rule, and of `ibnetdiscover` the bandwidths, both of them
    only without a `link_bandwidth`, and the protocol of packets.

    Args:
        machine: The description, as it was read; anything without such files is returned as it is.
        folder: Where relative names begin.
        model: The `network` of a machine that does not say it.

    Raises:
        InvalidInput: A file does not exist, holds no network or host, or a network of another
            number of hosts.
    """
    cores = _file_of(machine, "cores_per_host", allowed=("file",))
    if cores is not None:
        inside = _read(folder, cores, "cores_per_host", _HWLOC)
        machine = {**machine, "cores_per_host": inside.graph.hosts}
    topology = _file_of(machine, "topology", allowed=("file", "format"))
    if topology is None:
        return machine
    from cli.files import read_text
    from searchspace.formats.machine_files import beside_network
    from searchspace.formats.network_files import FORMATS, format_of
    from searchspace.machine import NetworkDescription

    form = topology.get("format")
    if form is not None and form not in FORMATS:
        raise InvalidInput(
            f"unknown format '{form}'; allowed: {', '.join(FORMATS)}", field="topology.format"
        )
    fabric = _read(folder, topology, "topology", form)
    path = folder / str(topology["file"])
    hosts = fabric.graph.hosts
    if machine.get("nodes", hosts) != hosts:
        raise InvalidInput(f"{path} has {hosts} hosts, not {machine['nodes']}", field="nodes")
    described = NetworkDescription.of(fabric.graph, fabric.host_names)
    text = read_text(path)
    told = beside_network(fabric, form or format_of(str(path), text), text, said=machine)
    if machine.get("network", model) == _FLUID:
        told.pop("protocol", None)
    return {**told, **machine, "nodes": hosts, "topology": described}


def _file_of(machine: Any, field: str, *, allowed: tuple[str, ...]) -> Mapping[str, Any] | None:
    """What a field says of a file; None where it names none."""
    value = machine.get(field) if isinstance(machine, Mapping) else None
    if not isinstance(value, Mapping) or "file" not in value:
        return None
    for name in value:
        if name not in allowed:
            others = ", ".join(a for a in allowed if a != "file") or "nothing"
            raise InvalidInput(
                f"unknown field; beside file only {others} is allowed", field=f"{field}.{name}"
            )
    return value


def _read(folder: Path, named: Mapping[str, Any], field: str, form: str | None) -> Fabric:
    # The readers of all formats, which most jobs do without.
    from cli.files import read_fabric

    path = folder / str(named["file"])
    check_file(path, field=f"{field}.file")
    try:
        return read_fabric(path, form)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{field}.file") from None
