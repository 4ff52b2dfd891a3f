"""Topology families: the networks that a machine's nodes and cables can form."""

from __future__ import annotations

import functools

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology.family import Family
from searchspace.topology.mesh_2d import MESH_2D
from searchspace.topology.mesh_3d import MESH_3D
from searchspace.topology.random_regular import RANDOM
from searchspace.topology.torus_2d import TORUS_2D
from searchspace.topology.torus_3d import TORUS_3D

__all__ = ["FAMILIES", "Family", "generate", "obstacle"]

FAMILIES: dict[str, Family] = {
    family.name: family for family in (RANDOM, MESH_2D, MESH_3D, TORUS_2D, TORUS_3D)
}


def _family(name: str) -> Family:
    if name not in FAMILIES:
        raise InvalidInput(f"unknown topology '{name}'; allowed: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def obstacle(name: str, nodes: int, *, degree: int | None) -> str | None:
    """Says why a family has no network of that many nodes and that degree, or returns None.

    Raises:
        InvalidInput: There is no such family.
    """
    return _family(name).obstacle(nodes, degree)


@functools.lru_cache(maxsize=256)
def generate(name: str, nodes: int, *, degree: int | None = None, seed: int = 0) -> Graph:
    """Builds a network of a family.

    Args:
        name: A key of `FAMILIES`.
        nodes: How many nodes.
        degree: Cables a node, for the families that use it.
        seed: Chooses among the networks of a family that has more than one.

    Raises:
        InvalidInput: There is no such family, or none of its networks has these numbers.
    """
    reason = obstacle(name, nodes, degree=degree)
    if reason is not None:
        raise InvalidInput(f"{name}: {reason}")
    return _family(name).generate(nodes, degree=degree, seed=seed)
