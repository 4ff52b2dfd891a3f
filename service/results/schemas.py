"""Results of jobs as REST shows them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from searchspace.machine import NetworkModel
from service.jobs.schemas import BestSoFar
from service.trials.schemas import CONFIGURATION
from storage.records import (
    Fidelity,
    TrialKind,
    TrialState,
)

__all__ = [
    "BEST_EXAMPLE",
    "CONVERGENCE_EXAMPLE",
    "BestView",
    "ComparisonView",
    "ConvergencePoint",
    "ConvergenceView",
    "MeasuredBestView",
]


BEST_EXAMPLE: dict[str, Any] = {
    "configuration": CONFIGURATION,
    "value": 0.0712,
    "trial": 17,
    "network": "packets",
    "model": "packets, tcp-openmpi",
    "decided_by": "packets",
    "measured": None,
    "undecided": None,
    "error": 0.09,
    "error_from": "packets",
    "within_error": False,
    "comparisons": [
        {"trial": 17, "value": 0.0712, "comparison": 101, "state": "completed", "fluid": 0.0688}
    ],
    "note": "packets decided. Packets go by a protocol (tcp-openmpi), fluid by factors on "
    "bandwidth and latency (smpi-default): the two are different yardsticks, and their times "
    "differ.",
    "baseline": 0.0840,
    "speedup": 1.18,
    "baselines": {"torus-3d": 0.0840, "mesh-3d": 0.0912},
    "initial": 0.0840,
}
CONVERGENCE_EXAMPLE: dict[str, Any] = {
    "points": [
        {
            "trial": 1,
            "kind": "baseline",
            "fidelity": "full",
            "label": "torus-3d",
            "state": "completed",
            "cached": False,
            "value": 0.084,
            "best": 0.084,
            "wall_seconds": 1.4,
            "cpu_seconds": 1.2,
        },
        {
            "trial": 2,
            "kind": "search",
            "fidelity": "full",
            "label": None,
            "state": "completed",
            "cached": False,
            "value": 0.0712,
            "best": 0.0712,
            "wall_seconds": 2.7,
            "cpu_seconds": 2.4,
        },
    ],
    "best": {"trial": 2, "value": 0.0712},
    "initial": {"trial": 2, "value": 0.0712},
    "baselines": {"torus-3d": 0.084},
    "gains": {"torus-3d": 1.18},
    "speedup": 1.0,
    "proximity": [1.0],
    "proximity_at": None,
    "close": 0.9,
    "trials_to_reach": 1,
    "share": 1.0,
}


class ComparisonView(BaseModel):
    """One of the best trials, evaluated with both network models."""

    trial: int
    value: float = Field(description="Simulated seconds by packets, which decided.")
    comparison: int = Field(description="The trial that repeats it with the fluid model.")
    state: TrialState = Field(description="Of that one.")
    fluid: float | None = Field(
        description="Its simulated seconds; null where it has none, such as one that took too long."
    )


class MeasuredBestView(BaseModel):
    """What a cluster says of the best, and of the library's defaults; medians of runs."""

    seconds: float = Field(description="Of the best, measured.")
    runs: list[float] = Field(description="Its runs that count.")
    default: float | None = Field(description="Of the library's defaults; null if not known.")
    default_unknown: str | None = Field(description="Why they are not known, where they are not.")
    default_runs: list[float]
    gain: float | None = Field(description="`default / seconds`.")
    separated: bool | None = Field(
        description="Whether best and defaults differ by more than chance, at 95%."
    )
    cluster: str | None
    simulated_best: int | None = Field(description="The trial that is the best by simulation.")


class BestView(BaseModel):
    """The incumbent, beside the baselines it has to beat."""

    configuration: dict[str, Any]
    value: float = Field(description="Simulated seconds.")
    trial: int
    network: NetworkModel = Field(
        description="The model that gave this and all other times here, and decided."
    )
    model: str = Field(description="The same with what it rests on: factors, or a protocol.")
    decided_by: Literal["measured", "packets", "fluid", "script"] = Field(
        description="What chose this configuration; `script` where a script measures all trials: "
        "then all times here are measured."
    )
    measured: MeasuredBestView | None = Field(description="Null where no measured times decided.")
    undecided: str | None = Field(
        description="Why finalists were to be measured and the simulation decided all the same."
    )
    error: float = Field(
        description="Of the model, relative: the median error of the ratio of two times. Smaller "
        "gains are none."
    )
    error_from: str = Field(
        description="How it is known: `fluid`, `packets`, `calibration` (of these models in "
        "general, and of packets on a calibrated machine) or `measurements` of this job."
    )
    within_error: bool | None = Field(
        description="Whether best and best baseline are too close for the model to tell apart."
    )
    comparisons: list[ComparisonView] = Field(
        description="The best trials with both models, best first, where the machine's network is "
        "`auto` and the search has ended."
    )
    note: str | None = Field(
        description="What to keep in mind where there are comparisons, or why there are none."
    )
    baseline: float | None = Field(description="Simulated seconds of the best baseline.")
    speedup: float | None = Field(description="`baseline / value`.")
    baselines: dict[str, float] = Field(
        description="Simulated seconds of every baseline by label; with `fidelity: auto` of the "
        "best, by their estimates."
    )
    estimates: dict[str, float] = Field(
        default_factory=dict,
        description="With `fidelity: auto`: simulated seconds of every baseline by label, "
        "estimated from the truncated trace.",
    )
    advice: list[str] = Field(
        default_factory=list,
        description="What to do where the best of the search space is slower than a baseline.",
    )
    initial: float | None = Field(
        description="Simulated seconds of the first completed trial of the search; null where that "
        "is an estimate (`fidelity: auto`)."
    )
    finish_times: dict[str, float] | None = Field(
        default=None,
        description="Where several applications run at once: when each has finished, by its name.",
    )


class ConvergencePoint(BaseModel):
    """A trial with an outcome, and how far the job had come with it."""

    trial: int
    kind: TrialKind
    fidelity: Fidelity
    label: str | None
    state: TrialState
    cached: bool
    value: float | None = Field(description="Simulated seconds; a lower bound when censored.")
    best: float | None = Field(
        description="Lowest value up to here, of points of the search space."
    )
    wall_seconds: float = Field(
        description="From the job's start until this trial and all before it had finished."
    )
    cpu_seconds: float = Field(description="Of the simulator, for this and all before it.")


class ConvergenceView(BaseModel):
    """How a job converged, in the terms of Hu et al. 2023, section IV.E."""

    points: list[ConvergencePoint] = Field(
        description="Trials with an outcome, in the order of asking."
    )
    best: BestSoFar | None = Field(description="The best point of the search space.")
    initial: BestSoFar | None = Field(
        description="The first completed trial of the search; with `fidelity: auto` an estimate."
    )
    baselines: dict[str, float] = Field(description="Simulated seconds of every baseline by label.")
    gains: dict[str, float | None] = Field(description="Each baseline's value over the best.")
    speedup: float | None = Field(description="The first value over the best (equation 5).")
    proximity: list[float | None] = Field(
        description="C(n) after n = 1, 2, ... trials of the search (equation 6)."
    )
    proximity_at: list[int] | None = Field(
        default=None, description="Of which n the values are, where they were sampled; else null."
    )
    close: float = Field(description="The proximity that counts as near the best.")
    trials_to_reach: int | None = Field(description="The first n with C(n) of at least `close`.")
    share: float | None = Field(description="That n over all trials of the search.")
