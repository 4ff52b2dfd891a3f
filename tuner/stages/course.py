"""What the stages of a job share: the count of its trials, what they came to, and why to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from searchspace.configuration import Configuration
from searchspace.job import BuiltSpace, JobSpec
from storage.records import Job, Trial, TrialKind
from tuner.budget import Budget, Ledger
from tuner.comparing import Comparison
from tuner.lease import LOOK_SECONDS, Lease
from tuner.objective import TrialResult
from tuner.stages.stage import PAUSED, Asked, Stop
from tuner.tradeoff import Tradeoff
from tuner.trials import Trials
from tuner.verification import MOST

__all__ = ["Course"]


class Course:
    """The course of a job through its stages.

    Attributes:
        spec: The job.
        trials: Those that were asked.
        number: Of the last trial asked.
        ledger: What was spent, and the best value.
        comparison: Which trials are evaluated with the other network model in the end.
        tradeoff: What weighs time against price, where the job does.
        leader: Value and number of the search's best trial.

    Args:
        spec: The job.
        built: Its space and baselines.
        trials: Of the job, none of which was asked yet.
        lease: Under which the job is driven.
        truncated: Whether the search's trials are estimates from a truncated trace.
        look: Returns the job as it was at most so many seconds ago; raises where the loop is to
            stop at once.
    """

    def __init__(
        self,
        spec: JobSpec,
        built: BuiltSpace,
        trials: Trials,
        lease: Lease,
        *,
        truncated: bool,
        look: Callable[[float], Job],
    ) -> None:
        self.spec = spec
        self.trials = trials
        self.number = 0
        budget = Budget(**spec.budget.model_dump())
        if truncated:
            # An estimate is not good enough to stop for.
            budget = replace(budget, target=None)
        self.ledger = Ledger(budget, reserved=MOST if truncated else 0)
        self.comparison = Comparison()
        self.tradeoff = _tradeoff(spec, built)
        self.leader: tuple[float, int] | None = None
        self._baselines = len(built.baselines)
        self._lease = lease
        self._look = look
        self._best_after: dict[int, float | None] = {}  # the best once a trial was told

    def ask(
        self,
        kind: TrialKind,
        configuration: Configuration,
        *,
        inside: bool,
        label: str | None = None,
        technique: str | None = None,
        bound: float | None = None,
    ) -> int:
        """Have the next trial evaluated, unless it is settled, and return its number.

        Raises:
            ReplayDiverged: It is stored with another configuration.
            LeaseLost: Another coordinator holds the job.
        """
        number = self.number + 1
        self.trials.propose(
            number,
            kind,
            configuration,
            inside=inside,
            label=label,
            technique=technique,
            bound=bound,
        )
        self.number = number
        self.ledger.ask(kind)
        return number

    def look(self) -> Job:
        """The job as it was a moment ago; raises where the loop is to stop at once."""
        return self._look(LOOK_SECONDS)

    @property
    def next_is_stored(self) -> bool:
        """Whether the next trial was asked before: nothing undoes that."""
        return self.trials.is_stored(self.number + 1)

    @property
    def out_of_time(self) -> bool:
        """Whether the budget of wall time is spent."""
        return self.ledger.out_of_time(self._lease.active_seconds)

    def end(self, *, exhausted: bool = False) -> Stop | None:
        """Why no trial that the budget counts may be asked now.

        Args:
            exhausted: Whether there is none to ask.
        """
        job = self.look()
        if exhausted:
            return "exhausted"
        if self.ledger.hopeless:
            return "hopeless"
        end = self.ledger.end()
        if end is not None:
            return end
        if self.next_is_stored:
            return None  # wall time and pauses do not undo what was asked before them
        if self.out_of_time:
            return "wall_seconds"
        return PAUSED if job.state == "pausing" else None

    def end_of_extra(self, *, over: bool) -> Stop | None:
        """Why no trial that the budget does not bound may be asked now.

        Args:
            over: Whether its stage has done what it was for.
        """
        job = self.look()
        if over:
            return "done"
        if self.next_is_stored:
            return None
        return PAUSED if job.state == "pausing" else None

    def best_known(self) -> float | None:
        """The best value that the cutoff of the next trial may rest on.

        A script that is slow has told more than the batch demands; how much depends on the workers.
        """
        if self.spec.external != "proposals":
            return self.ledger.best
        known = max(self.number + 1 - self.spec.batch_size, self._baselines)
        return self._best_after.get(known)

    def note(self, asked: Asked, trial: Trial, result: TrialResult) -> None:
        """Take in what any trial came to, before its stage is told."""
        found: bool | None = None
        if self.tradeoff is not None and asked.inside:
            value = result.value
            found = value is not None and self.tradeoff.tell(asked.configuration, value)
        self.ledger.tell(trial, result, inside=asked.inside, found=found)
        if self.spec.external == "proposals":
            self._best_after[trial.number] = self.ledger.best
        if trial.kind != "comparison" and trial.inside and result.value is not None:
            self.comparison.enter(result.value, trial.number, asked.configuration)


def _tradeoff(spec: JobSpec, built: BuiltSpace) -> Tradeoff | None:
    terms = spec.terms
    if terms is None or terms.second is None or built.bills is None:
        return None
    return Tradeoff(terms, built.bills)
