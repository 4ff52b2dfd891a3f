"""Who runs where: the hosts that run ranks, in the order of the first of them."""

from __future__ import annotations

from collections import Counter

from service.exports.result import ExportFile, Result
from storage.errors import Conflict

__all__ = ["check_single", "ranks_of_hosts", "slots", "text_file"]


def check_single(result: Result, format_name: str) -> None:
    """Refuses a job of several applications, which no single command line starts.

    Raises:
        Conflict: It has several.
    """
    if result.application.kind == "workload":
        raise Conflict(
            f"job {result.job.name!r} runs several applications at once, which no single start "
            f"of {format_name} does; export it as json"
        )


def ranks_of_hosts(result: Result) -> dict[str, list[int]]:
    """The ranks of each host that runs any, hosts in the order of their first rank."""
    found: dict[str, list[int]] = {}
    for rank, name in enumerate(result.rank_names):
        found.setdefault(name, []).append(rank)
    return found


def slots(result: Result) -> list[tuple[str, int, int]]:
    """Host and core of each rank, as (host, number among the host's ranks, rank)."""
    taken: Counter[str] = Counter()
    places = []
    for rank, name in enumerate(result.rank_names):
        places.append((name, taken[name], rank))
        taken[name] += 1
    return places


def text_file(name: str, *parts: str, executable: bool = False) -> ExportFile:
    """A file of text."""
    return ExportFile(name=name, content="".join(parts).encode(), executable=executable)
