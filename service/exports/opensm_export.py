"""The format `opensm`: what the subnet manager is told of an InfiniBand fabric."""

from __future__ import annotations

from collections.abc import Iterable

from searchspace.topology.levels import is_layered, roots
from service.exports.placement import text_file
from service.exports.result import ExportFile, Result
from service.exports.wording import comment, origin_lines, readme

__all__ = ["export_opensm"]

_KNOWN = """\
Put all files into /etc/opensm and append opensm.conf to /etc/opensm/opensm.conf, or give its name
to opensm -F. Check: the log says 'Tables configured' and which engine did it.
root-guids.conf  node GUIDs of the {roots} at the top
compute-node-guids.conf  port GUIDs of the hosts that run ranks
routing-order.conf  port GUIDs in the order in which paths are spread: hosts by their first rank;
    only minhop and updn look at it"""

_UNKNOWN = """\
The GUIDs are not known: the files name the devices in comments, and opensm would not read them.
Save the output of ibnetdiscover, tune on the network imported from it
(hamtune topology convert), and export with --fabric FILE."""


def export_opensm(result: Result) -> list[ExportFile]:
    """Configuration and GUID files; comments in the place of GUIDs that are not known."""
    network = result.resolved.network
    used = list(dict.fromkeys(result.resolved.rank_hosts))
    idle = [host for host in range(network.hosts) if host not in set(used)]
    layered = is_layered(network)
    top = roots(network)
    origin = comment(origin_lines(result))
    engine = "ftree" if layered else "updn"
    settings = [f"routing_engine {engine}", "root_guid_file /etc/opensm/root-guids.conf"]
    if layered:
        settings.append("cn_guid_file /etc/opensm/compute-node-guids.conf")
        why = "switches are cabled in levels: a fat tree"
    else:
        settings.append("guid_routing_order_file /etc/opensm/routing-order.conf")
        why = "switches are not cabled in levels alone: up and down from the roots"
    text = _UNKNOWN if result.devices is None else _KNOWN
    about = "switches" if network.switches else "hosts"
    parts = [f"routing_engine {engine}: {why}.", *text.format(roots=about).splitlines()]
    return [
        ExportFile(name="README.txt", content=readme(result, parts)),
        text_file("opensm.conf", origin, *(f"{setting}\n" for setting in settings)),
        text_file("root-guids.conf", origin, *_guids(result, top, "node")),
        text_file("compute-node-guids.conf", origin, *_guids(result, used, "port")),
        text_file("routing-order.conf", origin, *_guids(result, [*used, *idle], "port")),
    ]


def _guids(result: Result, nodes: Iterable[int], kind: str) -> Iterable[str]:
    """Lines of GUIDs: of the nodes themselves, or of all their ports."""
    hosts = result.resolved.network.hosts
    for node in nodes:
        name = " ".join(result.names[node].split())  # a name may have lines, a comment has one
        if result.devices is None:
            yield f"# {kind} GUID of {name}\n"
            continue
        known = result.devices[node]
        for guid in (known.guids.node,) if kind == "node" else known.guids.ports:
            yield f"0x{guid:016x} # {name if node < hosts else known.name}\n"
