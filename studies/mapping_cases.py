"""Cases of mapping: ranks, a machine, and what simulates them; and every mapper to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine, Network
from searchspace.mapping import MAPPERS, Places, map_ranks
from searchspace.mapping.refine import Refined, Timed, refine
from searchspace.mapping.time_model import HostLimits
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic
from studies.mapping_machines import CoreMachine
from studies.recordings import Recording

__all__ = ["METHODS", "Case", "Method", "on_cores"]

Measure = Callable[[Places, float | None], float | None]
"""Simulated seconds of a mapping; None where they are more than a cutoff."""


@dataclass(frozen=True)
class Method:
    """A mapper with its options.

    Attributes:
        mapper: A key of `MAPPERS`.
        options: Those that differ from the mapper's own.
    """

    mapper: str
    options: Mapping[str, Scalar] = field(default_factory=dict)

    def places(self, case: Case, seed: int) -> Places | None:
        """Places the ranks of a case; None where the mapper cannot be used."""
        return self.places_of(case.traffic, case.machine, seed)

    def places_of(self, traffic: Traffic, machine: HopMachine, seed: int) -> Places | None:
        """Places ranks; None where the mapper cannot be used."""
        if MAPPERS[self.mapper].obstacle(machine) is not None:
            return None
        try:
            return map_ranks(self.mapper, traffic, machine, seed=seed, **dict(self.options))
        except InvalidInput:  # such as a grid of ranks that is none
            return None


METHODS: Mapping[str, Method] = {
    "by-order": Method("by-order"),
    "packed": Method("packed"),
    "blocked": Method("blocked"),
    "cyclic": Method("cyclic"),
    "round-robin": Method("round-robin"),
    "random": Method("random"),
    "treematch": Method("treematch"),
    "mpipp.1": Method("mpipp"),
    "mpipp.5": Method("mpipp", {"starts": 5}),
    "recursive-tree:inter": Method("recursive-tree", {"scope": "inter"}),
    "recursive-tree": Method("recursive-tree"),
    "recursive-bipartition:inter": Method("recursive-bipartition", {"scope": "inter"}),
    "recursive-bipartition": Method("recursive-bipartition"),
    "greedy": Method("greedy"),
    "recursive-graph": Method("recursive-graph"),
    "rcm": Method("rcm"),
    "scotch": Method("scotch"),
    "contention-free:old": Method("contention-free", {"version": "old"}),
    "contention-free": Method("contention-free"),
    "geometric": Method("geometric"),
    "auto": Method("auto"),
    "weighted": Method("weighted"),
}
"""Every mapper, with the options that papers compare, by its name in tables."""


@dataclass(frozen=True)
class Case:
    """Ranks to be mapped on a machine, and what simulates them there.

    Attributes:
        name: For tables.
        traffic: What mappers see of the ranks.
        machine: What they see of the machine.
        measure: Simulates a mapping.
        simulated: The machine with the cables of the simulated network, for the refinement; its
            places are those of `machine`.
        rounds: When the ranks exchange what they do, for the refinement.
        limits: What ranks of a simulated host share, for the refinement.
    """

    name: str
    traffic: Traffic
    machine: HopMachine
    measure: Measure
    simulated: HopMachine
    rounds: Rounds
    limits: HostLimits | None = None

    def seconds(self, places: Places) -> float:
        """Simulated seconds of a mapping.

        Raises:
            InvalidInput: The run did not complete.
        """
        seconds = self.measure(places, None)
        if seconds is None:
            raise InvalidInput(f"{self.name} does not run when it is mapped so")
        return seconds

    def refined(self, starts: list[Places], *, evaluations: int, seed: int) -> Refined:
        """Refines the best of some mappings by simulated time."""

        def evaluate(places: Places, cutoff: float | None) -> Timed | None:
            seconds = self.measure(places, cutoff)
            return None if seconds is None else Timed(seconds)

        return refine(
            self.traffic,
            self.simulated,
            starts,
            evaluate,
            evaluations=evaluations,
            rounds=self.rounds,
            limits=self.limits,
            seed=seed,
        )


def on_cores(
    name: str,
    recording: Recording,
    machine: CoreMachine,
    traffic: Traffic | None = None,
    *,
    configuration: Mapping[str, Any] | None = None,
) -> Case:
    """A recording on a machine whose cores are simulated one by one.

    Args:
        name: For tables.
        recording: What runs.
        machine: Where.
        traffic: What mappers see of it; everything it exchanges if left out.
        configuration: Algorithms of collectives that differ from the defaults.
    """

    def measure(places: Places, cutoff: float | None) -> float | None:
        hosts = np.asarray(places).tolist()
        return recording.time_within(
            machine.network, machine.quantities, hosts, cutoff, configuration=configuration
        )

    seen = recording.traffic if traffic is None else traffic
    simulated = HopMachine.uniform(Network(machine.network))
    rounds = recording.rounds(configuration)
    return Case(name, seen, machine.hops, measure, simulated, rounds)
