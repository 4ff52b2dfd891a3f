"""Topology families: the networks that a machine's nodes and cables can form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.options import Option, Whole
from searchspace.topology.bidiakis import BIDIAKIS
from searchspace.topology.chvatal import CHVATAL
from searchspace.topology.circulant import CIRCULANT
from searchspace.topology.de_bruijn import DE_BRUIJN
from searchspace.topology.dragonfly import DRAGONFLY
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.fat_tree import FAT_TREE
from searchspace.topology.hosts import HOSTS_PER_SWITCH, attach_hosts
from searchspace.topology.hypercube import HYPERCUBE
from searchspace.topology.jellyfish import JELLYFISH
from searchspace.topology.k_ary_n_cube import K_ARY_N_CUBE
from searchspace.topology.kautz import KAUTZ
from searchspace.topology.mesh import MESHES
from searchspace.topology.optimised import OPTIMISED
from searchspace.topology.random_regular import RANDOM
from searchspace.topology.ring import RING
from searchspace.topology.slim_fly import SLIM_FLY
from searchspace.topology.tailored import TAILORED
from searchspace.topology.torus import TORI
from searchspace.topology.wagner import WAGNER
from searchspace.topology.xgft import XGFT
from searchspace.traffic import Traffic

__all__ = [
    "DEGREE",
    "FAMILIES",
    "Family",
    "NetworkSpec",
    "generate",
    "implied_nodes",
    "obstacle",
    "options_of",
    "read_options",
]

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        RANDOM,
        *MESHES,
        *TORI,
        OPTIMISED,
        TAILORED,
        RING,
        WAGNER,
        BIDIAKIS,
        CHVATAL,
        HYPERCUBE,
        K_ARY_N_CUBE,
        CIRCULANT,
        DE_BRUIJN,
        KAUTZ,
        DRAGONFLY,
        SLIM_FLY,
        JELLYFISH,
        FAT_TREE,
        XGFT,
    )
}

DEGREE = Whole("degree", "cables of a switch to others; the machine's if not given", low=1)
"""What a job may say of a family that uses it, beside its parameters."""

_MOST_NODES, _MOST_CABLES = 1 << 20, 1 << 23
"""More than anyone builds, and few enough for the memory of a workstation."""

_SIZES_TRIED = 20_000
"""How far to look for the nearest possible number of nodes."""


def _family(name: str) -> Family:
    if name not in FAMILIES:
        raise InvalidInput(f"unknown topology '{name}'; allowed: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def options_of(name: str) -> dict[str, Option]:
    """The parameters of a family by name; those of direct ones include the hosts of a switch.

    Raises:
        InvalidInput: There is no such family.
    """
    family = _family(name)
    own = {option.name: option for option in family.options}
    return own if family.indirect else own | {HOSTS_PER_SWITCH.name: HOSTS_PER_SWITCH}


def read_options(name: str, given: Mapping[str, Any]) -> dict[str, Scalar]:
    """Brings the parameters of a family into their one form; defaults are left out.

    Raises:
        InvalidInput: There is no such family or parameter, or not that value of it.
    """
    known = options_of(name)
    read: dict[str, Scalar] = {}
    for option, value in given.items():
        if option not in known:
            allowed = ", ".join(known) or "none"
            raise InvalidInput(f"unknown parameter of {name}; allowed: {allowed}", field=option)
        read[option] = known[option].read(value)
    return {o: read[o] for o in sorted(read) if read[o] != known[o].initial}


def _spec_of(
    name: str, nodes: int, degree: int | None, seed: int, given: Mapping[str, Any]
) -> NetworkSpec:
    known = options_of(name)
    values = {o: v for o, option in known.items() if (v := option.initial) is not None}
    values |= read_options(name, given)
    return NetworkSpec(nodes, degree, seed, tuple(sorted(values.items())))


def implied_nodes(name: str, **options: Any) -> int | None:
    """The number of nodes that the parameters of a family determine, or None.

    Raises:
        InvalidInput: There is no such family or parameter.
    """
    spec = _spec_of(name, 0, None, 0, options)
    nodes = _family(name).implied(spec)
    per_switch = 0 if _family(name).indirect else spec.whole(HOSTS_PER_SWITCH.name) or 0
    return nodes * per_switch if nodes and per_switch else nodes


def obstacle(name: str, nodes: int, *, degree: int | None, **options: Any) -> str | None:
    """Says why a family has no network of that many nodes and that degree, or returns None.

    Args:
        name: A key of `FAMILIES`.
        nodes: How many nodes; of an indirect network, how many hosts.
        degree: Cables a switch, for the families that use it.
        options: The family's parameters.

    Returns:
        The reason, with the nearest numbers of nodes that are possible, where some are.

    Raises:
        InvalidInput: There is no such family or parameter.
    """
    spec = _spec_of(name, nodes, degree, 0, options)
    if nodes > _MOST_NODES:
        return f"{nodes} nodes are too many; at most {_MOST_NODES} can be generated"
    if nodes * (degree or 0) // 2 > _MOST_CABLES:
        return f"{nodes} nodes of degree {degree} have too many cables; at most {_MOST_CABLES}"
    reason = _obstacle(_family(name), spec)
    if reason is None:
        return None
    near = _nearest(_family(name), spec)
    if not near:
        return reason
    hosts = _family(name).indirect or spec.whole(HOSTS_PER_SWITCH.name)
    what = "host" if hosts else "node"
    return f"{reason} ({near} {what if near == '1' else what + 's'} can be had)"


def _obstacle(family: Family, spec: NetworkSpec) -> str | None:
    per_switch = 0 if family.indirect else spec.whole(HOSTS_PER_SWITCH.name) or 0
    if not per_switch:
        return family.obstacle(spec)
    if spec.nodes % per_switch:
        return f"{spec.nodes} hosts are not a multiple of {per_switch}, the hosts of a switch"
    return family.obstacle(dataclasses.replace(spec, nodes=spec.nodes // per_switch))


def _nearest(family: Family, spec: NetworkSpec) -> str:
    """The next smaller and larger possible numbers of nodes, in words; empty if none is near."""

    def possible(nodes: int) -> bool:
        return _obstacle(family, dataclasses.replace(spec, nodes=nodes)) is None

    span = range(1, min(spec.nodes + 64, _SIZES_TRIED))
    below = next(
        (spec.nodes - d for d in span if d < spec.nodes and possible(spec.nodes - d)), None
    )
    above = next((spec.nodes + d for d in span if possible(spec.nodes + d)), None)
    return " or ".join(str(n) for n in (below, above) if n is not None)


def generate(
    name: str,
    nodes: int,
    *,
    degree: int | None = None,
    seed: int = 0,
    traffic: Traffic | None = None,
    **options: Any,
) -> Graph:
    """Builds a network of a family.

    Args:
        name: A key of `FAMILIES`.
        nodes: How many nodes; of an indirect network, how many hosts.
        degree: Cables a switch, for the families that use it.
        seed: Chooses among the networks of a family that has more than one.
        traffic: What the ranks of an application exchange, rank n on host n or in equal blocks,
            for families that use it.
        options: The family's parameters.

    Raises:
        InvalidInput: There is no such family, none of its networks has these numbers, or it is made
            for traffic and there is none.
    """
    family = _family(name)
    reason = obstacle(name, nodes, degree=degree, **options)
    if reason is not None:
        raise InvalidInput(f"{name}: {reason}")
    if family.uses_traffic and traffic is None:
        raise InvalidInput(
            f"{name}: such a network is made for what an application's ranks exchange, which is "
            "not known here; where it is built already, export it and give it as it is"
        )
    spec = _spec_of(name, nodes, degree, seed, options)
    per_switch = 0 if family.indirect else spec.whole(HOSTS_PER_SWITCH.name) or 0
    switches = nodes // (per_switch or 1)
    if family.uses_traffic and traffic is not None:
        spec = dataclasses.replace(spec, traffic=traffic.on_hosts(nodes).on_hosts(switches))
    if not per_switch:
        return family.generate(spec)
    spec = dataclasses.replace(spec, nodes=switches)
    return attach_hosts(family.generate(spec), per_switch)
