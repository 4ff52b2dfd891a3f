"""Experience: trials of a finished job, by features that mean the same in other jobs.

Simulated times of one job say nothing of those of another; which of its configurations are quicker
than its others does. So times are kept relative to the job's median, and so are the numbers that
describe configurations: the busiest cable of a configuration against that of the job's usual ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from searchspace.configuration import Configuration, Value
from searchspace.errors import InvalidInput
from searchspace.insight.insight import Insight
from searchspace.insight.known import Known
from searchspace.space import SearchSpace

__all__ = ["Comparable", "Experience", "Tried", "experience_of"]

_MOST_VALUES = 64
"""Of a parameter whose values are told apart one by one."""
_EVERYWHERE = ("topology", "ordering", "mapping", "mpi", "collectives", "protocol")
"""What begins the names of parameters whose values mean the same on every machine."""
_NUMBERS = (
    "network.aspl",
    "network.diameter",
    *(
        f"{of}.{term}"
        for of in ("program", "all")
        for term in ("volume", "busiest", "rounds", "hops")
    ),
)
_DRAWS = 200
"""Points that tell what is usual in a job."""
_MOST_TRIALS = 400
_BEST = 100
"""Of a job's trials, so many are kept at most, and among them so many of the best."""
_LEAST = 1e-300  # seconds that have a logarithm
_DIGITS = 6
"""Of what is kept: sums differ in the last ones between processors, and models must not."""


