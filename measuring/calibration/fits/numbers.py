"""The numbers of a machine that are fitted to measurements, as a vector and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from searchspace.machine import Machine, parse_machine

__all__ = ["PARAMETERS", "Numbers", "Parameter", "Vector"]

Vector = NDArray[np.float64]
Numbers = Mapping[str, float]
"""By the parameter's name, in SI base units."""


@dataclass(frozen=True)
class Parameter:
    """A number that is fitted.

    Attributes:
        name: Of it, as a machine document has it.
        unit: What it is divided by, so that a change of 1 is a large one; None for its first guess.
        step: By how much of that it is changed to see what it does.
        most: The largest value; the least is 0.
    """

    name: str
    unit: float | None
    step: float
    most: float


_OVERHEADS = ("send_overhead", "isend_overhead", "receive_overhead")
_DIGITS = 7
"""That are kept of a number: more than is known of any, and enough to see a change by."""
_MOST_SECONDS = 0.01
_MOST_PER_BYTE = 1e-6

PARAMETERS = (
    Parameter("link_bandwidth", None, 0.01, 1e13),
    Parameter("link_latency", 1e-5, 0.05, _MOST_SECONDS),
    *(Parameter(f"{name}.seconds", 1e-5, 0.05, _MOST_SECONDS) for name in _OVERHEADS),
    *(Parameter(f"{name}.per_byte", 1e-9, 0.1, _MOST_PER_BYTE) for name in _OVERHEADS),
    Parameter("burst", 1500.0, 0.05, 1e6),
)
LOOPBACK = (
    Parameter("loopback_bandwidth", None, 0.01, 1e13),
    Parameter("loopback_latency", 1e-6, 0.05, _MOST_SECONDS),
)
"""Of messages within a host, where it has several cores."""


def to_vector(parameters: Sequence[Parameter], first: Numbers, numbers: Numbers) -> Vector:
    """Numbers in their units."""
    return np.array([numbers[each.name] / _unit(each, first) for each in parameters])


def from_vector(parameters: Sequence[Parameter], first: Numbers, vector: Vector) -> Numbers:
    """The numbers that a vector stands for."""
    return {
        each.name: float(value) * _unit(each, first)
        for each, value in zip(parameters, vector, strict=True)
    }


def bounds(parameters: Sequence[Parameter], first: Numbers) -> tuple[Vector, Vector]:
    """The least and the largest vector."""
    least = [1e-3 if each.unit is None else 0.0 for each in parameters]
    most = [each.most / _unit(each, first) for each in parameters]
    return np.array(least), np.array(most)


def _unit(parameter: Parameter, first: Numbers) -> float:
    return first[parameter.name] if parameter.unit is None else parameter.unit


def with_numbers(machine: Machine, numbers: Numbers, protocol: Mapping[str, Any]) -> Machine:
    """A machine with fitted numbers.

    A hop's latency is given to its cable; that of switches is in it. Rates of host links and
    switches keep their ratio to that of cables.

    Args:
        machine: As its vendor describes it.
        numbers: What was fitted.
        protocol: Further fields of the protocol.
    """
    numbers = {name: float(f"{value:.{_DIGITS}g}") for name, value in numbers.items()}
    document = machine.canonical()
    ratio = numbers["link_bandwidth"] / machine.link_bandwidth
    for name in ("host_link_bandwidth", "switch_bandwidth"):
        if document.get(name) is not None:
            document[name] *= ratio
    for name in ("link_bandwidth", "link_latency", "loopback_bandwidth", "loopback_latency"):
        if name in numbers:
            document[name] = numbers[name]
    document["switch_latency"] = 0.0
    document["protocol"] = {
        **document["protocol"],
        **protocol,
        **{
            name: [[0, numbers[f"{name}.seconds"], numbers[f"{name}.per_byte"]]]
            for name in _OVERHEADS
        },
        "burst": round(numbers["burst"]),
    }
    return parse_machine(document)
