"""A resolved configuration as SimGrid's platform XML and SMPI's hostfile.

The platform is the one that our simulator builds through the S4U API: one zone with full routing,
a split-duplex link for each cable, every route written out, so that SimGrid has no tie to break.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from searchspace.formats.fabric import Fabric
from searchspace.graph import Graph
from searchspace.kernels import routes
from searchspace.machine import Machine, NetworkDescription, parse_machine
from searchspace.platform import Resolved

__all__ = ["host_name", "hostfile", "platform_xml", "write_simgrid"]

_PARTS = {"host_speed": "100Gf", "link_bandwidth": "40Gbps", "switch_latency": "60ns"}
"""Hosts, cables and switches of a network that comes without (Hu 2023, section 4)."""


def host_name(node: int) -> str:
    """The name of a host in the exported files."""
    return f"node-{node}"


def platform_xml(resolved: Resolved) -> str:
    """The platform, for SimGrid 3.32 and later.

    A route is written once for both ways: back it crosses the same cables in the other
    direction. Numbers are written so that they are read back bit by bit.
    """
    return "".join(_platform(resolved.machine, resolved.network, resolved.host_speeds))


def write_simgrid(fabric: Fabric) -> str:
    """The platform of a network alone: hosts of 100 Gf, cables of 40 Gbps, switches of 60 ns.

    Raises:
        InvalidInput: It has more hosts than a machine may have.
    """
    network = fabric.graph
    topology = NetworkDescription.of(network)
    machine = parse_machine({"nodes": network.hosts, "topology": topology, **_PARTS})
    return "".join(_platform(machine, network, (machine.host_speed,) * network.hosts))


def hostfile(resolved: Resolved) -> str:
    """One line a rank, in rank order: the host that it runs on."""
    return "".join(f"{host_name(node)}\n" for node in resolved.rank_hosts)


def _platform(machine: Machine, network: Graph, speeds: Sequence[float]) -> Iterator[str]:
    yield '<?xml version="1.0"?>\n'
    yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    yield '<platform version="4.1">\n  <zone id="network" routing="Full">\n'
    for node, speed in enumerate(speeds):
        yield (
            f'    <host id="{host_name(node)}" speed="{speed!r}f" '
            f'core="{machine.cores_per_host}"/>\n'
        )
    # A fat pipe: whoever uses it has all of its bandwidth, so one serves every host.
    yield (
        f'    <link id="loopback" bandwidth="{machine.loopback_bandwidth!r}Bps" '
        f'latency="{machine.loopback_latency!r}s" sharing_policy="FATPIPE"/>\n'
    )
    for node in range(network.hosts):
        if machine.interface_bandwidth is not None:
            yield (
                f'    <link id="interface-{node}" bandwidth="{machine.interface_bandwidth!r}Bps" '
                f'latency="0s" sharing_policy="SPLITDUPLEX"/>\n'
            )
        if machine.memory_bandwidth is not None:
            yield (
                f'    <link id="memory-{node}" bandwidth="{machine.memory_bandwidth!r}Bps" '
                f'latency="0s" sharing_policy="SHARED"/>\n'
            )
    for edge, (u, v) in enumerate(network.edges):
        bandwidth, latency = _cable(machine, network, edge)
        yield (
            f'    <link id="cable-{edge}" bandwidth="{bandwidth!r}Bps" '
            f'latency="{latency!r}s" sharing_policy="SPLITDUPLEX"/> <!-- {u} to {v} -->\n'
        )
    switches = _limiting_switches(machine, network)
    if switches:
        for node in switches:
            yield (
                f'    <link id="switch-{node}" bandwidth="{machine.switch_bandwidth!r}Bps" '
                f'latency="0s" sharing_policy="SHARED"/>\n'
            )
    yield from _routes(machine, network, switches)
    yield "  </zone>\n</platform>\n"


def _cable(machine: Machine, network: Graph, edge: int) -> tuple[float, float]:
    """Bandwidth (bytes/s) and latency (s) of a cable, or of parallel ones together.

    A route between hosts on switches crosses one cable more than switches, so its two ends take
    half the latency of a switch each.
    """
    if network.switches and network.edges[edge][0] < network.hosts:
        bandwidth = machine.host_link_bandwidth or machine.link_bandwidth
        latency = machine.link_latency + 0.5 * machine.switch_latency
    else:
        bandwidth, latency = (
            machine.link_bandwidth, machine.link_latency + machine.switch_latency
        )  # fmt: skip
    return bandwidth * network.width(edge), latency


def _limiting_switches(machine: Machine, network: Graph) -> range:
    """The switches, when one of them could carry less than all its cables together, both ways."""
    ports = [0.0] * network.nodes
    for edge, ends in enumerate(network.edges):
        for node in ends:
            ports[node] += _cable(machine, network, edge)[0]
    switches = range(network.hosts if network.switches else 0, network.nodes)
    most = max((ports[node] for node in switches), default=0)
    limit = machine.switch_bandwidth
    return switches if limit is not None and limit < 2 * most else range(0)


def _routes(machine: Machine, network: Graph, switches: range) -> Iterator[str]:
    paths = routes(network.nodes, network.edges, hosts=network.hosts, tie_rule=machine.tie_rule)
    for source in range(network.hosts):
        memory = "" if machine.memory_bandwidth is None else f'<link_ctn id="memory-{source}"/>'
        yield (
            f'    <route src="{host_name(source)}" dst="{host_name(source)}" symmetrical="NO">'
            f'<link_ctn id="loopback"/>{memory}</route>\n'
        )
        for target in range(source + 1, network.hosts):
            links = []
            if machine.interface_bandwidth is not None:
                links.append(f'<link_ctn id="interface-{source}" direction="UP"/>')
            if source in switches:
                links.append(f'<link_ctn id="switch-{source}"/>')
            for edge, forward in paths.path(source, target):
                u, v = network.edges[edge]
                direction = "UP" if forward else "DOWN"
                links.append(f'<link_ctn id="cable-{edge}" direction="{direction}"/>')
                entered = v if forward else u
                if entered in switches:
                    links.append(f'<link_ctn id="switch-{entered}"/>')
            if machine.interface_bandwidth is not None:
                links.append(f'<link_ctn id="interface-{target}" direction="DOWN"/>')
            yield (
                f'    <route src="{host_name(source)}" dst="{host_name(target)}" '
                f'symmetrical="YES">{"".join(links)}</route>\n'
            )
