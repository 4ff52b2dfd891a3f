"""The kinds of parameters that a search space is made of."""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from typing_extensions import override

from searchspace.configuration import Scalar, Value
from searchspace.errors import InvalidInput
from searchspace.mapping.permutation import packed_cores

__all__ = [
    "BooleanParameter",
    "Condition",
    "EnumParameter",
    "IntegerParameter",
    "LogIntegerParameter",
    "Parameter",
    "PermutationParameter",
    "PlacementParameter",
    "parameter_from",
]


@dataclass(frozen=True)
class Condition:
    """A parameter counts only while another one counts and has one of some values."""

    parameter: str
    values: tuple[Scalar, ...]


class Parameter(ABC):
    """A named choice.

    Attributes:
        kind: What sort of values: `enum`, `boolean`, `integer`, `log-integer`, `permutation`.
        name: Dotted name (`collectives.alltoall`).
        when: The condition under which the parameter counts; None for always.
    """

    kind: ClassVar[str]
    name: str
    when: Condition | None

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values there are."""

    @property
    @abstractmethod
    def default(self) -> Value:
        """The value to begin with."""

    @abstractmethod
    def every(self) -> Iterator[Value]:
        """Yields every value once, in a fixed order."""

    @abstractmethod
    def sample(self, rng: random.Random) -> Value:
        """Draws a value."""

    @abstractmethod
    def accept(self, value: Any) -> Value | None:
        """Returns the value in its canonical type, or None when it is not one of the values."""

    @abstractmethod
    def domain(self) -> dict[str, Any]:
        """Describes the values as JSON."""

    @abstractmethod
    def allowed(self) -> str:
        """The values in words: `x, y`, or `a whole number from 1 to 3`."""

    def searched(self, value: Value) -> Any:
        """A value as search techniques hold it, in JSON; `accept` takes it back."""
        return list(value) if isinstance(value, tuple) else value

    def describe(self) -> dict[str, Any]:
        """Describes the parameter as JSON: name, kind, domain and condition."""
        description = {"name": self.name, "kind": self.kind, **self.domain()}
        if self.when is not None:
            description["when"] = {self.when.parameter: list(self.when.values)}
        return description


def _same(value: Any, option: Scalar) -> bool:
    """Compares as JSON does: true is not 1, and 1.0 is not 1."""
    return type(value) is type(option) and bool(value == option)


@dataclass(frozen=True)
class EnumParameter(Parameter):
    """One of a list of values, which differ as Python sees it (1 and true do not).

    Raises:
        InvalidInput: There is no value, or one twice.
    """

    kind = "enum"
    name: str
    values: tuple[Scalar, ...]
    when: Condition | None = None

    def __post_init__(self) -> None:
        _refuse_bad_list(self.name, self.values)

    @property
    @override
    def size(self) -> int:
        return len(self.values)

    @property
    @override
    def default(self) -> Value:
        return self.values[0]

    @override
    def every(self) -> Iterator[Value]:
        return iter(self.values)

    @override
    def sample(self, rng: random.Random) -> Value:
        return rng.choice(self.values)

    @override
    def accept(self, value: Any) -> Value | None:
        return next((option for option in self.values if _same(value, option)), None)

    @override
    def domain(self) -> dict[str, Any]:
        return {"values": list(self.values)}

    @override
    def allowed(self) -> str:
        return _listed(self.values)


@dataclass(frozen=True)
class BooleanParameter(Parameter):
    """False or true."""

    kind = "boolean"
    name: str
    when: Condition | None = None

    @property
    @override
    def size(self) -> int:
        return 2

    @property
    @override
    def default(self) -> Value:
        return False

    @override
    def every(self) -> Iterator[Value]:
        return iter((False, True))

    @override
    def sample(self, rng: random.Random) -> Value:
        return rng.random() < 0.5

    @override
    def accept(self, value: Any) -> Value | None:
        return value if isinstance(value, bool) else None

    @override
    def domain(self) -> dict[str, Any]:
        return {"values": [False, True]}

    @override
    def allowed(self) -> str:
        return _listed((False, True))


@dataclass(frozen=True)
class IntegerParameter(Parameter):
    """A whole number from low to high, both included.

    Raises:
        InvalidInput: low is above high.
    """

    kind = "integer"
    name: str
    low: int
    high: int
    when: Condition | None = None

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InvalidInput(
                f"no whole number is from {self.low} to {self.high}", field=self.name
            )

    @property
    @override
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    @override
    def default(self) -> Value:
        return self.low

    @override
    def every(self) -> Iterator[Value]:
        return iter(range(self.low, self.high + 1))

    @override
    def sample(self, rng: random.Random) -> Value:
        return rng.randint(self.low, self.high)

    @override
    def accept(self, value: Any) -> Value | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return int(value) if whole and self.low <= value <= self.high else None

    @override
    def domain(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    @override
    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class LogIntegerParameter(IntegerParameter):
    """A whole number whose order of magnitude matters: drawn evenly on a logarithmic scale.

    Raises:
        InvalidInput: low is above high, or not positive.
    """

    kind = "log-integer"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low < 1:
            raise InvalidInput(f"a logarithmic scale begins at 1 or more, not {self.low}")

    @override
    def sample(self, rng: random.Random) -> Value:
        exponent = rng.uniform(math.log(self.low), math.log(self.high + 1))
        return min(max(int(math.exp(exponent)), self.low), self.high)


@dataclass(frozen=True)
class PermutationParameter(Parameter):
    """An order of some items. Its values are tuples here and lists in JSON.

    Raises:
        InvalidInput: There is no item, or one twice.
    """

    kind = "permutation"
    name: str
    items: tuple[Scalar, ...]
    when: Condition | None = None

    def __post_init__(self) -> None:
        _refuse_bad_list(self.name, self.items)

    @property
    @override
    def size(self) -> int:
        return math.factorial(len(self.items))

    @property
    @override
    def default(self) -> Value:
        return self.items

    @override
    def every(self) -> Iterator[Value]:
        return itertools.permutations(self.items)

    @override
    def sample(self, rng: random.Random) -> Value:
        return tuple(rng.sample(self.items, len(self.items)))

    @override
    def accept(self, value: Any) -> Value | None:
        if not isinstance(value, list | tuple) or len(value) != len(self.items):
            return None
        left = list(self.items)
        for item in value:
            found = next((i for i, option in enumerate(left) if _same(item, option)), None)
            if found is None:
                return None
            del left[found]
        return tuple(value)

    @override
    def domain(self) -> dict[str, Any]:
        return {"items": list(self.items)}

    @override
    def allowed(self) -> str:
        return f"each of {_listed(self.items)} once, in any order"


@dataclass(frozen=True)
class PlacementParameter(Parameter):
    """Where ranks run: the core of each, numbered host by host, in one form for all that mean it.

    Techniques search the order of all cores, of which the ranks take the first.

    Raises:
        InvalidInput: There are more ranks than cores, or more than 1,024 cores.
    """

    kind = "permutation"
    name: str
    ranks: int
    hosts: int
    cores_per_host: int
    when: Condition | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.ranks <= self.cores:
            raise InvalidInput(f"{self.ranks} ranks do not fit on {self.cores} cores")
        if self.cores > _MOST_CORES:
            raise InvalidInput(
                f"permutations are searched on at most {_MOST_CORES} cores, not {self.cores}"
            )

    @property
    def cores(self) -> int:
        """Of all hosts."""
        return self.hosts * self.cores_per_host

    @property
    @override
    def size(self) -> int:
        return _placements(self.ranks, self.hosts, self.cores_per_host)

    @property
    @override
    def default(self) -> Value:
        return tuple(range(self.ranks))

    @override
    def every(self) -> Iterator[Value]:
        return self._extensions([], [self.cores_per_host] * self.hosts)

    def _extensions(self, placed: list[int], free: list[int]) -> Iterator[Value]:
        if len(placed) == self.ranks:
            yield packed_cores(placed, self.cores_per_host)
            return
        for host in range(self.hosts):
            if free[host]:
                free[host] -= 1
                yield from self._extensions([*placed, host], free)
                free[host] += 1

    @override
    def sample(self, rng: random.Random) -> Value:
        return self._packed(rng.sample(range(self.cores), self.ranks))

    @override
    def accept(self, value: Any) -> Value | None:
        if not isinstance(value, list | tuple) or len(value) not in (self.ranks, self.cores):
            return None
        if any(type(core) is not int for core in value) or len(set(value)) != len(value):
            return None
        if not 0 <= min(value) <= max(value) < self.cores:
            return None
        return self._packed(value[: self.ranks])

    @override
    def domain(self) -> dict[str, Any]:
        return {"items": list(range(self.cores))}

    @override
    def allowed(self) -> str:
        return (
            f"a core of each of the {self.ranks} ranks, from 0 to {self.cores - 1}, no core twice"
        )

    @override
    def searched(self, value: Value) -> Any:
        assert isinstance(value, tuple)
        return [*value, *sorted(set(range(self.cores)) - set(map(int, value)))]

    def _packed(self, cores: Sequence[int]) -> Value:
        return packed_cores([core // self.cores_per_host for core in cores], self.cores_per_host)


def parameter_from(description: Mapping[str, Any]) -> Parameter:
    """Makes a parameter of its description (`Parameter.describe`)."""
    when = None
    for decider, values in description.get("when", {}).items():
        when = Condition(decider, tuple(values))
    name = description["name"]
    match description["kind"]:
        case "enum":
            return EnumParameter(name, tuple(description["values"]), when)
        case "boolean":
            return BooleanParameter(name, when)
        case "integer":
            return IntegerParameter(name, description["low"], description["high"], when)
        case "log-integer":
            return LogIntegerParameter(name, description["low"], description["high"], when)
    return PermutationParameter(name, tuple(description["items"]), when)


_MOST_CORES = 1_024


def _listed(values: Sequence[Scalar]) -> str:
    return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in values)


@functools.cache
def _placements(ranks: int, hosts: int, cores_per_host: int) -> int:
    """Ways to give ranks hosts, none more than it has cores."""
    if cores_per_host == 1:
        return math.perm(hosts, ranks)
    ways = [1] + [0] * ranks  # for so many ranks on the hosts seen
    for _ in range(hosts):
        ways = [
            sum(
                math.comb(placed, here) * ways[placed - here]
                for here in range(min(cores_per_host, placed) + 1)
            )
            for placed in range(ranks + 1)
        ]
    return ways[ranks]


def _refuse_bad_list(name: str, values: Sequence[Scalar]) -> None:
    if not values:
        raise InvalidInput("needs at least one value", field=name)
    for index, value in enumerate(values):
        if value in values[:index]:
            raise InvalidInput(f"{value!r} is listed twice", field=name)
