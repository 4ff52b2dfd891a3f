"""What to do about a job whose best configuration is slower than a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["advice"]


def advice(
    value: float,
    baselines: Mapping[str, float],
    spec: Mapping[str, Any],
    *,
    exhausted: bool = False,
) -> list[str]:
    """What its user can do, a line each; nothing where the best beats all baselines.

    Args:
        value: Simulated seconds of the best configuration of the search space.
        baselines: Those of the baselines, by label: a family of networks, or the first network
            of the space with an MPI implementation.
        spec: The job file in canonical form.
        exhausted: Whether everything in the search space was tried, or nothing better in it is
            likely.
    """
    if not baselines or value <= min(baselines.values()):
        return []
    lines = []
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
    if trials is not None and not exhausted:
        lines.append(
            f"the search had {trials} trials: submit the job with more (budget.trials: "
            f"{4 * int(trials)}); what was simulated once is not simulated again"
        )
    return lines
