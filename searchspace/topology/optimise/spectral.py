"""Wide bisections by the spectrum: cables are exchanged along the Fiedler vector.

A narrow cut shows as a small second eigenvalue of the Laplacian, and for a regular network as a
large second eigenvalue of the adjacency matrix. With x an eigenvector of it, the exchange of a-b
and c-d for a-c and b-d changes the eigenvalue by about 2 (x_a x_c + x_b x_d - x_a x_b - x_c x_d).
Not only the Fiedler vector counts but all near it, weighted by how near they are, since many cuts
are about as narrow. Every network that improves is judged by our bisection heuristic, which has
the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter
from searchspace.topology.optimise.exchange import Edge, edge_array, starting_graph
from searchspace.topology.optimise.search import Optimiser, Point, Problem

__all__ = ["SPECTRAL", "SpectralSearch"]

_MOST_NODES = 1024
_VECTORS = 24
_SHARPNESS = 6.0  # weight of an eigenvector: exp of this times its distance from the largest
_NOISE = 0.004
_STARTS = 150  # of the heuristic that judges
_EXCHANGES = 12  # at most, between two spectra
_CANDIDATES = 400


class SpectralSearch:
    """Exchanges along the Fiedler vector under way. Implements `Search`."""

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        start = starting_graph(problem)
        if problem.nodes > _MOST_NODES:
            raise InvalidInput(
                f"the spectral search takes at most {_MOST_NODES} nodes, not {problem.nodes}",
                field="nodes",
            )
        self._problem = problem
        state = state or {
            "edges": start.edges,
            "best": start.edges,
            "moves": 0,
            "least": None,
            "exchanges": _EXCHANGES,
        }
        self._edges: list[Edge] = [(u, v) for u, v in state["edges"]]
        self._best: list[Edge] = [(u, v) for u, v in state["best"]]
        self._moves: int = state["moves"]
        self._least: float | None = state["least"]
        self._exchanges: int = state["exchanges"]
        self._stuck = False
        self._width = self._judge(self._best)

    @property
    def finished(self) -> bool:
        """Whether the iterations are used up, or no exchange is left."""
        limit = self._problem.iterations
        return self._stuck or (limit is not None and self._moves >= limit)

    @property
    def best(self) -> Point:
        """The network with the widest bisection."""
        graph = Graph.from_edges(self._problem.nodes, self._best)
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
        return Point(graph, aspl=aspl, diameter=diameter, bisection_width=self._width)

    @property
    def moves(self) -> int:
        """Spectra computed so far."""
        return self._moves

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON."""
        return {
            "edges": [list(edge) for edge in self._edges],
            "best": [list(edge) for edge in self._best],
            "moves": self._moves,
            "least": self._least,
            "exchanges": self._exchanges,
        }

    def step(self) -> None:
        """Compute one spectrum and exchange along it."""
        problem = self._problem
        rng = np.random.default_rng([problem.seed, self._moves])
        ends = np.asarray(self._edges)
        adjacency = np.zeros((problem.nodes, problem.nodes))
        adjacency[ends[:, 0], ends[:, 1]] = adjacency[ends[:, 1], ends[:, 0]] = 1.0
        values, vectors = np.linalg.eigh(adjacency)
        energy = float(np.sum(np.exp(_SHARPNESS * (values[:-1] - 2.0 * problem.degree**0.5))))
        if self._least is None or energy < self._least:
            self._least = energy
            self._keep_if_wider()
        elif self._exchanges > 1:
            self._exchanges -= 1
        count = min(_VECTORS, problem.nodes - 1)
        near = slice(-1 - count, -1)
        weights = np.exp(_SHARPNESS * (values[near] - values[-2]))
        self._exchange(adjacency, ends, vectors[:, near] * np.sqrt(weights), rng)
        self._moves += 1

    def _exchange(
        self,
        adjacency: NDArray[np.float64],
        ends: NDArray[np.int64],
        places: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> None:
        a, b = places[ends[:, 0]], places[ends[:, 1]]
        own = (a * b).sum(1)
        parallel = a @ a.T + b @ b.T
        crossed = a @ b.T
        crossed = crossed + crossed.T
        change = np.minimum(parallel, crossed) - own[:, None] - own[None, :]
        change += _NOISE * rng.gumbel(size=change.shape)
        done = 0
        touched: set[int] = set()
        flat = np.argpartition(change, min(_CANDIDATES, change.size - 1), axis=None)[:_CANDIDATES]
        for index in flat[np.argsort(change.ravel()[flat], kind="stable")]:
            i, j = divmod(int(index), len(ends))
            (u, v), (w, z) = self._edges[i], self._edges[j]
            if crossed[i, j] < parallel[i, j]:
                w, z = z, w
            if len({u, v, w, z}) < 4 or touched & {u, v, w, z}:
                continue
            if adjacency[u, w] or adjacency[v, z]:
                continue
            self._edges[i], self._edges[j] = (u, w), (v, z)
            touched |= {u, v, w, z}
            done += 1
            if done == self._exchanges:
                return
        self._stuck = done == 0

    def _keep_if_wider(self) -> None:
        width = self._judge(self._edges)
        if width > self._width:
            self._width, self._best = width, list(self._edges)

    def _judge(self, edges: list[Edge]) -> int:
        found = edge_array(edges)
        width, _ = _native.bisect(self._problem.nodes, found, _STARTS, self._problem.seed)
        if width > getattr(self, "_width", -1):
            # Promising: look harder before believing it.
            width, _ = _native.bisect(self._problem.nodes, found, 10 * _STARTS, self._moves)
        return width


SPECTRAL = Optimiser(
    name="spectral",
    description="exchanges along the Fiedler vector, judged by bisection heuristics",
    objectives=("bisection",),
    begin=SpectralSearch,
    resume=SpectralSearch,
)
