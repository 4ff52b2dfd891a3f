"""A model of simulated time: what rounds of messages do to cables, weighed as simulations tell.

Four terms of a mapping (`searchspace/kernels/mapping/round_assignment.hpp`): the bytes that all
cables carry, the load of the busiest if everything were sent at once, the loads of the busiest in
each round, added up, and the hops of all messages, each of which takes a latency. How much each
counts depends on how closely ranks keep step with each other, which no traffic tells: it is learned
by least squares from mappings that were simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.kernels import edge_array
from searchspace.kernels._native import RoundAssignment
from searchspace.machine import Machine
from searchspace.mapping.cables import LOWEST_ID, too_many_routes
from searchspace.mapping.mapper import Places
from searchspace.rounds import Rounds

__all__ = ["HostLimits", "TimeModel", "Weights", "round_assignment"]

Weights = tuple[float, float, float, float]
"""What a unit of volume, busiest, rounds and hops counts."""

_STEPS_A_RANK = 1000
_WORK = 4e8
"""What an annealing may take, in additions: about a CPU second."""

_PRIOR = np.array([0.2, 0.1, 0.4, 0.2, 0.1])
"""Shares of the time of the first mapping: what is the same in all, and the four terms."""

_TRUST = 0.05
"""What the prior counts, in simulations."""

_MOST_REMEMBERED = 200
_MOST_LOADS = 2**23
"""Ways of cables in all rounds, 8 bytes each; beyond, everything counts as sent at once."""


@dataclass(frozen=True)
class HostLimits:
    """What the ranks of a host share, in multiples of what one way of a cable carries.

    Attributes:
        interface: Each way between a host and the network; 0 where it limits nothing.
        memory: Of messages between ranks of a host; 0 where it limits nothing.
    """

    interface: float = 0.0
    memory: float = 0.0

    @classmethod
    def of(cls, machine: Machine) -> HostLimits:
        """Those of a described machine."""
        cable = machine.link_bandwidth
        return cls(
            (machine.interface_bandwidth or 0.0) / cable, (machine.memory_bandwidth or 0.0) / cable
        )


def round_assignment(
    rounds: Rounds,
    machine: HopMachine,
    places: Places,
    limits: HostLimits | None = None,
    *,
    tie_rule: str = LOWEST_ID,
) -> RoundAssignment:
    """The assignment of ranks to places, whose terms follow swaps; see `TimeModel`."""
    network, shared = machine.network, limits or HostLimits()
    return RoundAssignment(
        rounds.ranks,
        rounds.number,
        rounds.sender,
        rounds.receiver,
        rounds.size,
        rounds.count,
        machine.place_hosts,
        network.nodes,
        edge_array(network.edges),
        network.hosts,
        tie_rule,
        [network.width(index) for index in range(len(network.edges))],
        shared.interface,
        shared.memory,
        places,
    )


class TimeModel:
    """Foretells how long mappings take, follows swaps, and anneals.

    Args:
        rounds: What the ranks send each other, and when.
        machine: Where they run.
        places: The place of each rank, all distinct.
        tie_rule: Of the network's routes.
        limits: What ranks of a host share.

    Raises:
        InvalidInput: The network is too large for its routes to be kept.
    """

    def __init__(
        self,
        rounds: Rounds,
        machine: HopMachine,
        places: Places,
        *,
        tie_rule: str = LOWEST_ID,
        limits: HostLimits | None = None,
    ) -> None:
        network = machine.network
        if 2 * len(network.edges) * len(rounds.count) > _MOST_LOADS:
            rounds = rounds.joined()
        reason = too_many_routes(machine)
        if reason is not None:
            raise InvalidInput(f"a search over swaps {reason}")
        self._assignment = round_assignment(rounds, machine, places, limits, tie_rule=tie_rule)
        steps = min(_STEPS_A_RANK * rounds.ranks, _WORK / self._assignment.work())
        self._steps = max(1, int(steps))
        self._unit = np.maximum(np.array(self._assignment.terms()), 1e-300)
        self._seen: list[tuple[NDArray[np.float64], float]] = []
        self._shares = _PRIOR

    @property
    def weights(self) -> Weights:
        """What the terms count, as far as is known."""
        return self.weighing(*self._shares[1:].tolist())

    def weighing(self, volume: float, busiest: float, rounds: float, hops: float) -> Weights:
        """Weights under which the terms of the first mapping count so much."""
        one, two, three, four = (np.array([volume, busiest, rounds, hops]) / self._unit).tolist()
        return one, two, three, four

    def terms(self, places: Places) -> Weights:
        """Volume, busiest, rounds and hops of a mapping; the ranks are moved there."""
        self.become(places)
        return self._assignment.terms()

    def become(self, places: Places) -> None:
        """Moves all ranks."""
        for rank, place in enumerate(places.tolist()):
            self._assignment.swap(rank, place)

    def after(self, rank: int, place: int) -> float:
        """What a swap leads to; only comparisons between such answers mean anything."""
        terms = self._assignment.after(rank, place)
        return sum(weight * term for weight, term in zip(self.weights, terms, strict=True))

    def learn(self, places: Places, seconds: float) -> None:
        """Takes in how long a mapping takes; the ranks are moved there.

        Args:
            places: The mapping.
            seconds: Simulated.
        """
        from scipy.optimize import nnls  # here, since most commands do without

        found = np.array(self.terms(places))
        if seconds <= 0:
            return
        self._seen.append((found / self._unit, seconds))
        del self._seen[1:-_MOST_REMEMBERED]
        scale = self._seen[0][1]
        least = min(time for _, time in self._seen)
        rows, values = [], []
        for terms, time in self._seen:
            trust = (least / time) ** 2  # fast mappings are what matters
            rows.append(trust * np.concatenate(([1.0], terms)))
            values.append(trust * time / scale)
        prior = math.sqrt(_TRUST)
        matrix = np.concatenate((np.array(rows), prior * np.eye(len(_PRIOR))))
        shares, _ = nnls(matrix, np.concatenate((values, prior * _PRIOR)))
        if shares[1:].max() > 0:
            self._shares = shares

    def anneal(self, weights: Weights, seed: int, *, hot: float = 0.5) -> Places:
        """What annealing over swaps makes of the mapping, which becomes that.

        Args:
            weights: What the terms count.
            seed: Of the random choices.
            hot: The first temperature, as a multiple of what a swap changes in the mean; well below
                1, what is found resembles the mapping that was there.
        """
        self._assignment.anneal(weights, hot, self._steps, seed)
        return self._assignment.places()
