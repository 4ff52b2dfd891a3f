"""Circulant networks: every node is joined to those a jump ahead and behind it on a ring."""

from __future__ import annotations

import math

from searchspace.graph import Graph
from searchspace.options import Numbers
from searchspace.topology.family import Family, NetworkSpec

__all__ = ["CIRCULANT"]


def _jumps(spec: NetworkSpec) -> tuple[int, ...] | None:
    """The jumps, or powers of a common ratio from 1 on that give the degree."""
    given = spec.numbers("jumps")
    if given is not None or spec.degree is None:
        return given
    pairs = spec.degree // 2
    most = (spec.nodes - 1) // 2  # a jump across half the nodes is one cable of a node, not two
    jumps: list[int] = []
    for index in range(pairs):
        power = round(spec.nodes ** (index / pairs))
        least = jumps[-1] + 1 if jumps else 1
        jumps.append(min(max(power, least), most - (pairs - 1 - index)))
    return tuple(jumps) + ((spec.nodes // 2,) if spec.degree % 2 else ())


def _obstacle(spec: NetworkSpec) -> str | None:
    nodes, jumps = spec.nodes, _jumps(spec)
    if jumps is None:
        return "needs jumps or a degree"
    if spec.numbers("jumps") is None and spec.degree is not None:
        if spec.degree < 2 or spec.degree >= nodes:
            return f"a degree from 2 to {nodes - 1} is needed, not {spec.degree}"
        if spec.degree % 2 and nodes % 2:
            return f"nodes x degree must be even, not {nodes} x {spec.degree}"
    if max(jumps) > nodes // 2 or len(set(jumps)) < len(jumps):
        return f"the jumps must differ and be at most {nodes // 2}, half the nodes, not {jumps}"
    common = math.gcd(nodes, *jumps)
    if common > 1:
        return f"the jumps and the {nodes} nodes have the divisor {common} in common: not connected"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    edges = {
        (min(node, other), max(node, other))
        for jump in _jumps(spec) or ()
        for node in range(spec.nodes)
        if (other := (node + jump) % spec.nodes) != node
    }
    return Graph.from_edges(spec.nodes, edges)


CIRCULANT = Family(
    name="circulant",
    description="circulant: every node joined to those a jump ahead and behind it on a ring",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    version=2,  # 1 to 2: every degree that there is, and no other than was asked for
    options=(Numbers("jumps", "the jumps; spread evenly by order of magnitude if not given"),),
)
