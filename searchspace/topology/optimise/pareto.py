"""Networks that no other beats in ASPL, bisection width and cable length at once.

Every annealing minimises a weighted sum of the three; the weights are the corners of the triangle
of all weights first, then the middles of its sides, then the points of a Halton sequence that fill
it evenly. It begins with the network of the archive that is best by its own weights. What it finds
is measured and joins the archive unless some network there is at least as good in all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter, edge_array
from searchspace.topology.bisection import bisection_width
from searchspace.topology.family import NetworkSpec
from searchspace.topology.metrics import aspl_lower_bound
from searchspace.topology.optimise.search import check_size
from searchspace.topology.random_regular import RANDOM

__all__ = ["Compromise", "ParetoSearch", "check_problem", "front_table", "weights"]

_MOST_NODES = 1024
_MOVES = 3000  # of an annealing
_SLICE_MOVES = 300_000  # moves of a step, divided by the cables
_HOT, _COLD = 2e-3, 5e-5  # part of the start's cost that an exchange may add, at first and at last
_CORNERS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
_SIDES = [(0.5, 0.5, 0.0), (0.5, 0.0, 0.5), (0.0, 0.5, 0.5)]
_LEAST = 0.02
"""Least weight of a goal: one that costs nothing would be given away for nothing."""


@dataclass(frozen=True)
class Compromise:
    """A network with what was measured of it.

    Attributes:
        graph: The network.
        aspl: Mean distance in hops.
        diameter: In hops; not a goal.
        bisection_width: Upper bound, found by several verifiers.
        cable_length: Of all cables together.
        weights: Of ASPL, width and length, by which it was found; they add up to 1.
    """

    graph: Graph
    aspl: float
    diameter: int
    bisection_width: int
    cable_length: float
    weights: tuple[float, float, float]

    @property
    def goals(self) -> tuple[float, float, float]:
        """What is to be low: ASPL, minus the width, length of cables."""
        return self.aspl, -float(self.bisection_width), self.cable_length

    def beats(self, other: Compromise) -> bool:
        """Whether it is at least as good in everything."""
        return all(own <= theirs for own, theirs in zip(self.goals, other.goals, strict=True))


def weights(number: int) -> tuple[float, float, float]:
    """The weights of ASPL, width and length of an annealing, by its number from 0 on."""
    fixed = [*_CORNERS, *_SIDES]
    if number < len(fixed):
        raw = np.asarray(fixed[number])
    else:
        # Two numbers in [0, 1) fold into the triangle: what lies between them, sorted, sums to 1.
        low, high = sorted((_radical_inverse(number, 2), _radical_inverse(number, 3)))
        raw = np.asarray([low, high - low, 1.0 - high])
    raw = np.maximum(raw, _LEAST)
    aspl, width, length = (raw / raw.sum()).tolist()
    return aspl, width, length


def _radical_inverse(number: int, base: int) -> float:
    """The digits of a number behind the point in reverse: Halton's sequence (1960)."""
    value, scale = 0.0, 1.0
    while number:
        scale /= base
        value += scale * (number % base)
        number //= base
    return value


def check_problem(nodes: int, degree: int) -> None:
    """Check that there are such networks, and not too large ones.

    Raises:
        InvalidInput: There are none, or they are.
    """
    check_size(nodes, degree)
    if nodes > _MOST_NODES:
        raise InvalidInput(
            f"the search for compromises takes at most {_MOST_NODES} nodes, not {nodes}",
            field="nodes",
        )


