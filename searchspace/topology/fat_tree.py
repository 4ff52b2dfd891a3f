"""Fat trees of equal switches: every switch has k ports, half of them up and half of them down.

With three levels, k ** 3 / 4 hosts (Al-Fares, Loukissas and Vahdat 2008); in general the m-port
n-tree of Lin, Chung and Huang (2004), 2 (k / 2) ** levels hosts, which is
XGFT(n; k/2, ..., k/2, k; 1, k/2, ..., k/2).
"""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.xgft import fat_tree

__all__ = ["FAT_TREE"]

_MOST_PORTS = 256


def _shape(spec: NetworkSpec) -> tuple[int, int] | None:
    """Ports and levels; three levels are tried first, then two, four and five."""
    ports, levels = spec.whole("ports"), spec.whole("levels")
    for n in (3, 2, 4, 5) if levels is None else (levels,):
        for k in range(2, _MOST_PORTS + 1, 2) if ports is None else (ports,):
            if k % 2 == 0 and 2 * (k // 2) ** n == spec.nodes and (k > 2 or n == 1):
                return k, n
    return None


def _obstacle(spec: NetworkSpec) -> str | None:
    if _shape(spec) is not None:
        return None
    levels = spec.whole("levels")
    return (
        f"{spec.nodes} is not 2 (k / 2) ** {levels or 'levels'}, the hosts of a "
        f"fat tree of switches with {spec.whole('ports') or 'k'} ports"
    )


def _generate(spec: NetworkSpec) -> Graph:
    shape = _shape(spec)
    if shape is None:
        raise ValueError(_obstacle(spec))
    ports, levels = shape
    half = ports // 2
    return fat_tree([half] * (levels - 1) + [ports], [1] + [half] * (levels - 1))


def _implied(spec: NetworkSpec) -> int | None:
    ports = spec.whole("ports")
    return None if ports is None else 2 * (ports // 2) ** (spec.whole("levels") or 3)


FAT_TREE = Family(
    name="fat-tree",
    description="fat tree of switches with k ports, half up and half down (3 levels: k ** 3 / 4 "
    "hosts)",
    obstacle=_obstacle,
    generate=_generate,
    indirect=True,
    implied=_implied,
    options=(
        Whole("ports", "ports of a switch, even; from the hosts if not given", 2, _MOST_PORTS),
        Whole("levels", "levels of switches; 3 if the hosts allow it", 1, 5),
    ),
)
