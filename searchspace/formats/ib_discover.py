"""The output of `ibnetdiscover`: switches and channel adapters of an InfiniBand fabric.

Adapters whose description begins with the same word belong to one host: `"n1 HCA-1"`, `"n1 HCA-2"`.
Aggregation nodes, by which switches reduce data on its way (SHARP), are adapters of no host and are
left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric

__all__ = [
    "IB_DISCOVER",
    "Guids",
    "LinkRate",
    "prevailing_bandwidths",
    "prevailing_rates",
    "read_ib_discover",
    "read_ib_guids",
    "read_ib_ports",
    "read_ib_rates",
]

IB_DISCOVER = "ibnetdiscover"
"""The name of the format, a key of `FORMATS`."""

_NODE = re.compile(r'(Switch|Ca|Rt)\s+(\d+)\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?')
# Numbers of ports and lanes have few digits, and Python reads no whole number of thousands.
_PORT = re.compile(r'\[(\d{1,5})\](?:\[\w+\])?(?:\(([0-9a-fA-F]+)\))?\s+"([^"]+)"\[(\d{1,5})\]')
_GUID = re.compile(r"(?:switch|ca)guid=0x([0-9a-fA-F]+)(?:\(([0-9a-fA-F]+)\))?", re.IGNORECASE)
_RATE = re.compile(r"\s(\d{1,5})x([A-Z]+\d*)$")
# Matched from where a port's own words end, with one way to match: a search begins at every `#`.
_CALLED = re.compile(r'[^#]*#[^"]*"([^"]*)"')
_ATTRIBUTE = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=", re.IGNORECASE)

_OF_SWITCH = "Aggregation Node"  # in the description of what a switch reduces data by
# What adapters are described as until somebody tells them where they are: before the host knew its
# name, or by the vendor's type, such as `MT4119 ConnectX5 Mellanox Technologies`.
_NO_HOST = re.compile(r"localhost(\.\S*)?|MT\d{4,}")
_ADAPTER = re.compile(r"[A-Za-z][\w-]*\d")  # `HCA-1`, `mlx5_0`, `hfi1_0`, `ibp65s0`


@dataclass(frozen=True)
class LinkRate:
    """The width and speed of a link.

    Attributes:
        lanes: Lanes, each way.
        speed: What `ibnetdiscover` calls the speed of a lane, such as `FDR`.
    """

    lanes: int
    speed: str

    @property
    def bandwidth(self) -> float:
        """Bytes/s of data, each way: the signalling rate without the line's code."""
        return self.lanes * _LANES[self.speed] / 8

    def __str__(self) -> str:
        return f"{self.lanes}x{self.speed}"


_LANES = {
    "SDR": 2.5e9 * 8 / 10,
    "DDR": 5e9 * 8 / 10,
    "QDR": 10e9 * 8 / 10,
    "FDR10": 10.3125e9 * 64 / 66,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25.78125e9 * 64 / 66,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
"""Data of one lane, bit/s: signalling rate times what the line's code leaves of it (InfiniBand
Architecture Specification, volume 2). From HDR on, rates are named without error correction."""


@dataclass
class _Found:
    """Devices in order of appearance, and cables by their two (device, port)."""

    kinds: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    cables: dict[frozenset[tuple[str, str]], int] = field(default_factory=dict)
    rates: dict[frozenset[tuple[str, str]], LinkRate] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)  # GUID of each device
    ports: dict[str, dict[int, None]] = field(default_factory=dict)  # GUIDs of its ports, in order
    called: dict[str, str] = field(default_factory=dict)  # by the devices that it is cabled to

    def add_port(self, device: str, guid: str) -> None:
        """Adds the GUID of a port of a device."""
        self.ports.setdefault(device, {})[int(guid, 16)] = None

    def drop(self, dropped: Set[str]) -> None:
        """Drops devices with their cables."""
        for device in dropped:
            del self.kinds[device]
        for ends in [ends for ends in self.cables if not dropped.isdisjoint(d for d, _ in ends)]:
            del self.cables[ends]
            self.rates.pop(ends, None)


@dataclass(frozen=True)
class Guids:
    """The GUIDs of a device.

    Attributes:
        node: Of itself; of a host that of its first adapter.
        ports: Of its ports that have one, at least one; of a host those of all its adapters.
    """

    node: int
    ports: tuple[int, ...]


