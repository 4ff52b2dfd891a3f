"""A search space as the OpenTuner process is told of it: plain JSON, constants left out.

OpenTuner sees every parameter as always active and knows no constraints; conditions and constraints
are applied to what it proposes. Parameters with one value would only dilute its mutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.space import Parameter, SearchSpace

__all__ = ["complete_values", "constants", "describe", "kinds", "point_of"]


def describe(space: SearchSpace) -> list[dict[str, Any]]:
    """The parameters that OpenTuner varies, in the order of the space.

    Returns:
        An object a parameter: `name`, `kind` and its domain (`values`, `low` and `high`, `items`).
    """
    return [
        {"name": parameter.name, "kind": parameter.kind, **parameter.domain()}
        for parameter in _varied(space)
    ]


def kinds(space: SearchSpace) -> frozenset[str]:
    """The kinds of the parameters that OpenTuner varies."""
    return frozenset(parameter.kind for parameter in _varied(space))


def constants(space: SearchSpace) -> dict[str, Any]:
    """The values of the parameters that have only one."""
    return {p.name: p.searched(p.default) for p in space.parameters if p.size == 1}


def complete_values(space: SearchSpace, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """A value for every varied parameter: the configuration's, or the default where inactive."""
    return {p.name: p.searched(configuration.get(p.name, p.default)) for p in _varied(space)}


def point_of(space: SearchSpace, configuration: Mapping[str, Any]) -> Configuration | None:
    """The point of the space that a configuration is, or None where it lies outside."""
    try:
        return space.canonicalise(configuration)
    except InvalidInput:
        return None


def _varied(space: SearchSpace) -> list[Parameter]:
    return [parameter for parameter in space.parameters if parameter.size > 1]
