"""The names that `search` may list, and what is wrong with others."""

from __future__ import annotations

from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.by_size import MOST_RANGES, parameter, parsed
from searchspace.collectives.decision_table import SIZED
from searchspace.validation import nearest

__all__ = ["ALL", "offered", "wrong_algorithms", "wrong_choices", "wrong_ranges"]

ALL = "all"
"""Every algorithm of a collective that works."""


def offered(collective: str) -> list[str]:
    """The algorithms of a collective that a job may list."""
    algorithms = COLLECTIVES[collective].algorithms
    return [name for name, algorithm in algorithms.items() if algorithm.offered]


def wrong_ranges(collective: str, begins: list[int], searched: tuple[str, ...]) -> str | None:
    """Why ranges cannot begin at these bytes, or None."""
    if collective not in SIZED:
        hint = nearest(collective, SIZED)
        return f"has no size that libraries decide by; allowed: {', '.join(SIZED)}{hint}"
    if collective not in searched:
        return "is not searched: add it to 'collectives'"
    if not 1 <= len(begins) < MOST_RANGES:
        return f"must be 1 to {MOST_RANGES - 1} sizes, such as [64KiB, 1MiB]"
    if begins != sorted(set(begins)) or begins[0] < 1:
        return "must increase, from 1 byte on"
    if parsed(parameter(collective, begins[-1])) is None:
        return "must be below 1 PB"
    return None


def wrong_algorithms(collective: str, chosen: list[str]) -> list[tuple[str, str]]:
    """What is wrong with the algorithms listed for a collective, as (field, message)."""
    field = f"collectives.{collective}"
    if collective not in COLLECTIVES:
        allowed = ", ".join(COLLECTIVES)
        hint = nearest(collective, COLLECTIVES)
        return [(field, f"unknown collective; allowed: {allowed}{hint}")]
    catalogue = COLLECTIVES[collective].algorithms
    withheld = {name: a.withheld for name, a in catalogue.items() if not a.offered}
    return [
        (field, f"algorithm '{name}' is not offered: it {withheld[name]}")
        for name in chosen
        if name in withheld
    ] + wrong_choices(
        field,
        [name for name in chosen if name not in withheld],
        (ALL, DEFAULT, *offered(collective)),
        what="algorithm",
    )


def wrong_choices(
    field: str, chosen: list[str], allowed: tuple[str, ...], *, what: str | None = None
) -> list[tuple[str, str]]:
    """What is wrong with a list of names, as (field, message)."""
    unknown = [
        (
            field,
            f"unknown {what or field} '{name}'; allowed: {', '.join(allowed)}"
            + nearest(name, allowed),
        )
        for name in chosen
        if name not in allowed
    ]
    twice = dict.fromkeys(name for i, name in enumerate(chosen) if name in chosen[:i])
    return unknown + [(field, f"'{name}' is listed twice") for name in twice if name in allowed]