def read_ib_discover(text: str) -> Fabric:
    """Reads the fabric.

    Raises:
        InvalidInput: A line is not known, a cable leads to a device that is not described, or a
            router is in the fabric; names the line. Or adapters do not tell which hosts they are
            of; names the first.
    """
    return _fabric(_read(text))


def _read(text: str) -> _Found:
    found = _Found()
    device: str | None = None
    announced: re.Match[str] | None = None  # the GUIDs of the device whose line follows
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#") or _ATTRIBUTE.match(line):
            announced = _GUID.match(line) or announced
            continue
        node, port = _NODE.match(line), _PORT.match(line)
        if node is not None:
            kind, device = node[1], node[3]
            if kind == "Rt":
                raise InvalidInput(f"line {number} is a router; only one subnet can be imported")
            if device in found.kinds:
                raise InvalidInput(f"line {number} describes {device} a second time")
            found.kinds[device] = kind
            found.descriptions[device] = node[4] or device
            if announced is not None:
                found.nodes[device] = int(announced[1], 16)
                if announced[2] is not None:
                    found.add_port(device, announced[2])
            announced = None
        elif port is not None and device is not None:
            _add_cable(found, device, port, number)
        else:
            raise InvalidInput(
                f"line {number} is not known: {line[:60]!r}; expected the output of ibnetdiscover"
            )
    found.drop({d for d in _adapters(found) if _OF_SWITCH in found.descriptions[d]})
    return found


def _add_cable(found: _Found, device: str, port: re.Match[str], number: int) -> None:
    """Adds what the line of a port of a device tells."""
    ends = frozenset({(device, port[1]), (port[3], port[4])})
    if len(ends) == 2:  # a cable from a port to itself is a test plug
        found.cables.setdefault(ends, number)
        rate = _RATE.search(port.string)
        if rate is not None and rate[2] in _LANES:
            found.rates.setdefault(ends, LinkRate(int(rate[1]), rate[2]))
    if port[2] is not None:
        found.add_port(device, port[2])
    called = _CALLED.match(port.string, port.end())
    if called is not None:
        found.called.setdefault(port[3], called[1])


def _adapters(found: _Found) -> list[str]:
    return [device for device, kind in found.kinds.items() if kind == "Ca"]


def read_ib_guids(text: str) -> dict[str, Guids]:
    """Reads the GUIDs of all devices, by the names that `read_ib_discover` gives them.

    Raises:
        InvalidInput: As `read_ib_discover`, or a device has no GUID of its own or of a port.
    """
    found = _read(text)
    nodes: dict[str, int] = {}
    ports: dict[str, dict[int, None]] = {}
    for device, name in _names(found).items():
        if name in nodes:
            ports[name] |= found.ports.get(device, {})
            continue
        if device not in found.nodes or device not in found.ports:
            raise InvalidInput(f"{device} has no GUID of its own, or none of a port")
        nodes[name], ports[name] = found.nodes[device], dict(found.ports[device])
    return {name: Guids(node, tuple(ports[name])) for name, node in nodes.items()}


