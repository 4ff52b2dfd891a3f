"""Jellyfish: hosts on the switches of a random regular network (Singla et al. 2012)."""

from __future__ import annotations

import dataclasses

from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.hosts import attach_hosts
from searchspace.topology.random_regular import RANDOM

__all__ = ["JELLYFISH"]

_HOSTS = Whole("hosts_per_switch", "hosts plugged into each switch", 1, 4096, default=4)


def _switches(spec: NetworkSpec) -> tuple[NetworkSpec, int]:
    hosts = spec.whole("hosts_per_switch") or 1
    return dataclasses.replace(spec, nodes=spec.nodes // hosts, options=()), hosts


def _obstacle(spec: NetworkSpec) -> str | None:
    switches, hosts = _switches(spec)
    if spec.nodes % hosts or not switches.nodes:
        return f"{spec.nodes} hosts are not a multiple of {hosts}, the hosts of a switch"
    return RANDOM.obstacle(switches)


def _generate(spec: NetworkSpec) -> Graph:
    switches, hosts = _switches(spec)
    return attach_hosts(RANDOM.generate(switches), hosts)


JELLYFISH = Family(
    name="jellyfish",
    description="Jellyfish: hosts on the switches of a random regular network of the degree",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    uses_seed=True,
    indirect=True,
    options=(_HOSTS,),
)
