"""What to do about a job whose best is slower than a baseline, or most of whose trials failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from searchspace.jobspec.limits import FIELD_OF_REASON
from storage.failures import FailureCount

__all__ = ["advice"]


def advice(
    value: float,
    baselines: Mapping[str, float],
    spec: Mapping[str, Any],
    *,
    exhausted: bool = False,
    failures: Sequence[FailureCount] = (),
    finished: int = 0,
) -> list[str]:
    """What its user can do, a line each; nothing where the best beats all baselines and few failed.

    Args:
        value: Simulated seconds of the best configuration of the search space.
        baselines: Those of the baselines, by label: a family of networks, or the first network
            of the space with an MPI implementation.
        spec: The job file in canonical form.
        exhausted: Whether everything in the search space was tried, or nothing better in it is
            likely.
        failures: Why trials failed, the commonest reason first.
        finished: How many trials have an outcome.
    """
    lines = _failed(failures, finished)
    if not baselines or value <= min(baselines.values()):
        return lines
    starved = bool(lines)
    label = min(baselines, key=lambda name: baselines[name])
    # Nothing is chosen where the machine has a network of its own.
    topologies = spec["search"]["topology"] or ["given"]
    families = [one if isinstance(one, str) else one["family"] for one in topologies]
    if " " not in label and label not in families:
        lines.append(
            f"{label} is not in the search space: add it to search.topology, and the search "
            "begins where the baseline is"
        )
    trials = spec["budget"].get("trials")
    # More trials would fail in the same way.
    if trials is not None and not exhausted and not starved:
        lines.append(
            f"the search had {trials} trials: submit the job with more (budget.trials: "
            f"{4 * int(trials)}); what was simulated once is not simulated again"
        )
    return lines


def _failed(failures: Sequence[FailureCount], finished: int) -> list[str]:
    """What most trials failed of, where most did, and which limit ended them."""
    failed = sum(one.trials for one in failures)
    if 2 * failed <= finished:
        return []
    first = failures[0]
    said = f"{failed} of {finished} trials failed: {first.message or first.kind}"
    if first.trials < failed:
        said += f" ({first.trials} of them)"
    limit = FIELD_OF_REASON.get(first.kind)
    return [said if limit is None else f"{said}; raise limits.{limit} of the job file"]
