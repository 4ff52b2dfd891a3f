"""`limits`: what one evaluation may take."""

from __future__ import annotations

from searchspace.jobspec.budget import Budget
from searchspace.jobspec.quantities import Bytes, Seconds
from searchspace.validation import Description

__all__ = ["FIELD_OF_REASON", "Limits", "comparison_limits"]

FIELD_OF_REASON = {"wall": "wall_seconds", "memory": "memory"}
"""Which field of `limits` ends an evaluation, by the kind of the reason that it gives."""

COMPARISON_SHARE = 0.1
"""Of a job's budgets of seconds, or else of what its search took: what one comparison of network
models may take at most."""
COMPARISON_SECONDS = 10.0
"""What a comparison may take after a search without a budget of seconds, however short."""


class Limits(Description):
    """What one evaluation may take; past it, the trial has failed."""

    memory: Bytes = 4 * 2**30
    """Bytes of memory, at least 4 MiB."""
    wall_seconds: Seconds = 600.0
    """Seconds of the clock."""


def comparison_limits(limits: Limits, budget: Budget, search_seconds: float) -> Limits:
    """What one evaluation with the other network model may take, in the end of the job.

    That is what any evaluation may take, but no longer than a share of the budget of seconds.
    Without such a budget, it is no longer than that share of what the search took, unless that
    is very little.

    Args:
        limits: Those of any evaluation of the job.
        budget: That of the job.
        search_seconds: CPU seconds of the simulator before the first comparison.
    """
    budgets = (budget.cpu_seconds, budget.wall_seconds)
    shares = [COMPARISON_SHARE * seconds for seconds in budgets if seconds is not None]
    affordable = max(COMPARISON_SECONDS, COMPARISON_SHARE * search_seconds)
    wall_seconds = min(limits.wall_seconds, *(shares or [affordable]))
    return limits.model_copy(update={"wall_seconds": wall_seconds})
