"""A job file as it is written: its sections, and what is read where they leave something out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from searchspace.finalists import MEASURABLE, Finalists
from searchspace.jobspec.application import Application, Workload
from searchspace.jobspec.budget import Budget
from searchspace.jobspec.limits import Limits
from searchspace.jobspec.quantities import Part
from searchspace.jobspec.reference import Reference
from searchspace.jobspec.search import Search
from searchspace.machine import Machine
from searchspace.terms import Constraints, Objectives, is_objective
from searchspace.validation import Description, field_error

__all__ = ["JobDocument"]

MOST_IN_FLIGHT = 1_024
MOST_REFINEMENT = 100_000
MOST_SOURCES = 8

_TIME_ALONE: Objectives = ["time"]

_FOR_SCRIPTS: dict[str, dict[str, Any]] = {
    "proposals": {"cutoff_factor": None},
    "measurements": {"batch": 1},
}
"""Defaults of jobs with scripts: a script's own optimiser rarely knows what to do with a bound, and
each measurement is dear enough for the search to learn of the one before."""


def _read_sources(value: Any) -> Any:
    """Refuses what is neither a word nor a list of different ids."""
    if value in ("none", "auto"):
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be 'none', 'auto', or a list of the ids of finished jobs")
    if len(value) > MOST_SOURCES:
        raise ValueError(f"lists at most {MOST_SOURCES} jobs")
    twice = [one for i, one in enumerate(value) if one in value[:i]]
    if twice:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return list(value)


JobIds = list[Annotated[str, Field(min_length=1, max_length=64)]]


def _machine_kind(value: Any) -> str:
    referred = isinstance(value, Reference) or (isinstance(value, Mapping) and "id" in value)
    return "<id>" if referred else "<machine>"


def _batch_kind(value: Any) -> str:
    return "<word>" if isinstance(value, str) and not value.isdecimal() else "<number>"


class JobDocument(Description):
    """The sections of a job, each right by itself."""

    name: str = Field(min_length=1, max_length=200)
    """What the job is called."""
    application: Application
    """What runs: `{builtin: cg, class: A, ranks: 64}`, `{trace: t.ht}`, `{source: solver/, build:
    make, run: bin/solve 100, ranks: 64}`, `{pattern: all-to-all, ranks: 64, size: 64kB, count: 100,
    rate: 50}`, or `{id: ...}`; or several at once: `{applications:
    [{name: ..., application: ..., start: 0s, weight: 1}], objective: max}`, which may also stand in
    the job file itself, without `application` around it."""
    machine: Annotated[
        Annotated[Machine, Tag("<machine>")] | Annotated[Reference, Tag("<id>")],
        Discriminator(_machine_kind),
    ]
    """Where it runs: a machine description, or `{id: ...}`."""
    search: Search
    """What to choose from."""
    budget: Budget
    """When to stop."""
    objective: Objectives = _TIME_ALONE
    """What is weighed: `time`; or `[time, cost]`, `[time, power]` or `[time, energy]`, for
    configurations of which none is both faster and cheaper, by what `machine.parts` says."""
    constraints: Constraints = Constraints()
    """What a network may come to at most: `{cost: "<= 90000"}`."""
    seed: int = Field(default=0, ge=0, lt=2**31)
    """Decides every random choice of the job."""
    batch: Annotated[
        Annotated[Literal["auto"], Tag("<word>")]
        | Annotated[int, Field(ge=1, le=MOST_IN_FLIGHT), Tag("<number>")],
        Discriminator(_batch_kind),
    ] = 8
    """Trials in flight; part of the job, so that its outcome does not depend on the workers. With
    fewer in flight each proposal knows more results; with more than workers evaluate at once none
    of them waits. `auto`: as many as they evaluate at once when the job is created."""
    cutoff_factor: float | None = Field(default=1.3, gt=0, allow_inf_nan=False)
    """A simulation stops at this many times the best value so far; null to let all finish. At 1.0
    the search learns next to nothing of what is cut off."""
    cutoff: Literal["fixed", "adaptive"] = "fixed"
    """Which search trials stop there. `fixed`: all. `adaptive`: a share of them runs to its end,
    `completed_share`, so that charts and importance rest on a fair sample and not on the best."""
    completed_share: Part | None = None
    """With `cutoff: adaptive`, the part of the search's trials that run to their end at least;
    null is `25%`. Among them are those that are fast enough anyway."""
    fidelity: Literal["full", "auto"] | None = None
    """How much of the trace a trial replays. `full` is the whole of it. `auto` searches on a
    truncated trace, where the application has loops that can be cut short, and then verifies the
    best trials on the whole trace. Null is `auto` where the ranks make a million calls and more and
    there are trials enough for that to pay, and `full` elsewhere."""
    refinement: int = Field(default=0, ge=0, le=MOST_REFINEMENT)
    """Trials after the search, in which ranks of the best configuration change places; proposed by
    the most loaded links and what ranks exchange."""
    techniques: list[Annotated[str, Field(min_length=1)]] | None = Field(default=None, min_length=1)
    """Search techniques of OpenTuner; null for those that suit the space."""
    learn_from: Annotated[Literal["none", "auto"] | JobIds, BeforeValidator(_read_sources)] = "none"
    """Finished jobs of the same project whose trials tell the search where to begin: a list of
    their ids, or `auto` for those with the same application or on the same machine that are most
    like this one. A job that orders configurations otherwise than this one comes to count nothing.
    Needs the technique Surrogate."""
    limits: Limits = Limits()
    """What one evaluation may take."""
    finalists: Finalists | None = None
    """Which of the best configurations are measured in the end, such as `{measure: 5, on: agent}`;
    null for none: then simulation decides."""
    external: Literal["proposals", "measurements"] | None = None
    """What a script of your own does in the search's or the simulator's place. `proposals`: it
    proposes configurations, which are simulated. `measurements`: it measures what the search asks,
    and nothing is simulated but for what the search learns of the application. Null for neither."""
    priority: Literal["low", "normal", "high"] = "normal"
    """Which job goes first where workers are few. `high` goes before the project's other jobs, and
    before those of other projects where the project may; `low` takes what nobody else wants of the
    workers."""
    concurrency: int | None = Field(default=None, ge=1, le=MOST_IN_FLIGHT)
    """How many trials are evaluated at once, at most; null for as many as there is room for."""
    on_artifact_failure: Literal["continue", "stop"] = "continue"
    """What happens when a trial fails because a file that it needs is missing or was altered: the
    job goes on, or fails with that reason."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Tells that several applications may stand in the job file itself."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        described = handler.resolve_ref_schema(schema)
        *_, workload = described["properties"]["application"]["oneOf"]
        several = handler.resolve_ref_schema(workload)["properties"]
        own = described["properties"]["objective"]
        described["properties"] |= {name: several[name] for name in Workload.model_fields}
        words = f"{own['description']} With `applications`: {several['objective']['description']}"
        described["properties"]["objective"] = {
            "default": own["default"],
            "description": words,
            "anyOf": [*own["anyOf"], {"enum": several["objective"]["enum"]}],
        }
        described["required"] = [n for n in described["required"] if n != "application"]
        described["oneOf"] = [{"required": ["application"]}, {"required": ["applications"]}]
        return schema

    @model_validator(mode="before")
    @classmethod
    def _gather_applications(cls, document: Any) -> Any:
        """Lets several applications and their objective stand in the job file itself."""
        if not isinstance(document, Mapping) or "applications" not in document:
            return document
        if "application" in document:
            raise field_error("stands beside 'application'; give one of the two", "applications")
        objective = document.get("objective")
        outside = ("applications",) if is_objective(objective) else ("applications", "objective")
        kept = {name: value for name, value in document.items() if name not in outside}
        workload = {name: document[name] for name in outside if name in document}
        return {**kept, "application": workload}

    @model_validator(mode="before")
    @classmethod
    def _measure_with_target(cls, document: Any) -> Any:
        """Finalists are measured with the library that is searched for, unless they say another."""
        if not isinstance(document, Mapping):
            return document
        search, finalists = document.get("search"), document.get("finalists")
        if not isinstance(search, Mapping) or not isinstance(finalists, Mapping):
            return document
        target = search.get("target")
        if target not in MEASURABLE or "target" in finalists:
            return document
        return {**document, "finalists": {**finalists, "target": target}}

    @model_validator(mode="before")
    @classmethod
    def _suit_scripts(cls, document: Any) -> Any:
        """What a job with a script leaves open is what suits scripts."""
        if not isinstance(document, Mapping):
            return document
        defaults = _FOR_SCRIPTS.get(str(document.get("external")), {})
        suited = {**defaults, **document}
        if defaults and suited.get("fidelity") is None:
            suited["fidelity"] = "full"
        return suited

    @field_validator("name")
    @classmethod
    def _check_printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError("must be one line of printable text without spaces around it")
        return name
