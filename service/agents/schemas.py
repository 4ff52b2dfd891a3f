"""Work of agents as REST hands it out, and what they tell, as it is read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from searchspace.validation import Description, field_error
from storage.measured_records import MeasuredConfiguration, MeasuredOutcome, MeasuredRun, Measuring

__all__ = [
    "BEAT_SECONDS",
    "LEASE_SECONDS",
    "OUTCOME_EXAMPLE",
    "VALIDATION_EXAMPLE",
    "WISH_EXAMPLE",
    "WORK_EXAMPLE",
    "MeasuredList",
    "NewOutcome",
    "NewValidation",
    "RunView",
    "Wish",
    "WorkView",
]

LEASE_SECONDS = 20.0
BEAT_SECONDS = 4.0
_MOST_TEXT = 4_000
_LONGEST_RUN = 366 * 86400.0
_LARGEST_NUMBER = 2**31 - 1  # that the tables hold

_Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
"""Without the character that no text column of PostgreSQL holds; documents may hold it."""
_Name = Annotated[_Text, StringConstraints(min_length=1, max_length=200)]

WISH_EXAMPLE: dict[str, Any] = {
    "agent": "login1-4711",
    "cluster": "bluebird",
    "library": "openmpi",
    "testbed": None,
}
WORK_EXAMPLE: dict[str, Any] = {
    "job": "0k3v9m2x7q1zt8ab",
    "place": 2,
    "number": 1,
    "label": "trial 17",
    "application": "is",
    "library": "openmpi",
    "target": "openmpi-4.1",
    "plan": {
        "ranks": 4,
        "hosts": [0, 2, 1, 3],
        "settings": {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_alltoallv_algorithm": "2"},
    },
    "seconds": 3600.0,
    "lease_seconds": LEASE_SECONDS,
    "beat_seconds": BEAT_SECONDS,
}
OUTCOME_EXAMPLE: dict[str, Any] = {
    "seconds": 1.31,
    "doubts": [],
    "reason": None,
    "origin": {"cluster": "mpirun", "mpi": "Open MPI 4.1.4", "hosts": ["n1", "n2", "n3", "n4"]},
}

VALIDATION_EXAMPLE: dict[str, Any] = {
    "label": "trial 17",
    "trial": 17,
    "simulated": 1.27,
    "cluster": "bluebird",
    "outcomes": [OUTCOME_EXAMPLE],
}


class Wish(Description):
    """Who asks for work, and what they can run."""

    agent: _Name
    """Name of the agent, no other's."""
    cluster: _Name
    """Name of the cluster: all times of a job are of one."""
    library: Literal["openmpi", "mpich"]
    """The kind of MPI library that it runs programs with."""
    testbed: Annotated[_Text, StringConstraints(max_length=64)] | None = None
    """The name of the testbed that it is."""


class NewOutcome(Description):
    """What a run came to: its seconds, or the reason why there are none."""

    seconds: float | None = Field(default=None, gt=0, le=_LONGEST_RUN, allow_inf_nan=False)
    """How long the program took."""
    doubts: list[str] = Field(default_factory=list, max_length=20)
    """Why the time does not count; empty where it does."""
    reason: dict[str, str] | None = None
    """`kind` and `message` of a run that failed."""
    origin: dict[str, Any] | None = None
    """On what and with what it ran."""

    @model_validator(mode="after")
    def _check_either(self) -> NewOutcome:
        if (self.seconds is None) == (self.reason is None):
            raise field_error("must be given, or reason in its place", "seconds")
        if self.reason is not None and set(self.reason) != {"kind", "message"}:
            raise field_error("must have kind and message", "reason")
        return self

    @property
    def outcome(self) -> MeasuredOutcome:
        """It, as it is stored; texts are cut short."""
        reason = self.reason and {name: text[:_MOST_TEXT] for name, text in self.reason.items()}
        doubts = tuple(doubt[:_MOST_TEXT] for doubt in self.doubts)
        return MeasuredOutcome(
            seconds=self.seconds, doubts=doubts, reason=reason, origin=self.origin
        )


