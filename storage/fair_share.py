"""Whose turn it is: the rules by which jobs share workers, and coordinators.

Between projects: who has used the least lately, for its weight. Use is CPU seconds of the simulator
that halve every `HALF_LIFE` seconds (Kay and Lauder, A Fair Share Scheduler, Communications of the
ACM 31(1), 1988), and what runs counts as if it had cost the mean of its job already, so that a
project does not take all workers before its first trial ends. A project that used nothing for long
goes first for a half-life at most: by then it has used what others had left of theirs.

Between jobs of a project: a higher priority first, then the highest response ratio (Brinch Hansen,
Short-Term Scheduling in Multiprogramming Systems, SOSP 1971), (wait + cost) / cost, with the mean
CPU seconds of the job's evaluations for its cost: cheap ones first, but dear ones gain by waiting.

Classes stand above shares: a job of high priority goes before those of others as far as its
project's priority allows it, and one of low priority takes what nobody else wants.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

__all__ = ["HALF_LIFE", "PRIORITIES", "Claim", "Contender", "Queued", "by_turn", "driving_order"]

HALF_LIFE = 300.0
"""Seconds after which a CPU second that was used counts half."""

PRIORITIES = {"low": -1, "normal": 0, "high": 1}

_UNKNOWN_COST = 1.0  # CPU seconds, where no job has evaluated anything
_LEAST_COST = 1e-3


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a job and its project may claim beside others.

    Attributes:
        job: Its id.
        project: Whose it is.
        priority: One of the values of `PRIORITIES`.
        highest: The project's priority: the class in which its jobs compete with others at most.
        weight: Of the project.
        used: CPU seconds that the project used lately.
    """

    job: str
    project: str
    priority: int = 0
    highest: int = 0
    weight: float = 1.0
    used: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Contender(Claim):
    """A job that has trials to be evaluated.

    Attributes:
        running: How many of its trials are under way.
        concurrency: How many may be; None for any number.
        cost: Mean CPU seconds of its evaluations; None where there was none.
        waited: Seconds for which its next trial has been waiting; None where none waits.
    """

    running: int = 0
    concurrency: int | None = None
    cost: float | None = None
    waited: float | None = None


def by_turn(contenders: Sequence[Contender]) -> list[Contender]:
    """Those of which a trial may be evaluated now, the one whose turn it is first."""
    waiting = [one for one in contenders if one.waited is not None and not _is_full(one)]
    if len(waiting) < 2:
        return waiting
    shares: dict[str, float] = {}
    for one in contenders:
        cost = _UNKNOWN_COST if one.cost is None else one.cost
        before = shares.get(one.project, one.used / one.weight)
        shares[one.project] = before + one.running * max(cost, _LEAST_COST) / one.weight

    def turn(one: Contender) -> tuple[int, float, str, int, float, str]:
        cost = max(one.cost or 0.0, _LEAST_COST)
        assert one.waited is not None, "only those that wait have a turn"
        ratio = (max(0.0, one.waited) + cost) / cost
        group = min(one.priority, one.highest)
        return (-group, shares[one.project], one.project, -one.priority, -ratio, one.job)

    return sorted(waiting, key=turn)


def _is_full(one: Contender) -> bool:
    return one.concurrency is not None and one.running >= one.concurrency


@dataclass(frozen=True, kw_only=True)
class Queued(Claim):
    """A job that waits for a coordinator.

    Attributes:
        created_at: When it was submitted.
    """

    created_at: float = 0.0


def driving_order(queued: Iterable[Queued], driven: dict[str, int]) -> list[str]:
    """The jobs in the order in which coordinators take them: whose project has fewest first.

    Args:
        queued: The jobs that wait.
        driven: How many jobs of each project are driven already, for the first of them.
    """
    counts = dict(driven)
    of_project: dict[tuple[int, str], list[Queued]] = {}
    for one in queued:
        of_project.setdefault((min(one.priority, one.highest), one.project), []).append(one)

    def turn(group: int, jobs: deque[Queued]) -> tuple[int, float, float, float, str]:
        first = jobs[0]
        having = counts.get(first.project, 0) / first.weight
        return (-group, having, first.used / first.weight, first.created_at, first.job)

    heap = []
    for (group, _), jobs in of_project.items():
        sorted_jobs = deque(sorted(jobs, key=lambda one: (-one.priority, one.created_at, one.job)))
        heap.append((turn(group, sorted_jobs), group, sorted_jobs))
    heapify(heap)
    order: list[str] = []
    while heap:
        stale, group, waiting = heappop(heap)
        current = turn(group, waiting)
        if current > stale:  # its project has got another job meanwhile
            heappush(heap, (current, group, waiting))
            continue
        taken = waiting.popleft()
        order.append(taken.job)
        counts[taken.project] = counts.get(taken.project, 0) + 1
        if waiting:
            heappush(heap, (turn(group, waiting), group, waiting))
    return order
