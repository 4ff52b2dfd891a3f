"""Several applications that run at once: their ranks follow each other as those of one."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from searchspace.collectives import COLLECTIVES, Groups

__all__ = ["communicators", "split", "worlds"]

Item = TypeVar("Item")


def split(items: Sequence[Item], ranks: Sequence[int]) -> list[Sequence[Item]]:
    """Splits what there is for every rank by application, of so many ranks each."""
    return [items[end - size : end] for end, size in _ends(ranks)]


def worlds(ranks: Sequence[int]) -> dict[str, Groups]:
    """Every collective on the world of every application, as `called_collectives` lists them."""
    groups = tuple(tuple(range(end - size, end)) for end, size in _ends(ranks))
    return dict.fromkeys(COLLECTIVES, groups)


def communicators(summaries: Sequence[Mapping[str, Any]]) -> dict[str, list[list[int]]]:
    """On which communicators all applications together call each blocking collective.

    Args:
        summaries: Of their traces.

    Returns:
        As in the summary of a trace; the world of an application is listed like its others.
    """
    united: dict[str, list[list[int]]] = defaultdict(list)
    ends = _ends([summary["ranks"] for summary in summaries])
    for summary, (end, size) in zip(summaries, ends, strict=True):
        for call in summary["calls"]:
            for group in summary.get("communicators", {}).get(call, [[]]):
                united[call].append([end - size + rank for rank in group or range(size)])
    return dict(united)


def _ends(ranks: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(itertools.accumulate(ranks), ranks, strict=True))
