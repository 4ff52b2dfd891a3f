"""Machines of clusters that exist, from the files that tell of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.formats.machine_files import (
    HostInside,
    NetworkFile,
    read_host_file,
    read_network_file,
)
from searchspace.validation import check
from service.machines.schemas import HostFileView, MachineFilesView, MachineView, NetworkFileView
from service.machines.service import NewMachine
from service.machines.uploads import NUMBERS, MachineFiles
from storage.errors import Conflict
from storage.view import StorageView

__all__ = ["LARGEST_XML", "store"]

LARGEST_XML = 4 * 1024 * 1024
"""Bytes of a file of XML, which takes a hundred times as much memory while it is read."""

_ASSUMED: Mapping[str, str] = {
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "link_latency": "0s",
    "switch_latency": "60ns",
}
"""What is taken where nothing tells, as `hamtune init` does."""
_LARGE = 1024 * 1024
_ONE_LARGE_AT_A_TIME = Lock()
"""Files of more than a MiB take the interpreter for seconds, and memory."""
_WAIT_SECONDS = 2.0


def store(storage: StorageView, sent: MachineFiles) -> MachineFilesView:
    """Read the files of a machine, and store the machine where its network is told.

    A number that is said in the form counts before what the files tell, that before the machine
    that is built upon, and what is said nowhere is assumed.

    Raises:
        InvalidInput: A file or number cannot be used; names the field and says why in one line.
        NotFound: There is no machine to build upon.
        Conflict: Large files of another machine are being read.
    """
    if not sent.files:
        raise InvalidInput("send a file with the network, or hwloc's XML as host", field="fabric")
    base = storage.machines.get(sent.texts["base"]) if "base" in sent.texts else None
    with _turn(sent):
        network = _network(sent)
        host = _host(sent)
    view = MachineFilesView(
        machine=None,
        network=None if network is None else _network_view(network),
        host=None if host is None else HostFileView(cores=host.cores, levels=list(host.levels)),
        assumed={},
    )
    if network is None and base is None:
        return view
    machine: dict[str, Any] = {} if base is None else dict(base.description)
    if network is not None:
        machine |= {"network": machine.get("network", "auto"), **network.told}
        if machine["network"] == "fluid":
            machine.pop("protocol", None)
    if host is not None:
        machine["cores_per_host"] = host.cores
    machine |= {name: sent.texts[name] for name in NUMBERS if name in sent.texts}
    view.assumed = {name: value for name, value in _ASSUMED.items() if name not in machine}
    name = sent.texts.get("name") or (base.name if base else _title(sent))
    new = check(NewMachine, {"name": name, "machine": {**view.assumed, **machine}})
    stored = storage.machines.add(name=new.name, description=new.machine.canonical())
    view.machine = MachineView.of(stored)
    return view


@contextmanager
def _turn(sent: MachineFiles) -> Iterator[None]:
    if sum(len(content) for _, content in sent.files.values()) <= _LARGE:
        yield
        return
    if not _ONE_LARGE_AT_A_TIME.acquire(timeout=_WAIT_SECONDS):
        raise Conflict("large files of another machine are being read; send these again then")
    try:
        yield
    finally:
        _ONE_LARGE_AT_A_TIME.release()


def _network(sent: MachineFiles) -> NetworkFile | None:
    if "fabric" not in sent.files:
        return None
    name, text = _text(sent, "fabric")
    try:
        return read_network_file(text, name)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="fabric") from None


def _host(sent: MachineFiles) -> HostInside | None:
    if "host" not in sent.files:
        return None
    name, text = _text(sent, "host")
    try:
        return read_host_file(text, name)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="host") from None


def _text(sent: MachineFiles, field: str) -> tuple[str, str]:
    name, content = sent.files[field]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{name}: not a text file", field=field) from None
    if text.lstrip()[:1] == "<" and len(content) > LARGEST_XML:
        raise InvalidInput(
            f"{name} has {len(content)} bytes; of XML at most {LARGEST_XML} are read", field=field
        )
    return name, text


def _title(sent: MachineFiles) -> str:
    """What to call a machine that nobody named: as its file, without its ending."""
    name = sent.files["fabric"][0]
    return name.rpartition(".")[0] or name


def _network_view(network: NetworkFile) -> NetworkFileView:
    graph = network.fabric.graph
    cables = sum(graph.width(index) for index in range(len(graph.edges)))
    return NetworkFileView(
        format=network.format, hosts=graph.hosts, switches=graph.switches, cables=cables
    )
