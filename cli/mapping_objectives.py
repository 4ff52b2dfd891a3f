"""`--objective` and `--weights` of `hamtune map`."""

from __future__ import annotations

import dataclasses

import click

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.mapping.weighted import WEIGHTED, Weights

__all__ = ["OBJECTIVES", "read_weights", "with_objective"]

_ALONE = {
    "dilation": Weights(hop_bytes=0, congestion=0),
    "congestion": Weights(hop_bytes=0, dilation=0),
}
OBJECTIVES = ("hop-bytes", *_ALONE, "weighted")


def read_weights(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> Weights | None:
    """Reads `--weights 1,0,2.5`.

    Raises:
        BadParameter: They are not three numbers from 0 on, of which one is above 0.
    """
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != len(dataclasses.fields(Weights)) or not any(numbers):
        raise click.BadParameter(f"'{text}' is not three numbers, such as 1,0,2.5; not all 0")
    names = [field.name for field in dataclasses.fields(Weights)]
    try:
        for name, number in zip(names, numbers, strict=True):
            next(o for o in WEIGHTED.options if o.name == name).read(number)
    except InvalidInput as error:
        raise click.BadParameter(f"{error.field} {error.message}") from None
    return Weights(*numbers)


def with_objective(
    method: str, objective: str | None, weights: Weights | None, options: dict[str, Scalar]
) -> tuple[str, dict[str, Scalar]]:
    """The mapper and its options that lower an objective.

    Raises:
        UsageError: The mapper has an objective of its own, or weights are given for another one.
    """
    if objective is not None and method not in ("auto", WEIGHTED.name):
        raise click.UsageError(f"--objective is for auto; '{method}' has an objective of its own")
    if weights is not None and objective not in (None, "weighted"):
        raise click.UsageError(f"--weights are for --objective weighted, not {objective}")
    if method not in ("auto", WEIGHTED.name) or (weights is None and objective is None):
        return method, options
    if objective == "hop-bytes":
        return "auto", options
    chosen = weights or _ALONE.get(str(objective)) or Weights()
    return WEIGHTED.name, {**dataclasses.asdict(chosen), **options}
