"""Wires up network namespaces as a plan says: cables, addresses, neighbours, routes, rates.

A host is a namespace with one address; a cable is a pair of virtual Ethernet devices. Each pair of
hosts talks over the path that the plan gives it, there and back: a node forwards by source and
destination, for parts of paths need not be paths. Nobody has to be asked for an Ethernet address:
neighbours are written down with the cables.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.kernel import CLONE_NEWNET, enter, mount, unmount
from testbed.netlink import Requests, Template, send
from testbed.plan import DEVICE, Cable, Hop, Plan

__all__ = ["Namespaces", "indices", "wire"]

_PEER = f"{DEVICE}p"
_FIRST_TABLE = 1000
_RTO_MILLISECONDS = 10_000
"""TCP takes for lost what is not acknowledged within this time: cables are slow, and what waits in
their queues longer than the kernel expects would be sent twice."""
_RTAX_LOCKED_RTO = 1 << 13
_SYSCTLS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
    # Nor does a connection begin with what an earlier one to the same host has seen, or probe for
    # losses that are none.
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_early_retrans": "0",
}
_OPTIONAL = ("net/ipv6/",)
_UNORDERED = (
    "the kernel does not let frames of a cable be kept in order here (rps), so TCP may take some "
    "for lost; run as root where runs are doubted for that"
)


@dataclass(frozen=True)
class Namespaces:
    """Descriptors of network namespaces: one for each node, and that of the process itself."""

    nodes: Sequence[int]
    home: int

    @contextlib.contextmanager
    def node(self, number: int) -> Iterator[None]:
        """Be in the namespace of a node within the block."""
        with enter(self.nodes[number], CLONE_NEWNET, self.home):
            yield


def wire(plan: Plan, namespaces: Namespaces, congestion_control: str, scratch: Path) -> list[str]:
    """Lay the cables and write down the ways; rates come with `shaping.shape`.

    Args:
        plan: What is built.
        namespaces: Where; new ones.
        congestion_control: Of TCP, by the kernel's name.
        scratch: An empty directory, to mount something on.

    Returns:
        What the kernel does not allow here, a sentence each.

    Raises:
        NetlinkFailed: The kernel refused something.
        OSError: It refused a setting.
    """
    ordered = True
    with Requests() as cables:
        for cable in plan.cables:
            _add_cable(cables, cable, namespaces)
        send(cables.compiled)
        for number in range(plan.network.nodes):
            with namespaces.node(number):
                cables.reset()
                cables.call("link", "add", kind="veth", ifname=DEVICE, peer={"ifname": _PEER})
                send(cables.compiled)
    ways = _Ways(plan)
    for node in range(plan.network.nodes):
        with namespaces.node(node), Requests() as requests:
            for name, value in _SYSCTLS.items():
                _set(name, value)
            _set("net/ipv4/tcp_congestion_control", congestion_control)
            devices = indices()
            _add_devices(requests, plan, node, devices)
            ways.add(requests, node, devices)
            send(requests.compiled)
            for cable in plan.cables_of[node]:
                _set(f"net/ipv4/conf/{cable.device}/rp_filter", "0")
            ordered = ordered and _keep_order(plan.cables_of[node], scratch)
    return [] if ordered else [_UNORDERED]


def indices() -> dict[str, int]:
    """The numbers of the devices in the namespace that the thread is in, by name."""
    return {name: index for index, name in socket.if_nameindex()}


def _add_cable(requests: Requests, cable: Cable, namespaces: Namespaces) -> None:
    one, other = (
        {
            "ifname": cable.device,
            "address": cable.hardware_address(end),
            "net_ns_fd": namespaces.nodes[cable.ends[end]],
        }
        for end in (0, 1)
    )
    requests.call("link", "add", kind="veth", **one, peer=other)


def _add_devices(requests: Requests, plan: Plan, node: int, devices: Mapping[str, int]) -> None:
    """The devices of a node, its address, and its neighbours."""
    for name in ("lo", DEVICE, _PEER):
        requests.call("link", "set", index=devices[name], state="up")
    own = devices[DEVICE]
    requests.call("addr", "add", index=own, address=plan.address(node), prefixlen=32)
    for cable in plan.cables_of[node]:
        index = devices[cable.device]
        requests.call("link", "set", index=index, state="up")
        requests.call(
            "neigh",
            "replace",
            dst=plan.address(cable.other(node)),
            lladdr=cable.hardware_address(1 - cable.end(node)),
            ifindex=index,
            state="permanent",
        )


class _Ways:
    """Compiles the routes of nodes: of their own messages, and in tables of other sources."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        hop = {"dst": "1.2.3.4/32", "gateway": "5.6.7.8", "oif": 0x0B0C0D0E, "flags": ["onlink"]}
        marks = {"target": _ip("1.2.3.4"), "hop": _ip("5.6.7.8"), "device": _number(0x0B0C0D0E)}
        with Requests() as compiler:
            own = compiler.compile(
                "route",
                "add",
                **hop,
                prefsrc="9.10.11.12",
                metrics={"lock": _RTAX_LOCKED_RTO, "rto_min": _RTO_MILLISECONDS},
            )
            forwarded = compiler.compile("route", "add", **hop, table=0x0A0B0C0D)
            rule = compiler.compile(
                "rule", "add", src="1.2.3.4", src_len=32, table=0x0A0B0C0D, priority=0x0D0C0B0A
            )
        table = {"table": _number(0x0A0B0C0D)}
        self._own = Template(own, {**marks, "source": _ip("9.10.11.12")})
        self._forwarded = Template(forwarded, {**marks, **table})
        self._rule = Template(
            rule, {**table, "source": _ip("1.2.3.4"), "priority": _number(0x0D0C0B0A)}
        )

    def add(self, requests: Requests, node: int, devices: Mapping[str, int]) -> None:
        """Add the routes of a node to its requests."""
        plan = self._plan
        next_hops = plan.next_hops.get(node, {})
        for source in sorted({source for source, _ in next_hops} - {node}):
            table = _FIRST_TABLE + source
            message = self._rule.fill(
                source=_ip(plan.address(source)), table=_number(table), priority=_number(table)
            )
            requests.add(message, f"rule of source {source} at node {node}")
        for (source, target), hop in sorted(next_hops.items(), key=lambda item: item[0]):
            filled = self._filled(target, hop, devices)
            if source == node:
                message = self._own.fill(**filled, source=_ip(plan.address(source)))
            else:
                message = self._forwarded.fill(**filled, table=_number(_FIRST_TABLE + source))
            requests.add(message, f"route from {source} to {target} at node {node}")

    def _filled(self, target: int, hop: Hop, devices: Mapping[str, int]) -> dict[str, bytes]:
        return {
            "target": _ip(self._plan.address(target)),
            "hop": _ip(self._plan.address(hop.node)),
            "device": _number(devices[self._plan.cables[hop.cable].device]),
        }


