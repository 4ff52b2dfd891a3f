"""OpenTuner's manipulator over the parameters of a search space, repaired where they need it.

Configurations are plain dictionaries of JSON values. Imported only by the OpenTuner process.
"""

# OpenTuner's techniques draw from the global random state; the process seeds it for them alone.
# ruff: noqa: S311

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentuner.search import manipulator as opentuner

from searchspace.configuration import canonical_json

__all__ = ["Boolean", "Enum", "Integer", "LogInteger", "Manipulator", "Permutation", "build"]


class _Repaired:
    """What all parameters here do differently from OpenTuner's."""

    name: str

    def _read_node(self, config: dict[str, Any]) -> tuple[dict[str, Any], str]:
        # OpenTuner takes slashes in names for paths; names are just names here.
        return config, self.name

    def copy_value(self, src: dict[str, Any], dst: dict[str, Any]) -> None:
        """Copy the stored value: OpenTuner's way through a scale may change large integers."""
        value = src[self.name]
        dst[self.name] = list(value) if isinstance(value, list) else value

    def opn_stochastic_mix(
        self,
        cfg: dict[str, Any],
        cfgs: Sequence[dict[str, Any]],
        ratio: Sequence[float],
        *_args: Any,
        **_kwargs: Any,
    ) -> None:
        """Take the value of one of the parents, drawn by weight.

        OpenTuner's own writes the value of the target into the parent, among them the global best.
        """
        (parent,) = random.choices(cfgs, weights=ratio)
        self.copy_value(parent, cfg)


class Enum(_Repaired, opentuner.EnumParameter):  # type: ignore[misc]
    """One of a list of JSON scalars."""


class Boolean(_Repaired, opentuner.BooleanParameter):  # type: ignore[misc]
    """False or true."""

    def _to_storage_type(self, value: Any) -> bool:
        return bool(value)  # swarm moves make it a numpy scalar


class Integer(_Repaired, opentuner.IntegerParameter):  # type: ignore[misc]
    """A whole number in a range."""


class LogInteger(_Repaired, opentuner.LogIntegerParameter):  # type: ignore[misc]
    """A whole number of at least 1, searched by its logarithm.

    OpenTuner's own searches the logarithm of the distance from the lower end of the range.
    """

    def _scale(self, value: float) -> float:
        return math.log2(value)

    def _unscale(self, value: float) -> int:
        whole = round(2.0**value)
        return int(max(self.min_value, min(self.max_value, whole)))

    def seed_value(self) -> int:
        """The low end of the range."""
        return int(self.min_value)


class Permutation(_Repaired, opentuner.PermutationParameter):  # type: ignore[misc]
    """An order of some items, with the small moves that a local search needs."""

    def op1_swap(self, cfg: dict[str, Any]) -> None:
        """Exchange two items."""
        items = cfg[self.name]
        first, second = random.sample(range(len(items)), 2)
        items[first], items[second] = items[second], items[first]

    def op1_move(self, cfg: dict[str, Any]) -> None:
        """Take an item out and put it in elsewhere."""
        items = cfg[self.name]
        source, target = random.sample(range(len(items)), 2)
        items.insert(target, items.pop(source))

    def op1_reverse(self, cfg: dict[str, Any]) -> None:
        """Reverse a stretch."""
        items = cfg[self.name]
        first, last = sorted(random.sample(range(len(items)), 2))
        items[first : last + 1] = items[first : last + 1][::-1]

    def op1_few_swaps(self, cfg: dict[str, Any]) -> None:
        """Exchange two items, at times in two or three pairs: a mutation that keeps the rest."""
        for _ in range(random.choice((1, 1, 2, 3))):
            self.op1_swap(cfg)

    def op1_small_move(self, cfg: dict[str, Any]) -> None:
        """Make one of the three moves."""
        random.choice((self.op1_swap, self.op1_move, self.op1_reverse))(cfg)

    def manipulators(self, config: dict[str, Any]) -> list[Any]:
        """The operators that bandits over operators choose from."""
        return [self.op1_swap, self.op1_few_swaps, self.op1_move, self.op1_reverse]


class Manipulator(opentuner.ConfigurationManipulator):  # type: ignore[misc]
    """A fixed list of parameters over dictionaries of JSON values."""

    def parameters(self, config: dict[str, Any]) -> list[Any]:
        """The parameters; a list of the caller's own, since OpenTuner's techniques shuffle it."""
        return list(self.params)

    def copy(self, config: dict[str, Any]) -> dict[str, Any]:
        """A copy that shares nothing."""
        return {k: list(v) if isinstance(v, list) else v for k, v in config.items()}

    def hash_config(self, config: dict[str, Any]) -> str:
        """Canonical JSON: equal for equal configurations only."""
        return canonical_json(config)


_KINDS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "enum": lambda p: Enum(p["name"], p["values"]),
    "boolean": lambda p: Boolean(p["name"]),
    "integer": lambda p: Integer(p["name"], p["low"], p["high"]),
    "log-integer": lambda p: LogInteger(p["name"], p["low"], p["high"]),
    "permutation": lambda p: Permutation(p["name"], p["items"]),
}


def build(parameters: Sequence[Mapping[str, Any]]) -> Manipulator:
    """Make the manipulator for parameters as `tuner.parameters.describe` describes them."""
    made = Manipulator()
    for parameter in parameters:
        made.add_parameter(_KINDS[parameter["kind"]](parameter))
    return made
