"""Exhaustive search of the cubic networks of a girth: the best one there is, proved by listing all.

Deng et al. (2019, section 2) found their optimal networks of 16 and 32 nodes and degree 3 so, in
lists made by snarkhunter and genreg. Here `searchspace/kernels/network/cubic_search.hpp` lists
them, each once. Among networks of the least ASPL and diameter the one of the widest bisection is
kept; with `objective="bisection"` the width counts first.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter
from searchspace.topology.optimise.search import Optimiser, Point, Problem

__all__ = ["EXHAUSTIVE", "ExhaustiveSearch"]

_MOST_NODES = {3: 20, 4: 22, 5: 24, 6: 26, 7: 34, 8: 42}
"""By girth: up to here there are fewer than two million networks."""

_EDGES_A_STEP = 300_000
_BISECTION_STARTS = 200  # at most 42 nodes: far more than it takes to find a narrowest split


class ExhaustiveSearch:
    """The list under way. Implements `Search`."""

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        girth = _checked_girth(problem)
        self._problem = problem
        self._search = _native.CubicSearch(problem.nodes, girth)
        self._edges: NDArray[np.uint32] | None = None
        self._key: tuple[float, ...] = (float("inf"),)
        if state is not None:
            known = zlib.decompress(base64.b64decode(state["known"]))
            self._search.resume(state["place"], state["tried"], known)
            self._edges = np.asarray(state["best"], dtype=np.uint32)
            self._key = tuple(state["key"])
        while self._edges is None:
            if self._search.finished:
                raise InvalidInput(
                    f"no connected network of {problem.nodes} nodes and degree 3 has girth {girth}",
                    field="girth",
                )
            self.step()

    @property
    def finished(self) -> bool:
        """Whether all networks are listed, or as many as asked for."""
        limit = self._problem.iterations
        return self._search.finished or (limit is not None and self.moves >= limit)

    @property
    def best(self) -> Point:
        """The best network so far, and how far the list has come."""
        assert self._edges is not None  # the constructor finds one or raises
        graph = Graph.from_edges(self._problem.nodes, self._edges.tolist())
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
        return Point(
            graph,
            aspl=aspl,
            diameter=diameter,
            bisection_width=self._width(self._edges),
            note=f"best of {self.moves} networks, "
            f"{100 * self._search.done // max(1, self._search.roots)}% of the search",
        )

    @property
    def moves(self) -> int:
        """Networks found so far, all different."""
        return self._search.found

    def step(self) -> None:
        """Try some hundred thousand edges."""
        for edges, distances, diameter in self._search.run(_EDGES_A_STEP):
            self._compare(edges, distances, diameter)

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON."""
        assert self._edges is not None  # the constructor finds one or raises
        return {
            "place": self._search.place,
            "tried": self._search.tried,
            "known": base64.b64encode(zlib.compress(self._search.known)).decode(),
            "best": self._edges.tolist(),
            "key": list(self._key),
        }

    def _compare(self, edges: NDArray[np.uint32], distances: int, diameter: int) -> None:
        """Keeps a network if it is better; the width, which takes longest, decides last."""
        if self._problem.objective == "bisection":
            key: tuple[float, ...] = (-self._width(edges), distances, diameter)
        else:
            key = (distances, diameter)
            if key > self._key[:2]:
                return
            key = (*key, -self._width(edges))
        if key < self._key:
            self._key, self._edges = key, edges

    def _width(self, edges: NDArray[np.uint32]) -> int:
        width, _ = _native.bisect(self._problem.nodes, edges, _BISECTION_STARTS, self._problem.seed)
        return width


def _checked_girth(problem: Problem) -> int:
    girth = 3 if problem.girth is None else problem.girth
    if problem.degree != 3:
        raise InvalidInput(
            f"only networks of degree 3 are listed, not of {problem.degree}", field="degree"
        )
    if girth not in _MOST_NODES:
        raise InvalidInput(
            f"networks are listed by a least girth from 3 to {max(_MOST_NODES)}, not {girth}",
            field="girth",
        )
    if problem.nodes % 2 or problem.nodes < 4:
        raise InvalidInput(
            f"networks of degree 3 have an even number of nodes, 4 or more, not {problem.nodes}",
            field="nodes",
        )
    if problem.nodes > _MOST_NODES[girth]:
        enough = [least for least, most in _MOST_NODES.items() if problem.nodes <= most]
        raise InvalidInput(
            f"there are too many networks of {problem.nodes} nodes and girth {girth} to list: "
            + (f"use a girth of {enough[0]}" if enough else f"at most {max(_MOST_NODES.values())}")
            + (" or more" if enough else " nodes"),
            field="girth",
        )
    if (
        problem.ring == "keep"
        or (problem.symmetry or 1) > 1
        or problem.diameter_first
        or problem.start is not None
    ):
        raise InvalidInput(
            "a ring, a symmetry, --diameter-first and --start do not go with method exhaustive",
            field="method",
        )
    return girth


EXHAUSTIVE = Optimiser(
    name="exhaustive",
    description="lists all cubic networks of a girth, at most 20 to 42 nodes (Deng 2019)",
    objectives=("aspl", "bisection"),
    begin=ExhaustiveSearch,
    resume=ExhaustiveSearch,
)