class NewValidation(Description):
    """What somebody measured of a configuration of a job who asked for no work."""

    label: _Name
    """For people, such as `trial 17`."""
    trial: int | None = Field(default=None, ge=1, le=_LARGEST_NUMBER)
    """The number of the trial; null for the library's defaults."""
    simulated: float | None = Field(default=None, gt=0, le=_LONGEST_RUN, allow_inf_nan=False)
    """Seconds."""
    cluster: _Name
    """Name of the cluster."""
    outcomes: list[NewOutcome] = Field(min_length=1, max_length=1000)
    """Of each run."""


class WorkView(BaseModel):
    """One run to do: data, no commands. Job, place and number are shown with what it comes to."""

    job: str
    place: int
    number: int
    label: str = Field(description="What is run, for people.")
    application: str = Field(description="What the agent's own configuration calls the program.")
    library: str
    target: str
    plan: dict[str, Any] = Field(
        description="`ranks`; `hosts`: the number of the host of every rank, in the machine's "
        "order, null for ranks in order; `settings`: of the library; `rules`, where algorithms "
        "depend on sizes: by collective, by ranks, lists of bytes, algorithm and segment."
    )
    seconds: float = Field(description="When the run is given up.")
    lease_seconds: float = Field(description="Of silence, after which the run is done anew.")
    beat_seconds: float = Field(description="How often the agent says that it lives.")


class RunView(BaseModel):
    """A run as it is stored."""

    number: int
    state: str
    agent: str | None
    cluster: str | None
    seconds: float | None
    doubts: list[str]
    reason: dict[str, Any] | None
    origin: dict[str, Any] | None
    started_at: float
    finished_at: float | None

    @classmethod
    def of(cls, run: MeasuredRun) -> RunView:
        """The view of a stored run."""
        names = cls.model_fields
        return cls(
            **{name: getattr(run, name) for name in names if name != "doubts"},
            doubts=list(run.doubts),
        )


class MeasuredView(BaseModel):
    """A configuration that is measured, with all its runs."""

    place: int
    purpose: str = Field(description="`finalists`, or `validation`.")
    trial: int | None = Field(description="Null for the library's defaults.")
    label: str
    simulated: float | None = Field(description="Seconds.")
    state: str = Field(description="`entered`, `open`, `measured`, `infeasible` or `dropped`.")
    reason: dict[str, Any] | None
    runs: list[RunView] = Field(description="In the order of their beginning.")

    @classmethod
    def of(cls, one: MeasuredConfiguration) -> MeasuredView:
        """The view of what is stored."""
        return cls(
            place=one.place,
            purpose=one.purpose,
            trial=one.trial,
            label=one.label,
            simulated=one.simulated,
            state=one.state,
            reason=one.reason,
            runs=[RunView.of(run) for run in one.runs],
        )


class MeasuredList(BaseModel):
    """How the measuring of a job stands, and all that was measured of it."""

    state: str | None = Field(
        description="`open`, `decided` or `undecided`; null where no finalists are measured."
    )
    because: str | None = Field(description="Why it ended so, where that is not plain.")
    cluster: str | None
    agent: str | None = Field(description="That was heard of last.")
    heard_at: float | None
    simulated_best: int | None = Field(description="The best trial by simulation.")
    decided: int | None = Field(description="The trial that was measured to be the best.")
    items: list[MeasuredView]

    @classmethod
    def of(cls, stands: Measuring | None, items: list[MeasuredConfiguration]) -> MeasuredList:
        """The view of what is stored."""
        names = [name for name in cls.model_fields if name != "items"]
        return cls(
            **{name: None if stands is None else getattr(stands, name) for name in names},
            items=[MeasuredView.of(one) for one in items],
        )
