"""A configuration: one point of a search space, as canonical JSON with an identity."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from searchspace.errors import InvalidInput

__all__ = ["DEFAULTS", "Configuration", "Value", "canonical_json", "sha256_of"]

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | tuple[Scalar, ...]

_DEEPEST_GROUP = 8

DEFAULTS: dict[str, Scalar] = {
    "ordering": "original",
    "mapping": "by-order",
    "mpi": "default",
    "topology_seed": 0,
    "mapping_seed": 0,
}
"""What a configuration means where it says nothing; a missing collective means "default"."""


def canonical_json(value: Any) -> str:
    """Writes JSON in the one form that identities are computed from: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_of(value: Any) -> str:
    """Returns the SHA-256 of the canonical JSON of a value, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


class Configuration(Mapping[str, Value]):
    """An immutable mapping of dotted parameter names to JSON values.

    Permutations are lists in JSON and tuples here.

    Example:
        >>> configuration = Configuration.from_json({"collectives": {"alltoall": "bruck"}})
        >>> configuration["collectives.alltoall"]
        'bruck'
        >>> configuration.canonical_json
        '{"collectives":{"alltoall":"bruck"}}'

    Raises:
        InvalidInput: A name or a value that JSON cannot carry.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {name: _checked(name, values[name]) for name in sorted(values)}
        for name in self._values:
            group, dot, _ = name.rpartition(".")
            while dot:
                if group in self._values:
                    raise InvalidInput(f"'{group}' is both a value and a group", field=group)
                group, dot, _ = group.rpartition(".")

    @classmethod
    def from_json(cls, obj: Any) -> Configuration:
        """Reads a JSON object with nested groups or dotted names.

        Raises:
            InvalidInput: It is not an object of names and values, or says one thing twice.
        """
        if not isinstance(obj, Mapping):
            raise InvalidInput("a configuration is a JSON object of parameter names and values")
        values: dict[str, Any] = {}
        for name, value in _flatten(obj, ""):
            if name in values:
                raise InvalidInput("is given twice", field=name)
            values[name] = value
        return cls(values)

    def to_dict(self) -> dict[str, Any]:
        """Returns the configuration as a JSON object with nested groups."""
        nested: dict[str, Any] = {}
        for name, value in self._values.items():
            *groups, last = name.split(".")
            target = nested
            for group in groups:
                target = target.setdefault(group, {})
            target[last] = list(value) if isinstance(value, tuple) else value
        return nested

    @functools.cached_property
    def canonical_json(self) -> str:
        """The nested form with sorted keys and no spaces: equal for equal configurations."""
        return canonical_json(self.to_dict())

    @functools.cached_property
    def sha256(self) -> str:
        """The identity of the configuration, in hexadecimal."""
        return hashlib.sha256(self.canonical_json.encode()).hexdigest()

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self.canonical_json)

    def __eq__(self, other: object) -> bool:
        # By JSON form, so that true and 1 are different values.
        return isinstance(other, Configuration) and self.canonical_json == other.canonical_json

    def __repr__(self) -> str:
        return f"Configuration({self.canonical_json})"


def _flatten(obj: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    if prefix.count(".") > _DEEPEST_GROUP:
        raise InvalidInput(f"groups are nested more than {_DEEPEST_GROUP} deep")
    for name, value in obj.items():
        if not isinstance(name, str):
            raise InvalidInput(f"{name!r} is not a parameter name")
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _checked(name: str, value: Any) -> Value:
    if not all(name.split(".")):
        raise InvalidInput(f"'{name}' is not a parameter name")
    if isinstance(value, list | tuple):
        return tuple(_checked_scalar(name, item) for item in value)
    return _checked_scalar(name, value)


def _checked_scalar(name: str, value: Any) -> Scalar:
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InvalidInput(
        f"{value!r} is not a string, a finite number, a boolean or a list of these", field=name
    )