class Comparable:
    """Makes features of configurations of one job under names that other jobs have too.

    A value of a parameter is a feature of its own, so that what only one job can choose is left
    out of what two jobs share. Instances of networks and seeds of mappers are the same in another
    job only where its machine has as many hosts, of the same degree, for as many ranks.

    Args:
        space: What is searched.
        insight: What is known of the application and the machine; None where nothing is.
        known: The same of the configurations of the space; None where nothing is.

    Attributes:
        names: Of the features.
    """

    def __init__(self, space: SearchSpace, insight: Insight | None, known: Known | None) -> None:
        self._space = space
        self._known = known
        self._place = "" if insight is None else _place(insight)
        self._columns: dict[tuple[str, Value], int] = {}
        names: list[str] = []
        for parameter in space.parameters:
            if not 1 < parameter.size <= _MOST_VALUES or parameter.kind == "permutation":
                continue
            everywhere = _is_everywhere(parameter.name)
            if not everywhere and insight is None:
                continue
            for value in parameter.every():
                self._columns[parameter.name, value] = len(names)
                names.append(f"{parameter.name}={value}" + ("" if everywhere else self._place))
        self._choices = len(names)
        if known is not None:
            self._probed = tuple(name for name, *_ in known.algorithms({}))
            names += [*_NUMBERS, *(f"probe.{name}" for name in self._probed), "probe.all"]
        self.names = tuple(names)

    def rows(self, configurations: Sequence[Mapping[str, Value]]) -> NDArray[np.float64]:
        """The features of configurations, shape (configurations, features), not yet relative."""
        return np.array([self._row(one) for one in configurations]).reshape(-1, len(self.names))

    def relative(self, rows: NDArray[np.float64], to: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows with their numbers relative to what is usual in a job.

        Args:
            rows: Shape (configurations, features).
            to: Of some configurations of the same job, shape (some, features).
        """
        usual = np.zeros(len(self.names))
        if len(to):
            usual[self._choices :] = np.median(to[:, self._choices :], axis=0)
        return np.round(rows - usual, _DIGITS)

    def same_point(self, source: Experience) -> Configuration | None:
        """The best trial of another job as a point of this one's space; None where it is none."""
        best = source.best
        if best is None:
            return None
        if not all(map(_is_everywhere, best)) and (source.place != self._place or not self._place):
            return None
        try:
            return self._space.canonicalise(best)
        except InvalidInput:  # something was chosen there that cannot be chosen here, or not at all
            return None

    def _row(self, configuration: Mapping[str, Value]) -> NDArray[np.float64]:
        row = np.zeros(len(self.names))
        for choice in configuration.items():
            column = self._columns.get(choice)
            if column is not None:
                row[column] = 1.0
        known = self._known
        if known is not None:
            probes = (known.probes.of(*one) for one in known.algorithms(configuration))
            row[self._choices :] = [
                *map(_logarithm, known.structures.numbers(configuration)),
                *(_logarithm(one.seconds if one is not None else None) for one in probes),
                _logarithm(known.probed_seconds(configuration)),
            ]
        return row


def _is_everywhere(parameter: str) -> bool:
    return parameter.split(".")[0] in _EVERYWHERE


def _place(insight: Insight) -> str:
    """Where instances of networks and seeds of mappers are the same."""
    machine = insight.machine
    degree = "" if machine.degree is None else f" of degree {machine.degree}"
    cores = machine.cores_per_host
    return f" of {machine.nodes} hosts{degree}, {cores} cores each, {insight.ranks} ranks"


def _logarithm(number: float | None) -> float:
    return math.log(number) if number else 0.0


@dataclass(frozen=True)
class Experience:
    """What a finished job has to teach.

    Attributes:
        job: Its id.
        name: Its name for people.
        features: The names of its features.
        rows: Of its trials, shape (trials, features).
        times: Logarithms of their seconds less the median of those that ran to their end; of one
            that was cut off, of what it takes at least. Shape (trials,).
        completed: Whether they ran to their end, shape (trials,).
        best: The configuration of the quickest that did; None of one that was stored without.
        place: The machine and the ranks, as far as instances and seeds depend on them.
    """

    job: str
    name: str
    features: tuple[str, ...]
    rows: NDArray[np.float64]
    times: NDArray[np.float64]
    completed: NDArray[np.bool_]
    best: Configuration | None = None
    place: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON, to be stored, and to be sent to another process."""
        return {
            "job": self.job,
            "name": self.name,
            "features": list(self.features),
            "rows": self.rows.tolist(),
            "times": self.times.tolist(),
            "completed": self.completed.tolist(),
            "best": None if self.best is None else dict(self.best),
            "place": self.place,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Experience:
        """Reads it back."""
        features = tuple(told["features"])
        best = told.get("best")
        return cls(
            told["job"],
            told["name"],
            features,
            np.array(told["rows"], dtype=np.float64).reshape(-1, len(features)),
            np.array(told["times"], dtype=np.float64),
            np.array(told["completed"], dtype=np.bool_),
            None if best is None else Configuration.from_json(best),
            told.get("place", ""),
        )


class Tried(NamedTuple):
    """A trial of a finished job: seconds that it took, or at least takes where it was cut off."""

    configuration: Configuration
    seconds: float
    completed: bool


def experience_of(
    job: str,
    name: str,
    space: SearchSpace,
    insight: Insight | None,
    trials: Sequence[Tried],
) -> Experience | None:
    """What a finished job has to teach.

    Args:
        job: Its id.
        name: Its name.
        space: What it searched.
        insight: What is known of its application and machine; None where nothing is.
        trials: In the order in which they were told, points of its space.

    Returns:
        None where no trial ran to its end.

    Raises:
        InvalidInput: A trace cannot be read.
    """
    kept = _telling(trials)
    if not any(one.completed for one in kept):
        return None
    known = None if insight is None else insight.known(space)
    comparable = Comparable(space, insight, known)
    rng = random.Random("usual")  # noqa: S311
    drawn = [space.sample(rng) for _ in range(_DRAWS)]
    possible = [one for one in drawn if known is None or known.infeasible(one) is None]
    usual = comparable.rows(possible)
    rows = comparable.rows([one.configuration for one in kept])
    times = np.array([math.log(max(one.seconds, _LEAST)) for one in kept])
    completed = np.array([one.completed for one in kept], dtype=np.bool_)
    times -= float(np.median(times[completed]))
    return Experience(
        job,
        name,
        comparable.names,
        comparable.relative(rows, usual),
        np.round(times, _DIGITS),
        completed,
        kept[int(np.argmin(np.where(completed, times, np.inf)))].configuration,
        "" if insight is None else _place(insight),
    )


def _telling(trials: Sequence[Tried]) -> list[Tried]:
    """The trials of a long job that tell most: the best, and some of all others."""
    if len(trials) <= _MOST_TRIALS:
        return list(trials)
    order = sorted(
        range(len(trials)),
        key=lambda place: (not trials[place].completed, trials[place].seconds, place),
    )
    others = sorted(order[_BEST:])
    step = len(others) / (_MOST_TRIALS - _BEST)
    spread = {others[int(number * step)] for number in range(_MOST_TRIALS - _BEST)}
    return [trials[place] for place in sorted({*order[:_BEST], *spread})]
