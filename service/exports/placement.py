"""Who runs where: the hosts that run ranks, in the order of the first of them."""

from __future__ import annotations

from collections import Counter

from service.exports.hosts import is_host_name
from service.exports.result import ExportFile, Result
from storage.errors import Conflict

__all__ = ["check_placed", "check_single", "ranks_of_hosts", "slots", "text_file"]


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


def check_placed(result: Result, format_name: str, *, idle: bool = False) -> None:
    """Refuses a job whose ranks, or the hosts that they run on, the files of a format cannot say.

    Args:
        result: What is exported.
        format_name: The format.
        idle: Whether its files name the hosts that run no ranks too.

    Raises:
        Conflict: The job has several applications, or a host has a name of other characters than
            those that stand in any file without quotes: it would be read as something else.
    """
    check_single(result, format_name)
    for host in range(result.resolved.hosts) if idle else result.resolved.rank_hosts:
        name = result.names[host]
        if not is_host_name(name):
            raise Conflict(
                f"the host name {name[:60]!r} of the machine cannot stand in files of "
                f"{format_name}; name the hosts with --hosts, by letters, digits, '.', '-' and '_'"
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
