"""A configuration on a machine, ready to be simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine
from searchspace.machine import Machine, NetworkDescription
from searchspace.mapping import Places

__all__ = ["Resolved"]


@dataclass(frozen=True)
class Resolved:
    """A configuration on a machine, ready to be simulated.

    Attributes:
        machine: The machine, with the configuration's settings of the transport.
        network: The network after ordering: node i is host i.
        rank_hosts: The host of each rank.
        options: SimGrid's options, everything that decides the result.
        order: The number that each host had before ordering.
        where: The machine as mappers see it.
        places: The place of each rank there.
    """

    machine: Machine
    network: Graph
    rank_hosts: tuple[int, ...]
    options: Mapping[str, str]
    order: tuple[int, ...]
    where: HopMachine
    places: Places

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of the hosts, in their new order."""
        return tuple(self.machine.host_names[host] for host in self.order)

    @property
    def host_speeds(self) -> tuple[float, ...]:
        """flop/s of one core of each host, in their new order."""
        speeds = self.machine.host_speeds
        if speeds is None:
            return (self.machine.host_speed,) * self.hosts
        return tuple(speeds[host] for host in self.order)

    @property
    def hosts(self) -> int:
        """How many hosts there are."""
        return self.network.hosts

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The cables, as pairs of nodes: hosts, then switches."""
        return self.network.edges

    def simulator_request(self) -> dict[str, Any]:
        """Returns the `platform`, `applications` and `options` of a request to the simulator."""
        machine = self.machine
        special: dict[str, Any] = {}
        if self.network.switches:
            special["switches"] = self.network.switches
            if machine.host_link_bandwidth is not None:
                special["host_link_bandwidth"] = machine.host_link_bandwidth
        if machine.host_speeds is not None:
            special["host_speeds"] = list(self.host_speeds)
        if machine.interface_bandwidth is not None:
            special["interface_bandwidth"] = machine.interface_bandwidth
        if machine.memory_bandwidth is not None:
            special["memory_bandwidth"] = machine.memory_bandwidth
        if machine.trial_model == "packets":
            assert machine.protocol is not None, "filled in when the machine was read"
            special["packets"] = machine.protocol.numbers()
        return {
            "platform": {
                "hosts": self.hosts,
                **special,
                "cores": machine.cores_per_host,
                "host_speed": machine.host_speed,
                "edges": NetworkDescription.of(self.network)["edges"],
                "link_bandwidth": machine.link_bandwidth,
                "link_latency": machine.link_latency,
                "switch_latency": machine.switch_latency,
                "switch_bandwidth": machine.switch_bandwidth,
                "loopback_bandwidth": machine.loopback_bandwidth,
                "loopback_latency": machine.loopback_latency,
                "tie_rule": machine.tie_rule,
            },
            "applications": [{"trace": 0, "hosts": list(self.rank_hosts), "start": 0.0}],
            "options": dict(self.options),
        }
