"""Two trials side by side: what was measured of both, and why one is slower.

The page says the same (`service/page/src/lib/beside.ts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.units import format_duration, format_size

__all__ = ["Figure", "figures", "reasons"]

_NOTICEABLE = 1.05
"""Times: less is not what makes the difference."""


@dataclass(frozen=True)
class Figure:
    """One thing that was measured of both trials.

    Attributes:
        name: What it is.
        values: Of the first and of the second trial: seconds or bytes; None where not known.
        words: How a value is written.
    """

    name: str
    values: tuple[float | None, float | None]
    words: Callable[[float], str]


def figures(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Figure]:
    """What was measured of two trials, as far as it is known of one of them.

    Args:
        first: A trial as `GET /jobs/J/trials/N` answers.
        second: Another one.
    """
    found = [
        Figure("simulated time", (first["value"], second["value"]), format_duration),
        Figure("median rank finishes", _both(first, second, _median_rank), format_duration),
        Figure("busiest cable, one way", _both(first, second, _busiest), format_size),
        Figure("all cables together", _both(first, second, _bytes), format_size),
    ]
    return [one for one in found if one.values != (None, None)]


def reasons(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """How many times slower one is, and what of it may be the cause; empty where that is open."""
    if any(one["state"] != "completed" or not one["value"] for one in (first, second)):
        return []
    obstacle = _obstacle(first, second)
    if obstacle is not None:
        return [obstacle]
    fast, slow = sorted((first, second), key=lambda one: float(one["value"]))
    ratio = slow["value"] / fast["value"]
    said = [f"trial {slow['number']} takes {ratio:.3g} times as long as trial {fast['number']}"]
    if _bytes(slow) is None or _bytes(fast) is None:
        return said
    busiest, together = (_ratio(of(slow), of(fast)) for of in (_busiest, _bytes))
    if math.isinf(together):
        return [*said, f"trial {fast['number']} sends nothing over cables"]
    if busiest >= _NOTICEABLE:
        said.append(f"its busiest cable carries {busiest:.3g} times as much")
    if together >= _NOTICEABLE:
        said.append(
            f"its cables together carry {together:.3g} times as much: messages cross more cables, "
            "or its algorithms send more"
        )
    if max(busiest, together) < _NOTICEABLE:
        said.append(
            "its cables carry no more than the other's: it waits longer, for latency or for the "
            "order in which messages come"
        )
    return said


def _obstacle(first: Mapping[str, Any], second: Mapping[str, Any]) -> str | None:
    """Why neither is the slower one."""
    if first["fidelity"] != second["fidelity"]:
        return "one is of the whole trace, the other of a shortened one: not to be compared"
    if (first["kind"] == "comparison") != (second["kind"] == "comparison"):
        return "they come from different network models: not to be compared"
    return "both take the same time" if first["value"] == second["value"] else None


def _both(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    of: Callable[[Mapping[str, Any]], float | None],
) -> tuple[float | None, float | None]:
    return of(first), of(second)


def _summary(trial: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    return (trial["summary"] or {}).get(part)


def _median_rank(trial: Mapping[str, Any]) -> float | None:
    ranks = _summary(trial, "rank_finish_times")
    return None if ranks is None else float(ranks["quantiles"]["0.5"])


def _busiest(trial: Mapping[str, Any]) -> float | None:
    cables = _summary(trial, "link_loads")
    return None if cables is None else float(cables["quantiles"]["1"])


def _bytes(trial: Mapping[str, Any]) -> float | None:
    cables = _summary(trial, "link_loads")
    return None if cables is None else float(cables["bytes"])


def _ratio(slow: float | None, fast: float | None) -> float:
    if not slow:
        return 1.0
    return slow / fast if fast else math.inf
