"""A job whose sections go together, and what follows from them."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from searchspace.errors import InvalidInput
from searchspace.formats.patterns import Pattern
from searchspace.jobspec.application import (
    BuiltinApplication,
    Capture,
    ExtrapolatedApplication,
    SingleApplication,
    SourceApplication,
    Workload,
)
from searchspace.jobspec.consistency import check_consistent, without_model
from searchspace.jobspec.document import MOST_IN_FLIGHT, JobDocument
from searchspace.jobspec.limits import Limits, comparison_limits
from searchspace.jobspec.reference import Reference
from searchspace.machine import Machine
from searchspace.parts import Parts
from searchspace.terms import Terms

__all__ = ["COMPLETED_SHARE", "JobSpec"]

COMPLETED_SHARE = 0.25
"""The part of the search's trials that `cutoff: adaptive` lets run to their end by default."""


class JobSpec(JobDocument):
    """A tuning job.

    Example:
        >>> from searchspace.job import load_job
        >>> spec = load_job('''
        ... name: cg-16
        ... application: {builtin: cg, class: S, ranks: 16}
        ... machine: {nodes: 16, degree: 4, host_speed: 100Gf, link_bandwidth: 40Gbps}
        ... search: {topology: [random, torus-2d], ordering: [original, hamorder]}
        ... budget: {trials: 20}
        ... ''')
        >>> spec.budget.trials
        20
    """

    @model_validator(mode="after")
    def _check_consistent(self) -> JobSpec:
        check_consistent(self)
        return self

    @property
    def without_model(self) -> tuple[str, str] | None:
        """Why no model tells what more trials would bring, and what helps; None where one does."""
        return without_model(self)

    @property
    def described_machine(self) -> Machine:
        """The machine.

        Raises:
            InvalidInput: The job only refers to one.
        """
        if isinstance(self.machine, Reference):
            raise InvalidInput("a machine description is needed in its place", field="machine.id")
        return self.machine

    def in_flight(self, slots: int) -> int:
        """How many trials are in flight.

        Args:
            slots: How many workers evaluate at once.
        """
        if self.batch != "auto":
            return self.batch
        return min(max(1, slots), self.concurrency or MOST_IN_FLIGHT, MOST_IN_FLIGHT)

    def with_batch(self, slots: int) -> JobSpec:
        """The job with a number of trials in flight that no longer depends on the workers.

        Args:
            slots: How many workers evaluate at once.
        """
        return self.model_copy(update={"batch": self.in_flight(slots)})

    @property
    def batch_size(self) -> int:
        """Trials in flight of a job that was created (`with_batch`)."""
        assert self.batch != "auto", "creating a job decides"
        return self.batch

    @property
    def share_to_complete(self) -> float | None:
        """The part of the search's trials that run to their end at least; None for no such part."""
        if self.cutoff == "fixed":
            return None
        return self.completed_share or COMPLETED_SHARE

    @property
    def terms(self) -> Terms | None:
        """What it says of the price of its networks; None where that is nothing."""
        second = self.objective[1] if len(self.objective) > 1 else None
        limits = self.constraints.given
        if second is None and not limits:
            return None
        assert second != "time", "time comes first"
        return Terms(self.described_machine.parts or Parts(), second, limits)

    def comparison_limits(self, search_seconds: float) -> Limits:
        """What one evaluation with the other network model may take, in the end of the job.

        That is what any evaluation may take, but no longer than a share of the budget of seconds.
        Without such a budget, it is no longer than that share of what the search took, unless that
        is very little.

        Args:
            search_seconds: CPU seconds of the simulator before the first comparison.
        """
        return comparison_limits(self.limits, self.budget, search_seconds)

    @property
    def parts(self) -> list[SingleApplication]:
        """The application, or those that run at once."""
        if isinstance(self.application, Workload):
            return [part.application for part in self.application.applications]
        return [self.application]

    @property
    def captures(self) -> list[Capture | Pattern]:
        """All that has a trace of its own: the parts, and what others are extrapolated from."""
        found: list[Capture | Pattern] = []
        for part in self.parts:
            if isinstance(part, ExtrapolatedApplication):
                found += part.extrapolate.captures
            else:
                found.append(part)
        return found

    @property
    def known_worlds(self) -> list[int] | None:
        """The ranks of each application, where the job itself says so."""
        known = (BuiltinApplication, SourceApplication, Pattern, ExtrapolatedApplication)
        ranks = [part.ranks for part in self.parts if isinstance(part, known)]
        return ranks if len(ranks) == len(self.parts) else None

    @property
    def known_ranks(self) -> int | None:
        """The ranks of all applications together, where the job itself says so."""
        return None if self.known_worlds is None else sum(self.known_worlds)

    def canonical(self) -> dict[str, Any]:
        """Returns the job as JSON in one form that `load_job` reads back: every field, SI units.

        The network model is always said, so that it is the same for `load_new_job`.
        """
        document = self.model_dump(mode="json", by_alias=True)
        if isinstance(self.machine, Machine):
            document["machine"] = {**self.machine.canonical(), "network": self.machine.network}
        return document
