"""Candidates: the points that a model chooses among, each run once, with their features."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace.collectives.by_size import names_algorithms
from searchspace.configuration import Configuration, Value, canonical_json
from searchspace.insight.features import Features
from searchspace.insight.known import Known
from searchspace.parameters import Parameter
from searchspace.space import SearchSpace

__all__ = ["Candidates"]

_WHOLE = 6_000
"""Points of a space that are candidates all of them; of larger ones a sample is."""
_SAMPLE = 3_000
_DRAWS = 2
_STRUCTURE_WORK = 8_000
_MOST_STRUCTURES = 400
_SHARE_LATER = 16
_NEIGHBOURS = 24
"""Values of a parameter that neighbours are made with."""


class Candidates:
    """Points of a space that may be proposed, by number.

    Points that are known to be the same run are one; those known to be infeasible are none.
    Networks with ranks on them are looked at, which takes time: so many at first, some more later.

    Args:
        space: What is searched.
        known: What is known of it; None where nothing is.
        cores: Of the machine; the more, the fewer structures are looked at.
        seed: Of what is drawn.
    """

    def __init__(self, space: SearchSpace, known: Known | None, cores: int, seed: int) -> None:
        self._space = space
        self._known = known
        self._features = Features(space, known)
        # Seeded by text: not the draws of others with the same number.
        self._random = random.Random(f"{seed} candidates")  # noqa: S311
        self._structures = max(16, min(_MOST_STRUCTURES, _STRUCTURE_WORK // max(cores, 1)))
        self._numbers: dict[str, int] = {}
        self.points: list[Configuration] = []
        self._rows: list[NDArray[np.float32]] = []
        self._matrix: NDArray[np.float32] | None = None
        self._weights: list[tuple[float, float]] = []
        self._seconds: dict[int, float] = {}
        self._busiest: dict[int, float] = {}
        self._marks: dict[int, str] = {}
        self._left: dict[tuple[int, str], list[Configuration]] = {}  # near ones that did not join
        for point in self._first():
            self.number_of(point, allow=self._structures)

    @property
    def features(self) -> NDArray[np.float32]:
        """Of all candidates, shape (candidates, features)."""
        if self._matrix is None or len(self._matrix) != len(self._rows):
            self._matrix = np.array(self._rows, dtype=np.float32)
        return self._matrix

    @property
    def weights(self) -> NDArray[np.float64]:
        """What is weighed against time, of all candidates, shape (candidates, 2).

        What it is whatever the time, and what each second adds; nan: not known.
        """
        known = self._known
        for point in self.points[len(self._weights) :]:
            weight = None if known is None else known.weight(point)
            told = (np.nan, np.nan) if weight is None else (weight.fixed, weight.per_second)
            self._weights.append(told)
        return np.array(self._weights)

    @property
    def weighed(self) -> bool:
        """Whether anything is weighed against time."""
        terms = None if self._known is None else self._known.terms
        return terms is not None and terms.second is not None

    def number_of(self, point: Mapping[str, Value], *, allow: int | None = None) -> int | None:
        """The number of a point, which joins the candidates where it is new.

        Args:
            point: A point of the space.
            allow: How many structures may have been looked at for another one to be; None: any.

        Returns:
            None for one that is infeasible, or has a structure that may not be looked at.
        """
        known = self._known
        if known is None:
            identity = canonical_json(dict(point))
        else:
            structures = known.structures
            if allow is not None and structures.count >= allow and not structures.seen(point):
                return None
            if known.infeasible(point) is not None:
                return None
            identity = known.identity(point)
        number = self._numbers.get(identity)
        if number is None:
            number = self._numbers[identity] = len(self.points)
            self.points.append(Configuration(point))
            self._rows.append(self._features.row(point).astype(np.float32))
        return number

    def look_around(self, number: int) -> None:
        """Let points that differ from a candidate in one parameter join."""
        more = max(2, self._structures // _SHARE_LATER)
        allow = self._known.structures.count + more if self._known is not None else None
        point = self.points[number]
        for parameter in self._space.parameters:
            if parameter.name in point and parameter.size > 1:
                near = self._near(number, parameter)
                left = [one for one in near if self.number_of(one, allow=allow) is None]
                if _is_small(parameter):  # those that joined need not be made again
                    self._left[number, parameter.name] = left

    def seconds(self, number: int) -> float:
        """What the collectives of a candidate took when they were probed; 0.0: not known."""
        if number not in self._seconds:
            known, point = self._known, self.points[number]
            self._seconds[number] = 0.0 if known is None else known.probed_seconds(point)
        return self._seconds[number]

    def busiest(self, number: int) -> float:
        """Bytes that the busiest cable carries under a candidate; infinite: not known."""
        if number not in self._busiest:
            known, point = self._known, self.points[number]
            self._busiest[number] = math.inf if known is None else known.structures.busiest(point)
        return self._busiest[number]

    def structure(self, number: int) -> str:
        """Which structure a candidate has."""
        if number not in self._marks:
            known, point = self._known, self.points[number]
            self._marks[number] = "" if known is None else known.structures.of(point).mark
        return self._marks[number]

    @property
    def whole(self) -> bool:
        """Whether all points of the space were offered to be candidates."""
        return self._space.size <= _WHOLE

    def _first(self) -> Iterator[Configuration]:
        if self.whole:
            points = list(self._space.enumerate())
            self._random.shuffle(points)
            yield from points
            return
        for _ in range(_DRAWS * _SAMPLE):
            if len(self.points) >= _SAMPLE:
                return
            drawn = self._space.sample(self._random)
            yield drawn
            if self.points:
                # The same algorithms on a network that has been looked at.
                yield self._joined(self._random.choice(self.points), drawn)

    def _joined(self, structure: Configuration, algorithms: Configuration) -> Configuration:
        values = {name: one for name, one in structure.items() if not names_algorithms(name)}
        values |= {name: one for name, one in algorithms.items() if names_algorithms(name)}
        return self._space.canonicalise(values)

    def _near(self, number: int, parameter: Parameter) -> list[Configuration]:
        """Points with another value of a parameter: of a small one all that did not join yet."""
        if (number, parameter.name) in self._left:
            return self._left[number, parameter.name]
        point = self.points[number]
        value = point[parameter.name]
        others: list[Value]
        if _is_small(parameter):
            others = [other for other in parameter.every() if other != value]
        elif parameter.kind == "permutation":
            assert isinstance(value, tuple), "a permutation is a tuple"
            others = [_swapped(value, self._random) for _ in range(_NEIGHBOURS)]
        else:
            others = [parameter.sample(self._random) for _ in range(_NEIGHBOURS)]
        return [self._with(point, parameter, other) for other in others]

    def _with(self, point: Configuration, parameter: Parameter, value: Value) -> Configuration:
        """The point with another value; parameters that come to count get their defaults."""
        defaults = {p.name: p.default for p in self._space.parameters}
        return self._space.canonicalise({**defaults, **point, parameter.name: value})


def _is_small(parameter: Parameter) -> bool:
    """Whether neighbours are made with each of its values."""
    return parameter.kind != "permutation" and parameter.size <= _NEIGHBOURS


def _swapped(order: tuple[Any, ...], rng: random.Random) -> tuple[Any, ...]:
    items = list(order)
    if len(items) > 1:
        one, other = rng.sample(range(len(items)), 2)
        items[one], items[other] = items[other], items[one]
    return tuple(items)
