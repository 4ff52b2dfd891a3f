"""Trials as REST shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from service.trials.summary import EXAMPLE as SUMMARY_EXAMPLE
from service.trials.summary import MOST_LISTED, Summary, listed, summarize
from storage.records import Attempt, Fidelity, Trial, TrialKind, TrialState

__all__ = [
    "CONFIGURATION",
    "DETAIL_EXAMPLE",
    "EXAMPLE",
    "RUNNING_EXAMPLE",
    "RunningTrial",
    "TrialDetail",
    "TrialPage",
    "TrialView",
]

CONFIGURATION: dict[str, Any] = {
    "topology": "torus-3d",
    "ordering": "hamorder",
    "mapping": "by-order",
    "mpi": "mpich",
    "collectives": {"allreduce": "rdb"},
}

EXAMPLE: dict[str, Any] = {
    "number": 17,
    "kind": "search",
    "fidelity": "full",
    "label": None,
    "state": "completed",
    "value": 0.0712,
    "cutoff": 0.0755,
    "cached": False,
    "configuration": CONFIGURATION,
    "configuration_sha256": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730",
    "technique": "UniformGreedyMutation",
    "reason": None,
    "cpu_seconds": 1.21,
    "wall_seconds": 1.24,
    "peak_rss_bytes": 19_300_352,
    "worker": "node7-4121",
    "created_at": 1790000010.0,
    "started_at": 1790000010.1,
    "finished_at": 1790000011.4,
}

DETAIL_EXAMPLE: dict[str, Any] = {
    **EXAMPLE,
    "result": {"rank_finish_times": [[0.0711, 0.0712]], "link_loads": [[1048576, 1048576]]},
    "summary": SUMMARY_EXAMPLE,
    "attempts": [
        {
            "number": 1,
            "state": "finished",
            "worker": "node7-4121",
            "dispatched_at": 1790000010.0,
            "heartbeat_at": 1790000010.1,
            "finished_at": 1790000011.4,
            "simulated_time": None,
            "share": None,
        }
    ],
}


class TrialView(BaseModel):
    """One configuration of a job and what became of it."""

    number: int = Field(description="1, 2, ... in the order of asking.")
    kind: TrialKind = Field(
        description="A `refinement` is the best trial of the search with some ranks moved. With "
        "`fidelity: auto` an `estimate` is a baseline's value by the truncated "
        "trace, and a `verification` repeats one of the best trials on the whole one. A "
        "`comparison` repeats one of the best with the fluid network model, where packets decided."
    )
    fidelity: Fidelity = Field(
        description="`low` for an estimate from a truncated trace, `full` for the whole trace."
    )
    label: str | None = Field(description="The name of a baseline.")
    state: TrialState
    value: float | None = Field(
        description="Simulated seconds; a lower bound when the state is censored."
    )
    cutoff: float | None = Field(description="Simulated seconds at which the run was stopped.")
    cached: bool = Field(description="Whether an earlier evaluation answered.")
    configuration: dict[str, Any]
    configuration_sha256: str
    technique: str | None = Field(description="The technique of OpenTuner that proposed it.")
    reason: dict[str, Any] | None = Field(
        description="`kind` and `message` when it is infeasible or failed."
    )
    cpu_seconds: float | None
    wall_seconds: float | None
    peak_rss_bytes: int | None
    worker: str | None
    created_at: float = Field(description="Seconds since the epoch, as all `..._at`.")
    started_at: float | None
    finished_at: float | None

    @classmethod
    def of(cls, trial: Trial) -> TrialView:
        """The view of a stored trial."""
        return cls.model_validate(trial, from_attributes=True)


class AttemptView(BaseModel):
    """A try at evaluating a trial."""

    number: int = Field(description="1, 2, ...: another one follows a lost worker's.")
    state: Literal["dispatched", "running", "finished", "lost"]
    worker: str | None
    dispatched_at: float = Field(description="When it was offered to workers.")
    heartbeat_at: float | None = Field(description="When its worker was last heard of.")
    finished_at: float | None
    simulated_time: float | None = Field(
        description="Simulated seconds that its evaluation had come to at its last heartbeat, one "
        "of which comes every three seconds; null before the first."
    )
    share: float | None = Field(
        description="The part of the calls of all ranks that had begun by then, from 0 to 1."
    )


class TrialDetail(TrialView):
    """A trial with what the simulator measured beside the simulated time."""

    result: dict[str, Any] | None = Field(
        description="`rank_finish_times` (seconds), `link_loads` (bytes both ways), `engine`; "
        "of an estimate, these are of the truncated trace, with `estimate`: `played` (its own "
        "simulated seconds) and `error` (how far other estimates lie from the value, relative). A "
        f"list of more than {MOST_LISTED} is left out unless `whole` asks for it."
    )
    summary: Summary | None = Field(description="The same in a few numbers, however many.")
    attempts: list[AttemptView] = Field(
        description="How it was evaluated; none where the cache answered."
    )

    @classmethod
    def of_attempts(cls, trial: Trial, attempts: Sequence[Attempt], *, whole: bool = False) -> Self:
        """The view of a stored trial and the attempts at it; long lists only with `whole`."""
        return cls(
            **dict(TrialView.of(trial)),
            result=listed(trial.result, whole=whole),
            summary=summarize(trial.result),
            attempts=[AttemptView.model_validate(one, from_attributes=True) for one in attempts],
        )


class RunningTrial(BaseModel):
    """An evaluation under way, and how far it has come."""

    trial: int = Field(description="The number of the trial.")
    attempt: int
    worker: str | None
    dispatched_at: float = Field(description="When it was offered to workers.")
    heartbeat_at: float | None = Field(description="When its worker was last heard of.")
    simulated_time: float | None = Field(description="As in `attempts` of a trial.")
    share: float | None = Field(description="As in `attempts` of a trial.")

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        """The view of a stored attempt."""
        return cls(
            trial=attempt.trial_number,
            attempt=attempt.number,
            worker=attempt.worker,
            dispatched_at=attempt.dispatched_at,
            heartbeat_at=attempt.heartbeat_at,
            simulated_time=attempt.simulated_time,
            share=attempt.share,
        )


RUNNING_EXAMPLE = [
    {
        "trial": 18,
        "attempt": 1,
        "worker": "node7-4121",
        "dispatched_at": 1790000010.0,
        "heartbeat_at": 1790000073.1,
        "simulated_time": 0.0402,
        "share": 0.43,
    }
]


class TrialPage(BaseModel):
    """A page of trials by number."""

    items: list[TrialView]
    cursor: int | None = Field(description="To be passed as `after`; null on the last page.")
