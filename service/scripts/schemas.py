"""What scripts send, as it is read, and what they are answered."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from searchspace.validation import Description, field_error
from service.trials.schemas import CONFIGURATION, EXAMPLE, TrialView
from storage.records import (
    FINAL_JOB_STATES,
    FINAL_TRIAL_STATES,
    AskedTrial,
    Job,
    JobState,
    Outcome,
    ProposedConfiguration,
    TrialKind,
    TrialState,
)

__all__ = [
    "ASKED_EXAMPLE",
    "ASK_EXAMPLE",
    "FAILED_EXAMPLE",
    "MOST_WAIT",
    "PROPOSAL_EXAMPLE",
    "PROPOSED_EXAMPLE",
    "TELL_EXAMPLE",
    "AskedView",
    "NewAsk",
    "NewProposal",
    "NewTell",
    "ProposalView",
    "Release",
]

MOST_WAIT = 30.0
"""Seconds after which a request is answered at the latest."""
_LEASE_SECONDS = 3600.0
_LONGEST_LEASE = 7 * 86400.0
_LONGEST_RUN = 366 * 86400.0
_MOST_ASKED = 64
_MOST_TEXT = 4_000

PROPOSAL_EXAMPLE: dict[str, Any] = {
    "configuration": {"topology": "torus-3d", "ordering": "hamorder", "mpi": "mpich"},
    "wait": 0,
}
PROPOSED_EXAMPLE: dict[str, Any] = {
    "place": 3,
    "configuration": CONFIGURATION,
    "state": "completed",
    "trial": {**EXAMPLE, "technique": "script"},
    "job_state": "running",
    "created_at": 1790000010.0,
}
ASK_EXAMPLE: dict[str, Any] = {"most": 1, "asker": "login1-4711", "seconds": 3600, "wait": 10}
ASKED_EXAMPLE: dict[str, Any] = {
    "items": [
        {
            "trial": 17,
            "attempt": 1,
            "kind": "search",
            "label": None,
            "configuration": CONFIGURATION,
            "technique": "Surrogate",
            "cutoff": 0.0755,
            "state": "running",
            "expires_at": 1790003610.0,
        }
    ],
    "job_state": "running",
}
TELL_EXAMPLE: dict[str, Any] = {"attempt": 1, "value": 0.0712}
FAILED_EXAMPLE: dict[str, Any] = {
    "attempt": 1,
    "status": "failed",
    "reason": "mpirun: exit status 137",
}


class NewProposal(Description):
    """A configuration that is to be evaluated."""

    configuration: dict[str, Any]
    """A value for each parameter of the job's space; those that do not count may be there."""
    wait: float = Field(default=0.0, ge=0, le=MOST_WAIT)
    """Seconds to wait for the outcome."""


class NewAsk(Description):
    """Who asks for trials, and for how many."""

    most: int = Field(default=1, ge=1, le=_MOST_ASKED)
    """How many trials at most."""
    asker: str = Field(default="script", min_length=1, max_length=200, pattern=r"^[ -~]+$")
    """Who measures them, for people."""
    seconds: float = Field(default=_LEASE_SECONDS, ge=1, le=_LONGEST_LEASE)
    """How long nobody else is given them; what is not told by then may be asked again."""
    wait: float = Field(default=0.0, ge=0, le=MOST_WAIT)
    """Seconds to wait where there is none."""


class Release(Description):
    """A trial that is not measured by whoever has it."""

    attempt: int = Field(ge=1, lt=2**31)
    """As the trial was given out."""


class NewTell(Description):
    """What a script measured of a trial."""

    attempt: int = Field(ge=1, lt=2**31)
    """As the trial was given out."""
    status: Literal["completed", "censored", "failed", "infeasible"] = "completed"
    """`censored`: it was stopped, and takes at least `value`. `failed`: it did not run.
    `infeasible`: no such configuration can be run there."""
    value: float | None = Field(default=None, gt=0, le=_LONGEST_RUN, allow_inf_nan=False)
    """Seconds, of a trial that is completed or censored."""
    reason: str | None = Field(default=None, min_length=1, pattern=r"^[^\x00]*$")
    """Why there is no value, of a trial that failed or is infeasible; 4,000 characters are kept."""

    @model_validator(mode="after")
    def _check_either(self) -> NewTell:
        has_value = self.status in ("completed", "censored")
        if has_value and self.value is None:
            raise field_error(f"is missing: a trial that is {self.status} has seconds", "value")
        if not has_value and self.value is not None:
            raise field_error(f"a trial that is {self.status} has none; leave it out", "value")
        if has_value and self.reason is not None:
            raise field_error(f"a trial that is {self.status} has none; leave it out", "reason")
        if not has_value and self.reason is None:
            raise field_error(f"is missing: say why the trial is {self.status}", "reason")
        return self

    @property
    def outcome(self) -> Outcome:
        """It, as it is stored."""
        text = self.reason
        reason = None if text is None else {"kind": "script", "message": text[:_MOST_TEXT]}
        return Outcome(status=self.status, value=self.value, reason=reason)


class ProposalView(BaseModel):
    """A configuration that a script proposed, and what became of it."""

    place: int = Field(description="1, 2, ... in the order in which they came.")
    configuration: dict[str, Any] = Field(description="With the parameters that count.")
    state: TrialState | Literal["waiting", "dropped"] = Field(
        description="Of its trial; `waiting` while its turn has not come, `dropped` where the job "
        "ended before."
    )
    trial: TrialView | None = Field(description="Null before its turn.")
    job_state: JobState
    created_at: float

    @property
    def settled(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.state == "dropped" or self.state in FINAL_TRIAL_STATES

    @classmethod
    def of(cls, proposed: ProposedConfiguration, job: Job) -> ProposalView:
        """The view of what is stored."""
        trial = proposed.trial
        state: Any = "dropped" if job.state in FINAL_JOB_STATES else "waiting"
        return cls(
            place=proposed.place,
            configuration=proposed.configuration,
            state=state if trial is None else trial.state,
            trial=None if trial is None else TrialView.of(trial),
            job_state=job.state,
            created_at=proposed.created_at,
        )


class AskedItem(BaseModel):
    """A trial to be measured."""

    trial: int = Field(description="Its number.")
    attempt: int = Field(description="To be told with the outcome.")
    kind: TrialKind
    label: str | None = Field(description="The name of a baseline.")
    configuration: dict[str, Any]
    technique: str | None
    cutoff: float | None = Field(
        description="Seconds after which the run may be stopped and told as `censored`: the search "
        "needs no more of it. Null where it is to end."
    )
    state: TrialState | Literal["taken"] = Field(
        description="`running`, unless an ask was repeated late: `taken` where another script has "
        "the trial now."
    )
    expires_at: float = Field(description="Until when nobody else is given it.")

    @classmethod
    def of(cls, asked: AskedTrial) -> AskedItem:
        """The view of what is stored."""
        trial = asked.trial
        return cls(
            trial=trial.number,
            attempt=asked.attempt,
            kind=trial.kind,
            label=trial.label,
            configuration=trial.configuration,
            technique=trial.technique,
            cutoff=trial.cutoff,
            state="taken" if asked.is_taken else trial.state,
            expires_at=asked.expires_at,
        )


class AskedView(BaseModel):
    """Trials to be measured, and how the job is."""

    items: list[AskedItem] = Field(
        description="None where all that were asked are being measured; for good where the job "
        "has ended."
    )
    job_state: JobState
