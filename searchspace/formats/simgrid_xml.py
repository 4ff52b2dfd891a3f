"""A resolved configuration as SimGrid's platform XML and SMPI's hostfile.

The platform is the one that our simulator builds through the S4U API: one zone with full routing,
a split-duplex link for each cable, every route written out, so that SimGrid has no tie to break.
"""

from __future__ import annotations

from collections.abc import Iterator

from searchspace.kernels import routes
from searchspace.platform import Resolved

__all__ = ["host_name", "hostfile", "platform_xml"]


def host_name(node: int) -> str:
    """The name of a host in the exported files."""
    return f"node-{node}"


def platform_xml(resolved: Resolved) -> str:
    """The platform, for SimGrid 3.32 and later.

    A route is written once for both ways: back it crosses the same cables in the other
    direction. Numbers are written so that they are read back bit by bit.
    """
    return "".join(_platform(resolved))


def hostfile(resolved: Resolved) -> str:
    """One line a rank, in rank order: the host that it runs on."""
    return "".join(f"{host_name(node)}\n" for node in resolved.rank_hosts)


def _platform(resolved: Resolved) -> Iterator[str]:
    machine = resolved.machine
    latency = machine.link_latency + machine.switch_latency
    yield '<?xml version="1.0"?>\n'
    yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    yield '<platform version="4.1">\n  <zone id="network" routing="Full">\n'
    for node in range(resolved.hosts):
        yield (
            f'    <host id="{host_name(node)}" speed="{machine.host_speed!r}f" '
            f'core="{machine.cores_per_host}"/>\n'
        )
    # A fat pipe: whoever uses it has all of its bandwidth, so one serves every host.
    yield (
        f'    <link id="loopback" bandwidth="{machine.loopback_bandwidth!r}Bps" '
        f'latency="{machine.loopback_latency!r}s" sharing_policy="FATPIPE"/>\n'
    )
    for edge, (u, v) in enumerate(resolved.edges):
        yield (
            f'    <link id="cable-{edge}" bandwidth="{machine.link_bandwidth!r}Bps" '
            f'latency="{latency!r}s" sharing_policy="SPLITDUPLEX"/> <!-- {u} to {v} -->\n'
        )
    switches = _switches_matter(resolved)
    if switches:
        for node in range(resolved.hosts):
            yield (
                f'    <link id="switch-{node}" bandwidth="{machine.switch_bandwidth!r}Bps" '
                f'latency="0s" sharing_policy="SHARED"/>\n'
            )
    yield from _routes(resolved, switches)
    yield "  </zone>\n</platform>\n"


def _switches_matter(resolved: Resolved) -> bool:
    """Whether a switch could carry less than all its cables together, both ways."""
    machine = resolved.machine
    most = max(resolved.network.degrees, default=0)
    return (
        machine.switch_bandwidth is not None
        and machine.switch_bandwidth < 2 * most * machine.link_bandwidth
    )


def _routes(resolved: Resolved, switches: bool) -> Iterator[str]:
    paths = routes(resolved.hosts, resolved.edges)
    for source in range(resolved.hosts):
        yield (
            f'    <route src="{host_name(source)}" dst="{host_name(source)}" symmetrical="NO">'
            f'<link_ctn id="loopback"/></route>\n'
        )
        for target in range(source + 1, resolved.hosts):
            links = []
            if switches:
                links.append(f'<link_ctn id="switch-{source}"/>')
            for edge, forward in paths.path(source, target):
                u, v = resolved.edges[edge]
                direction = "UP" if forward else "DOWN"
                links.append(f'<link_ctn id="cable-{edge}" direction="{direction}"/>')
                if switches:
                    links.append(f'<link_ctn id="switch-{v if forward else u}"/>')
            yield (
                f'    <route src="{host_name(source)}" dst="{host_name(target)}" '
                f'symmetrical="YES">{"".join(links)}</route>\n'
            )
