"""Features: numbers that tell a model of simulated time what a configuration means.

None of them is simulated for a configuration: distances in its network, what cables carry of the
application's traffic under its mapping and its algorithms (`searchspace.mapping.time_model`), and
what its algorithms took when the calls of each collective were probed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from searchspace.configuration import Value
from searchspace.insight.known import Known
from searchspace.space import SearchSpace

__all__ = ["Features"]

_MOST_VALUES = 64
"""Of a parameter whose values are told apart one by one."""
_DIGITS = 9
"""Of features: sums differ in the last ones between processors, and models must not."""


class Features:
    """Makes the features of configurations of one job.

    Args:
        space: What is searched.
        known: What is known of its configurations; None where nothing is but their values.
    """

    def __init__(self, space: SearchSpace, known: Known | None) -> None:
        self._known = known
        choices = [
            (parameter.name, value)
            for parameter in space.parameters
            if 1 < parameter.size <= _MOST_VALUES and parameter.kind != "permutation"
            for value in parameter.every()
        ]
        self._columns = {choice: column for column, choice in enumerate(choices)}
        self._numbers = [p.name for p in space.parameters if p.kind in ("integer", "log-integer")]

    def rows(self, configurations: Sequence[Mapping[str, Value]]) -> NDArray[np.float64]:
        """The features of configurations, shape (configurations, features)."""
        return np.array([self.row(one) for one in configurations], dtype=np.float64)

    def row(self, configuration: Mapping[str, Value]) -> NDArray[np.float64]:
        """The features of one configuration."""
        chosen = np.zeros(len(self._columns))
        for choice in configuration.items():
            column = self._columns.get(choice)
            if column is not None:
                chosen[column] = 1.0
        numbers = [float(configuration.get(name, -1)) for name in self._numbers]  # type: ignore[arg-type]
        if self._known is not None:
            numbers += self._known.structures.numbers(configuration)
            numbers += _of_probes(self._known, configuration)
        told = [float(f"{number:.{_DIGITS}g}") for number in numbers]
        return np.concatenate((chosen, told))


def _of_probes(known: Known, configuration: Mapping[str, Value]) -> list[float]:
    """Seconds of each collective by itself, on a logarithmic scale, and of all together."""
    numbers = []
    for one in known.algorithms(configuration):
        probe = known.probes.of(*one)
        seconds = probe.seconds if probe is not None else None
        numbers.append(math.log(seconds) if seconds else 0.0)
    total = known.probed_seconds(configuration)
    return [*numbers, math.log(total) if total else 0.0]