class ParetoSearch:
    """The archive and the annealing under way; moves depend on the arguments alone.

    Args:
        nodes: Hosts.
        degree: Cables a host.
        lengths: Of a cable between any two hosts, shape (nodes, nodes).
        seed: Of all random choices.
        state: What `state()` told, to go on from there.

    Raises:
        InvalidInput: No such network, or too many nodes.
    """

    def __init__(
        self,
        nodes: int,
        degree: int,
        lengths: NDArray[np.float64],
        *,
        seed: int = 0,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        check_problem(nodes, degree)
        self._nodes, self._degree, self._seed = nodes, degree, seed
        self._lengths = np.ascontiguousarray(lengths)
        first = RANDOM.generate(NetworkSpec(nodes, degree, seed))
        self._start = self._measured(first, weights(0))
        self._archive = [self._start]
        self._run = 0
        self._moves = 0
        if state is not None:
            self._run, self._moves = state["run"], state["moves"]
            self._archive = [self._read(saved) for saved in state["archive"]]
        self._annealing = self._begin()
        if state is not None:
            self._annealing.run(state["done"])

    @property
    def archive(self) -> list[Compromise]:
        """The networks that none beats, by ASPL."""
        return sorted(self._archive, key=lambda found: found.goals)

    @property
    def runs(self) -> int:
        """Annealings that are over."""
        return self._run

    @property
    def moves(self) -> int:
        """Exchanges proposed so far."""
        return self._moves + self._annealing.done

    def step(self) -> None:
        """Go on for some tenths of a second; at the end of an annealing its network is measured."""
        self._annealing.run(max(1, 2 * _SLICE_MOVES // (self._nodes * self._degree)))
        if self._annealing.finished:
            self._enter(Graph.from_edges(self._nodes, self._annealing.best.tolist()))
            self._moves += self._annealing.done
            self._run += 1
            self._annealing = self._begin()

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON; the annealing under way is made again."""
        return {
            "run": self._run,
            "moves": self._moves,
            "done": self._annealing.done,
            "archive": [
                {"edges": [list(edge) for edge in one.graph.edges], "weights": list(one.weights)}
                for one in self._archive
            ],
        }

    def _read(self, saved: Mapping[str, Any]) -> Compromise:
        graph = Graph.from_edges(self._nodes, [(u, v) for u, v in saved["edges"]])
        aspl, width, length = saved["weights"]
        return self._measured(graph, (aspl, width, length))

    def _measured(self, graph: Graph, by: tuple[float, float, float]) -> Compromise:
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
        ends = np.asarray(graph.edges).reshape(-1, 2)
        length = float(self._lengths[ends[:, 0], ends[:, 1]].sum())
        width = bisection_width(graph, seed=self._seed, effort="quick").width
        return Compromise(graph, aspl, diameter, width, length, by)

    def _enter(self, graph: Graph) -> None:
        found = self._measured(graph, weights(self._run))
        if any(known.beats(found) for known in self._archive):
            return
        self._archive = [known for known in self._archive if not found.beats(known)]
        self._archive.append(found)

    def _prices(self) -> tuple[float, float, float]:
        """The price of a hop, of a cut cable and of a unit of length, from the weights.

        Goals are told as parts of the random start's; what the ASPL is above its bound counts
        rather than the whole, since the rest nobody can save.
        """
        aspl, width, length = weights(self._run)
        bound = aspl_lower_bound(self._nodes, self._degree)
        pairs = self._nodes * (self._nodes - 1)
        spare = max(self._start.aspl - bound, 0.01 * bound) * pairs
        return (
            aspl / spare,
            width / max(1, self._start.bisection_width),
            length / max(self._start.cable_length, 1e-9),
        )

    def _begin(self) -> _native.Tradeoff:
        hop, cut, length = self._prices()
        pairs = self._nodes * (self._nodes - 1)

        def cost(known: Compromise) -> float:
            aspl, narrow, cables = known.goals
            return hop * aspl * pairs + cut * narrow + length * cables

        start = min(self._archive, key=cost)
        entropy = np.random.SeedSequence([self._seed, self._run])
        return _native.Tradeoff(
            self._nodes,
            self._degree,
            edge_array(start.graph.edges),
            self._lengths,
            hop,
            length,
            cut,
            _HOT,
            _COLD,
            _MOVES,
            int(entropy.generate_state(1, np.uint64)[0]),
        )


def front_table(archive: Sequence[Compromise]) -> list[dict[str, Any]]:
    """What is told of each network of an archive, in its order; cables as a list of pairs."""
    return [
        {
            "aspl": found.aspl,
            "diameter": found.diameter,
            "bisection_width": found.bisection_width,
            "cable_length": found.cable_length,
            "weights": dict(zip(("aspl", "bisection", "length"), found.weights, strict=True)),
            "edges": [list(edge) for edge in found.graph.edges],
        }
        for found in archive
    ]
