"""A steady-state genetic algorithm as an OpenTuner technique.

OpenTuner's own `ga-*` techniques draw both parents as the best known configuration, so that their
crossovers recombine it with itself. This one keeps a population. It never waits for results: any
number of its proposals may be in flight.

Method: Whitley, "The GENITOR algorithm and selection pressure", ICGA 1989 (one child at a time,
replacing the worst), with binary tournaments; crossovers of permutations OX1, PMX and CX are
OpenTuner's operators. Imported only by the OpenTuner process.
"""

# OpenTuner's techniques draw from the global random state; the process seeds it for them alone.
# ruff: noqa: S311

from __future__ import annotations

import random
from typing import Any

from opentuner.search.technique import SearchTechnique

from tuner.manipulator import Permutation

__all__ = ["SteadyStateGA"]

_CROSSOVERS = ("op3_cross_OX1", "op3_cross_PMX", "op3_cross_CX")


class SteadyStateGA(SearchTechnique):  # type: ignore[misc]
    """Recombines good configurations: value by value, and permutations by crossover.

    Results that nobody asked for (baselines, mappings made by mappers) join the population.

    Args:
        population_size: How many of the best results are kept; so many begin at random, less those
            that were known before.
    """

    def __init__(self, population_size: int = 12) -> None:
        super().__init__(name="SteadyStateGA")
        self.population_size = population_size
        self._begun = 0
        self._taken = 0  # of the injected results
        self._population: list[tuple[float, Any]] = []

    def desired_configuration(self) -> dict[str, Any]:
        """A random configuration at first, then children of two tournament winners."""
        for result in self.driver.injected[self._taken :]:
            self._taken += 1
            self._begun += 1
            self.handle_requested_result(result)
        if self._begun < self.population_size or len(self._population) < 2:
            self._begun += 1
            return self.manipulator.random()  # type: ignore[no-any-return]
        first, second = self._select(), self._select()
        child = self.manipulator.copy(first)
        parameters = self.manipulator.parameters(child)
        for parameter in parameters:
            if random.random() < 0.5:
                self._cross(parameter, child, second)
        for parameter in parameters:
            if random.random() < 1.0 / len(parameters):
                self._mutate(parameter, child)
        if child in (first, second):
            self._mutate(random.choice(parameters), child)
        return child  # type: ignore[no-any-return]

    def handle_requested_result(self, result: Any) -> None:
        """Take a result into the population, in place of the worst."""
        if result.state != "OK":
            return
        if any(member is result.configuration for _, member in self._population):
            return
        self._population.append((result.time, result.configuration))
        self._population.sort(key=lambda member: member[0])
        del self._population[self.population_size :]

    def _select(self) -> dict[str, Any]:
        winner = min(random.choices(range(len(self._population)), k=2))  # sorted, best first
        return self._population[winner][1].data  # type: ignore[no-any-return]

    @staticmethod
    def _cross(parameter: Any, child: dict[str, Any], other: dict[str, Any]) -> None:
        if isinstance(parameter, Permutation):
            parameter.op3_cross(child, child, other, xchoice=random.choice(_CROSSOVERS))
        else:
            parameter.copy_value(other, child)

    @staticmethod
    def _mutate(parameter: Any, child: dict[str, Any]) -> None:
        if isinstance(parameter, Permutation):
            parameter.op1_small_move(child)
        else:
            parameter.op1_randomize(child)
