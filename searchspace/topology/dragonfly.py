"""The canonical dragonfly: groups of routers joined all to all, one cable between any two groups.

Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology" (2008):
a routers a group with h global cables each, g = a h + 1 groups. Which router of a group leads to
which other group is the arrangement (Hastings et al., "Comparing global link arrangements for
dragonfly networks", 2015). With every router a host, `relative` and the largest possible groups,
the five dragonflies of Deng et al. (2019, tables 2 and 5) have the paper's mean path lengths.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from searchspace.graph import Graph
from searchspace.options import Choice, Whole
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.grid import divisors

__all__ = ["DRAGONFLY"]


def _shapes(nodes: int) -> Iterator[tuple[int, int]]:
    """Yields (a, h) with a (a h + 1) = nodes, the largest groups first."""
    for routers in reversed(divisors(nodes)):
        others = nodes // routers - 1  # groups that a group is joined to
        if others > 0 and others % routers == 0:
            yield routers, others // routers


def _shape(spec: NetworkSpec) -> tuple[int, int] | None:
    routers, degree = spec.whole("routers"), spec.degree
    shapes = [(a, h) for a, h in _shapes(spec.nodes) if routers in (None, a)]
    if degree is not None and routers is None:
        return next(((a, h) for a, h in shapes if a - 1 + h == degree), None)
    return min(shapes, key=lambda shape: abs(shape[0] - 2 * shape[1]), default=None)


def _obstacle(spec: NetworkSpec) -> str | None:
    if _shape(spec) is not None:
        return None
    if spec.whole("routers") is not None:
        return f"{spec.nodes} routers make no dragonfly with {spec.whole('routers')} a group"
    degree = "" if spec.degree is None else f" and degree {spec.degree} = a - 1 + h"
    return (
        f"{spec.nodes} is not a (a h + 1){degree}, for a routers a group with h global cables each"
    )


def _generate(spec: NetworkSpec) -> Graph:
    shape = _shape(spec)
    if shape is None:
        raise ValueError(_obstacle(spec))
    a, h = shape
    relative = spec.choice("arrangement") == "relative"
    groups = range(a * h + 1)
    edges = {
        (group * a + low, group * a + high)
        for group in groups
        for low, high in itertools.combinations(range(a), 2)
    }
    for group, port in itertools.product(groups, range(a * h)):
        if relative:
            other, back = (group + port + 1) % len(groups), a * h - 1 - port
        else:
            other = port + (port >= group)
            back = group - (group > other)
        ends = group * a + port // h, other * a + back // h
        edges.add((min(ends), max(ends)))
    return Graph.from_edges(spec.nodes, edges)


DRAGONFLY = Family(
    name="dragonfly",
    description="dragonfly: groups of routers joined all to all, one cable between two groups",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    options=(
        Whole("routers", "routers a group; from the degree, or balanced, if not given", low=1),
        Choice(
            "arrangement",
            "which router of a group leads to which other group",
            ("relative", "absolute"),
        ),
    ),
)
