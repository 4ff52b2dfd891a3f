"""The terms of a job: what is weighed against time, and what a network may come to at most."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from searchspace.bills import Bill
from searchspace.energy import drawn_watts
from searchspace.parts import Parts
from searchspace.validation import Description

__all__ = [
    "WEIGHED",
    "Constraints",
    "Objective",
    "Objectives",
    "Terms",
    "Weighed",
    "Weight",
    "asks_for_prices",
    "is_objective",
]

Weighed = Literal["cost", "power", "energy"]
Objective = Literal["time"] | Weighed

WEIGHED: tuple[Weighed, ...] = get_args(Weighed)
"""What may be weighed against time."""
_OBJECTIVES = ("time", *WEIGHED)
_AT_MOST = re.compile(
    r"(?:<=\s*)?"
    r"(\d{1,3}(?:(?:,\d{3})+|(?:_\d{3})+)(?:\.\d+)?|(?:\d+(?:\.\d+)?|\.\d+)(?:e\+?\d+)?)",
    re.ASCII | re.IGNORECASE,
)
"""A number whose digits may stand in groups of three: a comma is no decimal point."""
_COUNTED = ("switches", "cables")
_WORDS = {
    "cost": "costs {:,g}",
    "power": "draws {:,g} W",
    "switches": "has {:,g} switches",
    "cables": "has {:,g} cables",
    "diameter": "has a diameter of {:,g}",
}


def is_objective(value: Any) -> bool:
    """Whether something names objectives of a job, not what several applications minimise."""
    return isinstance(value, list) or value in _OBJECTIVES


def asks_for_prices(document: Mapping[str, Any]) -> bool:
    """Whether a job file, not checked yet, says something of the price of its networks."""
    objective, limits = document.get("objective"), document.get("constraints")
    several = isinstance(objective, list) and len(objective) > 1
    limited = isinstance(limits, Mapping) and any(one is not None for one in limits.values())
    return several or limited


def _read_objectives(value: Any) -> Any:
    objectives = [value] if isinstance(value, str) else value
    if not isinstance(objectives, list) or any(one not in _OBJECTIVES for one in objectives):
        raise ValueError(f"must list some of: {', '.join(_OBJECTIVES)}")
    if objectives[:1] != ["time"] or len(objectives) > 2 or len(set(objectives)) < len(objectives):
        pairs = [f"[time, {one}]" for one in WEIGHED]
        raise ValueError(f"must be time, {', '.join(pairs[:-1])} or {pairs[-1]}")
    return objectives


Objectives = Annotated[
    list[Objective],
    BeforeValidator(_read_objectives),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "time"},
                {"enum": [["time"], *(["time", one] for one in WEIGHED)]},
            ]
        }
    ),
]


def _read_limit(value: Any) -> Any:
    if isinstance(value, str):
        match = _AT_MOST.fullmatch(value.strip())
        if match is None:
            raise ValueError("must be a number, or a text like '<= 90000'")
        value = float(match[1].replace(",", "").replace("_", ""))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number, or a text like '<= 90000'")
    return float(value)


Limit = Annotated[
    float,
    Field(ge=0, lt=1e15, allow_inf_nan=False),
    BeforeValidator(_read_limit),
    WithJsonSchema({"type": ["number", "string"], "examples": ["<= 90000"]}),
]


class Constraints(Description):
    """What a network may come to at most: `<= 90000`, or the number alone.

    All of it is known before a simulation: no configuration that breaks one is simulated.
    """

    cost: Limit | None = None
    """Price of all switches, cables and adapters, by `machine.parts`."""
    power: Limit | None = None
    """Watts that they draw."""
    switches: Limit | None = None
    """How many switches; in a direct network every host has one."""
    cables: Limit | None = None
    """How many cables, those of hosts included."""
    diameter: Limit | None = None
    """Cables between the two hosts that are farthest apart."""

    @property
    def given(self) -> dict[str, float]:
        """The limits that are set, by name."""
        limits = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: limit for name, limit in limits.items() if limit is not None}


@dataclass(frozen=True)
class Weight:
    """What is weighed against the time of a configuration, by that time.

    Attributes:
        fixed: What it is whatever the time: cost, or watts.
        per_second: What each second adds: joules, where it is energy.
    """

    fixed: float
    per_second: float = 0.0

    def at(self, seconds: float) -> float:
        """What it is for a run of so many seconds."""
        return self.fixed + self.per_second * seconds

    def seconds_to(self, weight: float) -> float:
        """From how many seconds on it is no less than another one; infinite: never."""
        if self.fixed >= weight:
            return 0.0
        return (weight - self.fixed) / self.per_second if self.per_second > 0 else math.inf


@dataclass(frozen=True)
class Terms:
    """What a job says of the price of its networks.

    Attributes:
        parts: What they are built of.
        second: What is weighed against time; None where time alone counts.
        limits: What a network may come to at most, by the name of a number of its bill.
    """

    parts: Parts
    second: Weighed | None
    limits: Mapping[str, float]

    def broken(self, bill: Bill) -> str | None:
        """Why a network cannot be had on these terms, or None."""
        return self._broken(bill, self.limits)

    def broken_by_all_like(self, bill: Bill) -> str | None:
        """Why no network with as many switches, ports and cables can be had, or None.

        These are the same whatever seed and ordering are (`Bills.expected`); lengths of cables, and
        with them cost and power, are not, nor is the diameter.
        """
        return self._broken(bill, _COUNTED)

    def _broken(self, bill: Bill, names: Collection[str]) -> str | None:
        if bill.obstacle is not None:
            return bill.obstacle
        for name, limit in self.limits.items():
            found = getattr(bill, name)
            if name in names and found > limit:
                return (
                    f"{_WORDS[name].format(found)}, more than the {limit:,g} of constraints.{name}"
                )
        return None

    def weight(self, bill: Bill) -> Weight:
        """What is weighed against the time of a configuration with this bill.

        Of energy, what computing draws is left out: it is the same for all configurations.
        """
        if self.second == "energy":
            return Weight(0.0, drawn_watts(bill, self.parts))
        return Weight(bill.power if self.second == "power" else bill.cost)

    def to_json(self) -> dict[str, Any]:
        """As JSON, to be sent to another process."""
        parts = self.parts.model_dump(mode="json")
        return {"parts": parts, "second": self.second, "limits": dict(self.limits)}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Terms:
        """Reads it back."""
        return cls(Parts.model_validate(told["parts"]), told["second"], told["limits"])