def _ip(address: str) -> bytes:
    return socket.inet_aton(address)


def _number(value: int) -> bytes:
    return struct.pack("=I", value)


def _set(name: str, value: str) -> None:
    path = Path("/proc/sys", name)
    if not path.exists() and name.startswith(_OPTIONAL):
        return
    path.write_text(value)


def _keep_order(cables: Sequence[Cable], scratch: Path) -> bool:
    """Lets one core do all that comes out of a cable, for two would let frames overtake others.

    TCP would take that for a loss. False where only the host's own root may say so.
    """
    cores = sorted(os.sched_getaffinity(0))
    with _network_devices(scratch) as devices:
        for cable in cables:
            mask = 1 << cores[cable.number % len(cores)]
            queue = devices / cable.device / "queues" / "rx-0" / "rps_cpus"
            try:
                queue.write_text(_mask_text(mask))
            except OSError:
                return False
    return True


@contextlib.contextmanager
def _network_devices(scratch: Path) -> Iterator[Path]:
    """The files of the devices of the namespace that the thread is in."""
    mount("sysfs", str(scratch), "sysfs")
    try:
        yield scratch / "class" / "net"
    finally:
        unmount(str(scratch))


def _mask_text(mask: int) -> str:
    """A set of cores as the kernel reads it: words of 32 bits, the highest first."""
    words = []
    while mask:
        words.append(f"{mask & 0xFFFFFFFF:08x}")
        mask >>= 32
    return ",".join(reversed(words))
