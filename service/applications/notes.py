"""What people should know of an application's trace, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from searchspace.units import format_duration

__all__ = ["notes_on"]


def notes_on(summary: Mapping[str, Any]) -> list[str]:
    """How a trace came about and how far it can be relied on, a line each.

    Args:
        summary: Of the trace, as `Application.summary`.
    """
    found = []
    if summary.get("truncated"):
        found.append(
            "truncated: calls, bytes and traffic are those of the iterations that were kept"
        )
    if made := summary.get("extrapolated"):
        found += _on_extrapolation(made)
    measured = summary.get("measured")
    if measured and measured["stretches"]:
        mean = measured["seconds"] / measured["stretches"]
        found.append(
            f"computation: measured {measured['stretches']:,} times between calls, "
            f"{format_duration(mean)} on average: uncertain by {measured['uncertainty']:.1%}"
        )
    if repeats := summary.get("repeats"):
        found += _on_repeats(repeats)
    return found


def _on_extrapolation(made: Mapping[str, Any]) -> Iterable[str]:
    yield f"from captures of {_listed(made['from_ranks'])} ranks; {made['grid']}"
    count = made["class_count"]
    yield f"{made['classes']}: {count} class{'' if count == 1 else 'es'}"
    if made["left_aside"]:
        yield f"left aside, of another pattern: {_listed(made['left_aside'])} ranks"
    if made["rounding"]:
        yield f"the problem does not divide evenly: sizes are off by {made['rounding']:.2%} at most"
    check = made["check"]
    if check is not None:
        errors = {name: check[name] for name in ("calls", "bytes", "flops")}
        if check["time"] is not None:
            errors["simulated time"] = check["time"]
        told = ", ".join(f"{name} {error:+.2%}" for name, error in errors.items())
        yield f"check: {check['ranks']} ranks predicted from {_listed(check['from_ranks'])}: {told}"
    elif made["check_obstacle"] is not None:
        yield f"not checked: {made['check_obstacle']}"


def _on_repeats(repeats: Mapping[str, Any]) -> Iterable[str]:
    of_ranks = repeats["rank_spreads"]
    worst = max(enumerate(of_ranks), key=lambda each: each[1], default=None)
    in_rank = "" if worst is None else f" and by {worst[1]:.1%} in rank {worst[0]}"
    yield (
        f"computation: median of {repeats['captures']} captures, which differ by "
        f"{repeats['spread']:.1%} in all{in_rank}"
    )
    differing = repeats["differing_ranks"]
    if differing:
        named = _listed(differing[:8]) + (", ..." if len(differing) > 8 else "")
        yield (
            f"the calls of {len(differing)} ranks differ between captures ({named}): they have "
            "the computation of the first one"
        )


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks))
