"""Search spaces: parameters, the conditions under which they count, and constraints.

Example:
    >>> space = SearchSpace([
    ...     EnumParameter("topology", ("torus-3d", "random")),
    ...     IntegerParameter("topology_seed", 0, 9, when=Condition("topology", ("random",))),
    ... ])
    >>> space.size
    11
    >>> space.canonicalise({"topology": "torus-3d", "topology_seed": 4})
    Configuration({"topology":"torus-3d"})
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from searchspace.configuration import Configuration, Value
from searchspace.errors import InvalidInput
from searchspace.parameters import (
    BooleanParameter,
    Condition,
    EnumParameter,
    IntegerParameter,
    LogIntegerParameter,
    Parameter,
    PermutationParameter,
    PlacementParameter,
    parameter_from,
)

__all__ = [
    "BooleanParameter",
    "Condition",
    "Constraint",
    "EnumParameter",
    "IntegerParameter",
    "LogIntegerParameter",
    "Parameter",
    "PermutationParameter",
    "PlacementParameter",
    "SearchSpace",
]


@dataclass(frozen=True)
class Constraint:
    """What must hold for a configuration to be worth evaluating.

    Attributes:
        description: Why a configuration that breaks it cannot be used, a plain sentence.
        holds: The test; parameters that do not count are missing from what it is given.
    """

    description: str
    holds: Callable[[Mapping[str, Value]], bool]


class SearchSpace:
    """The configurations that a job chooses from.

    Parameters that do not count (their condition is not met) are left out of a configuration, so
    that different configurations differ in something that matters. Constraints do not shrink the
    space: a configuration that breaks one is infeasible, which is a result.

    Args:
        parameters: In order; a condition names a parameter that comes earlier.
        constraints: Checked by `infeasible`.

    Raises:
        InvalidInput: No parameter, a name twice, or a condition on an unknown parameter or value.
    """

    def __init__(
        self, parameters: Sequence[Parameter], constraints: Sequence[Constraint] = ()
    ) -> None:
        self.parameters = tuple(parameters)
        self.constraints = tuple(constraints)
        if not self.parameters:
            raise InvalidInput("a search space needs at least one parameter")
        self._by_name: dict[str, Parameter] = {}
        for parameter in self.parameters:
            if parameter.name in self._by_name:
                raise InvalidInput("is defined twice", field=parameter.name)
            self._check_condition(parameter)
            self._by_name[parameter.name] = parameter

    @classmethod
    def from_description(cls, parameters: Sequence[Mapping[str, Any]]) -> SearchSpace:
        """Makes a space of its described parameters (`describe`), without constraints.

        Where ranks run is an order of all cores then, as search techniques hold it.
        """
        return cls([parameter_from(description) for description in parameters])

    def _check_condition(self, parameter: Parameter) -> None:
        if parameter.when is None:
            return
        decider = self._by_name.get(parameter.when.parameter)
        if decider is None:
            raise InvalidInput(
                f"depends on '{parameter.when.parameter}', which is not defined before it",
                field=parameter.name,
            )
        for value in parameter.when.values:
            if decider.accept(value) is None:
                raise InvalidInput(
                    f"depends on {decider.name} = {value!r}, which is never its value",
                    field=parameter.name,
                )

    @functools.cached_property
    def size(self) -> int:
        """How many distinct configurations there are, exactly, conditions respected."""
        roots = [p for p in self.parameters if p.when is None]
        return math.prod(self._branches(root) for root in roots)

    def _branches(self, parameter: Parameter) -> int:
        """Counts the configurations of a parameter and of all that depends on it."""
        dependents = [p for p in self.parameters if p.when and p.when.parameter == parameter.name]
        deciding = {value for p in dependents if p.when for value in p.when.values}
        return (parameter.size - len(deciding)) + sum(
            math.prod(self._branches(p) for p in dependents if p.when and value in p.when.values)
            for value in deciding
        )

    def canonicalise(self, values: Mapping[str, Any]) -> Configuration:
        """Checks values and leaves out the parameters that do not count.

        Canonicalising again changes nothing. A parameter with a single value may be missing.

        Raises:
            InvalidInput: An unknown parameter, a value that is not allowed, or one missing.
        """
        for name in values:
            if name not in self._by_name:
                known = ", ".join(self._by_name)
                raise InvalidInput(f"unknown parameter; allowed: {known}", field=name)
        chosen: dict[str, Value] = {}
        for parameter in self.parameters:
            if not _counts(parameter, chosen):
                continue
            if parameter.name in values:
                value = parameter.accept(values[parameter.name])
                if value is None:
                    raise InvalidInput(
                        f"{values[parameter.name]!r} is not allowed; allowed: "
                        f"{parameter.allowed()}",
                        field=parameter.name,
                    )
            elif parameter.size == 1:
                value = parameter.default
            else:
                raise InvalidInput("is missing", field=parameter.name)
            chosen[parameter.name] = value
        return Configuration(chosen)

    def infeasible(self, configuration: Mapping[str, Value]) -> str | None:
        """Says which constraint a configuration breaks, or returns None."""
        broken = (c.description for c in self.constraints if not c.holds(configuration))
        return next(broken, None)

    def sample(self, rng: random.Random) -> Configuration:
        """Draws a configuration: each parameter that counts by its own distribution."""
        chosen: dict[str, Value] = {}
        for parameter in self.parameters:
            if _counts(parameter, chosen):
                chosen[parameter.name] = parameter.sample(rng)
        return Configuration(chosen)

    def enumerate(self) -> Iterator[Configuration]:
        """Yields every distinct configuration once, in a fixed order."""
        for chosen in self._extensions({}, 0):
            yield Configuration(chosen)

    def _extensions(self, chosen: dict[str, Value], index: int) -> Iterator[dict[str, Value]]:
        if index == len(self.parameters):
            yield chosen
            return
        parameter = self.parameters[index]
        if not _counts(parameter, chosen):
            yield from self._extensions(chosen, index + 1)
            return
        for value in parameter.every():
            yield from self._extensions({**chosen, parameter.name: value}, index + 1)

    def default(self) -> Configuration:
        """Returns the configuration of every parameter's default."""
        chosen: dict[str, Value] = {}
        for parameter in self.parameters:
            if _counts(parameter, chosen):
                chosen[parameter.name] = parameter.default
        return Configuration(chosen)

    def describe(self) -> dict[str, Any]:
        """Describes the space as JSON: its size, parameters and constraints."""
        return {
            "size": self.size,
            "parameters": [parameter.describe() for parameter in self.parameters],
            "constraints": [constraint.description for constraint in self.constraints],
        }


def _counts(parameter: Parameter, chosen: Mapping[str, Value]) -> bool:
    """Tells whether a parameter's condition is met by the values chosen before it."""
    if parameter.when is None:
        return True
    return (
        parameter.when.parameter in chosen
        and chosen[parameter.when.parameter] in parameter.when.values
    )
