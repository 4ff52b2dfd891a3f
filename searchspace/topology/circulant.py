"""Circulant networks: every node is joined to those a jump ahead and behind it on a ring."""

from __future__ import annotations

import math

from searchspace.graph import Graph
from searchspace.options import Numbers
from searchspace.topology.family import Family, Wanted

__all__ = ["CIRCULANT"]


def _jumps(wanted: Wanted) -> tuple[int, ...] | None:
    """The jumps, or powers of a common ratio from 1 on that give the degree."""
    given = wanted.numbers("jumps")
    if given is not None or wanted.degree is None:
        return given
    pairs = wanted.degree // 2
    jumps: list[int] = []
    for index in range(pairs):
        power = round(wanted.nodes ** (index / pairs))
        jumps.append(max(power, jumps[-1] + 1) if jumps else 1)
    return tuple(jumps) + ((wanted.nodes // 2,) if wanted.degree % 2 else ())


def _obstacle(wanted: Wanted) -> str | None:
    nodes, jumps = wanted.nodes, _jumps(wanted)
    if jumps is None:
        return "needs jumps or a degree"
    if wanted.numbers("jumps") is None and wanted.degree is not None:
        if wanted.degree < 2 or wanted.degree >= nodes:
            return f"a degree from 2 to {nodes - 1} is needed, not {wanted.degree}"
        if wanted.degree % 2 and nodes % 2:
            return f"nodes x degree must be even, not {nodes} x {wanted.degree}"
    if max(jumps) > nodes // 2 or len(set(jumps)) < len(jumps):
        return f"the jumps must differ and be at most {nodes // 2}, half the nodes, not {jumps}"
    common = math.gcd(nodes, *jumps)
    if common > 1:
        return f"the jumps and the {nodes} nodes have the divisor {common} in common: not connected"
    return None


def _generate(wanted: Wanted) -> Graph:
    edges = {
        (min(node, other), max(node, other))
        for jump in _jumps(wanted) or ()
        for node in range(wanted.nodes)
        if (other := (node + jump) % wanted.nodes) != node
    }
    return Graph.from_edges(wanted.nodes, edges)


CIRCULANT = Family(
    name="circulant",
    description="circulant: every node joined to those a jump ahead and behind it on a ring",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    options=(Numbers("jumps", "the jumps; spread evenly by order of magnitude if not given"),),
)