def read_ib_ports(text: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Where cables are plugged in: two ends each, of a node's name and its port.

    A port is its number; of a host with several adapters it begins with the adapter's GUID.

    Raises:
        InvalidInput: As `read_ib_discover`.
    """
    found = _read(text)
    names = _names(found)
    adapters = Counter(name for device, name in names.items() if found.kinds[device] == "Ca")
    cables = []
    for ends in found.cables:
        (first, one), (second, other) = sorted(ends)
        if first == second or first not in names or second not in names:
            continue
        cables.append(
            (
                (names[first], f"{first}/{one}" if adapters[names[first]] > 1 else one),
                (names[second], f"{second}/{other}" if adapters[names[second]] > 1 else other),
            )
        )
    return cables


def read_ib_rates(text: str) -> tuple[Counter[LinkRate], Counter[LinkRate]]:
    """Counts the links of each rate, of those whose rate the file tells.

    Returns:
        Of hosts, and of those between switches.

    Raises:
        InvalidInput: As `read_ib_discover`.
    """
    found = _read(text)
    of_hosts: Counter[LinkRate] = Counter()
    between: Counter[LinkRate] = Counter()
    for ends, rate in found.rates.items():
        kinds = {found.kinds.get(device) for device, _ in ends}
        (between if kinds == {"Switch"} else of_hosts)[rate] += 1
    return of_hosts, between


def prevailing_rates(text: str) -> dict[str, Counter[LinkRate]]:
    """The links that say a machine's bandwidths, by the field: the most common rate counts.

    `host_link_bandwidth` is there where most links of hosts differ from most between switches;
    nothing is where the file tells no rate.

    Raises:
        InvalidInput: As `read_ib_discover`.
    """
    of_hosts, between = read_ib_rates(text)
    told = between or of_hosts
    if not told:
        return {}
    found = {"link_bandwidth": told}
    if of_hosts and of_hosts.most_common(1)[0][0] != told.most_common(1)[0][0]:
        found["host_link_bandwidth"] = of_hosts
    return found


def prevailing_bandwidths(text: str) -> dict[str, float]:
    """Bytes/s, each way, of the links of `prevailing_rates`, by the field of a machine.

    Raises:
        InvalidInput: As `read_ib_discover`.
    """
    rates = prevailing_rates(text)
    return {field: links.most_common(1)[0][0].bandwidth for field, links in rates.items()}


def _fabric(found: _Found) -> Fabric:
    if not found.kinds:
        raise InvalidInput("the file describes no device")
    names = _names(found)
    cables: list[tuple[str, str]] = []
    for ends, number in found.cables.items():
        devices = [device for device, _ in sorted(ends)]
        for device in devices:
            if device not in names:
                raise InvalidInput(f"line {number} leads to {device}, which is not described")
        if devices[0] != devices[1]:
            cables.append((names[devices[0]], names[devices[1]]))
    hosts = dict.fromkeys(names[d] for d, kind in found.kinds.items() if kind == "Ca")
    switches = [names[d] for d, kind in found.kinds.items() if kind == "Switch"]
    plugged = {end for cable in cables for end in cable}
    unplugged = [host for host in hosts if host not in plugged]
    if unplugged:
        raise InvalidInput(f"{unplugged[0]} has no cable")
    return build_fabric(list(hosts), switches, cables)


def _names(found: _Found) -> dict[str, str]:
    """A name for each device: of a host the first word of its description."""
    names: dict[str, str] = {}
    described = _host_descriptions(found)
    taken = Counter(
        found.descriptions[device] for device, kind in found.kinds.items() if kind == "Switch"
    )
    for device, kind in found.kinds.items():
        description = found.descriptions[device]
        if kind == "Ca":
            names[device] = _host_word(described[device]) or device
        else:
            names[device] = description if taken[description] == 1 else device
    hosts = {names[device] for device in described}
    return {
        device: device if found.kinds[device] == "Switch" and name in hosts else name
        for device, name in names.items()
    }


def _host_descriptions(found: _Found) -> dict[str, str]:
    """What says which host each adapter is of.

    That is its description. Where it tells no host, it is what the other end of its cable calls it:
    `ibnetdiscover --node-name-map` writes the names of its map there, and leaves the description.

    Raises:
        InvalidInput: Neither tells the hosts of some adapters.
    """
    described = {device: found.descriptions[device] for device in _adapters(found)}
    described |= {d: found.called[d] for d in _unclear(described) if d in found.called}
    unclear = _unclear(described)
    if unclear:
        shown = ", ".join(f"{device} is {described[device][:64]!r}" for device in unclear[:2])
        more = f" and {len(unclear) - 2} more" if len(unclear) > 2 else ""
        raise InvalidInput(
            f"the descriptions of adapters do not tell their hosts: {shown}{more}; run "
            "ibnetdiscover --node-name-map FILE, with a line '0xGUID \"HOST HCA-1\"' for each of "
            "them in FILE, and import what it prints"
        )
    return described


def _unclear(described: Mapping[str, str]) -> list[str]:
    """The adapters whose descriptions name no host, or may name one that others are not of.

    Adapters of one host are told apart by the rest of their descriptions. Where it is the same, or
    tells no adapter, hosts that were all set up alike would become one.
    """
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for device, description in described.items():
        alike[_host_word(description) or device].append(device)
    unclear = []
    for word, devices in alike.items():
        rests = {described[device].partition(word)[2].strip() for device in devices}
        told_apart = len(rests) == len(devices) and all(map(_ADAPTER.match, rests))
        if _NO_HOST.fullmatch(word) or (len(devices) > 1 and not told_apart):
            unclear += devices
    return unclear


def _host_word(description: str) -> str:
    return next(iter(description.split()), "")
