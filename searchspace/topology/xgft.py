"""Extended generalised fat trees (Oehring, Ibel, Das and Kumar 1995).

XGFT(h; m1, ..., mh; w1, ..., wh): m1 x ... x mh hosts; a node of level l - 1 has w_l parents, one
of level l has m_l children. Hosts are level 0, switches levels 1 to h, numbered in that order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from searchspace.graph import Graph
from searchspace.options import Numbers
from searchspace.topology.family import Family, NetworkSpec

__all__ = ["XGFT", "fat_tree", "switches_of"]

_MOST_SWITCHES = 65_536


def switches_of(children: Sequence[int], parents: Sequence[int]) -> int:
    """How many switches there are on all levels."""
    return sum(
        math.prod(children[level:]) * math.prod(parents[:level])
        for level in range(1, len(children) + 1)
    )


def fat_tree(children: Sequence[int], parents: Sequence[int]) -> Graph:
    """Builds a fat tree from m1 to mh and w1 to wh.

    A node of level l is named by (x_h, ..., x_l+1, y_l, ..., y_1), x_i < m_i, y_i < w_i; it is
    joined to the nodes one level up whose names differ from its own only in position l + 1.
    """
    edges: list[tuple[int, int]] = []
    first = 0
    for level, (m, w) in enumerate(zip(children, parents, strict=True)):
        above, below = math.prod(children[level + 1 :]), math.prod(parents[:level])
        next_first = first + above * m * below
        for top, x, y, low in itertools.product(*map(range, (above, m, w, below))):
            node = (top * m + x) * below + low
            parent = (top * w + y) * below + low
            edges.append((first + node, next_first + parent))
        first = next_first
    switches = switches_of(children, parents)
    return Graph.from_edges(math.prod(children) + switches, edges, switches=switches)


def _obstacle(spec: NetworkSpec) -> str | None:
    children, parents = spec.numbers("children"), spec.numbers("parents")
    if children is None or parents is None:
        return "needs children and parents, a number for each level from the hosts up"
    if len(children) != len(parents):
        return f"has {len(children)} levels of children but {len(parents)} of parents"
    if math.prod(children) != spec.nodes:
        return f"{'x'.join(map(str, children))} hosts are {math.prod(children)}, not {spec.nodes}"
    if switches_of(children, parents) > _MOST_SWITCHES:
        return f"has more than {_MOST_SWITCHES} switches"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    return fat_tree(spec.numbers("children") or (), spec.numbers("parents") or ())


XGFT = Family(
    name="xgft",
    description="extended generalised fat tree: hosts below levels of switches",
    obstacle=_obstacle,
    generate=_generate,
    indirect=True,
    implied=lambda spec: math.prod(spec.numbers("children") or (0,)) or None,
    options=(
        Numbers("children", "children of a node of level 1, 2, ... (level 1 holds the hosts)"),
        Numbers("parents", "parents of a node of level 0 (a host), 1, ..."),
    ),
)
