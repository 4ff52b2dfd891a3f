"""Where the ranks of a configuration run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Network, Shape
from searchspace.machine import Machine
from searchspace.mapping import MAPPERS, Places, map_ranks
from searchspace.mapping.permutation import PERMUTATION, packed_cores
from searchspace.platform.algorithms import chosen_algorithms
from searchspace.platform.completion import mapper_options
from searchspace.platform.errors import Infeasible, in_field
from searchspace.platform.names import MAPPER_OPTIONS, ORIGINAL
from searchspace.platform.network import TrafficOf, seed_of
from searchspace.topology.grid import cubic_extents
from searchspace.traffic import Traffic

__all__ = ["machine_of_mappers", "placed", "written_out"]


def machine_of_mappers(chosen: Configuration, network: Graph, machine: Machine) -> HopMachine:
    """The machine as mappers see it, with this network."""
    return HopMachine.uniform(_shape(chosen, network, machine), machine.cores_per_host)


def placed(
    chosen: Configuration, ranks: int, where: HopMachine, traffic: TrafficOf | None
) -> Places:
    """The place of each rank.

    Raises:
        InvalidInput, Infeasible: As `resolve`.
    """
    seed = seed_of(chosen, "mapping_seed")
    places: Places = in_field("mapping", _map, chosen, ranks, where, traffic, seed)
    return places


def _shape(chosen: Configuration, network: Graph, machine: Machine) -> Shape:
    """What mappers know of a network: that it is a torus or mesh, while its nodes are in order."""
    family = str(chosen["topology"])
    kind, _, axes = family.partition("-")
    if kind in ("torus", "mesh") and axes in ("2d", "3d") and chosen["ordering"] == ORIGINAL:
        given = chosen.get(f"{family}.dims")
        dims = (
            cubic_extents(machine.nodes, int(axes[0]))
            if given is None
            else tuple(map(int, str(given).split(",")))
        )
        assert dims is not None
        return Grid(dims, wrapped=kind == "torus")
    return Network(network)


def _map(
    chosen: Configuration,
    ranks: int,
    where: HopMachine,
    traffic: TrafficOf | None,
    seed: int,
) -> Places:
    mapping = str(chosen["mapping"])
    if mapping == PERMUTATION:
        return _written_out(chosen[PERMUTATION], ranks)
    mapper = MAPPERS.get(mapping)
    exchanged = Traffic.silent(ranks)
    if mapper is not None:
        reason = mapper.obstacle(where)
        if reason is not None:
            raise Infeasible(f"mapping: {mapping} {reason}")
        if mapper.uses_traffic:
            if traffic is None:
                raise InvalidInput(f"'{mapping}' looks at what ranks exchange, which is not known")
            exchanged = traffic(chosen_algorithms(chosen))
    else:
        allowed = ", ".join((*MAPPERS, PERMUTATION))
        raise InvalidInput(f"unknown mapping '{mapping}'; allowed: {allowed}")
    options = mapper_options(chosen)
    return map_ranks(mapping, exchanged, where, seed=seed, **options)


def _written_out(cores: Any, ranks: int) -> Places:
    if len(cores) != ranks:
        raise InvalidInput(f"'{PERMUTATION}' gives the cores of {len(cores)} ranks, not of {ranks}")
    return np.asarray(cores, dtype=np.uint32)


def written_out(
    configuration: Configuration, machine: Machine, places: Sequence[int]
) -> Configuration:
    """The same configuration with the ranks on these places instead of its own mapping."""
    hosts = [place // machine.cores_per_host for place in places]
    cores = packed_cores(hosts, machine.cores_per_host)
    kept = {
        name: value
        for name, value in configuration.items()
        if not name.startswith(MAPPER_OPTIONS) and name != "mapping_seed"
    }
    return Configuration({**kept, "mapping": PERMUTATION, PERMUTATION: cores})
