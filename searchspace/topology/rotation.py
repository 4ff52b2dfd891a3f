"""Networks that a rotation maps onto themselves: their edges as orbits.

With a symmetry of K, n / K base nodes are turned K times: node x * (n / K) + i is turn x of base
node i. An orbit (i, j, t) joins turn x of i with turn x + t of j, for every x. On a ring layout in
node order the network then looks the same after every K-th part of a full turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = [
    "Orbit",
    "circulant_orbits",
    "free_orbits",
    "orbit_array",
    "orbits_of",
    "ring_orbits",
    "unroll",
]

Orbit = tuple[int, int, int]


def _orbit(u: int, v: int, nodes: int, symmetry: int) -> Orbit:
    """The orbit of an edge, in the one of its two forms that sorts first."""
    bases = nodes // symmetry
    turn = (v // bases - u // bases) % symmetry
    return min((u % bases, v % bases, turn), (v % bases, u % bases, -turn % symmetry))


def _edges(orbit: Orbit, nodes: int, symmetry: int) -> Iterator[tuple[int, int]]:
    i, j, turn = orbit
    bases = nodes // symmetry
    own_opposite = i == j and 2 * turn == symmetry
    for x in range(turn if own_opposite else symmetry):
        yield x * bases + i, (x + turn) % symmetry * bases + j


def orbits_of(graph: Graph, symmetry: int) -> list[Orbit]:
    """Lists the orbits of a network's edges in ascending order.

    Raises:
        InvalidInput: The symmetry does not divide the number of nodes, or turning the network moves
            an edge to where there is none.
    """
    if symmetry < 1 or graph.nodes % symmetry:
        raise InvalidInput(
            f"a symmetry of {symmetry} does not divide the number of nodes ({graph.nodes})",
            field="symmetry",
        )
    orbits = sorted({_orbit(u, v, graph.nodes, symmetry) for u, v in graph.edges})
    edges = set(graph.edges)
    for orbit in orbits:
        for u, v in _edges(orbit, graph.nodes, symmetry):
            if (min(u, v), max(u, v)) not in edges:
                raise InvalidInput(
                    f"the network has no symmetry of {symmetry}: there is no edge ({u}, {v})",
                    field="symmetry",
                )
    return orbits


def unroll(nodes: int, symmetry: int, orbits: Iterable[Orbit]) -> Graph:
    """Builds the network of these orbits."""
    return Graph.from_edges(
        nodes, (edge for orbit in orbits for edge in _edges(orbit, nodes, symmetry))
    )


def circulant_orbits(nodes: int, symmetry: int, offsets: Iterable[int]) -> list[Orbit]:
    """The orbits of the network that joins every node v with v + offset, for each offset."""
    return sorted(
        {
            _orbit(v, (v + offset) % nodes, nodes, symmetry)
            for offset in offsets
            for v in range(nodes // symmetry)
        }
    )


def free_orbits(nodes: int, degree: int, symmetry: int) -> list[Orbit]:
    """A connected regular network of which as many cables as can be may be exchanged.

    Those that half a turn maps onto themselves may not. Of an odd degree they join every node of
    the densest circulant network with the one opposite; here base nodes are joined in pairs
    instead, as long as two are not joined at all turns, and only an odd one out has such cables.
    """
    orbits = circulant_orbits(nodes, symmetry, range(1, degree // 2 + 1))
    if degree % 2 == 0:
        return orbits
    bases, taken = nodes // symmetry, set(orbits)
    for base in range(0, bases - 1, 2):
        # From the far side on, so that the network is not only a thicker ring.
        turns = ((symmetry // 2 + turn) % symmetry for turn in range(symmetry))
        free = [(base, base + 1, turn) for turn in turns if (base, base + 1, turn) not in taken]
        if not free:
            return circulant_orbits(nodes, symmetry, [*range(1, degree // 2 + 1), nodes // 2])
        orbits.append(free[0])
    if bases % 2:
        orbits.append((bases - 1, bases - 1, symmetry // 2))
    return sorted(orbits)


def ring_orbits(nodes: int, symmetry: int) -> list[Orbit]:
    """The orbits of the ring through all nodes in order."""
    return circulant_orbits(nodes, symmetry, [1])


def orbit_array(orbits: Iterable[Orbit]) -> NDArray[np.uint32]:
    """Orbits as the kernels take them: shape (orbits, 3)."""
    return np.asarray(list(orbits), dtype=np.uint32).reshape(-1, 3)
